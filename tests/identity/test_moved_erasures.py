"""Who was erased while their tenant was elsewhere stays erased where it came back to, whatever is restored there."""

from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from mnemon.db.backup import backup, restore
from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.db.external import ExternalServer
from mnemon.identity.tenant_moves import move_tenant
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.log.privacy.erasure_list import ErasureList
from tests.identity.two_installations import URL, as_superuser
from tests.log.conftest import joined
from tests.log.test_erasure_list import Machine

GONE, STAYS = "c-3", "c-4"
LONG_AGO = "UPDATE mnemon.erasure_lists SET noted_until = now() + interval '2 hours'"


@pytest.fixture
def one(server: EmbeddedServer, own_server: ExternalServer, home: Path) -> Machine:
    return Machine(as_superuser(server, own_server), home)


@pytest.fixture
def two(one: Machine, server: EmbeddedServer, second_server: ExternalServer, tmp_path: Path) -> Machine:
    """The same keys, and a list of its own."""
    made = Machine(as_superuser(server, second_server), one.home)
    made.tenant, made.listed = one.tenant, ErasureList(tmp_path / "two")
    return made


async def move(tenant_from: Machine, to: Machine) -> None:
    async with Database(tenant_from.server, 2) as database:
        await move_tenant(database, "kept", to.server, URL, lambda words: None)


async def execute(machine: Machine, statement: str) -> None:
    async with await psycopg.AsyncConnection.connect(machine.server.owner_conninfo, autocommit=True) as owner:
        await owner.execute(statement)  # type: ignore[arg-type]


@pytest.mark.parametrize("lost", [False, True], ids=["replaced", "lost"])
async def test_who_was_erased_elsewhere_does_not_come_back_with_a_backup(
    one: Machine, two: Machine, tmp_path: Path, lost: bool
) -> None:
    file = tmp_path / "kept.backup"
    async with one.started() as privacy:
        people = [joined(GONE, "Gone Soon"), joined(STAYS, "Stays Here")]
        await privacy.log.append(one.tenant, people)
    async with two.started() as privacy:
        await privacy.log.append(UUID(int=7), [joined("c-9", "Nobody")])
    await execute(two, "DELETE FROM mnemon.tenants")
    await backup(one.server, file, one.keys)
    await move(one, two)
    await two.erase(GONE)
    # Meanwhile others were erased here, so that the list has come further than that erasure.
    await execute(one, LONG_AGO)
    await move(two, one)
    if lost:
        async with one.started() as privacy:
            await privacy.note_erasures()
        await restore(one.server, file, one.keys, replace=True)
    else:
        await one.restore(file)
    assert (await one.names())[GONE] == REDACTED
