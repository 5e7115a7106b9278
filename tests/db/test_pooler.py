"""A pooler in transaction mode between requests and the database, and a database with several hosts."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from tests.api.conftest import TESTER
from tests.bus.test_publishing import TYPE
from tests.pooler import POOLED, behind, pooler

from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer, external_server
from mnemon.log.events import NewEvent
from mnemon.log.store import EventLog


def test_of_several_hosts_the_one_that_takes_writes_is_used() -> None:
    found = external_server("postgresql://mnemon@one,two:5433/mnemon", None)
    assert conninfo_to_dict(found.owner_conninfo)["target_session_attrs"] == "read-write"
    assert found.fails_over
    told = external_server("postgresql://mnemon@one,two/mnemon?target_session_attrs=any", None)
    assert conninfo_to_dict(told.app_conninfo)["target_session_attrs"] == "any"
    assert not external_server("postgresql://mnemon@one/mnemon", None).fails_over


async def test_a_host_that_is_down_is_passed_over(server: EmbeddedServer, database: Database, tenant: UUID) -> None:
    host = conninfo_to_dict(server.owner_conninfo)["host"]
    ways = [make_conninfo(one, host=f"/nowhere,{host}") for one in (server.owner_conninfo, server.app_conninfo)]
    async with Database(external_server(*ways)) as opened, opened.transaction(tenant) as tx:
        row = await (await tx.execute("SELECT mnemon.current_tenant() AS tenant")).fetchone()
    assert row == {"tenant": tenant}


@pytest.fixture
def pooled(server: EmbeddedServer, database: Database, open_folder: Path) -> Iterator[ExternalServer]:
    """PgBouncer with two connections for everyone."""
    with pooler(server, open_folder) as address:
        yield behind(address, server)


@pytest.mark.slow
async def test_requests_share_few_connections_and_never_a_tenant(
    pooled: ExternalServer, tenant: UUID, other_tenant: UUID
) -> None:
    async with Database(pooled, 10) as database, EventLog(database) as events:
        for one in (tenant, other_tenant):
            await events.register_type(one, TYPE, TESTER)

        async def place(whose: UUID, number: int) -> None:
            await events.append(whose, [NewEvent(type=TYPE.type, data={"number": number}, actor=TESTER)])
            page = await events.read_page(whose, limit=200)
            assert {one.tenant_id for one in page.events} == {whose}

        await asyncio.gather(*(place(one, number) for number in range(30) for one in (tenant, other_tenant)))
        for one in (tenant, other_tenant):
            found = [event for event in (await events.read_page(one, limit=200)).events if event.type == TYPE.type]
            assert sorted(event.data["number"] for event in found) == list(range(30))


@pytest.mark.slow
@pytest.mark.skipif(POOLED, reason="this is it")
def test_the_acceptance_suite_passes_with_two_gateways_behind_the_pooler(pooled: ExternalServer) -> None:
    """The same suite in a run of its own: `MNEMON_TEST_POOLED=1 pytest tests/acceptance`."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "--show-capture=no", "tests/acceptance"]
    done = subprocess.run(
        command, env=os.environ | {"MNEMON_TEST_POOLED": "1"}, cwd=Path(__file__).parents[2], capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-8000:]
