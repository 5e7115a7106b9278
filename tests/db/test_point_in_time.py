"""A base backup and archived write-ahead log bring the database back to a moment of one's choice."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from tests.api.conftest import TESTER
from tests.bus.test_publishing import TYPE
from tests.conftest import make_tenant, new_folder
from tests.patience import until
from tests.standby import base_backup, started

from mnemon.db.cluster import Cluster
from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer
from mnemon.db.migrate import migrate
from mnemon.log.events import NewEvent
from mnemon.log.proof.integrity import Integrity
from mnemon.log.store import EventLog

ARCHIVING = "archive_mode = on\narchive_command = 'test ! -f {archive}/%f && cp %p {archive}/%f'\n"
RECOVERING = """
restore_command = 'cp {archive}/%f %p'
recovery_target_name = 'before_the_mistake'
recovery_target_action = promote
archive_mode = off
"""


@pytest.fixture
def archive(open_folder: Path) -> Path:
    """Where segments of the write-ahead log are copied to; anyone's, for the server's user."""
    folder = new_folder(open_folder, "archive")
    folder.chmod(0o777)
    return folder


@pytest.fixture
def primary(served_home: Path, archive: Path) -> Iterator[EmbeddedServer]:
    embedded = EmbeddedServer(served_home, linger_seconds=0)
    with (embedded.cluster.data / "postgresql.conf").open("a") as configuration:
        configuration.write(ARCHIVING.format(archive=archive))
    embedded.ensure_running()
    yield embedded
    embedded.release()


@pytest.mark.slow
async def test_the_database_comes_back_as_it_was_before_a_mistake(
    primary: EmbeddedServer, archive: Path, open_folder: Path, tmp_path: Path
) -> None:
    async with Database(primary) as database, EventLog(database) as events:
        async with database.owner() as owner:
            await migrate(owner)
        tenant = await make_tenant(database)
        await events.register_type(tenant, TYPE, TESTER)
        await write(events, tenant, range(5))
        copy = await asyncio.to_thread(base_backup, primary, new_folder(open_folder, "base"))
        await write(events, tenant, range(5, 10))
        last = await mark(primary)
        await write(events, tenant, range(10, 15))
        await Integrity(database, events.reader, tmp_path, events).checkpoint(tenant)
        until(lambda: (archive / last).exists(), "the segment with the mark is archived")
    with (copy.data / "postgresql.conf").open("a") as configuration:
        configuration.write(RECOVERING.format(archive=archive))
    (copy.data / "recovery.signal").touch()
    shutil.chown(copy.data / "recovery.signal", (copy.data / "postgresql.conf").owner())
    with started(copy):
        until(lambda: has_recovered(copy), "the end of the recovery")
        way = ExternalServer(*map(copy.conninfo, ("mnemon_owner", "mnemon_app")))
        async with Database(way) as database, EventLog(database) as events:
            assert await numbers(events, tenant) == list(range(10)), "the mistake is gone, and nothing else"
            integrity = Integrity(database, events.reader, tmp_path, events)
            assert (await integrity.verify(tenant)).faults != [], "what was signed of the mistake says so"
            [beyond] = await integrity.adopt_restore(tenant)
            assert beyond.furthest.sequence == beyond.ends_at + 5
            assert (await integrity.verify(tenant)).faults == []
            await write(events, tenant, [99])
            assert (await numbers(events, tenant))[-1] == 99, "it goes on from there"


async def mark(primary: EmbeddedServer) -> str:
    """A name for this moment, in a segment that is archived; its name."""
    with psycopg.connect(primary.cluster.conninfo("postgres"), autocommit=True) as superuser:
        superuser.execute("SELECT pg_create_restore_point('before_the_mistake')")
        row = superuser.execute("SELECT pg_walfile_name(pg_current_wal_insert_lsn())").fetchone()
        superuser.execute("SELECT pg_switch_wal()")
    assert row is not None
    return str(row[0])


def has_recovered(copy: Cluster) -> bool:
    try:
        with psycopg.connect(copy.conninfo("postgres")) as superuser:
            return superuser.execute("SELECT pg_is_in_recovery()").fetchone() == (False,)
    except psycopg.OperationalError:
        return False


async def write(events: EventLog, tenant: UUID, numbers: "range | list[int]") -> None:
    for number in numbers:
        await events.append(tenant, [NewEvent(type=TYPE.type, data={"number": number}, actor=TESTER)])


async def numbers(events: EventLog, tenant: UUID) -> list[int]:
    page = await events.read_page(tenant, limit=200)
    return sorted(event.data["number"] for event in page.events if event.type == TYPE.type)
