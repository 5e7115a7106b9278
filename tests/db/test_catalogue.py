"""The catalogue: whatever guard is taken away, changed or added, the comparison names it."""

import psycopg
import psycopg.rows
import pytest
from psycopg.conninfo import make_conninfo
from tests.conftest import make_tenant

from mnemon.db.catalogue import differences, expected_listing, listing, outside
from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.log.partitions import Partitions
from mnemon.verification.guards import A_PARTITION

CHANGES = [
    ("ALTER TABLE mnemon.events DISABLE TRIGGER only_grows", "trigger events.only_grows", "was changed"),
    ("DROP TRIGGER only_grows ON mnemon.event_labels", "trigger event_labels.only_grows", "is missing"),
    ("ALTER TABLE mnemon.users DISABLE ROW LEVEL SECURITY", "table users", "was changed"),
    ("DROP POLICY tenant_only ON mnemon.users", "policy users.tenant_only", "is missing"),
    ("CREATE POLICY all_of_it ON mnemon.users USING (true)", "policy users.all_of_it", "should not be there"),
    ("ALTER POLICY tenant_only ON mnemon.jobs USING (true)", "policy jobs.tenant_only", "was changed"),
    ("GRANT UPDATE ON mnemon.events TO mnemon_app", "table events", "was changed"),
    ("GRANT UPDATE (payload) ON mnemon.event_payloads TO PUBLIC", "column event_payloads.payload", "was changed"),
    ("GRANT CREATE ON SCHEMA mnemon TO mnemon_app", "schema mnemon", "was changed"),
    ("ALTER FUNCTION mnemon.find_access_token RESET ALL", "function mnemon.find_access_token(bytea)", "was changed"),
    ("ALTER FUNCTION mnemon.current_tenant SECURITY DEFINER", "function mnemon.current_tenant()", "was changed"),
    (
        "GRANT EXECUTE ON FUNCTION mnemon.open_partition TO PUBLIC",
        "function mnemon.open_partition(text,integer)",
        "was changed",
    ),
    ("ALTER TABLE mnemon.users DROP CONSTRAINT users_role_check", "constraint users.users_role_check", "is missing"),
    ("DROP INDEX mnemon.users_by_email", "index users_by_email", "is missing"),
    ("CREATE TABLE mnemon.more (x int)", "table more", "should not be there"),
    (
        "CREATE RULE quietly AS ON INSERT TO mnemon.erasures DO INSTEAD NOTHING",
        "rule erasures.quietly",
        "should not be there",
    ),
    ("ALTER TABLE mnemon.users ALTER COLUMN role SET DEFAULT 'admin'", "column users.role", "was changed"),
    ("DROP FUNCTION mnemon.is_milestone CASCADE", "function mnemon.is_milestone(bigint)", "is missing"),
    ("DROP TRIGGER is_never_emptied ON mnemon.events_{n}", "trigger events_{n}.is_never_emptied", "is missing"),
    ("GRANT SELECT ON mnemon.events_{n} TO mnemon_app", "table events_{n}", "was changed"),
]


@pytest.fixture(scope="module")
async def partition(database: Database) -> int:
    return await Partitions(database).number(await make_tenant(database), "main")


async def test_a_database_is_as_this_program_makes_it(database: Database, partition: int) -> None:
    async with database.owner() as owner:
        assert differences(await listing(owner), await expected_listing(owner, A_PARTITION)) == {}
        assert await outside(owner) == {}
        assert await owner.execute("SELECT FROM mnemon.tenants") is not None


@pytest.mark.parametrize(("change", "what", "how"), CHANGES)
async def test_a_changed_guard_is_named(
    database: Database, partition: int, server: EmbeddedServer, change: str, what: str, how: str
) -> None:
    conninfo = make_conninfo(server.cluster.conninfo("postgres"), dbname="mnemon")
    async with database.owner() as owner:
        expected = await expected_listing(owner, A_PARTITION)
    async with await psycopg.AsyncConnection.connect(conninfo, row_factory=psycopg.rows.dict_row) as superuser:
        await superuser.execute(change.format(n=partition))
        found = differences(await listing(superuser), expected)
        await superuser.rollback()
    assert found.get(what.format(n=partition)) == how
