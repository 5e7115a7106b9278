"""A memory over the test database, and people who use it."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.log.events import Actor
from mnemon.log.privacy.archive_store import DirectoryStore
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.wrapping_keys import KeyRing
from mnemon.log.project.projector import Projector
from mnemon.memory.changing.change_events import Author
from mnemon.memory.gateway import Memory
from mnemon.memory.lens import LENS
from mnemon.memory.objects import Place

ADA = Author(Actor("human", "u-1", "Ada"))
BOT = Author(Actor("agent", "token:7"))


@pytest.fixture
async def privacy(database: Database, ring: KeyRing, tmp_path: Path) -> AsyncIterator[Privacy]:
    opened = Privacy(database, ring, DirectoryStore(tmp_path / "archive"), listening=False)
    yield opened
    await opened.close()


@pytest.fixture
async def memory(privacy: Privacy) -> Memory:
    projector = Projector(privacy.log)
    projector.add(LENS)
    privacy.erasures.on_erased.append(projector.on_erased)
    return Memory(privacy.log, projector)


@pytest.fixture
def place(tenant: UUID) -> Place:
    return Memory.place(tenant)
