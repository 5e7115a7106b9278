"""Rebuilding a lens from the log, while the old rows serve; then one transaction puts the new ones in their place."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from uuid import UUID

import psycopg

from mnemon.db.database import Connection, connect
from mnemon.errors import Conflict
from mnemon.log.partitions import Partition, list_partitions
from mnemon.log.privacy.epochs import epoch_in, hold_epoch_in
from mnemon.log.project.lens import Lens, Tables, lock_key
from mnemon.log.project.lens_states import begin_in, finish_in, report_in
from mnemon.log.project.lens_tables import exchange_in, make_copies, restore_in, state_hash_in
from mnemon.log.project.snapshots import Snapshots
from mnemon.log.read.pattern import FoundEvents, find_next
from mnemon.log.store import EventLog
from mnemon.log.subscribe.positions import positions_in
from mnemon.log.subscribe.subscriptions import Subscription, add_in, reset_in
from mnemon.telemetry import histogram, logger

BATCH = 1000
# With so few left, the rest is replayed while writers of the lens wait.
SHORT = 1000
REPORT_SECONDS = 0.5
FOR_EVER = math.inf

TAKE_TURNS = "SELECT pg_try_advisory_lock(hashtextextended(%s, 1)) AS mine"
WAIT_FOR_TURN = "SELECT true AS mine FROM pg_advisory_lock(hashtextextended(%s, 1))"
WAIT_AT_MOST = "SELECT set_config('lock_timeout', %s, false)"
LET_GO = "SELECT pg_advisory_unlock(hashtextextended(%s, 1))"
ALONE = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
SET_TENANT = "SELECT set_config('mnemon.tenant', %s, false)"

SECONDS = histogram(
    "mnemon_lens_rebuild_seconds", "Time that a rebuild of a lens took, for one tenant.", ["lens"],
    buckets=(0.1, 1, 10, 60, 600, 3600),
)  # fmt: skip

log = logger(__name__)

RebuildProgress = Callable[[int, int], None]
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild did."""

    lens: str
    events: int
    seconds: float
    state_hash: bytes

    def as_json(self) -> dict[str, Any]:
        return {
            "lens": self.lens,
            "events": self.events,
            "seconds": round(self.seconds, 3),
            "state_hash": self.state_hash.hex(),
        }


@dataclass(frozen=True, slots=True)
class LensVerified:
    """What a verification found: hashes of the rows that serve and of those that the log gives."""

    lens: str
    events: int
    seconds: float
    stored_hash: bytes
    replayed_hash: bytes

    @property
    def matches(self) -> bool:
        return self.stored_hash == self.replayed_hash

    def as_json(self) -> dict[str, Any]:
        return {
            "lens": self.lens,
            "matches": self.matches,
            "events": self.events,
            "seconds": round(self.seconds, 3),
            "stored_hash": self.stored_hash.hex(),
            "replayed_hash": self.replayed_hash.hex(),
        }


class _Erased(Exception):
    """Someone was erased while we read: what was read may hold them."""


class Rebuild:
    """One rebuild of one tenant's rows."""

    def __init__(self, events: EventLog, tenant: UUID, lens: Lens, progress: RebuildProgress | None = None) -> None:
        self._events = events
        self._tenant = tenant
        self._lens = lens
        self._progress = progress
        self._positions: dict[int, int] = {}
        self._done = 0
        self._reported_at = 0.0
        # Whether rows are compared with those that serve, not exchanged.
        self._comparing = False

    async def run(self, *, from_snapshot: bool = True, wait: bool = False) -> Rebuilt:
        """Replay the log, from the last snapshot or from its beginning, and exchange the rows.

        If another process rebuilds them now, this one is refused, or waits to do it over.
        """
        patience = FOR_EVER if wait else 0
        digest, seconds = await self._alone(lambda session: self._until_undisturbed(session, from_snapshot), patience)
        SECONDS.labels(self._lens.name).observe(seconds)
        log.info("lens.rebuilt", lens=self._lens.name, tenant_id=str(self._tenant), events=self._done, seconds=seconds)
        return Rebuilt(self._lens.name, self._done, seconds, digest)

    async def verify(self, wait: float = 0) -> LensVerified:
        """Replay the whole log into the private copy and compare it with the rows that serve, row by row."""
        self._comparing = True
        (stored, replayed), seconds = await self._alone(self._compare, wait)
        same = stored == replayed
        say = log.info if same else log.warning
        say("lens.verified", lens=self._lens.name, tenant_id=str(self._tenant), events=self._done, same=same)
        return LensVerified(self._lens.name, self._done, seconds, stored, replayed)

    async def _alone(self, work: Callable[[Connection], Awaitable[Answer]], wait: float) -> tuple[Answer, float]:
        """In a session of its own, while no other process replays this lens."""
        started = time.monotonic()
        server = self._events.database.server
        key = lock_key(self._lens.name, self._tenant)
        async with await connect(server, server.app_conninfo) as session:
            await session.execute(SET_TENANT, (str(self._tenant),))
            if not await self._took_turn(session, key, wait):
                raise Conflict(f"The lens {self._lens.name} is being rebuilt or verified already: wait for that.")
            answer = await work(session)
            await session.execute(LET_GO, (key,))
        return answer, time.monotonic() - started

    @staticmethod
    async def _took_turn(session: Connection, key: str, wait: float) -> bool:
        if not wait:
            row = await (await session.execute(TAKE_TURNS, (key,))).fetchone()
            return row is not None and bool(row["mine"])
        try:
            await session.execute(WAIT_AT_MOST, ("0" if wait == FOR_EVER else f"{wait * 1000:.0f}ms",))
            await session.execute(WAIT_FOR_TURN, (key,))
            await session.execute(WAIT_AT_MOST, ("0",))
        except psycopg.errors.LockNotAvailable:
            return False
        return True

    async def _until_undisturbed(self, session: Connection, from_snapshot: bool) -> bytes:
        while True:
            try:
                return await self._attempt(session, from_snapshot)
            except _Erased:
                log.info("lens.rebuild_restarted", lens=self._lens.name, tenant_id=str(self._tenant))

    async def _attempt(self, session: Connection, from_snapshot: bool) -> bytes:
        async with self._replayed(session, from_snapshot) as copies:
            await exchange_in(session, self._tenant, self._lens, copies)
            return await self._finish(session)

    async def _compare(self, session: Connection) -> tuple[bytes, bytes]:
        """Hashes of the rows that serve and of those that the log gives."""
        while True:
            try:
                async with AsyncExitStack() as stack:
                    async with self._replayed(session, from_snapshot=False) as copies:
                        # What serves is looked at as of this moment, in a session of its own: once the moment is
                        # taken, writers go on, however long the hashing takes.
                        beside = await stack.enter_async_context(self._as_of_now())
                    return (
                        await state_hash_in(beside, self._tenant, self._lens, generated=False),
                        await self._hash_of_copies(session, copies),
                    )
            except _Erased:
                log.info("lens.verification_restarted", lens=self._lens.name, tenant_id=str(self._tenant))

    @asynccontextmanager
    async def _as_of_now(self) -> AsyncIterator[Connection]:
        server = self._events.database.server
        async with await connect(server, server.app_conninfo) as beside, beside.transaction():
            await beside.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            await beside.execute(SET_TENANT, (str(self._tenant),))
            yield beside

    async def _hash_of_copies(self, session: Connection, copies: Tables) -> bytes:
        async with session.transaction():
            return await state_hash_in(session, self._tenant, self._lens, copies, generated=False)

    @asynccontextmanager
    async def _replayed(self, session: Connection, from_snapshot: bool) -> AsyncIterator[Tables]:
        """Copies that hold what the log gives, in a transaction that keeps writers of the lens away."""
        epoch = await epoch_in(session, self._tenant)
        copies = await make_copies(session, self._lens)
        self._positions, self._done = {}, 0
        if from_snapshot:
            await self._restore(session, copies)
        await self._begin(session)
        while self._left(partitions := await self._partitions(session)) > SHORT:
            for partition in partitions:
                await self._replay(session, copies, partition)
        async with session.transaction():
            # Whoever has written rows for an event of an open transaction holds this lock too: after this line the
            # events that are committed are exactly those whose rows are, and none is added until we commit.
            await session.execute(ALONE, (lock_key(self._lens.name, self._tenant),))
            if not await hold_epoch_in(session, self._tenant, epoch):
                raise _Erased
            for partition in await self._partitions(session):
                await self._replay(session, copies, partition)
            yield copies

    async def _restore(self, session: Connection, copies: Tables) -> None:
        snapshot = await Snapshots(self._events.database).load(
            self._tenant, self._lens.name, version=self._lens.version
        )
        if snapshot is not None:
            async with session.transaction():
                await restore_in(session, self._lens, copies, snapshot.state)
            self._positions = dict(snapshot.positions)

    async def _partitions(self, session: Connection) -> list[Partition]:
        """Up to their heads; to compare, up to where the rows that serve have come."""
        found = await list_partitions(session, self._tenant)
        wanted = [one for one in found if self._lens.pattern.wants_partition(one.legal_entity)]
        if not self._comparing or self._lens.lifecycle == "inline":
            return wanted
        positions = await positions_in(session, self._tenant, self._lens.subscription_id, self._lens.pattern)
        reached = {one.partition_id: one.sequence for one in positions}
        return [replace(one, sequence=reached[one.partition_id]) for one in wanted]

    def _left(self, partitions: list[Partition]) -> int:
        return sum(one.sequence - self._positions.get(one.partition_id, 0) for one in partitions)

    async def _replay(self, session: Connection, copies: Tables, partition: Partition) -> None:
        """Bring the copies up to the partition's head as it was read; each batch is read while the last is applied."""
        position = self._positions.get(partition.partition_id, 0)
        ahead = asyncio.ensure_future(self._find(partition, position))
        try:
            while position < partition.sequence:
                found = await ahead
                ahead = asyncio.ensure_future(self._find(partition, found.searched_to))
                if found.events:
                    async with session.transaction():
                        await self._lens.apply(session, found.events, copies)
                self._done += found.searched_to - position
                self._positions[partition.partition_id] = position = found.searched_to
                await self._report(self._done + self._left([partition]))
        finally:
            ahead.cancel()
            await asyncio.gather(ahead, return_exceptions=True)

    async def _find(self, partition: Partition, after: int) -> FoundEvents:
        place = partition.partition_id, partition.legal_entity
        return await find_next(
            self._events.reader, self._tenant, self._lens.pattern, place,
            after=after, head=partition.sequence, limit=BATCH,
        )  # fmt: skip

    async def _begin(self, session: Connection) -> None:
        self._total = self._left(await self._partitions(session))
        if not self._comparing:
            await begin_in(session, self._tenant, self._lens, self._total)

    async def _report(self, known: int) -> None:
        self._total = max(self._total, known)
        if self._progress is not None:
            self._progress(self._done, self._total)
        if not self._comparing and time.monotonic() - self._reported_at > REPORT_SECONDS:
            self._reported_at = time.monotonic()
            async with self._events.database.transaction(self._tenant) as connection:
                await report_in(connection, self._tenant, self._lens, self._done, self._total)

    async def _finish(self, session: Connection) -> bytes:
        """The cursor of an async lens goes on from what the new rows stand for."""
        if self._lens.lifecycle == "async":
            await add_in(session, self._tenant, subscription_of(self._lens))
            for partition_id, sequence in self._positions.items():
                await reset_in(session, self._tenant, self._lens.subscription_id, partition_id, sequence)
        digest = await state_hash_in(session, self._tenant, self._lens)
        await finish_in(session, self._tenant, self._lens, digest)
        return digest


def subscription_of(lens: Lens) -> Subscription:
    """The subscription that an async lens is fed by. Nothing may be left out, so a failure holds the partition."""
    return Subscription(lens.subscription_id, "projection", lens.name, lens.pattern, "partition")
