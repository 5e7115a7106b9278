"""`mnemon jobs`: look at the queue of all tenants, retry and cancel."""

from collections.abc import Awaitable, Callable
from typing import Annotated
from uuid import UUID

import typer

from mnemon.cli.context import opened, run_async
from mnemon.cli.output import Json, console, say, show, table
from mnemon.db.database import Connection
from mnemon.identity.tenants import tenant_by_slug
from mnemon.work import jobs
from mnemon.work.jobs import JobDetail, JobStatus, JobSummary, KindCounts, WorkerState

app = typer.Typer(help="Jobs: what waits, runs and failed, of all tenants.", no_args_is_help=True)

JobId = Annotated[UUID, typer.Argument(help="From `mnemon jobs list`.")]


@app.command("list")
def list_(
    status: Annotated[JobStatus | None, typer.Option(help="Only jobs in this state.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only jobs of this kind.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Only jobs of this tenant.", metavar="NAME")] = None,
    limit: Annotated[int, typer.Option(help="Most jobs to show.", min=1, max=10_000)] = 50,
    as_json: Json = False,
) -> None:
    """List jobs, newest first.

    Example: mnemon jobs list --status FAILED
    """

    async def work() -> list[JobSummary]:
        async with opened() as mnemon:
            tenant_id = (await tenant_by_slug(mnemon.database, tenant)).tenant_id if tenant else None
            async with mnemon.database.owner() as owner:
                return await jobs.page_of_jobs(owner, limit, status=status, kind=kind, tenant_id=tenant_id)

    found = run_async(work())
    rows = [
        (one.job_id, one.kind, one.status, f"{one.attempts}/{one.max_attempts}", one.updated_at, one.last_error_code)
        for one in found
    ]
    show(found, as_json, lambda: table(["Id", "Kind", "Status", "Attempts", "Changed", "Error"], rows, "No jobs."))


@app.command("show")
def show_(job_id: JobId, as_json: Json = False) -> None:
    """Show one job: payload, result, and the error of each attempt."""

    async def work() -> JobDetail:
        async with opened() as mnemon, mnemon.database.owner() as owner:
            return await jobs.job_by_id(owner, job_id)

    job = run_async(work())
    show(job, as_json, lambda: _describe(job))


@app.command()
def retry(job_id: JobId, as_json: Json = False) -> None:
    """Start a failed job over with all its attempts, or a waiting one now."""
    job = run_async(_controlled(job_id, jobs.retry_job))
    show(job, as_json, lambda: say(f"Job {job.job_id} will run as soon as a worker is free."))


@app.command()
def cancel(job_id: JobId, as_json: Json = False) -> None:
    """End a job that waits or runs."""
    job = run_async(_controlled(job_id, jobs.cancel_job))
    show(job, as_json, lambda: say(f"Job {job.job_id} is cancelled."))


@app.command()
def stats(as_json: Json = False) -> None:
    """Count jobs by kind, and list the workers."""

    async def work() -> tuple[list[KindCounts], list[WorkerState]]:
        async with opened() as mnemon, mnemon.database.owner() as owner:
            return await jobs.count_jobs(owner), await jobs.list_workers(owner)

    counts, workers = run_async(work())

    def human() -> None:
        rows = [
            (one.kind, one.waiting, one.delayed, one.running, one.dead, f"{one.oldest_waiting_seconds:.0f} s")
            for one in counts
        ]
        table(["Kind", "Waiting", "Delayed", "Running", "Failed", "Oldest waits"], rows, "No unfinished jobs.")
        console.print()
        states = [(one.worker_id, one.slots, "yes" if one.alive else "no", one.heartbeat_at) for one in workers]
        table(["Worker", "Slots", "Alive", "Last heartbeat"], states, "No workers: start one with `mnemon work`.")

    show({"kinds": counts, "workers": workers}, as_json, human)


async def _controlled(job_id: UUID, control: Callable[[Connection, UUID], Awaitable[JobDetail]]) -> JobDetail:
    """Act on a job inside its own tenant, whichever that is."""
    async with opened() as mnemon:
        async with mnemon.database.owner() as owner:
            found = await jobs.job_by_id(owner, job_id)
        async with mnemon.database.transaction(found.tenant_id) as tx:
            return await control(tx, job_id)


def _describe(job: JobDetail) -> None:
    fields = [
        ("Kind", job.kind),
        ("Tenant", job.tenant_id),
        ("Status", job.status),
        ("Attempts", f"{job.attempts} of {job.max_attempts}"),
        ("Created", job.created_at),
        ("Next run", job.next_run_at),
        ("Worker", job.locked_by),
        ("Finished", job.finished_at),
        ("Payload", job.payload),
        ("Result", job.result),
        ("Error", f"{job.last_error_code}: {job.last_error_message}" if job.last_error_code else None),
    ]
    table(["Job", str(job.job_id)], fields, "")
    for error in job.errors:
        console.print(
            f"  attempt {error['attempt']} at {error['at']}: {error['code']} {error['message']}", markup=False
        )
