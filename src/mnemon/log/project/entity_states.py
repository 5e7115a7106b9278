"""Entity states: from the last valid snapshot and the events since, as of now or of any moment, within a time limit."""

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Literal, Self
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.errors import NotFound
from mnemon.log.events import MAIN, Event
from mnemon.log.privacy.epochs import epoch_in, hold_epoch_in, raise_epoch_in
from mnemon.log.project.entity_snapshots import (
    Entity,
    EntitySnapshot,
    covered_in,
    forget_event_in,
    forget_in,
    kept_in,
    mark_stale_in,
    newest_in,
    save_in,
    uncovered_in,
)
from mnemon.log.project.state_fold import StateFold, fold_of
from mnemon.log.read.query import LAST_SEQUENCE
from mnemon.log.read.streams import Filter, Stream
from mnemon.log.store import EventLog
from mnemon.log.types.state_rules import FoldState
from mnemon.settings import Settings
from mnemon.telemetry import counter, logger

PAGE = 500
FOR_EVER = float("inf")

SEQUENCE_AT = """
SELECT mnemon.sequence_at(partition_id, %s) AS sequence
  FROM mnemon.partitions WHERE tenant_id = %s AND legal_entity = %s
"""

DEGRADED = counter("mnemon_entity_reads_degraded_total", "Strong reads that ran out of time.", ["entity_type"])

log = logger(__name__)


@dataclass(frozen=True, slots=True)
class EntityState:
    """A state and what it stands for.

    strong: every event committed when the read began. verified: events of the log up to `as_of_sequence`, but there
    are more, which did not fit in the time.
    """

    state: FoldState
    version: int
    as_of_sequence: int
    consistency: Literal["strong", "verified"]

    def as_json(self) -> dict[str, Any]:
        return {
            "state": self.state,
            "version": self.version,
            "as_of_sequence": str(self.as_of_sequence),
            "consistency": self.consistency,
        }


class _BackDated(Exception):
    """An event belongs before the snapshot that the fold started from."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event


class EntityStates:
    """Reads entities by the rules that event types declare.

    Events count in the order of their effective dates, and of their sequence within a day. So an event that is dated
    before what a snapshot holds makes that snapshot stale, and the fold starts from an earlier one.
    """

    def __init__(self, events: EventLog, *, snapshot_after: int = 100, limit_seconds: float = 0.5) -> None:
        self._events = events
        self._snapshot_after = snapshot_after
        self._limit = limit_seconds

    @classmethod
    def of(cls, events: EventLog, settings: Settings) -> Self:
        return cls(events, snapshot_after=settings.entity_snapshot_events, limit_seconds=settings.entity_read_ms / 1000)

    async def read(
        self,
        tenant: UUID,
        entity_type: str,
        entity_id: str,
        *,
        legal_entity: str = MAIN,
        as_of: int | datetime | None = None,
    ) -> EntityState:
        """The entity as of now, or as the log was at a sequence or recorded moment.

        If that takes too long, what was reached by then, with a warning.
        """
        entity = Entity(tenant, legal_entity, entity_type, entity_id)
        async with self._events.database.transaction(tenant) as connection:
            fold = fold_of(entity_type, await self._events.registry.list(tenant, connection))
            through = await _sequence_in(connection, entity, as_of)
        if fold is None:
            raise NotFound(
                f"No event type says what becomes of {entity_type!r}: declare `state` with one.",
                entity_type=entity_type,
            )
        return await self._read(entity, fold, through, time.monotonic() + self._limit, self._snapshot_after)

    async def cover(self, tenant: UUID, partition_id: int, through: int) -> int:
        """Snapshot every entity whose events up to a sequence no snapshot holds, however long it takes; how many."""
        async with self._events.database.transaction(tenant) as connection:
            folds = await self._folds_in(connection, tenant)
            names = await self._events.partitions.names_in(connection, tenant, None)
            place = partition_id, names[partition_id]
            entities = await uncovered_in(connection, tenant, place, list(folds), through)
        for entity in entities:
            await self._read(entity, folds[entity.entity_type], LAST_SEQUENCE, FOR_EVER, 0)
        return len(entities)

    async def wrong_snapshots(self, tenant: UUID) -> AsyncIterator[tuple[Entity, int]]:
        """Snapshots that differ from what the entity's events give when folded from the first, and where they are."""
        after: tuple[object, ...] = (0, "", "", 0)
        while True:
            async with self._events.database.transaction(tenant) as connection:
                folds = await self._folds_in(connection, tenant)
                names = await self._events.partitions.names_in(connection, tenant, None)
                rows = await kept_in(connection, tenant, after)
            for row in rows:
                entity = Entity(tenant, names.get(row["partition_id"], ""), row["entity_type"], row["entity_id"])
                fold = folds.get(row["entity_type"])
                if fold is None or fold.version != row["fold_version"]:
                    continue
                sequence = row["as_of_sequence"]
                anew, _ = await self._fold_from(entity, fold, EntitySnapshot({}), sequence, FOR_EVER)
                if (anew.state, anew.version) != (row["state"], row["version"]):
                    yield entity, sequence
            if not rows:
                return
            last = rows[-1]
            after = (last["partition_id"], last["entity_type"], last["entity_id"], last["as_of_sequence"])

    async def coverage(self, tenant: UUID, partition_id: int) -> int:
        """The sequence up to which every entity with a declared state has a valid snapshot; missing ones are taken."""
        await self.cover(tenant, partition_id, LAST_SEQUENCE)
        async with self._events.database.transaction(tenant) as connection:
            folds = await self._folds_in(connection, tenant)
            return await covered_in(connection, tenant, partition_id, list(folds))

    async def _folds_in(self, connection: Connection, tenant: UUID) -> dict[str, StateFold]:
        declared = await self._events.registry.list(tenant, connection)
        kinds = {rule.entity_type for one in declared for rule in one.state}
        return {kind: fold for kind in sorted(kinds) if (fold := fold_of(kind, declared)) is not None}

    async def on_erased(self, tenant: UUID, subjects: Sequence[str], affected: Sequence[object] = ()) -> Sequence[str]:
        """Once people's keys are gone: delete the snapshots that may hold them."""
        async with self._events.database.transaction(tenant) as connection:
            await raise_epoch_in(connection, tenant)
            for subject_id in subjects:
                await forget_in(connection, tenant, subject_id)
        return []

    async def on_redacted(self, tenant: UUID, partition_id: int, sequence: int) -> Sequence[str]:
        """Once something was taken out of an event: delete the snapshots that may hold it."""
        async with self._events.database.transaction(tenant) as connection:
            await raise_epoch_in(connection, tenant)
            await forget_event_in(connection, tenant, partition_id, sequence)
        return []

    async def _read(
        self, entity: Entity, fold: StateFold, through: int, deadline: float, snapshot_after: int
    ) -> EntityState:
        async with self._events.database.transaction(entity.tenant) as connection:
            epoch = await epoch_in(connection, entity.tenant)
            partition_id, snapshot = await newest_in(connection, entity, fold.version, through)
        if partition_id is None:
            return EntityState({}, 0, 0, "strong")
        while True:
            base = snapshot or EntitySnapshot({})
            try:
                reached, complete = await self._fold_from(entity, fold, base, through, deadline)
                break
            except _BackDated as found:
                async with self._events.database.transaction(entity.tenant) as connection:
                    await mark_stale_in(
                        connection, entity, partition_id, found.event.sequence, found.event.effective_date
                    )
                    _, snapshot = await newest_in(connection, entity, fold.version, through)
        # What was reached in vain is kept too, so that the next read gets further.
        if reached.version - base.version > (snapshot_after if complete else 0):
            async with self._events.database.transaction(entity.tenant) as connection:
                if await hold_epoch_in(connection, entity.tenant, epoch):
                    await save_in(connection, entity, partition_id, reached, fold.version)
        if not complete:
            self._warn(entity, reached)
        return EntityState(reached.state, reached.version, reached.sequence, "strong" if complete else "verified")

    async def _fold_from(
        self, entity: Entity, fold: StateFold, base: EntitySnapshot, through: int, deadline: float
    ) -> tuple[EntitySnapshot, bool]:
        """Where the fold got, and whether that is everything.

        Each page is folded as it comes while dates go forward. From the first one that goes back, the rest is
        collected and everything since the base folded anew, in order.
        """
        collected: list[Event] = []
        reached, in_order, after = base, True, base.sequence
        while True:
            page = await self._page(entity, after, through)
            if base.sequence:
                _refuse_back_dated(base, page)
            collected += page
            in_order = in_order and _goes_forward(reached.point, page)
            if in_order:
                reached, complete = _folded(entity, fold, reached, page, deadline)
                if not complete:
                    return reached, False
            if len(page) < PAGE:
                break
            if time.monotonic() > deadline:
                return reached, False
            after = page[-1].sequence
        if in_order:
            return reached, True
        ordered = sorted(collected, key=lambda one: (one.effective_date, one.sequence))
        everything, complete = _folded(entity, fold, base, ordered, deadline)
        return (replace(everything, sequence=collected[-1].sequence), True) if complete else (reached, False)

    async def _page(self, entity: Entity, after: int, through: int) -> Sequence[Event]:
        stream = Stream.of_entity(entity.entity_type, entity.entity_id)
        reader = self._events.reader
        async with reader.transaction(entity.tenant) as connection:
            events = await reader.page_in(
                connection, entity.tenant, stream, Filter(to_sequence=through),
                legal_entity=entity.legal_entity, start=after, limit=PAGE,
            )  # fmt: skip
        return await reader.open(entity.tenant, events)

    def _warn(self, entity: Entity, reached: EntitySnapshot) -> None:
        DEGRADED.labels(entity.entity_type).inc()
        log.warning(
            "entity.read_degraded", tenant_id=str(entity.tenant), entity_type=entity.entity_type,
            entity_id=entity.entity_id, as_of_sequence=reached.sequence, limit_seconds=self._limit,
        )  # fmt: skip


async def _sequence_in(connection: Connection, entity: Entity, as_of: int | datetime | None) -> int:
    """Up to where the log counts."""
    if as_of is None or isinstance(as_of, int):
        return LAST_SEQUENCE if as_of is None else as_of
    values = (as_of, entity.tenant, entity.legal_entity)
    row = await (await connection.execute(SEQUENCE_AT, values)).fetchone()
    return int(row["sequence"]) if row else 0


def _refuse_back_dated(base: EntitySnapshot, events: Sequence[Event]) -> None:
    for event in events:
        if event.effective_date < base.point:
            raise _BackDated(event)


def _goes_forward(point: date, events: Sequence[Event]) -> bool:
    for event in events:
        if event.effective_date < point:
            return False
        point = event.effective_date
    return True


def _folded(
    entity: Entity, fold: StateFold, base: EntitySnapshot, events: Sequence[Event], deadline: float
) -> tuple[EntitySnapshot, bool]:
    """As far as the time allows, one event at least, and whether that is all of them."""
    if not events:
        return base, True
    state, count = base.state, 0
    for event in events:
        state = fold.apply(state, event, entity.entity_id)
        count += 1
        if time.monotonic() > deadline:
            break
    last = events[count - 1]
    reached = EntitySnapshot(state, base.version + count, last.sequence, max(base.point, last.effective_date))
    return reached, count == len(events)
