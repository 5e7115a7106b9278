"""Other processes of the log's benchmark: each opens Mnemon by itself and does as it is told on its standard input.

log_processes.py writer HOME TENANT LEGAL_ENTITY
log_processes.py subscriber HOME TENANT LEGAL_ENTITY
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from log_workload import Orders

from mnemon.app import Mnemon, open_mnemon
from mnemon.log.events import Event, Scope
from mnemon.log.read.pattern import Pattern
from mnemon.log.subscribe.delivery import Delivery
from mnemon.log.subscribe.subscriptions import Subscription
from mnemon.settings import Settings

SUBSCRIPTION = "bench"


@asynccontextmanager
async def opened_mnemon(home: Path) -> AsyncIterator[Mnemon]:
    """Mnemon as any program opens it, on an embedded server with its default configuration."""
    async with open_mnemon(Settings(home=home, database_linger_seconds=0)) as mnemon:
        yield mnemon


@dataclass
class Process:
    """One of these processes, seen from the benchmark."""

    process: asyncio.subprocess.Process

    @classmethod
    async def start(cls, role: str, home: Path, tenant: UUID, legal_entity: str) -> "Process":
        process = await asyncio.create_subprocess_exec(
            sys.executable, __file__, role, str(home), str(tenant), legal_entity,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        started = cls(process)
        assert await started.answer() == "ready"
        return started

    async def tell(self, line: object) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{line}\n".encode())
        await self.process.stdin.drain()

    async def answer(self) -> str:
        assert self.process.stdout
        return (await self.process.stdout.readline()).decode().strip()

    async def stop(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        await self.process.wait()


async def write(home: str, tenant: str, legal_entity: str) -> None:
    """Told a number, appends so many batches of 100 and says so. The events are made beforehand."""
    async with opened_mnemon(Path(home)) as mnemon:
        orders, scope = Orders(), Scope(legal_entity)
        await mnemon.log.append(UUID(tenant), orders.take(100, scope))
        while True:
            work = [orders.take(100, scope) for _ in range(50)]
            print("ready", flush=True)
            if not (line := await asyncio.to_thread(sys.stdin.readline)):
                return
            for batch in work[: int(line)]:
                await mnemon.log.append(UUID(tenant), batch)
            print("done", flush=True)


async def subscribe(home: str, tenant: str, legal_entity: str) -> None:
    """Says of each event that is delivered when that was, by the clock that all processes share."""

    async def handle(event: Event) -> None:
        print(event.id, time.monotonic(), flush=True)

    async with opened_mnemon(Path(home)) as mnemon:
        wanted = Subscription(SUBSCRIPTION, pattern=Pattern(legal_entities=[legal_entity]))
        await mnemon.log.subscriptions.add(UUID(tenant), wanted, start="now")
        async with Delivery(mnemon.log, UUID(tenant), SUBSCRIPTION, handle):
            await mnemon.log.arrivals.listening(10)
            print("ready", flush=True)
            await asyncio.to_thread(sys.stdin.readline)


if __name__ == "__main__":
    asyncio.run({"writer": write, "subscriber": subscribe}[sys.argv[1]](*sys.argv[2:]))
