"""What happens to the machine: kills, a full disk, a slow one, and a clock that jumps."""

import asyncio
import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Sequence

import httpx

from tests.storm.chronicle import READY
from tests.storm.stage import PATIENCE, Stage, pick, stopped_for

FULL_SECONDS = 2.0
SLOW_SECONDS = 1.5
# How long a server may take to come back before the next fault strikes all the same: longer where it takes long to
# start at all, or on a busy machine each fault would find it starting and none would find it at work.
BREATH_SECONDS, BREATH_STARTS = 30.0, 4
JUMPS = ("+2d", "-2d", "+1h", "+0")
WRITERS = ("checkpointer", "walwriter", "background writer")


class Weather:
    """One fault after the other, chosen by a seed."""

    def __init__(self, stage: Stage, seed: int, pause: float, only: Sequence[str] = ()) -> None:
        self.stage = stage
        # These one after the other, each once the server is up again, instead of what chance chooses.
        self.left = list(only)
        self._breath = PATIENCE if only else max(BREATH_SECONDS, BREATH_STARTS * stage.started_in)
        self._by_chance = not only
        self.choice = random.Random(seed)
        self.pause = pause
        self.done: Counter[str] = Counter()
        self.ending = False

    @property
    def kills(self) -> int:
        return sum(times for name, times in self.done.items() if name.startswith("kill "))

    def faults(self) -> list[str]:
        possible = ["server", "worker", "postgres", "postgres", "keeper", "slow disk"]
        possible += ["full disk"] if self.stage.own_disk else []
        possible += ["clock"] if self.stage.clock_library else []
        return possible

    async def rage(self) -> None:
        while not self.ending:
            await asyncio.sleep(self.pause * self.choice.uniform(0.5, 1.5))
            if not self.ending:
                await self._strike_next()
            self.stage.restart_dead()
            await self._breathe()

    async def _strike_next(self) -> None:
        if self._by_chance:
            await self._strike(self.choice.choice(self.faults()))
        elif self.left:
            await self._strike(self.left[0])
            del self.left[0]

    async def _breathe(self) -> None:
        """Until the server answers again, within a bound: who is never up acknowledges nothing that could be lost."""
        async with httpx.AsyncClient(base_url=self.stage.url, timeout=60) as client:
            until = time.monotonic() + self._breath
            while time.monotonic() < until and not self.ending:
                with contextlib.suppress(httpx.HTTPError):
                    if (await client.get("/ready")).status_code == 200:
                        self.stage.chronicle.note(READY)
                        return
                self.stage.restart_dead()
                await asyncio.sleep(0.2)

    async def _strike(self, fault: str) -> None:
        if fault in ("server", "worker"):
            name = self.choice.choice([one for one in self.stage.names if one.startswith(fault)])
            await asyncio.to_thread(self.stage.kill, name)
            self._count(f"kill {fault}")
        elif fault == "postgres":
            if found := self.stage.postgres_processes():
                pid, kind = pick(self.choice, found)
                self._kill(pid, f"kill {kind.split(' 1')[0]}")
        elif fault == "keeper":
            if (pid := self.stage.keeper()) is not None:
                self._kill(pid, "kill keeper")
        elif fault == "slow disk":
            found = self.stage.postgres_processes()
            await stopped_for([pid for pid, kind in found.items() if kind in WRITERS], SLOW_SECONDS)
            self._count(fault)
        elif fault == "full disk":
            await self._fill()
        else:
            jump = self.choice.choice(JUMPS)
            self.stage.clock.write_text(jump)
            self._count("clock jump", f" to {jump}")

    def _kill(self, pid: int, name: str) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            self._count(name)

    async def _fill(self) -> None:
        """Real: the home lies on a small disk of its own, and a file takes what is left of it."""
        ballast = self.stage.home / "ballast"
        with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 20))
        await asyncio.sleep(FULL_SECONDS)
        ballast.unlink(missing_ok=True)
        self._count("full disk", " is over")

    def _count(self, name: str, more: str = "") -> None:
        self.done[name] += 1
        self.stage.chronicle.note(f"FAULT {name}{more}")
