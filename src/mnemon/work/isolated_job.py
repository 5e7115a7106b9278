"""A whole job in a subprocess: its handler runs there with a database connection of its own."""

import asyncio
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from mnemon.db.database import Database
from mnemon.db.external import ExternalServer
from mnemon.work.isolate import run_isolated
from mnemon.work.job import Job, result_text
from mnemon.work.kinds import Isolation, kind_in

POOL_SIZE = 2


class Assignment(BaseModel):
    """What the subprocess needs to know of a job."""

    module: str
    kind: str
    job_id: UUID
    tenant_id: UUID
    token: str
    payload_text: str
    attempt: int
    max_attempts: int
    conninfo: str


class Report(BaseModel):
    """What came of it."""

    finished: bool
    result: str | None
    stages: dict[str, float]


async def run_in_subprocess(job: Job[Any], isolation: Isolation, seconds: float) -> str | None:
    """Run the handler of this job in a subprocess; its result as JSON."""
    assert job.kind.run is not None
    assignment = Assignment(
        module=job.kind.run.__module__,
        kind=job.kind.name,
        job_id=job.job_id,
        tenant_id=job.tenant_id,
        token=job.token,
        payload_text=job.payload_text,
        attempt=job.attempt,
        max_attempts=job.max_attempts,
        conninfo=job.database.server.app_conninfo,
    )
    report = await run_isolated(
        carry_out, assignment, memory_mb=isolation.memory_mb, seconds=seconds, database_access=True
    )
    job.finished = report.finished
    job.stages.update(report.stages)
    return report.result


def carry_out(assignment: Assignment) -> Report:
    """In the subprocess: the same handler, with a job that has the same powers."""
    return asyncio.run(_carry_out(assignment))


async def _carry_out(assignment: Assignment) -> Report:
    kind = kind_in(assignment.module, assignment.kind)
    assert kind.run is not None
    # The parent keeps the server up; the subprocess only connects to it.
    async with Database(ExternalServer("", assignment.conninfo), POOL_SIZE) as database:
        job: Job[Any] = Job(
            job_id=assignment.job_id,
            tenant_id=assignment.tenant_id,
            kind=kind,
            payload_text=assignment.payload_text,
            attempt=assignment.attempt,
            max_attempts=assignment.max_attempts,
            token=assignment.token,
            database=database,
        )
        result = await kind.run(job)
        return Report(finished=job.finished, result=result_text(result), stages=job.stages)
