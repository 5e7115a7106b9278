"""Projecting one partition into a lens's tables: rows and cursor in one transaction, so that each event counts once."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.events import Event
from mnemon.log.privacy.epochs import epoch_in, hold_epoch_in
from mnemon.log.project.lens import Lens, lock_key
from mnemon.log.project.snapshots import save_rows_in, snapshot_positions_in
from mnemon.log.read.pattern import FoundEvents, find_next
from mnemon.log.store import EventLog
from mnemon.log.subscribe.failures import count_in, describe, recover_in
from mnemon.log.subscribe.handling import FAILED, TookTooLong, count_delivered, is_outage
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.log.subscribe.ready import Ready
from mnemon.telemetry import logger

WRITE_LOCK = "SELECT pg_advisory_xact_lock_shared(hashtextextended(%s, 0))"
CURSOR = """
WITH made AS (
    INSERT INTO mnemon.subscription_cursors (tenant_id, subscription_id, partition_id)
    VALUES (%(tenant)s, %(subscription)s, %(partition)s) ON CONFLICT DO NOTHING)
SELECT coalesce(c.sequence, 0) AS sequence, coalesce(c.token, 0) AS token, coalesce(c.attempts, 0) AS attempts,
       p.sequence AS head
  FROM mnemon.partitions p
  JOIN mnemon.subscriptions s
    ON s.tenant_id = p.tenant_id AND s.subscription_id = %(subscription)s AND s.status <> 'paused'
  LEFT JOIN mnemon.subscription_cursors c
    ON c.tenant_id = p.tenant_id AND c.subscription_id = %(subscription)s AND c.partition_id = p.partition_id
 WHERE p.tenant_id = %(tenant)s AND p.partition_id = %(partition)s
"""
# If another process is at it, or has been since we looked, this finds nothing.
LOCK = """
SELECT FROM mnemon.subscription_cursors
 WHERE tenant_id = %(tenant)s AND subscription_id = %(subscription)s AND partition_id = %(partition)s
   AND sequence = %(sequence)s AND token = %(token)s
   FOR UPDATE SKIP LOCKED
"""
MOVE = """
UPDATE mnemon.subscription_cursors SET sequence = %(to)s, attempts = 0, due_at = '-infinity', advanced_at = now()
 WHERE tenant_id = %(tenant)s AND subscription_id = %(subscription)s AND partition_id = %(partition)s
"""
STUMBLE = """
UPDATE mnemon.subscription_cursors
   SET attempts = attempts + 1, due_at = clock_timestamp() + make_interval(secs => %(pause)s)
 WHERE tenant_id = %(tenant)s AND subscription_id = %(subscription)s AND partition_id = %(partition)s
   AND sequence = %(sequence)s AND token = %(token)s
RETURNING attempts
"""

log = logger(__name__)


@dataclass(frozen=True, slots=True)
class _Place:
    """The cursor as it was read, with the epoch that the events after it are read in."""

    sequence: int
    token: int
    attempts: int
    head: int
    epoch: int


class _OthersTurn(Exception):
    """Another process projects this partition, it was reset or paused, or someone was erased: look again later."""


@dataclass
class PartitionProjection:
    """One stretch of projecting, until the lens has caught up or cannot go on."""

    events: EventLog
    lens: Lens
    ready: Ready
    limits: DeliveryLimits
    stopping: asyncio.Event
    _shaken: bool = False
    _progressed: bool = False

    async def run(self) -> bool:
        """True if anything was done."""
        self._shaken = self.ready.shaken
        with suppress(_OthersTurn):
            while not self.stopping.is_set() and await self._project_batch():
                pass
        if self._progressed and self.lens.snapshot_every:
            await self._snapshot_if_due(self.lens.snapshot_every)
        return self._progressed

    async def _project_batch(self) -> bool:
        """Project the next events; False if there are none, or the next one fails."""
        place = await self._place()
        found = await find_next(
            self.events.reader, self.ready.tenant, self.lens.pattern,
            (self.ready.partition_id, self.ready.legal_entity),
            after=place.sequence, head=place.head, limit=self.limits.batch_events,
        )  # fmt: skip
        if found.searched_to == place.sequence:
            return False
        try:
            await self._project(place, found)
        except _OthersTurn:
            raise
        except Exception as failure:
            if is_outage(failure):
                raise
            if len(found.events) > 1:
                return await self._project_singly(found.events)
            await self._stumble(place, found.events[0], failure)
            return False
        return True

    async def _project_singly(self, events: Sequence[Event]) -> bool:
        """Find the event that made a batch fail; those before it are kept."""
        for event in events:
            place = await self._place()
            try:
                await self._project(place, FoundEvents([event], event.sequence))
            except _OthersTurn:
                raise
            except Exception as failure:
                if is_outage(failure):
                    raise
                await self._stumble(place, event, failure)
                return False
        return True

    async def _place(self) -> _Place:
        async with self.events.database.transaction(self.ready.tenant) as connection:
            epoch = await epoch_in(connection, self.ready.tenant)
            row = await (await connection.execute(CURSOR, self._values)).fetchone()
        if row is None:
            raise _OthersTurn
        return _Place(**row, epoch=epoch)

    async def _project(self, place: _Place, found: FoundEvents) -> None:
        tenant = self.ready.tenant
        async with self.events.database.transaction(tenant) as connection:
            await connection.execute(WRITE_LOCK, (lock_key(self.lens.name, tenant),))
            values = self._values | {"sequence": place.sequence, "token": place.token, "to": found.searched_to}
            mine = await (await connection.execute(LOCK, values)).fetchone()
            if mine is None or not await hold_epoch_in(connection, tenant, place.epoch):
                raise _OthersTurn
            if found.events:
                await self._apply(connection, found.events)
            await connection.execute(MOVE, values)
            if self._shaken and found.events:
                await recover_in(connection, tenant, self.lens.subscription_id)
        if found.events:
            self._shaken = False
        self._progressed = True
        count_delivered(self.lens.subscription_id, found.events)

    async def _apply(self, connection: Connection, events: Sequence[Event]) -> None:
        seconds = self.limits.event_seconds
        try:
            async with asyncio.timeout(seconds) as limit:
                await self.lens.apply(connection, events, self.lens.real_tables)
        except TimeoutError as failure:
            raise TookTooLong(f"not done within {seconds:g} s") if limit.expired() else failure from failure

    async def _stumble(self, place: _Place, event: Event, failure: Exception) -> None:
        """The cursor stays before the event: a lens that left one out would no longer be the fold of the log."""
        error = describe(self.events.registry, event, failure)
        values = self._values | {"sequence": place.sequence, "token": place.token}
        values["pause"] = self.limits.retry_after(place.attempts + 1)
        tenant = self.ready.tenant
        async with self.events.database.transaction(tenant) as connection:
            row = await (await connection.execute(STUMBLE, values)).fetchone()
            if row is None:
                raise _OthersTurn
            stuck = row["attempts"] >= self.limits.failures
            status = await count_in(
                connection, tenant, self.lens.subscription_id, event, error, self.limits, stuck=stuck
            )
        self._shaken = self._progressed = True
        FAILED.labels(self.lens.subscription_id).inc()
        log.warning(
            "lens.failed", lens=self.lens.name, tenant_id=str(tenant), event_id=event.id, sequence=event.sequence,
            attempts=row["attempts"], error=error, status=status,
        )  # fmt: skip

    async def _snapshot_if_due(self, interval: int) -> None:
        tenant = self.ready.tenant
        async with self.events.database.transaction(tenant) as connection:
            await connection.execute(WRITE_LOCK, (lock_key(self.lens.name, tenant),))
            last = await snapshot_positions_in(connection, tenant, self.lens.name, self.lens.version)
            if await projected_events_in(connection, tenant, self.lens) - (last[1] if last else 0) >= interval:
                await save_rows_in(connection, tenant, self.lens)

    @property
    def _values(self) -> dict[str, Any]:
        return {
            "tenant": self.ready.tenant,
            "subscription": self.lens.subscription_id,
            "partition": self.ready.partition_id,
        }


async def projected_events_in(connection: Connection, tenant: UUID, lens: Lens) -> int:
    """How many events of the tenant the lens has passed."""
    statement = (
        "SELECT coalesce(sum(sequence), 0)::bigint AS events FROM mnemon.partitions WHERE tenant_id = %s"
        if lens.lifecycle == "inline"
        else "SELECT coalesce(sum(sequence), 0)::bigint AS events FROM mnemon.subscription_cursors "
        "WHERE tenant_id = %s AND subscription_id = %s"
    )
    values = (tenant,) if lens.lifecycle == "inline" else (tenant, lens.subscription_id)
    row = await (await connection.execute(statement, values)).fetchone()
    assert row is not None
    return int(row["events"])
