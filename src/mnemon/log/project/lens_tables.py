"""A lens's tables: their columns, their hash, a private copy to rebuild into, and the exchange of a tenant's rows."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg import sql
from psycopg.rows import tuple_row
from psycopg.types.json import Jsonb

from mnemon.db.database import Connection
from mnemon.log.project.lens import Lens, Tables

COLUMNS = """
SELECT attname AS name, attgenerated <> '' AS generated
  FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
KEY = """
SELECT a.attname AS name
  FROM pg_index i CROSS JOIN unnest(i.indkey::smallint[]) WITH ORDINALITY AS part (number, place)
  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = part.number
 WHERE i.indrelid = %s::regclass AND i.indisprimary ORDER BY part.place
"""
SEARCH_INDEXES = """
SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
 WHERE i.indrelid = %s::regclass AND a.amname <> 'btree'
"""
HASHED_AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class Column:
    """A column; a generated one is never written."""

    name: str
    generated: bool


async def columns_in(connection: Connection, table: str) -> list[Column]:
    rows = await (await connection.execute(COLUMNS, (table,))).fetchall()
    return [Column(**row) for row in rows]


async def key_in(connection: Connection, table: str) -> list[str]:
    rows = await (await connection.execute(KEY, (table,))).fetchall()
    return [row["name"] for row in rows]


async def make_copies(session: Connection, lens: Lens) -> Tables:
    """Empty copies that only this session sees, and that vanish with it however it ends.

    Nobody searches in them: what the database would make of the rows for that is left out.
    """
    copies = {}
    for name, table in lens.real_tables.items():
        copy = sql.Identifier("pg_temp", name)
        await session.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(copy))
        await session.execute(
            sql.SQL("CREATE TEMPORARY TABLE {} (LIKE {} INCLUDING ALL EXCLUDING GENERATED)").format(
                sql.Identifier(name), sql.SQL(table)
            )
        )
        copies[name] = f'pg_temp."{name}"'
        for row in await (await session.execute(SEARCH_INDEXES, (copies[name],))).fetchall():
            await session.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier("pg_temp", row["name"])))
    return copies


async def exchange_in(session: Connection, tenant: UUID, lens: Lens, copies: Tables) -> None:
    """Put the copies' rows in the place of the tenant's; readers see the old rows until the commit, then the new."""
    if lens.exchange is not None:
        await session.execute(sql.SQL("SELECT {}()").format(sql.SQL(lens.exchange)))
        return
    for table in reversed(lens.tables):
        await session.execute(sql.SQL("DELETE FROM {} WHERE tenant_id = %s").format(sql.SQL(table)), (tenant,))
    for name, table in lens.real_tables.items():
        names = await _written_columns(session, table)
        await session.execute(
            sql.SQL("INSERT INTO {table} ({names}) SELECT {names} FROM {copy}").format(
                table=sql.SQL(table), names=names, copy=sql.SQL(copies[name])
            )
        )


async def restore_in(session: Connection, lens: Lens, copies: Tables, state: dict[str, Sequence[object]]) -> None:
    """Fill the copies with the rows of a snapshot."""
    for name, table in lens.real_tables.items():
        names = await _written_columns(session, table)
        statement = sql.SQL(
            "INSERT INTO {copy} ({names}) SELECT {names} FROM jsonb_populate_recordset(NULL::{table}, %s)"
        ).format(copy=sql.SQL(copies[name]), names=names, table=sql.SQL(table))
        await session.execute(statement, (Jsonb(state.get(name) or []),))


async def _written_columns(connection: Connection, table: str) -> sql.Composed:
    columns = [one for one in await columns_in(connection, table) if not one.generated]
    return sql.SQL(", ").join(sql.Identifier(one.name) for one in columns)


async def state_hash_in(
    connection: Connection, tenant: UUID, lens: Lens, tables: Tables | None = None, *, generated: bool = True
) -> bytes:
    """SHA-256 over every row of the tenant, table by table, in the order of the primary keys, column by column.

    Columns that the database generates are left out where copies, which lack them, are compared.
    """
    digest = hashlib.sha256(b"mnemon/lens/1\n")
    for name, place in sorted((tables or lens.real_tables).items()):
        real = lens.real_tables[name]
        columns = [
            one
            for one in await columns_in(connection, real)
            if one.name not in lens.unhashed and (generated or not one.generated)
        ]
        digest.update(f"{name}\n".encode())
        statement = _select(place, columns, await key_in(connection, real))
        async with connection.cursor(name="state_hash", scrollable=False, row_factory=tuple_row) as cursor:
            await cursor.execute(statement, {"tenant": tenant})
            while rows := await cursor.fetchmany(HASHED_AT_ONCE):
                digest.update("".join([f"{line}\n" for (line,) in rows]).encode())
    return digest.digest()


def _select(place: str, columns: list[Column], key: list[str]) -> sql.Composed:
    # Text columns are ordered by their bytes, as collations differ between machines.
    order = [sql.SQL('{}::text COLLATE "C"').format(sql.Identifier(name)) for name in key]
    values = [sql.SQL("{}").format(sql.Identifier(one.name)) for one in columns]
    return sql.SQL(
        "SELECT jsonb_build_array({values})::text AS line FROM {place} WHERE tenant_id = %(tenant)s ORDER BY {order}"
    ).format(values=sql.SQL(", ").join(values), place=sql.SQL(place), order=sql.SQL(", ").join(order))
