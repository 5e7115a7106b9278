"""A transaction in which events are appended beside other writes; after a conflict it is tried again."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.append.requests import Request, RequestMaker
from mnemon.log.append.writer import Writer
from mnemon.log.errors import NotNew, SubjectErased, TransactionConflict, VersionConflict
from mnemon.log.events import Appended, NewEvent

# How often events are sealed before their append gives up: each time, someone was erased or first named meanwhile.
SEALINGS = 3
WAITS = (0.05, 0.2, 0.8)

Result = TypeVar("Result")


@dataclass
class LogTransaction:
    """One tenant's transaction; `connection` is for the other writes."""

    connection: Connection
    tenant: UUID
    _maker: RequestMaker
    _writer: Writer
    requests: list[Request] = field(default_factory=list)

    async def append(self, events: Sequence[NewEvent]) -> list[Appended]:
        """Call it as late as possible: the partition is locked from here to the commit.

        A refusal leaves the transaction usable; what it means for the other writes is the caller's to decide.
        """
        for _ in range(SEALINGS):
            request = await self._maker.make(self.tenant, events, self.connection)
            try:
                await self._writer.write_in(self.connection, self.tenant, events[0].scope.legal_entity, request)
                self.requests.append(request)
                return request.appended
            except SubjectErased as refusal:
                # The transaction is lost.
                self._maker.forget(self.tenant, refusal)
                raise
            except NotNew as refusal:
                self._maker.forget(self.tenant, refusal)
                outdated = refusal
        raise outdated


Begin = Callable[[UUID], AbstractAsyncContextManager[LogTransaction]]


async def retry_on_conflict(attempt: Callable[[], Awaitable[Result]], waits: Sequence[float] = WAITS) -> Result:
    """Run `attempt`, which must read what it decides on; the last conflict is the caller's."""
    for wait in waits:
        try:
            return await attempt()
        except (VersionConflict, TransactionConflict):
            await asyncio.sleep(wait)
    return await attempt()
