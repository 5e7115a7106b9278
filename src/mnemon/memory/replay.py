"""Replay: drop the lens, make it anew from the log, and show that not a row or a hash differs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from psycopg import sql
from psycopg.abc import Params
from psycopg.rows import tuple_row

from mnemon.db.database import Connection
from mnemon.log.project.lens_tables import columns_in, key_in
from mnemon.log.project.projector import Projector
from mnemon.log.project.rebuild import RebuildProgress
from mnemon.log.store import EventLog
from mnemon.memory.determinism import branch_hash, content_hash, object_hash
from mnemon.memory.fold import from_json
from mnemon.memory.lens import LENS
from mnemon.memory.objects import Place
from mnemon.memory.views import View, view_in

# Rows by their key, each as the digest of its columns: small enough to be held for every table of a large tenant.
ROWS = """
SELECT jsonb_build_array({key})::text AS key, sha256(convert_to(jsonb_build_array({columns})::text, 'UTF8')) AS digest
  FROM {table} WHERE tenant_id = %s
"""
OBJECTS = "SELECT * FROM mnemon.emo_current WHERE tenant_id = %s"
BRANCHES = """
SELECT world_id, branch FROM mnemon.emo_branches WHERE tenant_id = %(tenant)s
UNION SELECT DISTINCT world_id, branch FROM mnemon.emo_current WHERE tenant_id = %(tenant)s ORDER BY 1, 2
"""
SHOWN = """
SELECT h.emo_id::text AS emo_id, h.determinism_hash FROM mnemon.emo_history h
 WHERE h.tenant_id = %(tenant)s AND h.world_id = %(world)s AND NOT h.deleted AND {shown}
"""
# How far each branch of a view has come within it; branches that changed nothing are not in it. Two views that agree in
# this show the same rows, since a row ends only where the next version of its object begins.
REACHED = """
SELECT line.branch, last.since
  FROM unnest(%(branches)s::text[], %(bounds)s::bigint[]) WITH ORDINALITY AS line (branch, bound, level)
 CROSS JOIN LATERAL (
    SELECT h.since FROM mnemon.emo_history h
     WHERE h.tenant_id = %(tenant)s AND h.world_id = %(world)s AND h.branch = line.branch AND h.since <= line.bound
     ORDER BY h.since DESC LIMIT 1) AS last
 ORDER BY line.level
"""
MOST_NAMED = 20

Rows = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Difference:
    """A row that is not the same before and after: which table, which key, what happened to it."""

    table: str
    key: str
    how: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay found. `differences` is empty when every row and hash is as before."""

    events: int
    objects: int
    rows: int
    seconds: float
    state_hash: str
    branches: Mapping[str, str]
    differences: list[Difference] = field(default_factory=list)

    @property
    def same(self) -> bool:
        return not self.differences


class Replay:
    """Rebuilds run while the old rows serve; readers notice nothing."""

    def __init__(self, log: EventLog, projector: Projector) -> None:
        self._log = log
        self._projector = projector

    async def verify(self, tenant: UUID, progress: RebuildProgress | None = None) -> Replayed:
        """Compare the lens row by row, and hash by hash, with what the log gives from its first event on.

        To be asked while nobody writes: a change between the two looks counts as a difference.
        """
        before, hashes = await self._rows(tenant), await self.branch_hashes(tenant)
        rebuilt = await self._projector.rebuild(tenant, LENS.name, from_snapshot=False, progress=progress)
        after, replayed = await self._rows(tenant), await self.branch_hashes(tenant)
        objects, wrong = await self._recomputed(tenant)
        found = [one for table in before for one in _compare(table, before[table], after[table])]
        found += [Difference("branch hashes", one.key, one.how) for one in _compare("", hashes, replayed)]
        return Replayed(
            events=rebuilt.events,
            objects=objects,
            rows=sum(len(rows) for rows in after.values()),
            seconds=rebuilt.seconds,
            state_hash=rebuilt.state_hash.hex(),
            branches={name: own.decode() for name, own in replayed.items()},
            differences=found + wrong,
        )

    async def rebuild(self, tenant: UUID, progress: RebuildProgress | None = None) -> str:
        """Make the lens anew; returns its state hash."""
        rebuilt = await self._projector.rebuild(tenant, LENS.name, from_snapshot=False, progress=progress)
        return rebuilt.state_hash.hex()

    async def branch_hashes(self, tenant: UUID) -> dict[str, bytes]:
        """The determinism hash of every world and branch, as `WORLD/BRANCH`; of those that show the same, made once."""
        found: dict[str, bytes] = {}
        made: dict[object, bytes] = {}
        async with self._log.database.transaction(tenant) as connection:
            rows = await (await connection.execute(BRANCHES, {"tenant": tenant})).fetchall()
            for place in [Place(row["world_id"], row["branch"]) for row in rows]:
                view = await view_in(connection, tenant, place)
                reached = await _tuples(connection, REACHED, view.values)
                shown = place.world_id, tuple(reached)
                if shown not in made:
                    made[shown] = (await _branch_hash(connection, view)).encode()
                found[f"{place.world_id}/{place.branch}"] = made[shown]
        return found

    async def _rows(self, tenant: UUID) -> dict[str, Rows]:
        found: dict[str, Rows] = {}
        async with self._log.database.transaction(tenant) as connection:
            for name, table in LENS.real_tables.items():
                columns = [one.name for one in await columns_in(connection, table) if not one.generated]
                statement = sql.SQL(ROWS).format(
                    key=_names(await key_in(connection, table)), columns=_names(columns), table=sql.SQL(table)
                )
                found[name] = dict(await _tuples(connection, statement, (tenant,)))
        return found

    async def _recomputed(self, tenant: UUID) -> tuple[int, list[Difference]]:
        """Hashes that do not come out of the columns beside them."""
        wrong, objects = [], 0
        async with (
            self._log.database.transaction(tenant) as connection,
            connection.cursor(name="objects", scrollable=False) as cursor,
        ):
            cursor.itersize = 1000
            await cursor.execute(OBJECTS, (tenant,))
            async for row in cursor:
                objects += 1
                one = from_json(row)
                if row["determinism_hash"] != object_hash(one) or row["content_hash"] != content_hash(one.content):
                    wrong.append(Difference("emo_current", one.place.entity(one.emo_id), "hash does not fit the row"))
        return objects, wrong


async def _branch_hash(connection: Connection, view: View) -> str:
    return branch_hash(await _tuples(connection, SHOWN.format(shown=view.shows("h")), view.values))


async def _tuples(connection: Connection, statement: str | sql.Composed, values: Params) -> list[Any]:
    """Rows of a table, of which there may be many, without a dictionary for each."""
    async with connection.cursor(row_factory=tuple_row) as cursor:
        return await (await cursor.execute(statement, values)).fetchall()


def _compare(table: str, before: Rows, after: Rows) -> list[Difference]:
    lost = [Difference(table, key, "is not in the replay") for key in before.keys() - after.keys()]
    new = [Difference(table, key, "is only in the replay") for key in after.keys() - before.keys()]
    other = [
        Difference(table, key, "has other columns in the replay")
        for key in before.keys() & after.keys()
        if before[key] != after[key]
    ]
    return sorted(lost + new + other, key=lambda one: one.key)


def _names(columns: list[str]) -> sql.Composed:
    return sql.SQL(", ").join(sql.Identifier(name) for name in columns)
