"""Archiving: payloads move out and back, readers do not notice, and no kill loses one."""

import asyncio
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from mnemon.db.database import Database
from mnemon.log.errors import ArchiveDamaged, ArchiveRefused
from mnemon.log.events import Actor, Event
from mnemon.log.moments import now
from mnemon.log.privacy import archive as archive_module
from mnemon.log.privacy import redaction
from mnemon.log.privacy.archive_store import DirectoryStore
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.scan import scan
from mnemon.log.privacy.wrapping_keys import FileKeys, KeyRing
from mnemon.log.proof.chain import digest
from mnemon.log.proof.verify import verify
from mnemon.log.read.streams import Stream
from tests.patience import PATIENCE

from .conftest import joined, noted, open_private

OPERATOR = Actor("system", "operator")
TENANT = UUID(int=7)
DIE_AT = """
import asyncio, os, signal, sys
from datetime import datetime, UTC
from pathlib import Path
from uuid import UUID
from mnemon.db.database import Database
from mnemon.db.external import ExternalServer
from mnemon.log.privacy import archive
from mnemon.log.privacy.archive_store import DirectoryStore
from mnemon.log.events import Actor
from mnemon.log.privacy.wrapping_keys import FileKeys, KeyRing
from mnemon.log.privacy.privacy import Privacy

owner, app, home, folder, action, moment = sys.argv[1:]
archive.OBJECT_PAYLOADS = 10
calls = 0

def die():
    global calls
    calls += 1
    if calls == 2:
        os.kill(os.getpid(), signal.SIGKILL)

class DyingStore(DirectoryStore):
    def _put(self, file, content):
        if moment == "before put": die()
        if moment == "half put" and calls == 1:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.with_name(f".{file.name}.half").write_bytes(content[:20])
        if moment == "half put": die()
        super()._put(file, content)
        if moment == "after put": die()
    async def delete(self, key):
        if moment == "before delete": die()
        await super().delete(key)
        if moment == "after delete": die()

class DyingArchive(archive.Archive):
    async def _move(self, *arguments):
        await super()._move(*arguments)
        if moment == "after move": die()

async def main():
    async with Database(ExternalServer(owner, app)) as database:
        privacy = Privacy(database, KeyRing(FileKeys(Path(home))), DirectoryStore(Path(folder)))
        dying = DyingArchive(database, privacy.log, DyingStore(Path(folder)))
        who = Actor("system", "operator")
        if action == "archive":
            await dying.archive(UUID(int=7), datetime.now(UTC), actor=who)
        else:
            await dying.restore(UUID(int=7), actor=who)

asyncio.run(main())
"""


async def texts(database: Database, tenant: UUID) -> list[str | None]:
    async with database.transaction(tenant) as tx:
        rows = await (await tx.execute("SELECT payload FROM mnemon.event_payloads ORDER BY sequence")).fetchall()
    return [row["payload"] for row in rows]


async def opened(privacy: Privacy, tenant: UUID) -> list[Event]:
    return [event async for event in privacy.log.scan(tenant)]


async def test_archived_payloads_leave_the_database_and_are_read_as_before(
    privacy: Privacy, database: Database, tenant: UUID, tmp_path: Path
) -> None:
    await privacy.log.append(tenant, [joined(f"c-{n}", f"Name {n}") for n in range(5)])
    before = await opened(privacy, tenant)
    [moved] = await privacy.archive.archive(tenant, now(), actor=OPERATOR)
    assert (moved.first_sequence, moved.last_sequence, moved.state) == (1, 5, "stored")
    assert (await texts(database, tenant))[:5] == [None] * 5
    after = await opened(privacy, tenant)
    assert [event.as_json() for event in after[:5]] == [event.as_json() for event in before]
    assert [event.payload_text for event in after[:5]] == [event.payload_text for event in before]
    assert all(digest((event.payload_text or "").encode()) == event.payload_digest for event in after)
    one = await privacy.log.read_event(tenant, before[2].id)
    assert one.data == before[2].data
    page = await privacy.log.read_page(tenant, Stream.of_entity("customer", "c-1"), direction="backward")
    assert page.events[0].data["name"] == "Name 1"
    assert moved.object_bytes < moved.payload_bytes


async def test_a_lost_file_costs_the_payloads_of_a_page_and_not_the_page(
    privacy: Privacy, tenant: UUID, tmp_path: Path
) -> None:
    await privacy.log.append(tenant, [joined(f"c-{n}", f"Name {n}") for n in range(3)])
    [moved] = await privacy.archive.archive(tenant, now(), actor=OPERATOR)
    await privacy.log.append(tenant, [noted("later")])
    privacy.archive._store._file(moved.object_key).unlink()
    page = await privacy.log.read_page(tenant, tolerant=True)
    assert [("unavailable" in event.data) for event in page.events[:3]] == [True] * 3
    assert page.events[-1].data["text"] == "later"
    assert page.events[0].entities[0].entity_id == "c-0", "its envelope is as it was"
    with pytest.raises(ArchiveDamaged):
        await opened(privacy, tenant)


async def test_only_what_is_older_than_the_moment_moves_and_the_move_is_recorded(
    privacy: Privacy, database: Database, tenant: UUID
) -> None:
    [early] = await privacy.log.append(tenant, [noted("early")])
    await privacy.log.append(tenant, [noted("late")])
    assert await privacy.archive.archive(tenant, early.recorded_at - timedelta(seconds=1), actor=OPERATOR) == []
    [moved] = await privacy.archive.archive(tenant, early.recorded_at, actor=OPERATOR)
    assert (moved.first_sequence, moved.last_sequence) == (1, 1)
    assert [text is None for text in await texts(database, tenant)] == [True, False, False]
    recorded = (await opened(privacy, tenant))[2]
    assert recorded.type == "log.payloads.archived"
    assert recorded.data["object_digest"] == moved.object_digest.hex()
    assert await privacy.archive.archive(tenant, early.recorded_at, actor=OPERATOR) == []


async def test_archiving_is_refused_beyond_what_snapshots_cover(
    privacy: Privacy, database: Database, tenant: UUID
) -> None:
    await privacy.log.append(tenant, [noted(str(n)) for n in range(10)])
    covered: dict[str, int | None] = {"orders": 4, "customers": None}

    async def orders(_tenant: UUID, _partition: int) -> int | None:
        return covered["orders"]

    async def customers(_tenant: UUID, _partition: int) -> int | None:
        return covered["customers"]

    privacy.archive.coverage += [orders, customers]
    with pytest.raises(ArchiveRefused, match="cover only 4") as refusal:
        await privacy.archive.archive(tenant, now(), actor=OPERATOR)
    assert refusal.value.details == {"wanted": "10", "covered": "4"}
    assert None not in await texts(database, tenant)
    covered["orders"] = 10
    assert len(await privacy.archive.archive(tenant, now(), actor=OPERATOR)) == 1


async def test_restored_payloads_are_back_byte_for_byte_and_the_object_is_gone(
    privacy: Privacy, database: Database, tenant: UUID, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_module, "OBJECT_PAYLOADS", 4)
    await privacy.log.append(tenant, [joined(f"c-{n}") for n in range(10)])
    before = await texts(database, tenant)
    assert len(await privacy.archive.archive(tenant, now(), actor=OPERATOR)) == 3
    back = await privacy.archive.restore(tenant, actor=OPERATOR, first=6, last=7)
    assert [(one.first_sequence, one.last_sequence) for one in back] == [(5, 8)]
    assert (await texts(database, tenant))[:10] == [None] * 4 + before[4:8] + [None] * 2
    assert len(await privacy.archive.objects(tenant)) == 2
    await privacy.archive.restore(tenant, actor=OPERATOR)
    assert (await texts(database, tenant))[:10] == before
    assert [file for file in (tmp_path / "archive").rglob("*") if file.is_file()] == []
    again = await privacy.archive.archive(tenant, now(), actor=OPERATOR)
    assert again[0].first_sequence == 1


async def test_a_damaged_or_missing_object_is_an_error_never_an_empty_payload(
    privacy: Privacy, tenant: UUID, tmp_path: Path, database: Database, ring: KeyRing
) -> None:
    await privacy.log.append(tenant, [joined()])
    [moved] = await privacy.archive.archive(tenant, now(), actor=OPERATOR)
    file = tmp_path / "archive" / moved.object_key
    content = file.read_bytes()
    for damage in (content[:-1], content[:30] + b"x" + content[31:]):
        file.write_bytes(damage)
        other = open_private(database, ring, tmp_path / "archive")
        with pytest.raises(ArchiveDamaged, match="not the one that was stored"):
            await other.log.read_page(tenant)
        with pytest.raises(ArchiveDamaged):
            await other.archive.restore(tenant, actor=OPERATOR)
        await other.close()
    file.unlink()
    other = open_private(database, ring, tmp_path / "archive")
    with pytest.raises(ArchiveDamaged, match="holds no"):
        await other.log.read_page(tenant)
    await other.close()


async def test_a_reader_between_restore_and_delete_finds_the_payload_in_the_database(
    privacy: Privacy, database: Database, tenant: UUID
) -> None:
    await privacy.log.append(tenant, [joined()])
    await privacy.archive.archive(tenant, now(), actor=OPERATOR)
    sealed = [event async for event in privacy.log.reader.scan(tenant, opened=False)]
    assert sealed[0].payload_text is None
    await privacy.archive.restore(tenant, actor=OPERATOR)
    assert (await privacy.log.reader.open(tenant, sealed))[0].data["name"] == "Ada Lovelace"


async def test_two_archivers_do_not_work_on_one_partition(privacy: Privacy, database: Database, tenant: UUID) -> None:
    await privacy.log.append(tenant, [noted("x")])
    [partition] = await privacy.log.list_partitions(tenant)
    async with database.owner() as owner:
        await owner.execute(archive_module.ONE_ARCHIVER, (str(partition.partition_id),))
        with pytest.raises(ArchiveRefused, match="Another process"):
            await privacy.archive.archive(tenant, now(), actor=OPERATOR)


async def test_a_payload_that_is_redacted_while_it_is_archived_does_not_survive_in_the_object(
    own_privacy: Privacy, own_database: Database, own_tenant: UUID, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    privacy, database, tenant = own_privacy, own_database, own_tenant
    [appended] = await privacy.log.append(tenant, [noted(f"Ada {tenant}")])
    # The redaction has looked for an archived copy just before there was one.
    monkeypatch.setattr(redaction, "IN_ARCHIVE", redaction.IN_ARCHIVE + " AND false")

    class Meanwhile(DirectoryStore):
        async def put(self, key: str, content: bytes) -> None:
            await super().put(key, content)
            await privacy.redactions.redact(
                tenant, appended.id, ["/data/text"], reason="legacy_data", requested_by="u-1", approved_by="u-2"
            )

    racing = archive_module.Archive(database, privacy.log, Meanwhile(tmp_path / "archive"))
    with pytest.raises(ArchiveRefused, match="redacted while"):
        await racing.archive(tenant, now(), actor=OPERATOR)
    assert (await texts(database, tenant))[0] is not None
    await privacy.archive.archive(tenant, now(), actor=OPERATOR)
    assert (await privacy.log.read_event(tenant, appended.id)).data["text"] == REDACTED
    assert (await scan(database, [f"Ada {tenant}"], store=privacy.store)).clean


@pytest.mark.parametrize("moment", ["before put", "half put", "after put", "after move"])
async def test_a_killed_archiver_loses_nothing_and_leaves_nothing_behind(
    own_database: Database, home: Path, tmp_path: Path, moment: str
) -> None:
    before = await fill(own_database, home, tmp_path)
    await run_and_die(own_database, home, tmp_path, "archive", moment)
    privacy = open_private(own_database, KeyRing(FileKeys(home)), tmp_path / "archive")
    assert [event.as_json() for event in (await opened(privacy, TENANT))[:25]] == before
    await privacy.archive.archive(TENANT, now(), actor=OPERATOR)
    assert [event.as_json() for event in (await opened(privacy, TENANT))[:25]] == before
    await only_listed_objects(privacy, tmp_path)
    await privacy.close()


@pytest.mark.parametrize("moment", ["before delete", "after delete"])
async def test_a_killed_restore_loses_nothing_and_is_finished_by_the_next(
    own_database: Database, home: Path, tmp_path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_module, "OBJECT_PAYLOADS", 10)
    before = await fill(own_database, home, tmp_path)
    privacy = open_private(own_database, KeyRing(FileKeys(home)), tmp_path / "archive")
    await privacy.archive.archive(TENANT, now(), actor=OPERATOR)
    await run_and_die(own_database, home, tmp_path, "restore", moment)
    assert [event.as_json() for event in (await opened(privacy, TENANT))[:25]] == before
    await privacy.archive.restore(TENANT, actor=OPERATOR)
    assert None not in await texts(own_database, TENANT)
    assert [event.as_json() for event in (await opened(privacy, TENANT))[:25]] == before
    await only_listed_objects(privacy, tmp_path)
    await privacy.close()


async def fill(database: Database, home: Path, tmp_path: Path) -> list[dict[str, object]]:
    privacy = open_private(database, KeyRing(FileKeys(home)), tmp_path / "archive")
    await privacy.log.append(TENANT, [joined(f"c-{n}", f"Name {n}") for n in range(25)])
    events = [event.as_json() for event in await opened(privacy, TENANT)]
    await privacy.close()
    return events


async def run_and_die(database: Database, home: Path, tmp_path: Path, action: str, moment: str) -> None:
    server = database.server
    folders = [str(home), str(tmp_path / "archive")]
    words = [sys.executable, "-c", DIE_AT, server.owner_conninfo, server.app_conninfo, *folders, action, moment]
    died = await asyncio.to_thread(subprocess.run, words, env=os.environ, timeout=PATIENCE, capture_output=True)
    assert died.returncode == -signal.SIGKILL, died.stderr


async def only_listed_objects(privacy: Privacy, tmp_path: Path) -> None:
    listed = {one.object_key for one in await privacy.archive.objects(TENANT)}
    files = {
        file.relative_to(tmp_path / "archive").as_posix()
        for file in (tmp_path / "archive").rglob("*")
        if file.is_file()
    }
    assert files == listed


async def test_the_application_role_cannot_archive(database: Database, privacy: Privacy, tenant: UUID) -> None:
    await privacy.log.append(tenant, [noted("x")])
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with database.transaction(tenant) as tx:
            await tx.execute("INSERT INTO mnemon.archives SELECT * FROM mnemon.archives")


async def test_an_archive_before_the_first_event_is_empty(privacy: Privacy, tenant: UUID) -> None:
    with pytest.raises(ArchiveRefused, match="no events"):
        await privacy.archive.archive(tenant, datetime(2020, 1, 1, tzinfo=UTC), actor=OPERATOR)


async def test_archived_payloads_are_verified_where_they_are(
    privacy: Privacy, database: Database, ring: KeyRing, tenant: UUID, tmp_path: Path
) -> None:
    await privacy.log.append(tenant, [joined(f"c-{n}") for n in range(3)])
    [moved] = await privacy.archive.archive(tenant, now(), actor=OPERATOR)
    assert (await verify(privacy.log.reader, tenant)).intact
    (tmp_path / "archive" / moved.object_key).write_bytes(b"broken")
    other = open_private(database, ring, tmp_path / "archive")
    report = await verify(other.log.reader, tenant)
    assert [(one.sequence, one.kind) for one in report.faults] == [(1, "missing"), (2, "missing"), (3, "missing")]
    await other.close()
