"""For random rows of two tenants, no statement of one ever returns or changes the other's."""

from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.errors import ForeignKeyViolation, InsufficientPrivilege

from mnemon.db.database import Database
from mnemon.ids import new_uuid

EMAILS = st.from_regex(r"[a-z]{1,8}@[a-z]{1,8}\.org", fullmatch=True)
ROWS = st.lists(st.tuples(EMAILS, st.sampled_from(["admin", "user"])), max_size=6, unique_by=lambda row: row[0])

READS = (
    "SELECT tenant_id FROM mnemon.users",
    "SELECT a.tenant_id FROM mnemon.users a CROSS JOIN mnemon.users b",
    "SELECT tenant_id FROM mnemon.users WHERE true OR tenant_id IS NOT NULL",
    "SELECT tenant_id FROM mnemon.users UNION ALL SELECT tenant_id FROM mnemon.tenants",
    "WITH RECURSIVE all_rows AS (SELECT tenant_id FROM mnemon.users) SELECT * FROM all_rows",
    "SELECT tenant_id FROM mnemon.users ORDER BY email DESC FOR UPDATE",
)
WRITES = (
    "UPDATE mnemon.users SET name = 'changed' RETURNING tenant_id",
    "UPDATE mnemon.users AS u SET role = 'user' FROM mnemon.users AS v WHERE true RETURNING u.tenant_id",
    "INSERT INTO mnemon.users (tenant_id, user_id, email, name, role) "
    "SELECT tenant_id, gen_random_uuid(), 'copy-' || email, name, role FROM mnemon.users RETURNING tenant_id",
)


async def fill(database: Database, tenant: UUID, rows: list[tuple[str, str]]) -> None:
    async with database.owner() as owner:
        for email, role in rows:
            await owner.execute(
                "INSERT INTO mnemon.users (tenant_id, user_id, email, name, role) VALUES (%s, %s, %s, 'kept', %s)",
                (tenant, new_uuid(), email, role),
            )


async def contents(database: Database, tenant: UUID) -> list[dict[str, object]]:
    async with database.owner() as owner:
        return await (
            await owner.execute("SELECT * FROM mnemon.users WHERE tenant_id = %s ORDER BY user_id", (tenant,))
        ).fetchall()


async def make_tenant(database: Database) -> UUID:
    tenant = new_uuid()
    async with database.owner() as owner:
        await owner.execute("INSERT INTO mnemon.tenants VALUES (%s, %s, 'x')", (tenant, f"p-{tenant.hex}"))
    return tenant


@given(ours=ROWS, theirs=ROWS, statement=st.sampled_from(READS + WRITES))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
async def test_no_statement_reaches_another_tenant(
    database: Database, ours: list[tuple[str, str]], theirs: list[tuple[str, str]], statement: str
) -> None:
    us, them = await make_tenant(database), await make_tenant(database)
    await fill(database, us, ours)
    await fill(database, them, theirs)
    before = await contents(database, them)
    async with database.transaction(us) as tx:
        rows = await (await tx.execute(statement)).fetchall()
    assert {row["tenant_id"] for row in rows} <= {us}
    assert len(rows) >= len(ours)
    assert await contents(database, them) == before


async def test_a_row_cannot_be_given_to_another_tenant(database: Database, tenant: UUID, other_tenant: UUID) -> None:
    await fill(database, tenant, [("a@b.org", "user")])
    for statement in (
        "UPDATE mnemon.users SET tenant_id = %s",
        "INSERT INTO mnemon.users (tenant_id, user_id, email, name, role) "
        "VALUES (%s, gen_random_uuid(), 'x@y.org', 'x', 'user')",
        "INSERT INTO mnemon.periods VALUES (%s, 'main', 'p', '2026-01-01', '2026-01-31', 'open')",
    ):
        with pytest.raises((InsufficientPrivilege, ForeignKeyViolation)):
            async with database.transaction(tenant) as tx:
                await tx.execute(statement, (other_tenant,))
