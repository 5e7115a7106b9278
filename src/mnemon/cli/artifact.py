"""`mnemon artifact`: texts taken in as they are, their revisions, and what changed between them."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from mnemon.cli.binding.bind import acting, command
from mnemon.cli.binding.options import OF_AN_ORIGIN
from mnemon.cli.context import run_async
from mnemon.cli.naming import OF_A_TITLE, artifact_meant
from mnemon.cli.output import counted, say, show, table
from mnemon.cli.semantic_events import REVISION, print_event
from mnemon.client.reading import being_read, until_events_are_read
from mnemon.errors import InvalidRequest
from mnemon.operations import Differs, as_json
from mnemon.semantics import artifact_operations, operations
from mnemon.semantics.artifact_operations import ArtifactHistory, ArtifactShown, ArtifactToAdd
from mnemon.semantics.outputs import ExtractionJob, RevisionChanges

app = typer.Typer(help="Artifacts: texts with an origin, readers and a history.", no_args_is_help=True)


OF_A_FILE = {
    "content": Differs("It is read from a file, or from standard input."),
    "artifact_type": Differs("Most files that a person adds by hand are notes.", default="note"),
    "source_system": Differs("It comes from this command.", default="cli"),
    "visibility_scope": Differs("The operator is no member of the tenant: `me` would be nobody there.", default="org"),
    "wait_seconds": Differs("--no-wait goes on at once, else it waits until the end."),
}
BESIDE: dict[str, Any] = {
    "path": Annotated[Path, typer.Argument(help="A text file; - reads standard input.", show_default=False)],
    "wait": Annotated[bool | None, typer.Option("--wait/--no-wait", help="Wait until its events are read.")],
}


def _of_file(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    path = values.pop("path")
    name = None if str(path) == "-" else path.name
    return {**values, "content": _read(path), "title": values["title"] or name}


def _add(tenant: str, asked: ArtifactToAdd, wants_json: bool, left: dict[str, Any]) -> None:
    async def take() -> dict[str, Any]:
        async with acting(tenant) as (mnemon, caller):
            taken = await artifact_operations.take_in(mnemon, caller, asked)
            if left["wait"] is not False:
                async with being_read(mnemon):
                    async for _ in until_events_are_read(mnemon, caller.tenant_id, [taken.doc_id]):
                        pass
            return taken.as_json()

    taken = run_async(take())
    show(taken, wants_json, lambda: say(f"{taken['artifact_uid']} {taken['revision_id']}: {taken['status']}"))


command(
    app, "add", artifact_operations.add, lambda taken: None, short=OF_AN_ORIGIN, differences=OF_A_FILE, beside=BESIDE,
    prepare=_of_file, perform=_add, in_pieces=False,
    example="mnemon artifact add notes.txt --type note --source-id meeting-7",
)  # fmt: skip


OF_ONE: dict[str, Any] = {"arguments": ["artifact_uid"], "prepare": artifact_meant, "differences": OF_A_TITLE}


def print_artifact(found: ArtifactShown) -> None:
    shown = as_json(found)
    text = shown.pop("text", None)
    for name, value in shown.items():
        if value not in (None, ""):
            say(f"{name}: {value}")
    if text is not None:
        say(f"\n{text}")


def print_history(found: ArtifactHistory) -> None:
    rows = [
        (one.version_number, one.revision_id, "latest" if one.is_latest else "", f"{one.ingested_at:%Y-%m-%dT%H:%M:%S}")
        for one in found.revisions
    ]
    table(["Number", "Revision", "", "Ingested"], rows, "It was not read yet.")


command(
    app, "show", artifact_operations.get, print_artifact, **OF_ONE,
    short=REVISION | {"include_text": "--text"}, example="mnemon artifact show minutes.md --text",
)  # fmt: skip
command(
    app, "revisions", artifact_operations.history, print_history, **OF_ONE,
    example="mnemon artifact revisions minutes.md",
)  # fmt: skip
command(
    app, "delete", artifact_operations.delete, lambda gone: say(f"Gone: {counted(gone.revisions, 'revision')}."),
    **OF_ONE, question="Destroy the artifact {artifact_uid} for good?",
    example="mnemon artifact delete uid_0123456789abcdef",
)  # fmt: skip


def print_changes(told: RevisionChanges) -> None:
    for name in ("added", "dropped"):
        for event in getattr(told, name):
            say(f"{name}:", "dim")
            print_event(event)
    for one in told.changed:
        say(f"changed ({', '.join(one.fields)}):", "dim")
        print_event(one.before)
        print_event(one.after)
    if not (told.added or told.dropped or told.changed):
        say(f"Nothing that counts as an event changed from {told.before} to {told.after}.", "dim")


def print_job(job: ExtractionJob) -> None:
    say(f"{job.job_id} {job.status}, attempt {job.attempts} of {job.max_attempts}")
    if job.last_error_message:
        say(f"{job.last_error_code}: {job.last_error_message}", "bold red")
    if job.status == "PENDING":
        say("It waits for a worker: `mnemon work` starts one.", "dim")


command(
    app, "changes", operations.changes, print_changes, **OF_ONE,
    example="mnemon artifact changes uid_0123456789abcdef --before 1 --after 2",
)  # fmt: skip
command(
    app, "job", operations.extraction_status, print_job, **OF_ONE,
    short=REVISION, example="mnemon artifact job uid_0123456789abcdef",
)  # fmt: skip


def _read(path: Path) -> str:
    try:
        # As it is: a line's end is part of what is quoted.
        return (sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()).decode()
    except (OSError, UnicodeDecodeError) as failure:
        raise InvalidRequest(f"{path} cannot be read as text: {failure}.") from None
