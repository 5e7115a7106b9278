"""Sealing: every few seconds of activity the newest events are signed, so that what could be cut unnoticed is short."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg

from mnemon.errors import MnemonError
from mnemon.log.proof.integrity import Integrity
from mnemon.tasks import end
from mnemon.telemetry import logger

log = logger(__name__)


@asynccontextmanager
async def sealing(integrity: Integrity, every: float) -> AsyncIterator[None]:
    """In the background, and once more at the end; `every` 0 for never."""
    if not every:
        yield
        return
    task = asyncio.create_task(_seal_for_ever(integrity, every))
    try:
        yield
    finally:
        await end(task)
        await _seal(integrity)


async def _seal_for_ever(integrity: Integrity, every: float) -> None:
    while True:
        await asyncio.sleep(every)
        await _seal(integrity)


async def _seal(integrity: Integrity) -> None:
    """An outage of the database or a full disk is no reason to stop: the next turn signs what this one could not."""
    try:
        await integrity.seal_all()
    except (psycopg.Error, MnemonError, OSError) as failure:
        log.warning("log.not_sealed", error=str(failure).strip())
