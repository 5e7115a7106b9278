"""`mnemon runs`: follow the reading of files, and retry what failed."""

from typing import Annotated
from uuid import UUID

import typer

from mnemon.cli.context import run_async, tenant_of
from mnemon.cli.output import Json, TenantOption, counted, say, show, table
from mnemon.documents import runs
from mnemon.documents.runs import ListedRuns, Run, RunStatus
from mnemon.identity.tenants import DEFAULT_SLUG

app = typer.Typer(help="Ingestion runs: what is queued, being read, done and failed.", no_args_is_help=True)

RunId = Annotated[UUID, typer.Argument(help="From `mnemon runs list`.")]


@app.command("list")
def list_(
    status: Annotated[RunStatus | None, typer.Option(help="Only runs in this state.")] = None,
    document: Annotated[UUID | None, typer.Option(help="Only runs of this document.")] = None,
    page: Annotated[int, typer.Option(help="Which page.", min=1)] = 1,
    limit: Annotated[int, typer.Option(help="Most runs to show.", min=1, max=10_000)] = 20,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """List runs, newest first.

    Example: mnemon runs list --status failed
    """

    async def work() -> ListedRuns:
        async with tenant_of(tenant) as (mnemon, tenant_id), mnemon.database.transaction(tenant_id) as tx:
            return await runs.list_runs(tx, page=page, limit=limit, status=status, doc_id=document)

    listed = run_async(work())
    rows = [
        (one.run_id, one.status, one.stage, one.config.get("original_filename"), one.created_at, one.error_code)
        for one in listed.runs
    ]

    def human() -> None:
        table(["Id", "Status", "Stage", "File", "Created", "Error"], rows, "No runs.")
        if listed.total > len(rows):
            say(f"{counted(listed.total, 'run')} in all; --page shows the others.")

    show({"runs": listed.runs, "total": listed.total, "page": page, "limit": limit}, as_json, human)


@app.command("show")
def show_(run_id: RunId, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Show one run: its file, its timings, and what went wrong."""

    async def work() -> Run:
        async with tenant_of(tenant) as (mnemon, tenant_id), mnemon.database.transaction(tenant_id) as tx:
            return await runs.run_by_id(tx, run_id)

    run = run_async(work())
    show(run, as_json, lambda: _describe(run))


@app.command()
def retry(run_id: RunId, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Start a failed run over, with the file that it was given."""

    async def work() -> Run:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await runs.retry_run(mnemon.database, mnemon.files, tenant_id, run_id)

    run = run_async(work())
    show(run, as_json, lambda: say(f"Run {run.run_id} is queued again."))


def _describe(run: Run) -> None:
    fields = [
        ("Status", run.status),
        ("Stage", run.stage),
        ("Document", run.doc_id),
        ("Version", run.doc_version_id),
        ("File", run.config.get("original_filename")),
        ("Size", run.config.get("file_size_bytes")),
        ("By", run.initiated_by),
        ("Attempts", run.attempts),
        ("Created", run.created_at),
        ("Started", run.started_at),
        ("Finished", run.finished_at),
        ("Waited", f"{run.wait_ms} ms" if run.wait_ms is not None else None),
        ("Took", f"{run.processing_ms} ms" if run.processing_ms is not None else None),
        ("Made", ", ".join(f"{name} {value}" for name, value in (run.stats or {}).items()) or None),
        ("Error", f"{run.error_code}: {run.error}" if run.error_code else None),
    ]
    table(["Run", str(run.run_id)], fields, "")
