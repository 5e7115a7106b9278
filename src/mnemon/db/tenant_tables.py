"""The tables that hold rows of tenants, as the catalogue has them, and how the rows of one tenant fall into stretches.

Two databases number their partitions each in its own way. So a row is always looked at with the number that its
partition has where the tenant goes to: there, the same rows give the same hashes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from psycopg import sql

from mnemon.db.database import Connection

# Without partitions, also those that were detached by somebody who was gone before they were dropped.
TABLES = """
SELECT t.relname AS name,
       (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
         WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
       (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_constraint c
          JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = ANY (c.conkey)
         WHERE c.conrelid = t.oid AND c.contype = 'p') AS key
  FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = 'mnemon'
  JOIN pg_attribute o ON o.attrelid = t.oid AND o.attname = 'tenant_id'
 WHERE t.relkind IN ('r', 'p') AND NOT t.relispartition AND t.relname !~ '^(events|event_payloads)_[0-9]+$'
 ORDER BY t.relname
"""
HASHES = """
SELECT stretch, count(*) AS rows, encode(sha256(string_agg(digest, ''::bytea ORDER BY digest)), 'hex') AS hash
  FROM (SELECT stretch, sha256(convert_to(ROW({columns})::text, 'UTF8')) AS digest FROM ({rows}) AS given) AS one
 GROUP BY stretch
"""
# What tells of a tenant's own move stays where it is; what was announced to a broker is announced anew.
NOT_COPIED = frozenset({"tenant_moves", "tenant_arrivals", "job_announcements"})
# Events of one stretch: what is appended later changes the last one only.
EVENTS_OF_A_STRETCH = 1_000
STRETCHES = 256


@dataclass(frozen=True)
class TenantTable:
    """One table; `numbers` says which partition here is which there."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def _in_order(self) -> bool:
        return {"partition_id", "sequence"} <= set(self.columns)

    @property
    def relation(self) -> sql.Composable:
        return sql.Identifier("mnemon", self.name)

    @property
    def column_list(self) -> sql.Composable:
        return sql.SQL(", ").join(map(sql.Identifier, self.columns))

    def rows(self, tenant: UUID, numbers: Mapping[int, int]) -> sql.Composed:
        """The tenant's rows as they are to be there, with the stretch that each is in."""
        values = sql.SQL(", ").join(_value(column, numbers) for column in self.columns)
        given = sql.SQL("SELECT {}, {} AS stretch FROM {} AS own WHERE own.tenant_id = {}")
        return given.format(values, self._stretch(numbers), self.relation, sql.Literal(str(tenant)))

    def _stretch(self, numbers: Mapping[int, int]) -> sql.Composable:
        if self._in_order:
            number = _value("partition_id", numbers, named=False)
            return sql.SQL("format('%s %s', {}, own.sequence / {})").format(number, sql.Literal(EVENTS_OF_A_STRETCH))
        values = sql.SQL(", ").join(_value(column, numbers, named=False) for column in self.key)
        return sql.SQL("(hashtextextended(ROW({})::text, 0) & {})::text").format(values, sql.Literal(STRETCHES - 1))

    def hashes(self, tenant: UUID, numbers: Mapping[int, int]) -> sql.Composed:
        """A hash of each stretch, over all of its rows whatever their order."""
        return sql.SQL(HASHES).format(columns=self.column_list, rows=self.rows(tenant, numbers))


def _value(column: str, numbers: Mapping[int, int], named: bool = True) -> sql.Composable:
    own = sql.Identifier("own", column)
    if column != "partition_id" or not numbers:
        return own
    cases = sql.SQL(" ").join(
        sql.SQL("WHEN {} THEN {}").format(sql.Literal(here), sql.Literal(there)) for here, there in numbers.items()
    )
    mapped = sql.SQL("(CASE {} {} END)::integer").format(own, cases)
    return sql.SQL("{} AS partition_id").format(mapped) if named else mapped


async def tenant_tables(owner: Connection) -> list[TenantTable]:
    rows = await (await owner.execute(TABLES)).fetchall()
    return [
        TenantTable(row["name"], tuple(row["columns"]), tuple(row["key"]))
        for row in rows
        if row["name"] not in NOT_COPIED
    ]
