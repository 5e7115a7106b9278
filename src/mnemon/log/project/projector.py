"""The projector: keeps every tenant's lenses up to date, makes them anew, and forgets people in them."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Self
from uuid import UUID

from mnemon.errors import Conflict, NotFound
from mnemon.log.privacy.epochs import raise_epoch_in
from mnemon.log.project.inline_projection import InlineProjection
from mnemon.log.project.lens import Lens, lock_key
from mnemon.log.project.lens_states import (
    LensStanding,
    LensState,
    covered_in,
    has_nothing_in,
    others_in,
    record_in,
    state_in,
    version_in,
)
from mnemon.log.project.lens_tables import state_hash_in
from mnemon.log.project.partition_projection import WRITE_LOCK, PartitionProjection
from mnemon.log.project.rebuild import LensVerified, Rebuild, RebuildProgress, Rebuilt, subscription_of
from mnemon.log.project.snapshots import forget_snapshots_in
from mnemon.log.store import EventLog
from mnemon.log.subscribe.dispatch import Dispatch
from mnemon.log.subscribe.failures import scrub_event_in, scrub_in
from mnemon.log.subscribe.lag import LagOfAll
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.log.subscribe.positions import positions_in
from mnemon.log.subscribe.subscriptions import add_in
from mnemon.tasks import end
from mnemon.telemetry import logger

BEHIND = "SELECT tenant_id, subscription_id FROM mnemon.tenants_behind(%s)"

log = logger(__name__)


class Projector:
    """Holds the lenses of this program. `async with projector` projects in the background."""

    def __init__(self, events: EventLog, limits: DeliveryLimits | None = None) -> None:
        self._events = events
        self._limits = limits or replace(events.delivery, batch_events=max(500, events.delivery.batch_events))
        self._lenses: dict[str, Lens] = {}
        self._current: set[tuple[UUID, str]] = set()
        self._stopping = asyncio.Event()
        self._turns = asyncio.Semaphore(self._limits.partitions_at_once)
        self._running: dict[tuple[UUID, Lens], asyncio.Task[None]] = {}
        self._loop: asyncio.Task[None] | None = None
        self._lag = LagOfAll()

    def add(self, lens: Lens) -> Lens:
        """Declare a lens. An inline one is written from now on; an async one once the projector runs."""
        if lens.name in self._lenses:
            raise Conflict(f"There are two lenses called {lens.name}: rename one.", lens=lens.name)
        self._lenses[lens.name] = lens
        if lens.lifecycle == "inline":
            self._events.add_inline_lens(InlineProjection(self._events, lens))
        return lens

    async def __aenter__(self) -> Self:
        self._loop = asyncio.create_task(self.run())
        return self

    async def __aexit__(self, *failure: object) -> None:
        self._stopping.set()
        for task in (self._loop, *self._running.values()):
            if task is not None:
                await end(task)

    async def run(self) -> None:
        """Keep the lenses of all tenants for ever. Any number of processes may do so."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._renew_inline())
            await self._follow()

    async def _follow(self) -> None:
        with self._events.arrivals.watch() as signal:
            while True:
                signal.clear()
                try:
                    await self._start_behind(signal.set)
                except Exception as failure:
                    log.warning("lens.look_failed", error=str(failure))
                await signal.wait(self._limits.poll_seconds)

    async def catch_up(self, tenant: UUID) -> None:
        """Bring the tenant's lenses up to what is committed now, rebuilding those whose code has changed."""
        for lens in self._lenses.values():
            await self._catch_up(tenant, lens)

    async def make_current(self, tenant: UUID, name: str) -> None:
        """See to it that the rows of a lens are of its present version; quick once they are known to be."""
        if (tenant, name) not in self._current:
            await self._begin(tenant, self._lens(name))

    async def rebuild(
        self, tenant: UUID, name: str, *, from_snapshot: bool = True, progress: RebuildProgress | None = None
    ) -> Rebuilt:
        """Make the tenant's rows of a lens anew while the old ones serve."""
        rebuilt = await Rebuild(self._events, tenant, self._lens(name), progress).run(from_snapshot=from_snapshot)
        self._current.add((tenant, name))
        return rebuilt

    async def verify(self, tenant: UUID, name: str, *, wait: float = 0) -> LensVerified:
        """Make the rows anew beside those that serve, and compare; nothing is exchanged. `wait` so many seconds for
        who replays it now."""
        return await Rebuild(self._events, tenant, self._lens(name)).verify(wait)

    async def state_hash(self, tenant: UUID, name: str) -> bytes:
        """Of the rows as they are now."""
        async with self._events.database.transaction(tenant) as connection:
            return await state_hash_in(connection, tenant, self._lens(name))

    async def rows_hash(self, tenant: UUID, name: str) -> bytes:
        """The same without what the database makes of the rows, as `verify` compares them."""
        async with self._events.database.transaction(tenant) as connection:
            return await state_hash_in(connection, tenant, self._lens(name), generated=False)

    async def state(self, tenant: UUID, name: str) -> LensState | None:
        """How far a rebuild is, and which version the rows are of; None if the lens has not begun."""
        async with self._events.database.transaction(tenant) as connection:
            return await state_in(connection, tenant, self._lens(name))

    async def list(self, tenant: UUID) -> Sequence[LensStanding]:
        """Every lens of this program, and how the tenant's rows stand."""
        found = []
        async with self._events.database.transaction(tenant) as connection:
            for lens in self._lenses.values():
                behind = 0
                if lens.lifecycle == "async":
                    positions = await positions_in(connection, tenant, lens.subscription_id, lens.pattern)
                    behind = sum(one.lag for one in positions)
                found.append(LensStanding(lens, await state_in(connection, tenant, lens), behind))
        return found

    async def on_erased(self, tenant: UUID, subjects: Sequence[str], affected: Sequence[object] = ()) -> Sequence[str]:
        """Once people's keys are gone: take them out of rows, snapshots and error texts; returns the lenses changed."""
        async with self._events.database.transaction(tenant) as connection:
            await raise_epoch_in(connection, tenant)
            for subject_id in subjects:
                await scrub_in(connection, tenant, subject_id)
            await forget_snapshots_in(connection, tenant)
        changed = []
        for lens in self._lenses.values():
            if lens.personal:
                await self._forget(tenant, lens, subjects)
                changed.append(lens.name)
        async with self._events.database.transaction(tenant) as connection:
            # Those that were taken of rows which still held the person.
            await forget_snapshots_in(connection, tenant)
        return changed

    async def on_redacted(self, tenant: UUID, partition_id: int, sequence: int) -> Sequence[str]:
        """Once something was taken out of an event: take it out of rows, snapshots and error texts as well."""
        async with self._events.database.transaction(tenant) as connection:
            await raise_epoch_in(connection, tenant)
            await scrub_event_in(connection, tenant, partition_id, sequence)
            await forget_snapshots_in(connection, tenant)
        changed = [lens for lens in self._lenses.values() if lens.personal]
        for lens in changed:
            await Rebuild(self._events, tenant, lens).run(from_snapshot=False, wait=True)
        async with self._events.database.transaction(tenant) as connection:
            await forget_snapshots_in(connection, tenant)
        return [lens.name for lens in changed]

    async def coverage(self, tenant: UUID, partition_id: int) -> int:
        """The sequence up to which every lens has what it needs of the partition without reading payloads again.

        A lens with snapshots counts by its last one, one without by its rows.
        """
        for lens in self._lenses.values():
            # One that this tenant never used has nothing yet, and so would hold up every archiving.
            if lens.lifecycle == "inline":
                await self.make_current(tenant, lens.name)
        async with self._events.database.transaction(tenant) as connection:
            return await covered_in(connection, tenant, partition_id, self._lenses.values())

    async def _start_behind(self, progressed: Callable[[], None]) -> None:
        """Give each lens of a tenant that has something to do its turn; a slow one holds up no other."""
        named = {lens.subscription_id: lens for lens in self._lenses.values() if lens.lifecycle == "async"}
        async with self._events.database.session() as connection:
            rows = await (await connection.execute(BEHIND, (list(named),))).fetchall()
            await self._lag.read(connection, named)
        for row in rows:
            turn = row["tenant_id"], named[row["subscription_id"]]
            if turn not in self._running:
                self._running[turn] = asyncio.create_task(self._take_turn(*turn, progressed))

    async def _take_turn(self, tenant: UUID, lens: Lens, progressed: Callable[[], None]) -> None:
        try:
            async with self._turns:
                worked = await self._catch_up(tenant, lens)
        except Exception as failure:
            log.warning("lens.interrupted", lens=lens.name, tenant_id=str(tenant), error=str(failure))
            worked = False
        finally:
            del self._running[tenant, lens]
        if worked:
            progressed()

    async def _catch_up(self, tenant: UUID, lens: Lens) -> bool:
        if (tenant, lens.name) not in self._current:
            await self._begin(tenant, lens)
        if lens.lifecycle == "inline":
            return False
        dispatch = Dispatch(
            self._events, tenant, lens.subscription_id, self._limits,
            lambda ready: PartitionProjection(self._events, lens, ready, self._limits, self._stopping).run(),
        )  # fmt: skip
        return await dispatch.catch_up()

    async def _begin(self, tenant: UUID, lens: Lens) -> None:
        """See to it that the rows are of this version of the lens."""
        async with self._events.database.transaction(tenant) as connection:
            fed = lens.lifecycle == "async"
            if fed:
                await add_in(connection, tenant, subscription_of(lens))
            version = await version_in(connection, tenant, lens.name)
            current = version == lens.version
            if not current:
                # With nothing behind it, it needs no rebuild to be current.
                current = version is None if fed else await has_nothing_in(connection, tenant, lens)
                if current:
                    await record_in(connection, tenant, lens)
        if not current:
            await self.rebuild(tenant, lens.name)
        self._current.add((tenant, lens.name))

    async def renew(self) -> None:
        """Make rows of another version anew, for every tenant, as after a restore that left them out."""
        inline = [lens for lens in self._lenses.values() if lens.lifecycle == "inline"]
        async with self._events.database.session() as connection:
            behind = await others_in(connection, inline)
        for tenant, name in behind:
            await self._begin(tenant, self._lens(name))

    async def _renew_inline(self) -> None:
        """Make rows of another version anew, one tenant after the other; done once none is left.

        No more can come: whoever writes a tenant's first row records the version.
        """
        inline = [lens for lens in self._lenses.values() if lens.lifecycle == "inline"]
        left = True
        while inline and left:
            try:
                async with self._events.database.session() as connection:
                    behind = await others_in(connection, inline)
                left = not all([await self._renew(tenant, name) for tenant, name in behind])
            except Exception as failure:
                log.warning("lens.look_failed", error=str(failure))
            if left:
                await asyncio.sleep(self._limits.breaker_seconds)

    async def _renew(self, tenant: UUID, name: str) -> bool:
        try:
            await self._begin(tenant, self._lens(name))
        except Exception as failure:
            log.warning("lens.interrupted", lens=name, tenant_id=str(tenant), error=str(failure))
            return False
        return True

    async def _forget(self, tenant: UUID, lens: Lens, subjects: Sequence[str]) -> None:
        if lens.forget is None:
            await Rebuild(self._events, tenant, lens).run(from_snapshot=False, wait=True)
            return
        async with self._events.database.transaction(tenant) as connection:
            await connection.execute(WRITE_LOCK, (lock_key(lens.name, tenant),))
            gone = [await lens.forget(connection, subject_id, lens.real_tables) for subject_id in subjects]
        if False in gone:
            await Rebuild(self._events, tenant, lens).run(from_snapshot=False, wait=True)

    def _lens(self, name: str) -> Lens:
        if name not in self._lenses:
            raise NotFound(f"There is no lens {name!r}: {', '.join(sorted(self._lenses)) or 'none'}.", lens=name)
        return self._lenses[name]
