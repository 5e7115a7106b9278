"""Group commit: concurrent appends to one partition share a transaction, and each gets its own result."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from uuid import UUID

from mnemon.errors import DatabaseUnavailable
from mnemon.log.append.requests import Request

# Past this, a longer transaction makes everyone wait and saves nothing more per event.
MOST_EVENTS = 512

_Run = Callable[[UUID, str, list[Request]], Awaitable[None]]


@dataclass
class _Lane:
    """The callers of one partition who wait for the next transaction."""

    waiting: deque[tuple[Request, asyncio.Future[None]]] = field(default_factory=deque)
    driver: asyncio.Task[None] | None = None


class Groups:
    """One lane per partition. While a group is in the database, the next one gathers."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._lanes: dict[tuple[UUID, str], _Lane] = {}

    async def submit(self, tenant: UUID, legal_entity: str, request: Request) -> None:
        """Return once the request is settled; raise if its transaction failed."""
        lane = self._lanes.setdefault((tenant, legal_entity), _Lane())
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        lane.waiting.append((request, done))
        if lane.driver is None:
            lane.driver = asyncio.create_task(self._drive(tenant, legal_entity, lane))
        await done

    async def close(self) -> None:
        """Let the callers who are already in finish."""
        await asyncio.gather(*(lane.driver for lane in self._lanes.values() if lane.driver), return_exceptions=True)

    async def _drive(self, tenant: UUID, legal_entity: str, lane: _Lane) -> None:
        try:
            while lane.waiting:
                group = _next_group(lane.waiting)
                await self._settle(tenant, legal_entity, group)
        finally:
            lane.driver = None
            del self._lanes[tenant, legal_entity]
            for _, done in lane.waiting:
                done.cancel()

    async def _settle(self, tenant: UUID, legal_entity: str, group: list[tuple[Request, asyncio.Future[None]]]) -> None:
        try:
            await self._run(tenant, legal_entity, [request for request, _ in group])
        except Exception as failure:
            # With the connection gone the group may be in the log or not: to run it again could record it twice.
            if len(group) == 1 or isinstance(failure, DatabaseUnavailable):
                for _, done in group:
                    _fail(done, failure)
                return
            # Someone in the group made the transaction fail: alone, only that caller fails.
            for one in group:
                await self._settle(tenant, legal_entity, [one])
            return
        for _, done in group:
            if not done.done():
                done.set_result(None)


def _next_group(
    waiting: deque[tuple[Request, asyncio.Future[None]]],
) -> list[tuple[Request, asyncio.Future[None]]]:
    group = [waiting.popleft()]
    count = len(group[0][0].events)
    while waiting and count + len(waiting[0][0].events) <= MOST_EVENTS:
        count += len(waiting[0][0].events)
        group.append(waiting.popleft())
    return group


def _fail(done: asyncio.Future[None], failure: Exception) -> None:
    if not done.done():
        done.set_exception(failure)
