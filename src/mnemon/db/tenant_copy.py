"""Copying a tenant's rows into another database: only stretches that differ, until all hashes are the same."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import psycopg
from psycopg import sql

from mnemon.db.database import Connection
from mnemon.db.tenant_tables import TenantTable, tenant_tables
from mnemon.errors import MnemonError

# So that the same value is the same text on both sides.
SAME_TEXTS = """
SELECT set_config('TimeZone', 'UTC', false), set_config('DateStyle', 'ISO, YMD', false),
       set_config('IntervalStyle', 'postgres', false), set_config('bytea_output', 'hex', false),
       set_config('extra_float_digits', '1', false)
"""
# Rows are copied as they are: triggers that count words or move runs have done so where the rows come from.
AS_A_REPLICA = "SET session_replication_role = replica"
# What is made on the way belongs to whom the rest of the schema belongs, also where a superuser copies.
AS_THE_OWNER = """
SELECT set_config('role', pg_get_userbyid(nspowner), false) FROM pg_namespace WHERE nspname = 'mnemon'
"""


class MoveRefused(MnemonError):
    """The tenant cannot be moved there, or not as things are."""

    code = "MOVE_REFUSED"
    status = 409


Hashes = Mapping[str, tuple[int, str]]


@dataclass(frozen=True)
class TenantCopy:
    """A tenant's rows in two databases, and which partition here is which there."""

    tenant: UUID
    here: Connection
    there: Connection
    numbers: Mapping[int, int]

    async def bring_over(self, tables: Iterable[TenantTable]) -> "RowsSent":
        """Make the rows there what they are here."""
        sent, touched = 0, []
        for table in tables:
            here, there = await self.both_hashes(table)
            differing = sorted(one for one in here.keys() | there.keys() if here.get(one) != there.get(one))
            if differing:
                await self._send(table, differing if there else None)
                sent += sum(here[one][0] for one in differing if one in here)
                touched.append(table)
        return RowsSent(sent, touched)

    async def both_hashes(self, table: TenantTable) -> tuple[Hashes, Hashes]:
        """Here and there, at the same time: two servers read."""
        here, there = await asyncio.gather(self.hashes(table), self.hashes(table, there=True))
        return here, there

    async def hashes(self, table: TenantTable, there: bool = False) -> Hashes:
        connection, numbers = (self.there, {}) if there else (self.here, self.numbers)
        rows = await (await connection.execute(table.hashes(self.tenant, numbers))).fetchall()
        return {row["stretch"]: (row["rows"], row["hash"]) for row in rows}

    async def _send(self, table: TenantTable, stretches: list[str] | None) -> None:
        """Rows of these stretches; of all, where there are none yet."""
        rows = table.rows(self.tenant, self.numbers)
        given = sql.SQL("SELECT {} FROM ({}) AS given").format(table.column_list, rows)
        if stretches is not None:
            wanted = sql.SQL(" WHERE stretch = ANY ({})").format(sql.Literal(stretches))
            given += wanted
            old = sql.SQL("DELETE FROM {0} WHERE tenant_id = {1} AND ({2}) IN (SELECT {2} FROM ({3}) AS given {4})")
            key = sql.SQL(", ").join(map(sql.Identifier, table.key))
            tenant = sql.Literal(str(self.tenant))
            await self.there.execute(old.format(table.relation, tenant, key, table.rows(self.tenant, {}), wanted))
        out = sql.SQL("COPY ({}) TO STDOUT (FORMAT binary)").format(given)
        into = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(table.relation, table.column_list)
        async with self.here.cursor().copy(out) as reading, self.there.cursor().copy(into) as writing:
            async for block in reading:
                await writing.write(block)

    async def differing(self, tables: Iterable[TenantTable]) -> list[str]:
        """Tables whose rows are not the same on both sides."""
        found = []
        for one in tables:
            here, there = await self.both_hashes(one)
            if here != there:
                found.append(one.name)
        return found


@dataclass(frozen=True)
class RowsSent:
    """How many rows, and of which tables: the others were the same on both sides already."""

    rows: int
    tables: Sequence[TenantTable]


async def same_tables(here: Connection, there: Connection) -> list[TenantTable]:
    """The tables of both, which must be the same."""
    ours, theirs = await tenant_tables(here), await tenant_tables(there)
    if ours != theirs:
        apart = sorted({one.name for one in ours} ^ {one.name for one in theirs}) or "columns"
        raise MoveRefused(f"The two databases differ in their tables ({apart}): run `mnemon db migrate` on both first.")
    return ours


async def prepare_connection(connection: Connection) -> None:
    await connection.execute(SAME_TEXTS)
    try:
        await connection.execute(AS_A_REPLICA)
    except psycopg.errors.InsufficientPrivilege:
        row = await (await connection.execute("SELECT current_user AS name, current_database() AS base")).fetchone()
        assert row is not None
        raise MoveRefused(
            f"In {row['base']} the role {row['name']} may not copy rows as they are: a superuser has to say "
            f"GRANT SET ON PARAMETER session_replication_role TO {row['name']}"
        ) from None
    await connection.execute(AS_THE_OWNER)
