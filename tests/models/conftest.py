"""Fixtures of the models' suites: one real embedder with the installed weights."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mnemon.models.local import LocalEmbedder


@pytest.fixture(scope="session")
def model_home(open_folder: Path) -> Path:
    """A home whose graph is made once for the whole run."""
    return open_folder / "models-home"


@pytest.fixture(scope="session")
async def embedder(model_home: Path) -> AsyncIterator[LocalEmbedder]:
    opened = LocalEmbedder(model_home)
    yield opened
    await asyncio.wait_for(opened.close(), 60)
