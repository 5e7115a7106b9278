"""Transactions of one tenant: what they see, what they cannot touch, and how they end."""

from dataclasses import dataclass, field
from uuid import UUID

import psycopg
import pytest

from mnemon.db import database as module
from mnemon.db.database import Database
from mnemon.db.external import ExternalServer
from mnemon.errors import DatabaseUnavailable


async def test_a_session_without_a_tenant_sees_no_tenants_rows(database: Database, tenant: UUID) -> None:
    async with database.session() as session:
        rows = await (await session.execute("SELECT * FROM mnemon.tenants")).fetchall()
    assert rows == []


async def test_the_tenant_ends_with_the_transaction(database: Database, tenant: UUID) -> None:
    async with database.transaction(tenant) as tx:
        seen = await (await tx.execute("SELECT tenant_id FROM mnemon.tenants")).fetchall()
        connection = tx
    assert seen == [{"tenant_id": tenant}]
    async with database.session() as session:
        assert await (await session.execute("SELECT mnemon.current_tenant() AS t")).fetchone() == {"t": None}
    assert connection is not None


async def test_the_connection_that_came_back_last_is_lent_again(database: Database) -> None:
    async with database.session() as first, database.session() as second:
        pids = first.info.backend_pid, second.info.backend_pid
    for _ in range(3):
        async with database.session() as again:
            assert again.info.backend_pid == pids[0], "the outer one came back last"
    async with database.session() as first, database.session() as second:
        assert (first.info.backend_pid, second.info.backend_pid) == pids


async def test_a_failed_transaction_leaves_nothing(database: Database, tenant: UUID) -> None:
    with pytest.raises(ZeroDivisionError):
        async with database.transaction(tenant) as tx:
            await tx.execute(
                "INSERT INTO mnemon.users (tenant_id, user_id, email, name, role) "
                "VALUES (%s, gen_random_uuid(), 'x@y.org', 'x', 'user')",
                (tenant,),
            )
            raise ZeroDivisionError
    async with database.transaction(tenant) as tx:
        left = await (await tx.execute("SELECT count(*) AS n FROM mnemon.users")).fetchone()
    assert left == {"n": 0}


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE mnemon.mine (n int)",
        "CREATE TABLE public.mine (n int)",
        "ALTER TABLE mnemon.users DISABLE ROW LEVEL SECURITY",
        "DROP POLICY tenant_only ON mnemon.users",
        "TRUNCATE mnemon.users",
        "DELETE FROM mnemon.users",
        "DELETE FROM mnemon.events",
        "UPDATE mnemon.events SET actor_id = 'me'",
        "UPDATE mnemon.tenants SET name = 'mine'",
        "INSERT INTO mnemon.tenants VALUES (gen_random_uuid(), 'x', 'x')",
        "UPDATE mnemon.migrations SET checksum = ''",
        "SET ROLE mnemon_owner",
        "SET SESSION AUTHORIZATION mnemon_owner",
        "ALTER ROLE mnemon_app BYPASSRLS",
    ],
)
async def test_the_application_role_is_refused_what_it_does_not_need(
    database: Database, tenant: UUID, statement: str
) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with database.transaction(tenant) as tx:
            await tx.execute(statement)


async def test_every_table_with_a_tenant_is_isolated_and_functions_are_closed_to_the_public(database: Database) -> None:
    async with database.owner() as owner:
        open_tables = await (
            await owner.execute(
                """
                SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
                 WHERE c.relnamespace = 'mnemon'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
                   AND NOT (c.relrowsecurity AND EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid))
                """
            )
        ).fetchall()
        open_functions = await (
            await owner.execute(
                """
                SELECT proname FROM pg_proc
                 WHERE pronamespace = 'mnemon'::regnamespace AND prosecdef
                   AND (proconfig IS NULL OR NOT proconfig::text LIKE '%search_path%'
                        OR EXISTS (SELECT FROM aclexplode(coalesce(proacl, acldefault('f', proowner)))
                                    WHERE grantee = 0))
                """
            )
        ).fetchall()
    assert open_tables == []
    assert open_functions == []


async def test_an_exhausted_pool_is_an_error_that_says_so(
    empty_server: ExternalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHECKOUT_PATIENCE", 0.1)
    async with Database(empty_server, pool_size=1) as database, database.session():
        with pytest.raises(DatabaseUnavailable, match="No database connection was free"):
            async with database.session():
                pass


async def test_a_connection_that_the_server_closed_is_replaced_before_use(empty_server: ExternalServer) -> None:
    async with Database(empty_server, pool_size=1) as database:
        async with database.session() as session:
            first = await (await session.execute("SELECT pg_backend_pid() AS pid")).fetchone()
        assert first is not None
        async with await module.connect(database.server, empty_server.app_conninfo) as other:
            await other.execute("SELECT pg_terminate_backend(%s, 10000)", (first["pid"],))
        async with database.session() as session:
            second = await (await session.execute("SELECT pg_backend_pid() AS pid")).fetchone()
    assert second is not None
    assert second["pid"] != first["pid"]


@dataclass(frozen=True)
class AwayForAWhile(ExternalServer):
    """Refuses the next connections."""

    refusals: list[str] = field(default_factory=list)

    def ensure_running(self) -> None:
        if self.refusals:
            raise DatabaseUnavailable(self.refusals.pop())


async def test_after_a_long_outage_nobody_waits_as_long_again(
    empty_server: ExternalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Left to itself the pool doubles its pause with each refusal: the sixth would come after half a minute."""
    monkeypatch.setattr(module, "CHECKOUT_PATIENCE", 12.0)
    server = AwayForAWhile(empty_server.owner_conninfo, empty_server.app_conninfo, refusals=["It is away."] * 5)
    async with Database(server, pool_size=1) as database, database.session() as session:
        assert await (await session.execute("SELECT 1 AS one")).fetchone() == {"one": 1}
    assert server.refusals == []
