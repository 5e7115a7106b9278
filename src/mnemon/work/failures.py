"""From an exception to a job's failure: its code, its sentence, and whether another attempt could help."""

from datetime import timedelta

import psycopg

from mnemon.errors import MnemonError
from mnemon.work.queue import Failure


def failure_of(error: Exception) -> Failure:
    """Our own errors say whether a retry helps; strangers get one, because a bug and a hiccup look alike."""
    if isinstance(error, MnemonError):
        wait = error.details.get("retry_after")
        delay = timedelta(seconds=wait) if isinstance(wait, int | float) else None
        return Failure(error.code, error.message, permanent=not error.retry, delay=delay)
    if isinstance(error, psycopg.OperationalError):
        return Failure("POSTGRES_CONNECTION_ERROR", str(error) or "The database went away.", permanent=False)
    return Failure("UNEXPECTED", f"{type(error).__name__}: {error}", permanent=False)
