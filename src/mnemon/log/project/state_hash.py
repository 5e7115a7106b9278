"""State hashes: a digest of a lens's rows, equal exactly when the rows are."""

import hashlib
from uuid import UUID

from psycopg import sql
from psycopg.rows import tuple_row

from mnemon.db.database import Connection
from mnemon.log.project.lens import Lens, Tables
from mnemon.log.project.lens_tables import Column, columns_in, key_in

ROWS = 2000


async def state_hash_in(connection: Connection, tenant: UUID, lens: Lens, tables: Tables | None = None) -> bytes:
    """SHA-256 over every row of the tenant, table by table, in the order of the primary keys, column by column."""
    digest = hashlib.sha256(b"mnemon/lens/1\n")
    for name, place in sorted((tables or lens.real_tables).items()):
        real = lens.real_tables[name]
        columns = [one for one in await columns_in(connection, real) if one.name not in lens.unhashed]
        digest.update(f"{name}\n".encode())
        statement = _select(place, columns, await key_in(connection, real))
        async with connection.cursor(name="state_hash", scrollable=False, row_factory=tuple_row) as cursor:
            await cursor.execute(statement, {"tenant": tenant})
            while rows := await cursor.fetchmany(ROWS):
                digest.update("".join([f"{line}\n" for (line,) in rows]).encode())
    return digest.digest()


def _select(place: str, columns: list[Column], key: list[str]) -> sql.Composed:
    # Text columns are ordered by their bytes, as collations differ between machines.
    order = [sql.SQL('{}::text COLLATE "C"').format(sql.Identifier(name)) for name in key]
    values = [sql.SQL("{}").format(sql.Identifier(one.name)) for one in columns]
    return sql.SQL(
        "SELECT jsonb_build_array({values})::text AS line FROM {place} WHERE tenant_id = %(tenant)s ORDER BY {order}"
    ).format(values=sql.SQL(", ").join(values), place=sql.SQL(place), order=sql.SQL(", ").join(order))
