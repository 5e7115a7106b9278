"""Outages: statements are tried again, with one log line when the database goes away and one when it is back."""

import asyncio
import errno
from collections.abc import Awaitable, Callable
from typing import TypeVar

import psycopg

from mnemon.errors import DatabaseUnavailable, MnemonError, TenantMoving
from mnemon.telemetry import logger

# What the database or its absence raises, for every statement that is tried again.
OUTAGE = (psycopg.Error, MnemonError, OSError)
RETRY_SECONDS = 0.3
# Shut down by an administrator, crashed, not up yet, database dropped; no room on its disk; too many connections.
GONE = frozenset({"57P01", "57P02", "57P03", "57P05", "53100", "53300"})
# No room for files beside the database, which is nobody's failure either.
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})

Answer = TypeVar("Answer")

log = logger(__name__)


def is_outage(failure: BaseException) -> bool:
    """Whether the database went away, its tenant is closed for a move, or a disk has no room. What the database
    cancelled for taking too long, or refused, is another thing."""
    if isinstance(failure, DatabaseUnavailable | TenantMoving):
        return True
    if isinstance(failure, OSError):
        return failure.errno in NO_ROOM
    if not isinstance(failure, psycopg.OperationalError):
        return False
    state = failure.sqlstate
    return state is None or state[:2] == "08" or state in GONE


class Outage:
    """The state of one user of the database."""

    def __init__(self, who: str) -> None:
        self._who = who
        self._lasting = False

    def seen(self, failure: BaseException) -> None:
        if not self._lasting:
            log.warning("database_lost", by=self._who, error=str(failure).strip())
        self._lasting = True

    def over(self) -> None:
        if self._lasting:
            log.warning("database_back", by=self._who)
        self._lasting = False

    async def survive(self, step: Callable[[], Awaitable[Answer]]) -> Answer:
        """Try until the database has answered."""
        while True:
            try:
                return await step()
            except OUTAGE as failure:
                self.seen(failure)
                await asyncio.sleep(RETRY_SECONDS)
