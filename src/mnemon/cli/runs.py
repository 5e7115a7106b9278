"""`mnemon runs`: follow the reading of files, and retry what failed."""

from typing import Any

import typer

from mnemon.cli.binding.bind import command
from mnemon.cli.naming import OF_A_DOCUMENT, document_meant
from mnemon.cli.output import counted, say, table
from mnemon.documents import operations
from mnemon.documents.outputs import RunList
from mnemon.documents.runs import Run

app = typer.Typer(help="Ingestion runs: what is queued, being read, done and failed.", no_args_is_help=True)

ID = "01890a5d-ac96-774b-bcce-b302099a8057"


def print_runs(found: RunList) -> None:
    rows = [
        (one.run_id, one.status, one.stage, one.config.get("original_filename"), one.created_at, one.error_code)
        for one in found.items
    ]
    table(["Id", "Status", "Stage", "File", "Created", "Error"], rows, "No runs.")
    if found.total > len(rows):
        say(f"{counted(found.total, 'run')} in all; --page shows the others.")


def print_run(run: Run) -> None:
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


def _as_runs(answer: dict[str, Any]) -> dict[str, Any]:
    return {"runs": answer.pop("items"), **answer}


command(
    app, "list", operations.list_runs, print_runs, short={"doc_id": "--document"}, written=_as_runs,
    prepare=document_meant, differences=OF_A_DOCUMENT,
    example="mnemon runs list --status failed",
)  # fmt: skip
command(app, "show", operations.get_run, print_run, arguments=["run_id"], example=f"mnemon runs show {ID}")
command(
    app, "retry", operations.retry_run, lambda run: say(f"Run {run.run_id} is queued again."),
    arguments=["run_id"], example=f"mnemon runs retry {ID}",
)  # fmt: skip
