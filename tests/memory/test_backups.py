"""A backup holds memory as the log has it: nothing in it says plainly what is under a person's key."""

import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

import pytest

from mnemon.app import BACKED_UP
from mnemon.db.backup import backup, restore
from mnemon.db.backup_file import DUMP, open_archive, read_manifest
from mnemon.db.backup_keys import BackupKeys
from mnemon.db.database import Database
from mnemon.db.external import ExternalServer
from mnemon.db.programs import program
from mnemon.ids import new_uuid
from mnemon.log.privacy.archive_store import DirectoryStore
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.wrapping_keys import FileKeys, KeyRing
from mnemon.log.project.projector import Projector
from mnemon.memory.gateway import Memory
from mnemon.memory.lens import LENS
from tests.ask.conftest import TopicEmbedder
from tests.memory.conftest import ADA
from tests.memory.test_forgetting import SECRET, WORDS, a_person

COUNTS = "SELECT kind, term_key, sum(texts) AS texts FROM mnemon.term_counts GROUP BY 1, 2 ORDER BY 1, 2"


@asynccontextmanager
async def memory_in(database: Database, home: Path) -> AsyncIterator[Memory]:
    """As a process has it that has just started."""
    privacy = Privacy(database, KeyRing(FileKeys(home)), DirectoryStore(home / "archive"), listening=False)
    projector = Projector(privacy.log)
    projector.add(LENS)
    try:
        yield Memory(privacy.log, projector)
    finally:
        await privacy.close()


async def counted(database: Database, query: str, tenant: UUID) -> list[dict[str, object]]:
    async with database.transaction(tenant) as connection:
        return await (await connection.execute(query.encode())).fetchall()


@pytest.fixture
async def tenant(own_database: Database) -> UUID:
    made = new_uuid()
    async with own_database.owner() as owner:
        await owner.execute("INSERT INTO mnemon.tenants VALUES (%s, 'kept', 'Kept')", (made,))
    return made


async def test_a_backup_has_no_word_about_a_person_and_a_restore_has_all(
    own_database: Database, empty_server: ExternalServer, home: Path, tmp_path: Path, tenant: UUID
) -> None:
    keys, file, place = BackupKeys(home), tmp_path / "kept.backup", Memory.place(tenant)
    embedder = TopicEmbedder()
    async with memory_in(own_database, home) as memory:
        about, plain = await a_person(memory, tenant, place)
        await memory.changes.update(tenant, place, ADA, plain, content="The office is in Porto.")
        await memory.vectors.catch_up(tenant, embedder)
        before = (await memory.reading.get(tenant, place, about)).object
        hashes = await memory.replay.branch_hashes(tenant)
        words = await counted(own_database, COUNTS, tenant)
    await backup(own_database.server, file, keys, extent=BACKED_UP)

    said = everything_in(file, keys)
    assert "The office is in Porto." in said, "what is nobody's stands plain in the log"
    assert not [word for word in WORDS if word in said]

    await restore(empty_server, file, keys)
    async with Database(empty_server) as restored, memory_in(restored, home) as memory:
        [vectors] = await counted(restored, "SELECT count(*) AS n FROM mnemon.memory_vectors", tenant)
        assert (await memory.reading.get(tenant, place, about)).object == before
        assert before.content == SECRET + " and maps"
        assert await memory.replay.branch_hashes(tenant) == hashes
        assert (await memory.replay.verify(tenant)).same
        assert await counted(restored, COUNTS, tenant) == words
        # The vectors of plain texts are kept; those of texts about a person are made again.
        assert vectors["n"] == 2
        assert (await memory.vectors.status(tenant)).behind > 0
        await memory.vectors.catch_up(tenant, embedder)
        assert (await memory.vectors.status(tenant)).behind == 0


def everything_in(file: Path, keys: BackupKeys) -> str:
    """The whole backup as text, as whoever has its key reads it."""
    with open_archive(file, keys) as archive:
        major = read_manifest(archive).server_major
        parts = {member.name: archive.extractfile(member) for member in archive.getmembers()}
        contents = {name: stream.read() for name, stream in parts.items() if stream}
    read = subprocess.run(
        [program("pg_restore", major), "--file=-"], input=contents.pop(DUMP), capture_output=True, check=True
    )
    return "\n".join(part.decode(errors="replace") for part in (read.stdout, *contents.values()))


def test_whatever_a_replay_makes_again_is_left_out() -> None:
    """Snapshots hold what they were folded from; a rebuild of the lens gives its rows again."""
    assert {"entity_snapshots", "projection_snapshots", *LENS.real_tables} <= set(BACKED_UP.left_out)
