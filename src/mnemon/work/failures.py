"""From an exception to a job's failure: its code, its sentence, and whether another attempt could help."""

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg

from mnemon.errors import MnemonError

LONGEST_WAIT = 86_400.0


@dataclass(frozen=True)
class JobFailure:
    """How an attempt ended badly, and whether another could end well."""

    code: str
    message: str
    permanent: bool
    delay: timedelta | None = None


def failure_of(error: Exception) -> JobFailure:
    """Our own errors say whether a retry helps; strangers get one, because a bug and a hiccup look alike."""
    if isinstance(error, MnemonError):
        delay = _wait_asked_for(error.details.get("retry_after"))
        return JobFailure(error.code, error.message, permanent=not error.retry, delay=delay)
    if isinstance(error, psycopg.OperationalError):
        return JobFailure("POSTGRES_CONNECTION_ERROR", str(error) or "The database went away.", permanent=False)
    return JobFailure("UNEXPECTED", f"{type(error).__name__}: {error}", permanent=False)


def _wait_asked_for(seconds: Any) -> timedelta | None:
    """Some other server's wish, so it is taken with care: none that is no number, and at most a day."""
    if not isinstance(seconds, int | float) or math.isnan(seconds):
        return None
    return timedelta(seconds=min(max(seconds, 0.0), LONGEST_WAIT))
