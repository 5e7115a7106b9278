"""The nightly verification of each tenant: what is new, and a seventh part of the old, so that a week covers all."""

from typing import Any

from pydantic import BaseModel

from mnemon.errors import BadSettings
from mnemon.log.events import SYSTEM, Actor
from mnemon.settings import Settings
from mnemon.verification.run import verify_everything
from mnemon.work.job import Job
from mnemon.work.kinds import JobKind
from mnemon.work.log_jobs import reporting
from mnemon.work.schedule import Schedule

OFF = "off"


class VerificationJob(BaseModel):
    """How much is looked at, and on whose word."""

    complete: bool = False
    actor: Actor | None = None


# Fifty thousand events per second and more, and 300 MB of files: six hours are enough for terabytes.
VERIFY_EVERYTHING = JobKind("integrity.verify", VerificationJob, attempts=3, time_limit=6 * 3600, at_once=1)


@VERIFY_EVERYTHING.handler
async def verify_tenant(job: Job[VerificationJob]) -> dict[str, Any]:
    wanted = job.payload
    async with reporting(job) as tell:
        report = await verify_everything(
            job.context, job.tenant_id, complete=wanted.complete, actor=wanted.actor or SYSTEM,
            progress=lambda part: tell({"part": part}),
        )  # fmt: skip
    return report.as_json()


def verification_schedules(settings: Settings) -> list[Schedule]:
    if settings.verify_schedule == OFF:
        return []
    try:
        return [Schedule("integrity.verify", VERIFY_EVERYTHING, settings.verify_schedule, every_tenant=True,
                         payload=VerificationJob())]  # fmt: skip
    except ValueError as failure:
        raise BadSettings(f"MNEMON_VERIFY_SCHEDULE: {failure}") from None
