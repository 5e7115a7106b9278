"""A worker process for the crash suites: `python work_process.py HOME NAME LEASE SKEW`.

Its kinds do what jobs should not: die with their process, block the event loop, leak, write after their lease is lost.
"""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from pathlib import Path

import structlog
from pydantic import BaseModel

from mnemon.cli.process import start_over, stop_on_signals
from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.work.errors import LeaseLost
from mnemon.work.job import Job
from mnemon.work.kinds import Backoff, Isolation, JobKind
from mnemon.work.worker import Worker

SOON = Backoff(0.1, 1.0)
ADD_EFFECT = "INSERT INTO mnemon.crash_effects (job_id, worker) VALUES (%s, %s)"


class Task(BaseModel):
    """What a job of this suite is told."""

    milliseconds: int = 0
    folder: str = ""


# Any number of neighbours may die around an innocent job; only its own failures should be able to end it.
EFFECT = JobKind("crash.effect", Task, attempts=100, time_limit=600, backoff=SOON)
PLAIN = JobKind("crash.plain", Task, attempts=100, time_limit=600, backoff=SOON)
KILLER = JobKind("crash.killer", Task, attempts=3, time_limit=600, backoff=SOON)
HANGER = JobKind("crash.hanger", Task, attempts=1, time_limit=1, backoff=SOON)
LEAKER = JobKind("crash.leaker", Task, attempts=3, time_limit=600, backoff=SOON, isolation=Isolation(400))
STUBBORN = JobKind("crash.stubborn", Task, attempts=5, time_limit=600, backoff=SOON)
KINDS = [EFFECT, PLAIN, KILLER, HANGER, LEAKER, STUBBORN]


@EFFECT.handler
async def effect(job: Job[Task]) -> None:
    """The effect and the finish are one transaction."""
    await asyncio.sleep(job.payload.milliseconds / 1000)
    async with job.transaction() as tx:
        await tx.execute(ADD_EFFECT, (job.job_id, job.context))
        await job.finish(tx)


@PLAIN.handler
async def plain(job: Job[Task]) -> dict[str, int]:
    """No effect of its own: the worker records the success."""
    await asyncio.sleep(job.payload.milliseconds / 1000)
    return {"attempt": job.attempt}


@KILLER.handler
async def killer(job: Job[Task]) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@HANGER.handler
async def hanger(job: Job[Task]) -> None:
    while True:
        time.sleep(1)  # noqa: ASYNC251  the point is to block the loop


@LEAKER.handler
async def leaker(job: Job[Task]) -> None:
    hoard = []
    while True:
        hoard.append(bytearray(16 << 20))


@STUBBORN.handler
async def stubborn(job: Job[Task]) -> None:
    """Waits for a gate, does not let itself be cancelled, then writes; leaves a note on how that went."""
    folder = Path(job.payload.folder)
    (folder / f"{job.context}.began").touch()
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            if (folder / "gate").exists():
                return await write_and_tell(job, folder / f"{job.context}.verdict")
            await asyncio.sleep(0.02)


async def write_and_tell(job: Job[Task], note: Path) -> None:
    try:
        await effect(job)
    except LeaseLost:
        note.write_text("lease lost")
        raise
    note.write_text("wrote")


async def main(home: Path, name: str, lease: float) -> None:
    async with Database(EmbeddedServer(home, linger_seconds=0), pool_size=3) as database:
        worker = Worker(database, KINDS, slots=4, lease=lease, poll=0.2, name=name, context=name, on_stuck=start_over)
        stop_on_signals(worker.stop)
        await worker.run()


if __name__ == "__main__":
    skew, real_time, real_time_ns = float(sys.argv[4]), time.time, time.time_ns
    time.time = lambda: real_time() + skew
    time.time_ns = lambda: real_time_ns() + int(skew * 1e9)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    logging.disable(logging.ERROR)
    # The subprocess of an isolated job imports this module by its name.
    import work_process

    asyncio.run(work_process.main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])))
