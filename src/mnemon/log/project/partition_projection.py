"""Projecting one partition into a lens's tables: rows and cursor in one transaction, so that each event counts once."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.events import Event
from mnemon.log.privacy.epochs import epoch_in, hold_epoch_in
from mnemon.log.project.lens import Lens, lock_key
from mnemon.log.project.snapshots import save_rows_in, snapshot_positions_in
from mnemon.log.read.pattern import FoundEvents, find_next
from mnemon.log.store import EventLog
from mnemon.log.subscribe.cursors import Cursor, CursorLost
from mnemon.log.subscribe.failures import describe, recover_in
from mnemon.log.subscribe.handling import FAILED, TookTooLong, count_delivered, is_outage
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.log.subscribe.ready import Ready
from mnemon.log.subscribe.settling import put_off_in
from mnemon.telemetry import logger

WRITE_LOCK = "SELECT pg_advisory_xact_lock_shared(hashtextextended(%s, 0))"

log = logger(__name__)


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
        with suppress(CursorLost):
            while not self.stopping.is_set() and await self._project_batch():
                pass
        if self._progressed and self.lens.snapshot_every:
            await self._snapshot_if_due(self.lens.snapshot_every)
        return self._progressed

    async def _project_batch(self) -> bool:
        """Project the next events; False if there are none, or the next one fails."""
        cursor, epoch = await self._look()
        found = await find_next(
            self.events.reader, self.ready.tenant, self.lens.pattern,
            (self.ready.partition_id, self.ready.legal_entity),
            after=cursor.sequence, head=cursor.head, limit=self.limits.batch_events,
        )  # fmt: skip
        if found.searched_to == cursor.sequence:
            return False
        try:
            await self._project(cursor, epoch, found)
        except CursorLost:
            raise
        except Exception as failure:
            if is_outage(failure):
                raise
            if len(found.events) > 1:
                return await self._project_singly(found.events)
            await self._put_off(cursor, found.events[0], failure)
            return False
        return True

    async def _project_singly(self, events: Sequence[Event]) -> bool:
        """Find the event that made a batch fail; those before it are kept."""
        for event in events:
            cursor, epoch = await self._look()
            try:
                await self._project(cursor, epoch, FoundEvents([event], event.sequence))
            except CursorLost:
                raise
            except Exception as failure:
                if is_outage(failure):
                    raise
                await self._put_off(cursor, event, failure)
                return False
        return True

    async def _look(self) -> tuple[Cursor, int]:
        """The cursor, and the epoch that the events after it are read in."""
        cursor = self.ready.cursor
        async with self.events.database.transaction(self.ready.tenant) as connection:
            epoch = await epoch_in(connection, self.ready.tenant)
            await cursor.open_in(connection)
        return cursor, epoch

    async def _project(self, cursor: Cursor, epoch: int, found: FoundEvents) -> None:
        tenant = self.ready.tenant
        async with self.events.database.transaction(tenant) as connection:
            await connection.execute(WRITE_LOCK, (lock_key(self.lens.name, tenant),))
            if not await cursor.fence_in(connection) or not await hold_epoch_in(connection, tenant, epoch):
                raise CursorLost
            if found.events:
                await self._apply(connection, found.events)
            await cursor.advance_in(connection, found.searched_to)
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

    async def _put_off(self, cursor: Cursor, event: Event, failure: Exception) -> None:
        """The cursor stays before the event: a lens that left one out would no longer be the fold of the log."""
        error = describe(self.events.registry, event, failure)
        tenant = self.ready.tenant
        async with self.events.database.transaction(tenant) as connection:
            rejected = await put_off_in(connection, cursor, event, error, self.limits)
        self._shaken = self._progressed = True
        FAILED.labels(self.lens.subscription_id).inc()
        log.warning(
            "lens.failed", lens=self.lens.name, tenant_id=str(tenant), event_id=event.id, sequence=event.sequence,
            attempts=rejected.attempts, error=error, status=rejected.status,
        )  # fmt: skip

    async def _snapshot_if_due(self, interval: int) -> None:
        tenant = self.ready.tenant
        async with self.events.database.transaction(tenant) as connection:
            await connection.execute(WRITE_LOCK, (lock_key(self.lens.name, tenant),))
            last = await snapshot_positions_in(connection, tenant, self.lens.name, self.lens.version)
            if await projected_events_in(connection, tenant, self.lens) - (last[1] if last else 0) >= interval:
                await save_rows_in(connection, tenant, self.lens)


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
