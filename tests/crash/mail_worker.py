"""A worker process that dies at a chosen moment of an import: `python mail_worker.py HOME MOMENT LEASE`."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import structlog

from mnemon.app import open_mnemon
from mnemon.documents.intake.files import Files
from mnemon.mail.consensus import job as consensus
from mnemon.mail.jobs import KINDS
from mnemon.mail.storing import batch, importing, passages
from mnemon.mail.storing.packs import Packs
from mnemon.settings import Settings
from mnemon.work.job import Job
from mnemon.work.worker import Worker


def die(*_: Any, **__: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def dying_after(step: Callable[..., Awaitable[Any]], times: int = 1) -> Callable[..., Awaitable[Any]]:
    """The step is done, and nothing is committed yet."""
    done = 0

    async def run(*given: Any, **named: Any) -> Any:
        nonlocal done
        result = await step(*given, **named)
        done += 1
        return die() if done == times else result

    return run


def keep_and_die(packs: Packs, *given: Any) -> Any:
    keep(packs, *given)
    die()


keep = Packs.keep_file
MOMENTS: dict[str, Callable[[], None]] = {
    "claimed": lambda: setattr(importing, "_row", die),
    "bytes kept": lambda: setattr(Packs, "keep_file", keep_and_die),
    "archive recorded": lambda: setattr(importing, "_settle", dying_after(importing._settle)),
    "upload discarded": lambda: setattr(Files, "discard_upload", die),
    "first part written": lambda: setattr(importing, "record_batch", dying_after(importing.record_batch)),
    "third part begun": lambda: setattr(importing, "record_batch", dying_after(importing.record_batch, 3)),
    "import ended": lambda: setattr(Job, "finish", dying_after(Job.finish)),
    "passages cut": lambda: setattr(passages, "embed_passages", die),
    "passages written": lambda: setattr(passages, "store_passages", dying_after(passages.store_passages)),
    "thread judged": lambda: setattr(consensus, "consensus_event", die),
    "thread recorded": lambda: setattr(consensus, "_read_thread", dying_after(consensus._read_thread)),
}


async def main(home: Path, lease: float) -> None:
    settings = Settings(home=home, embedder="none", database_linger_seconds=0)
    async with open_mnemon(settings) as mnemon:
        await Worker(mnemon.database, KINDS, slots=1, lease=lease, poll=0.2, context=mnemon).run()


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    # Small parts, so that a short archive has many.
    batch.MOST_MESSAGES = 5
    MOMENTS[sys.argv[2]]()
    asyncio.run(main(Path(sys.argv[1]), float(sys.argv[3])))
