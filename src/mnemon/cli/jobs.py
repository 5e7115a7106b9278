"""`mnemon jobs`: look at the queue of all tenants, retry and cancel."""

import typer

from mnemon.cli.binding.bind import command
from mnemon.cli.output import console, say, table
from mnemon.operations import Differs
from mnemon.work import operations
from mnemon.work.jobs import JobDetail, WorkerState

app = typer.Typer(help="Jobs: what waits, runs and failed, of all tenants.", no_args_is_help=True)
A_SCREEN = {"limit": Differs("A person reads a screen at a time.", default=50)}
ID = "018f4d1e-0000-7000-8000-000000000001"


def print_jobs(page: operations.JobPage) -> None:
    rows = [
        (one.job_id, one.kind, one.status, f"{one.attempts}/{one.max_attempts}", one.updated_at, one.last_error_code)
        for one in page.items
    ]
    table(["Id", "Kind", "Status", "Attempts", "Changed", "Error"], rows, "No jobs.")
    if page.next_cursor:
        say(f"More: --cursor {page.next_cursor}", "dim")


def print_job(job: JobDetail) -> None:
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
        say(f"  attempt {error['attempt']} at {error['at']}: {error['code']} {error['message']}")


def _state_of(worker: WorkerState) -> str:
    return "at work" if worker.alive else "stopped" if worker.stopped else "gone without a word"


def print_stats(found: operations.JobStats) -> None:
    rows = [
        (one.kind, one.waiting, one.delayed, one.running, one.dead, f"{one.oldest_waiting_seconds:.0f} s")
        for one in found.kinds
    ]
    table(["Kind", "Waiting", "Delayed", "Running", "Failed", "Oldest waits"], rows, "No unfinished jobs.")
    console.print()
    states = [(one.worker_id, one.slots, _state_of(one), one.heartbeat_at) for one in found.workers]
    table(["Worker", "Slots", "State", "Last heartbeat"], states, "No workers: start one with `mnemon work`.")


command(
    app, "list", operations.list_jobs, print_jobs, every_tenant=True, differences=A_SCREEN,
    written=lambda page: page["items"], example="mnemon jobs list --status FAILED",
)  # fmt: skip
command(
    app, "show", operations.get, print_job, every_tenant=True, arguments=["job_id"], example=f"mnemon jobs show {ID}"
)  # fmt: skip
command(
    app, "retry", operations.retry, lambda job: say(f"Job {job.job_id} will run as soon as a worker is free."),
    every_tenant=True, arguments=["job_id"], example=f"mnemon jobs retry {ID}",
)  # fmt: skip
command(
    app, "cancel", operations.cancel, lambda job: say(f"Job {job.job_id} is cancelled."), every_tenant=True,
    arguments=["job_id"], example=f"mnemon jobs cancel {ID}",
)  # fmt: skip
command(app, "stats", operations.stats, print_stats, every_tenant=True, example="mnemon jobs stats")
