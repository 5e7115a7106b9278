"""A worker process that dies at a chosen moment of reading a file: `python ingest_worker.py HOME MOMENT LEASE`."""

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
from mnemon.documents.extraction import isolated
from mnemon.documents.ingest import job as ingest
from mnemon.documents.ingest import recording
from mnemon.documents.intake.files import Files
from mnemon.documents.jobs import KINDS
from mnemon.settings import Settings
from mnemon.work.job import Job
from mnemon.work.worker import Worker


def die(*_: Any, **__: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def dying_after(step: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def run(*given: Any, **named: Any) -> Any:
        await step(*given, **named)
        die()

    return run


async def die_while_reading(*given: Any, **named: Any) -> Any:
    """The reader is at work in its subprocess when its worker dies."""
    task = asyncio.create_task(run_isolated(*given, **named))
    await asyncio.sleep(0.1)
    die(task)


def keep_and_die(files: Files, *given: Any) -> Any:
    keep(files, *given)
    die()


run_isolated, keep = isolated.run_isolated, Files.keep


def replaced(owner: Any, name: str, step: Any) -> None:
    """Nobody would die of a step that is called otherwise by now."""
    assert hasattr(owner, name), f"{owner} has no {name}"
    setattr(owner, name, step)


MOMENTS: dict[str, Callable[[], None]] = {
    "claimed": lambda: replaced(ingest, "_run", die),
    "reading": lambda: replaced(isolated, "run_isolated", die_while_reading),
    "embedding": lambda: replaced(ingest, "embed_chunks", die),
    "blob_kept": lambda: replaced(Files, "keep", keep_and_die),
    "text_stored": lambda: replaced(recording, "store_text", dying_after(recording.store_text)),
    "chunks_stored": lambda: replaced(recording, "store_chunks", dying_after(recording.store_chunks)),
    "event_appended": lambda: replaced(Job, "finish", die),
    "finished": lambda: replaced(Job, "finish", dying_after(Job.finish)),
    "committed": lambda: replaced(Files, "discard_upload", die),
}


async def main(home: Path, lease: float) -> None:
    settings = Settings(home=home, embedder="none", database_linger_seconds=0)
    async with open_mnemon(settings) as mnemon:
        await Worker(mnemon.database, KINDS, slots=1, lease=lease, poll=0.2, context=mnemon).run()


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    MOMENTS[sys.argv[2]]()
    asyncio.run(main(Path(sys.argv[1]), float(sys.argv[3])))
