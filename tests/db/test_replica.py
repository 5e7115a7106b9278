"""Reads that may be behind go to a streaming replica while it is near, and to the primary otherwise."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from tests.api.conftest import gateway
from tests.conftest import make_tenant, new_folder
from tests.documents.sample_chunks import put_document
from tests.patience import PATIENCE
from tests.standby import base_backup, started

from mnemon.app import Mnemon
from mnemon.ask.inputs import PassageSearch
from mnemon.ask.operations import search
from mnemon.db.cluster import Cluster
from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import replica_conninfo
from mnemon.db.leave import leave_to_lag, reading_behind
from mnemon.db.migrate import migrate
from mnemon.db.replica import Replica
from mnemon.errors import BadSettings, NotFound
from mnemon.log.events import SYSTEM
from mnemon.log.privacy.wrapping_keys import KeyRing
from mnemon.operations import Caller
from mnemon.settings import Settings

IS_REPLICA = "SELECT pg_is_in_recovery() AS replica"


async def answered_by_replica(database: Database, tenant: UUID) -> bool:
    async def read() -> bool:
        async with database.transaction(tenant) as tx:
            row = await (await tx.execute(IS_REPLICA)).fetchone()
        return bool(row and row["replica"])

    return await reading_behind(read)


async def until_it_is(wanted: bool, database: Database, tenant: UUID) -> None:
    async with asyncio.timeout(PATIENCE):
        while await answered_by_replica(database, tenant) is not wanted:  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.02)


async def test_where_the_replica_is_away_the_primary_answers(database: Database, open_folder: Path) -> None:
    tenant = await make_tenant(database)
    away = Replica("host=/nowhere dbname=mnemon connect_timeout=1", 1, 2)
    # A hold of its own: closing a database gives its hold on the server back for good.
    async with Database(EmbeddedServer(open_folder / "shared", linger_seconds=0), replica=away) as opened:
        for _ in range(3):
            assert not await answered_by_replica(opened, tenant)


async def test_what_a_replica_does_not_know_is_asked_of_the_primary() -> None:
    tried = []

    async def read() -> str:
        leave = leave_to_lag()
        tried.append(leave is not None)
        if leave is not None:
            leave.used = True
            raise NotFound("It is not there yet.")
        return "here"

    assert await reading_behind(read) == "here"
    assert tried == [True, False]


async def test_leave_ends_with_what_it_was_given_for() -> None:
    later = asyncio.Event()

    async def left_behind() -> bool:
        await later.wait()
        return leave_to_lag() is None

    async def read() -> "asyncio.Task[bool]":
        assert leave_to_lag() is not None
        return asyncio.create_task(left_behind())

    task = await reading_behind(read)
    later.set()
    assert await task, "a task that outlives the read may not write to a replica"


def test_a_replica_is_read_as_the_application_role() -> None:
    assert conninfo_to_dict(replica_conninfo("postgresql://owner@standby/mnemon"))["options"] == "-c role=mnemon_app"
    assert "options" not in conninfo_to_dict(replica_conninfo("postgresql://mnemon_app@standby/mnemon"))
    with pytest.raises(BadSettings, match="MNEMON_DATABASE_REPLICA_URL"):
        replica_conninfo("https://standby")


@pytest.fixture
def primary(served_home: Path) -> Iterator[EmbeddedServer]:
    embedded = EmbeddedServer(served_home, linger_seconds=0)
    embedded.ensure_running()
    yield embedded
    embedded.release()


@pytest.fixture
async def standby(primary: EmbeddedServer, served_home: Path, open_folder: Path) -> AsyncIterator[Cluster]:
    # A hold of its own: the server stops with the last one.
    async with Database(EmbeddedServer(served_home, linger_seconds=0)) as opened, opened.owner() as owner:
        await migrate(owner)
    copy = await asyncio.to_thread(base_backup, primary, new_folder(open_folder, "standby"), "-R")
    with started(copy) as running:
        yield running


@pytest.mark.slow
async def test_searches_go_to_the_replica_while_it_is_near(
    primary: EmbeddedServer, standby: Cluster, ring: KeyRing, tmp_path: Path
) -> None:
    replica = Replica(replica_conninfo(standby.conninfo("mnemon_owner")), 1, 4)
    async with Database(primary, replica=replica) as database:
        tenant = await make_tenant(database)
        await until_it_is(True, database, tenant)
        async with gateway(Settings(home=tmp_path, embedder="none"), database, ring) as mnemon:
            await search_until_found(mnemon, tenant, "The ferret sleeps.", "ferret")
            # Its replay stands still: what is written now comes from the primary once the replica is too old.
            with psycopg.connect(standby.conninfo("postgres"), autocommit=True) as superuser:
                superuser.execute("SELECT pg_wal_replay_pause()")
                await search_until_found(mnemon, tenant, "The violin is out of tune.", "violin")
                assert not await answered_by_replica(database, tenant)
                superuser.execute("SELECT pg_wal_replay_resume()")
            await until_it_is(True, database, tenant)
            async with database.transaction(tenant) as tx:
                row = await (await tx.execute(IS_REPLICA)).fetchone()
            assert row == {"replica": False}, "whoever gave no leave is answered by the primary"


@pytest.mark.slow
async def test_a_replica_that_followed_the_primary_before_this_one_is_not_read(standby: Cluster) -> None:
    """It may have come further than the new one, and lacks all that was written there."""

    async def read_at(timeline: int, most_seconds: float) -> bool:
        replica = Replica(replica_conninfo(standby.conninfo("mnemon_owner")), most_seconds, 2)

        async def position() -> tuple[str, int]:
            return "0/1", timeline

        replica.may_be_read(position)
        assert replica._look is not None
        await asyncio.wait_for(replica._look, PATIENCE)
        found = replica.may_be_read(position)
        await replica.close()
        return found

    assert await read_at(1, PATIENCE)
    assert not await read_at(2, 1)


@pytest.mark.slow
async def test_a_replica_that_goes_away_in_the_middle_costs_a_second_try(
    primary: EmbeddedServer, standby: Cluster
) -> None:
    replica, tried = Replica(replica_conninfo(standby.conninfo("mnemon_owner")), PATIENCE, 4), []
    async with Database(primary, replica=replica) as database:
        tenant = await make_tenant(database)
        await until_it_is(True, database, tenant)

        async def read() -> bool:
            async with database.transaction(tenant) as tx:
                row = await (await tx.execute(IS_REPLICA)).fetchone()
                assert row is not None
                tried.append(row["replica"])
                if row["replica"]:
                    with psycopg.connect(standby.conninfo("postgres"), autocommit=True) as superuser:
                        superuser.execute("SELECT pg_terminate_backend(%s, 10000)", (tx.info.backend_pid,))
                return bool(await (await tx.execute(IS_REPLICA)).fetchone())

        assert await reading_behind(read)
        assert tried == [True, False]
        assert not await answered_by_replica(database, tenant), "it is not asked again for a while"


async def search_until_found(mnemon: Mnemon, tenant: UUID, text: str, word: str) -> None:
    async with mnemon.database.transaction(tenant) as tx:
        await put_document(tx, tenant, [text])
    async with asyncio.timeout(PATIENCE):
        while True:
            found = await search(mnemon, Caller(tenant, SYSTEM), PassageSearch(query=word))
            if [one.text for one in found.items] == [text]:
                return
            await asyncio.sleep(0.02)
