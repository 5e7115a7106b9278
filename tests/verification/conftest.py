"""Worlds to tamper with: one is filled, the others are copies of its database and home."""

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from mnemon.db.embedded import EmbeddedServer
from mnemon.verification.run import verify_everything
from tests.conftest import _create_database, _new_database, _way_into

from .world import World, fill, opened_world

Copy = Callable[[], AbstractAsyncContextManager[World]]


@dataclass(frozen=True)
class Filled:
    """A database that nobody is connected to, and the home that belongs to it."""

    dbname: str
    home: Path


@pytest.fixture(scope="session")
async def filled(server: EmbeddedServer, migrated: str, open_folder: Path) -> Filled:
    home = open_folder / "tampers"
    home.mkdir()
    dbname = _create_database(server, migrated)
    async with opened_world(server, _way_into(server, dbname), home) as world:
        await fill(world)
        report = await verify_everything(world.mnemon, world.tenant)
        assert report.intact, report.findings
    return Filled(dbname, home)


@pytest.fixture
def copied(server: EmbeddedServer, filled: Filled, tmp_path: Path) -> Copy:
    @asynccontextmanager
    async def copy() -> AsyncIterator[World]:
        home = tmp_path / "home"
        shutil.copytree(filled.home, home)
        with _new_database(server, filled.dbname) as dbname:
            async with opened_world(server, _way_into(server, dbname), home) as world:
                yield world

    return copy
