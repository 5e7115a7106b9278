"""Projection snapshots: the state of a projection as of a sequence in each partition."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import sql
from psycopg.types.json import Jsonb

from mnemon.db.database import Connection, Database
from mnemon.log.privacy.epochs import epoch_in, hold_epoch_in
from mnemon.log.project.lens import Lens
from mnemon.log.types.state_rules import FoldState

KEPT = 2
# Folded from the log again when they are missing. They hold personal values plain, so a backup goes without them.
SNAPSHOT_TABLES = ("projection_snapshots", "entity_snapshots")

SAVE = """
INSERT INTO mnemon.projection_snapshots (tenant_id, projection, stream, version, positions, events, state, personal)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
"""
LOAD = """
SELECT positions, events, state, taken_at FROM mnemon.projection_snapshots
 WHERE tenant_id = %s AND projection = %s AND stream = %s AND version = %s
 ORDER BY snapshot_id DESC LIMIT 1
"""
LAST = """
SELECT positions, events FROM mnemon.projection_snapshots
 WHERE tenant_id = %s AND projection = %s AND stream = %s AND version = %s
 ORDER BY snapshot_id DESC LIMIT 1
"""
THIN_OUT = """
DELETE FROM mnemon.projection_snapshots s
 WHERE tenant_id = %(tenant)s AND projection = %(projection)s AND stream = %(stream)s
   AND snapshot_id NOT IN (SELECT snapshot_id FROM mnemon.projection_snapshots
                            WHERE tenant_id = %(tenant)s AND projection = %(projection)s AND stream = %(stream)s
                            ORDER BY snapshot_id DESC LIMIT %(kept)s)
"""
FORGET = "DELETE FROM mnemon.projection_snapshots WHERE tenant_id = %s AND personal RETURNING projection"
# Rows and positions in one statement, hence of one moment.
SAVE_ROWS = """
INSERT INTO mnemon.projection_snapshots (tenant_id, projection, version, positions, events, state, personal)
SELECT %(tenant)s, %(projection)s, %(version)s, coalesce(jsonb_object_agg(partition_id, sequence), '{{}}'),
       coalesce(sum(sequence), 0), jsonb_build_object({rows}), %(personal)s
  FROM ({positions}) AS positions
"""
ROWS_OF = "{name}, (SELECT coalesce(jsonb_agg(to_jsonb(t)), '[]') FROM {table} t WHERE tenant_id = %(tenant)s)"
CURSORS = """
SELECT partition_id, sequence FROM mnemon.subscription_cursors
 WHERE tenant_id = %(tenant)s AND subscription_id = %(subscription)s
"""
HEADS = "SELECT partition_id, sequence FROM mnemon.partitions WHERE tenant_id = %(tenant)s"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A state and what is in it: `positions` by partition, `events` in all."""

    state: FoldState
    positions: Mapping[int, int]
    events: int
    taken_at: datetime


class Snapshots:
    """Saved and loaded by projections of any kind. The two newest of each are kept.

    A state that may hold personal data is deleted when anyone of the tenant is erased, and never saved from events
    that were read before that.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def epoch(self, tenant: UUID) -> int:
        """To be asked before the events are read, and handed to `save`."""
        async with self._database.transaction(tenant) as connection:
            return await epoch_in(connection, tenant)

    async def save(
        self,
        tenant: UUID,
        projection: str,
        state: FoldState,
        positions: Mapping[int, int],
        *,
        epoch: int,
        stream: str = "",
        version: int = 1,
        events: int = 0,
        personal: bool = True,
    ) -> bool:
        """False, with nothing saved, if someone was erased since the epoch."""
        placed = Jsonb({str(partition): sequence for partition, sequence in positions.items()})
        async with self._database.transaction(tenant) as connection:
            if not await hold_epoch_in(connection, tenant, epoch):
                return False
            values = (tenant, projection, stream, version, placed, events, Jsonb(state), personal)
            await connection.execute(SAVE, values)
            await _thin_out(connection, tenant, projection, stream)
        return True

    async def load(self, tenant: UUID, projection: str, *, stream: str = "", version: int = 1) -> Snapshot | None:
        async with self._database.transaction(tenant) as connection:
            row = await (await connection.execute(LOAD, (tenant, projection, stream, version))).fetchone()
        if row is None:
            return None
        return Snapshot(row["state"], _positions(row), row["events"], row["taken_at"])


async def save_rows_in(connection: Connection, tenant: UUID, lens: Lens) -> None:
    """Snapshot the rows of a lens with the positions that they stand for."""
    rows = sql.SQL(", ").join(
        sql.SQL(ROWS_OF).format(name=sql.Literal(name), table=sql.SQL(table))
        for name, table in lens.real_tables.items()
    )
    positions = sql.SQL(HEADS if lens.lifecycle == "inline" else CURSORS)
    values: dict[str, Any] = {
        "tenant": tenant, "projection": lens.name, "version": lens.version, "personal": lens.personal,
        "subscription": lens.subscription_id,
    }  # fmt: skip
    await connection.execute(sql.SQL(SAVE_ROWS).format(rows=rows, positions=positions), values)
    await _thin_out(connection, tenant, lens.name, "")


async def snapshot_positions_in(
    connection: Connection, tenant: UUID, projection: str, version: int
) -> tuple[Mapping[int, int], int] | None:
    """What the newest snapshot covers, without its state."""
    row = await (await connection.execute(LAST, (tenant, projection, "", version))).fetchone()
    return (_positions(row), row["events"]) if row else None


async def forget_snapshots_in(connection: Connection, tenant: UUID) -> set[str]:
    """Delete every snapshot that may hold personal data; returns whose they were."""
    rows = await (await connection.execute(FORGET, (tenant,))).fetchall()
    return {row["projection"] for row in rows}


async def _thin_out(connection: Connection, tenant: UUID, projection: str, stream: str) -> None:
    values = {"tenant": tenant, "projection": projection, "stream": stream, "kept": KEPT}
    await connection.execute(THIN_OUT, values)


def _positions(row: Mapping[str, Any]) -> dict[int, int]:
    return {int(partition): sequence for partition, sequence in row["positions"].items()}
