"""Where a worker's jobs come from: by default the table itself, kinds and tenants in turn."""

import asyncio
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, Protocol
from uuid import UUID

from mnemon.work.kinds import JobKind
from mnemon.work.line import WorkerLine
from mnemon.work.queue import Turns, claim_jobs


class JobIntake(Protocol):
    """Gives a worker claimed jobs, and is told of each when its outcome is on record."""

    async def claim(self, wanted: int, besides: Collection[UUID] = ()) -> Sequence[dict[str, Any]]:
        """Up to so many rows of claimed jobs; tenants of `besides` are left out."""
        ...

    def settled(self, token: str) -> None: ...

    async def run(self) -> None: ...


class TableIntake:
    """Claims from the table."""

    def __init__(self, line: WorkerLine, worker: str, kinds: Collection[JobKind[Any]], lease: timedelta) -> None:
        self._line = line
        self._worker = worker
        self._turns = Turns(kinds)
        self._lease = lease

    async def claim(self, wanted: int, besides: Collection[UUID] = ()) -> Sequence[dict[str, Any]]:
        return await claim_jobs(self._line, self._worker, self._turns, wanted, self._lease, besides)

    def settled(self, token: str) -> None:
        """The row says so."""

    async def run(self) -> None:
        await asyncio.Event().wait()
