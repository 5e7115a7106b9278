"""The system's own jobs: end what nobody will ever pick up, delete what is long finished."""

from datetime import timedelta
from typing import Any, LiteralString

from pydantic import BaseModel

from mnemon.db.database import Database
from mnemon.settings import Settings
from mnemon.telemetry import logger
from mnemon.work.job import Job
from mnemon.work.kinds import JobKind
from mnemon.work.schedule import Schedule

FAIL_UNCLAIMED = "SELECT mnemon.fail_unclaimed_jobs(%s, %s) AS count"
DELETE_FINISHED = "SELECT mnemon.delete_finished_jobs(now() - %s, now() - %s, %s) AS count"
AT_ONCE = 1_000

log = logger(__name__)


class Patience(BaseModel):
    """How long a due job waits for a worker that offers its kind."""

    hours: int


class Age(BaseModel):
    """How long finished jobs are kept."""

    days: int
    failed_days: int


CRASH_GUARD = JobKind("work.crash_guard", Patience, attempts=3, time_limit=300)
CLEAN_UP = JobKind("work.clean_up", Age, attempts=3, time_limit=600)


@CRASH_GUARD.handler
async def end_unclaimed_jobs(job: Job[Patience]) -> dict[str, int]:
    ended = await in_portions(job.database, FAIL_UNCLAIMED, timedelta(hours=job.payload.hours))
    if ended:
        log.warning("jobs_never_picked_up", count=ended)
    return {"ended": ended}


@CLEAN_UP.handler
async def delete_finished_jobs(job: Job[Age]) -> dict[str, int]:
    age = (timedelta(days=job.payload.days), timedelta(days=job.payload.failed_days))
    return {"deleted": await in_portions(job.database, DELETE_FINISHED, *age)}


def upkeep_schedules(settings: Settings) -> list[Schedule]:
    """What every worker keeps going."""
    return [
        Schedule("work.crash_guard", CRASH_GUARD, "*/15 * * * *", payload=Patience(hours=settings.crash_guard_hours)),
        Schedule(
            "work.clean_up",
            CLEAN_UP,
            "17 * * * *",
            payload=Age(days=settings.job_keep_days, failed_days=settings.job_keep_failed_days),
        ),
    ]


async def in_portions(database: Database, statement: LiteralString, *values: Any) -> int:
    """Clean up in short transactions, so that nothing waits for the broom.

    Runs a statement, which takes the size of a portion last and answers its `count`, until one is not full.
    """
    total = 0
    while True:
        async with database.session() as session:
            row = await (await session.execute(statement, (*values, AT_ONCE))).fetchone()
        assert row is not None
        count: int = row["count"]
        total += count
        if count < AT_ONCE:
            return total
