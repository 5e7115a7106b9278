"""Rebuilding a lens from the log, while the old rows serve; then one transaction puts the new ones in their place."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import Connection, connect
from mnemon.errors import Conflict
from mnemon.log.partitions import Partition, list_partitions
from mnemon.log.privacy.epochs import epoch_in, hold_epoch_in
from mnemon.log.project.lens import Lens, Tables, lock_key
from mnemon.log.project.lens_tables import exchange_in, make_copies, restore_in, state_hash_in
from mnemon.log.project.snapshots import Snapshots
from mnemon.log.read.pattern import FoundEvents, find_next
from mnemon.log.store import EventLog
from mnemon.log.subscribe.subscriptions import Subscription, add_in, reset_in
from mnemon.telemetry import histogram, logger

BATCH = 1000
# With so few left, the rest is replayed while writers of the lens wait.
SHORT = 1000
REPORT_SECONDS = 0.5

TAKE_TURNS = "SELECT pg_try_advisory_lock(hashtextextended(%s, 1)) AS mine"
WAIT_FOR_TURN = "SELECT true AS mine FROM pg_advisory_lock(hashtextextended(%s, 1))"
LET_GO = "SELECT pg_advisory_unlock(hashtextextended(%s, 1))"
ALONE = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
SET_TENANT = "SELECT set_config('mnemon.tenant', %s, false)"
BEGIN = """
INSERT INTO mnemon.lens_states AS l (tenant_id, lens, version, total, started_at)
VALUES (%(tenant)s, %(lens)s, 0, %(total)s, now())
ON CONFLICT (tenant_id, lens) DO UPDATE
   SET done = 0, total = excluded.total, started_at = now(), finished_at = NULL
"""
REPORT = "UPDATE mnemon.lens_states SET done = %s, total = %s WHERE tenant_id = %s AND lens = %s"
FINISH = """
UPDATE mnemon.lens_states SET version = %s, done = total, state_hash = %s, finished_at = now()
 WHERE tenant_id = %s AND lens = %s
"""

SECONDS = histogram(
    "mnemon_lens_rebuild_seconds", "Time that a rebuild of a lens took, for one tenant.", ["lens"],
    buckets=(0.1, 1, 10, 60, 600, 3600),
)  # fmt: skip

log = logger(__name__)

RebuildProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild did."""

    lens: str
    events: int
    seconds: float
    state_hash: bytes


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

    async def run(self, *, from_snapshot: bool = True, wait: bool = False) -> Rebuilt:
        """Replay the log, from the last snapshot or from its beginning, and exchange the rows.

        If another process rebuilds them now, this one is refused, or waits to do it over.
        """
        started = time.monotonic()
        server = self._events.database.server
        key = lock_key(self._lens.name, self._tenant)
        async with await connect(server, server.app_conninfo) as session:
            await session.execute(SET_TENANT, (str(self._tenant),))
            row = await (await session.execute(WAIT_FOR_TURN if wait else TAKE_TURNS, (key,))).fetchone()
            if row is None or not row["mine"]:
                raise Conflict(f"The lens {self._lens.name} is being rebuilt already: wait for that.")
            digest = await self._until_undisturbed(session, from_snapshot)
            await session.execute(LET_GO, (key,))
        seconds = time.monotonic() - started
        SECONDS.labels(self._lens.name).observe(seconds)
        log.info("lens.rebuilt", lens=self._lens.name, tenant_id=str(self._tenant), events=self._done, seconds=seconds)
        return Rebuilt(self._lens.name, self._done, seconds, digest)

    async def _until_undisturbed(self, session: Connection, from_snapshot: bool) -> bytes:
        while True:
            try:
                return await self._attempt(session, from_snapshot)
            except _Erased:
                log.info("lens.rebuild_restarted", lens=self._lens.name, tenant_id=str(self._tenant))

    async def _attempt(self, session: Connection, from_snapshot: bool) -> bytes:
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
            await exchange_in(session, self._tenant, self._lens, copies)
            return await self._finish(session)

    async def _restore(self, session: Connection, copies: Tables) -> None:
        snapshot = await Snapshots(self._events.database).load(
            self._tenant, self._lens.name, version=self._lens.version
        )
        if snapshot is not None:
            async with session.transaction():
                await restore_in(session, self._lens, copies, snapshot.state)
            self._positions = dict(snapshot.positions)

    async def _partitions(self, session: Connection) -> list[Partition]:
        found = await list_partitions(session, self._tenant)
        return [one for one in found if self._lens.pattern.wants_partition(one.legal_entity)]

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
        total = self._left(await self._partitions(session))
        values = {"tenant": self._tenant, "lens": self._lens.name, "total": total}
        await session.execute(BEGIN, values)
        self._total = total

    async def _report(self, known: int) -> None:
        self._total = max(self._total, known)
        if self._progress is not None:
            self._progress(self._done, self._total)
        if time.monotonic() - self._reported_at > REPORT_SECONDS:
            self._reported_at = time.monotonic()
            async with self._events.database.transaction(self._tenant) as connection:
                await connection.execute(REPORT, (self._done, self._total, self._tenant, self._lens.name))

    async def _finish(self, session: Connection) -> bytes:
        """The cursor of an async lens goes on from what the new rows stand for."""
        if self._lens.lifecycle == "async":
            await add_in(session, self._tenant, subscription_of(self._lens))
            for partition_id, sequence in self._positions.items():
                await reset_in(session, self._tenant, self._lens.subscription_id, partition_id, sequence)
        digest = await state_hash_in(session, self._tenant, self._lens)
        await session.execute(FINISH, (self._lens.version, digest, self._tenant, self._lens.name))
        return digest


def subscription_of(lens: Lens) -> Subscription:
    """The subscription that an async lens is fed by. Nothing may be left out, so a failure holds the partition."""
    return Subscription(lens.subscription_id, "projection", lens.name, lens.pattern, "partition")
