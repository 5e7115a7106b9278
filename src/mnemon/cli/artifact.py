"""`mnemon artifact`: texts taken in as they are, their revisions, and what changed between them."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from mnemon.cli.bind import command
from mnemon.cli.context import OPERATOR, run_async, tenant_of
from mnemon.cli.output import Json, TenantOption, counted, say, show, table
from mnemon.cli.reading import being_read, until_events_are_read
from mnemon.cli.semantic_events import REVISION, print_event
from mnemon.errors import InvalidRequest
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.log.read.query import end_of, start_of
from mnemon.operations import as_json
from mnemon.semantics import artifact_operations, operations
from mnemon.semantics.artifact_operations import ArtifactHistory, ArtifactShown
from mnemon.semantics.artifacts import NewArtifact, ingest_artifact
from mnemon.semantics.outputs import ExtractionJob, RevisionChanges

app = typer.Typer(help="Artifacts: texts with an origin, readers and a history.", no_args_is_help=True)


@app.command()
def add(
    path: Annotated[Path, typer.Argument(help="A text file; - reads standard input.")],
    artifact_type: Annotated[str, typer.Option("--type", help="email, doc, chat, transcript or note.")] = "note",
    source: Annotated[str, typer.Option("--source", help="The system that it comes from.")] = "cli",
    source_id: Annotated[str | None, typer.Option("--source-id", help="The same id, the same artifact.")] = None,
    title: Annotated[str | None, typer.Option("--title", help="What it is called.")] = None,
    author: Annotated[str | None, typer.Option("--author", help="Who wrote it.")] = None,
    participant: Annotated[list[str] | None, typer.Option("--participant", help="Who took part; repeat it.")] = None,
    url: Annotated[str | None, typer.Option("--url", help="Where it can be opened.")] = None,
    written: Annotated[str | None, typer.Option("--date", help="When it was written or said.")] = None,
    scope: Annotated[str, typer.Option("--scope", help="Who may read it: me, team, org or custom.")] = "org",
    reader: Annotated[
        list[str] | None, typer.Option("--reader", help="Who may read it, by e-mail address; repeat it.")
    ] = None,
    sensitivity: Annotated[
        str, typer.Option("--sensitivity", help="normal, sensitive or highly_sensitive.")
    ] = "normal",
    retention: Annotated[str, typer.Option("--retention", help="forever, 1y, until_resolved or custom.")] = "forever",
    retain_until: Annotated[str | None, typer.Option("--until", help="The last day of a custom retention.")] = None,
    wait: Annotated[bool, typer.Option(help="Wait until its events are read.")] = True,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Take a text in. Where no worker runs, this command reads it itself.

    Example: mnemon artifact add notes.txt --type note --source-id meeting-7
    """
    new = NewArtifact(
        artifact_type=artifact_type, source_system=source, content=_read(path), source_id=source_id,
        title=title or (None if str(path) == "-" else path.name),
        author=author, participants=tuple(participant or ()), source_url=url, ts=start_of(written) if written else None,
        sensitivity=sensitivity, visibility_scope=scope, readers=tuple(reader or ()),
        retention_policy=retention, retain_until=end_of(retain_until) if retain_until else None,
    )  # fmt: skip

    async def take() -> dict[str, Any]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            taken = await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant_id, OPERATOR, new)
            if wait:
                async with being_read(mnemon):
                    async for _ in until_events_are_read(mnemon, tenant_id, [taken.doc_id]):
                        pass
            return taken.as_json()

    taken = run_async(take())
    show(taken, as_json, lambda: say(f"{taken['artifact_uid']} {taken['revision_id']}: {taken['status']}"))


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
    app, "show", artifact_operations.get, print_artifact, arguments=["artifact_uid"],
    short=REVISION | {"include_text": "--text"}, example="mnemon artifact show uid_0123456789abcdef --text",
)  # fmt: skip
command(
    app, "revisions", artifact_operations.history, print_history, arguments=["artifact_uid"],
    example="mnemon artifact revisions uid_0123456789abcdef",
)  # fmt: skip
command(
    app, "delete", artifact_operations.delete, lambda gone: say(f"Gone: {counted(gone.revisions, 'revision')}."),
    arguments=["artifact_uid"], question="Destroy the artifact {artifact_uid} for good?",
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
    app, "changes", operations.changes, print_changes, arguments=["artifact_uid"],
    example="mnemon artifact changes uid_0123456789abcdef --before 1 --after 2",
)  # fmt: skip
command(
    app, "job", operations.extraction_status, print_job, arguments=["artifact_uid"], short=REVISION,
    example="mnemon artifact job uid_0123456789abcdef",
)  # fmt: skip


def _read(path: Path) -> str:
    try:
        # As it is: a line's end is part of what is quoted.
        return (sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()).decode()
    except (OSError, UnicodeDecodeError) as failure:
        raise InvalidRequest(f"{path} cannot be read as text: {failure}.") from None
