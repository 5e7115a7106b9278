"""`mnemon add`: take in files and folders of this machine, and see that they are read."""

import asyncio
import signal
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from mnemon.app import Mnemon
from mnemon.cli.context import OPERATOR, run_async, tenant_of
from mnemon.cli.output import Json, TenantOption, complaints, counted, say, show, table
from mnemon.cli.reading import POLL_SECONDS, being_read, until_events_are_read
from mnemon.documents.intake.files import Files
from mnemon.documents.intake.folders import FoundFile, find_files
from mnemon.documents.intake.origin import Origin, checked_origin
from mnemon.documents.intake.receive import accept
from mnemon.documents.runs import RunStatus, ended_runs
from mnemon.errors import InvalidRequest, MnemonError
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.log.read.query import end_of, start_of
from mnemon.semantics.extract.status import never_read, unread

NO_EVENTS_YET = "its events are not read yet: `mnemon jobs list` says why"


@dataclass
class Added:
    """What came of one file."""

    path: Path
    status: str
    # As a person knows it: within the folder that was given.
    name: str = ""
    title: str | None = None
    doc_id: UUID | None = None
    run_id: UUID | None = None
    error_code: str | None = None
    reason: str | None = None


class Interrupted:
    """Ctrl-C: finish the file at hand, then stop; what was taken in stays queued. A second one ends at once."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._ask)

    def _ask(self) -> None:
        self.asked.set()
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)

    @property
    def wanted(self) -> bool:
        return self.asked.is_set()


def add(
    paths: Annotated[list[Path], typer.Argument(help="Files, and folders with all that is in them.", metavar="PATH…")],
    title: Annotated[str | None, typer.Option(help="Title of a single file. Default: its name.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag for every file; may be repeated.")] = None,
    by_path: Annotated[
        bool, typer.Option("--by-path", help="A file is known by its path: another content is a new version of it.")
    ] = False,
    document_type: Annotated[str | None, typer.Option("--type", help="email, doc, chat, transcript or note.")] = None,
    author: Annotated[str | None, typer.Option(help="Who wrote it. Default: as the file says.")] = None,
    participant: Annotated[list[str] | None, typer.Option(help="Who took part; may be repeated.")] = None,
    written: Annotated[
        str | None, typer.Option("--date", help="When it was written. Default: as the file says.")
    ] = None,
    visibility: Annotated[
        str | None, typer.Option(help="Who may read it: me, team, org or custom. Default: org, everyone.")
    ] = None,
    reader: Annotated[list[str] | None, typer.Option(help="Who else may read it, by e-mail; may be repeated.")] = None,
    sensitivity: Annotated[str | None, typer.Option(help="normal, sensitive or highly_sensitive.")] = None,
    retention: Annotated[
        str | None, typer.Option(help="How long it is kept: forever, 1y, until_resolved or custom.")
    ] = None,
    retain_until: Annotated[str | None, typer.Option("--until", help="The last day of a custom retention.")] = None,
    wait: Annotated[bool, typer.Option(help="Wait until the files are read.")] = True,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Take in files and folders. Where no worker runs, this command reads them itself.

    Example: mnemon add ~/minutes policy.pdf --tag board
    """
    origin = checked_origin(
        Origin(
            title=title, tags=tag, document_type=document_type, author=author, participants=tuple(participant or ()),
            written_at=start_of(written) if written else None, visibility_scope=visibility,
            readers=tuple(reader or ()), sensitivity=sensitivity, retention_policy=retention,
            retain_until=end_of(retain_until) if retain_until else None,
        )
    )  # fmt: skip
    added, interrupted = run_async(_add(paths, origin, by_path, wait, tenant, as_json))
    summary = {status: sum(one.status == status for one in added) for status in sorted({one.status for one in added})}
    show({"files": added, **summary, "interrupted": interrupted}, as_json, lambda: _tell(added, interrupted))
    if interrupted:
        raise typer.Exit(130)
    if any(one.status in ("failed", "refused") for one in added):
        raise typer.Exit(1)


async def _add(
    paths: Sequence[Path], origin: Origin, by_path: bool, wait: bool, slug: str, as_json: bool
) -> tuple[list[Added], bool]:
    found = list(await asyncio.to_thread(lambda: list(find_files([path.expanduser() for path in paths]))))
    if origin.title and len(found) != 1:
        raise InvalidRequest(f"--title is for a single file, and there are {len(found)}.")
    async with tenant_of(slug) as (mnemon, tenant):
        interrupted = Interrupted()
        with _progress(as_json) as progress:
            added = await _take_in(mnemon, tenant, found, origin, by_path, interrupted, progress)
            if wait and not interrupted.wanted:
                await _see_through(mnemon, tenant, added, interrupted, progress)
        return added, interrupted.wanted


async def _take_in(
    mnemon: Mnemon,
    tenant: UUID,
    found: Sequence[FoundFile],
    origin: Origin,
    by_path: bool,
    interrupted: Interrupted,
    progress: Progress,
) -> list[Added]:
    added = []
    task = progress.add_task("Taking in", total=len(found))
    for one in found:
        if interrupted.wanted:
            break
        added.append(await _take_in_one(mnemon, tenant, one, _with_path(origin, one.path) if by_path else origin))
        progress.advance(task)
    return added


async def _take_in_one(mnemon: Mnemon, tenant: UUID, found: FoundFile, origin: Origin) -> Added:
    if found.reason is not None:
        return Added(found.path, "refused" if found.named else "left_out", found.name, reason=found.reason)
    files: Files = mnemon.files
    try:
        received = await asyncio.to_thread(files.take_copy, tenant, found.path)
        outcome = await accept(mnemon.log, files, tenant, OPERATOR, received, origin)
    except MnemonError as refusal:
        return Added(found.path, "refused", found.name, error_code=refusal.code, reason=refusal.message)
    except OSError as failure:
        return Added(found.path, "refused", found.name, reason=failure.strerror or str(failure))
    reason = None if outcome.run_id else "already ingested, no changes"
    return Added(found.path, outcome.status, found.name, outcome.title, outcome.doc_id, outcome.run_id, reason=reason)


def _with_path(origin: Origin, path: Path) -> Origin:
    return replace(origin, source_uri=path.resolve().as_uri(), source_type="file")


async def _see_through(
    mnemon: Mnemon, tenant: UUID, added: list[Added], interrupted: Interrupted, progress: Progress
) -> None:
    """Until every run has ended, and what the documents tell was read too: also those that were there already."""
    waiting = {one.run_id: one for one in added if one.run_id is not None}
    documents = {one.doc_id for one in added if one.doc_id}
    if not waiting and not await unread(mnemon.database, tenant, documents):
        return
    async with being_read(mnemon):
        task = progress.add_task("Reading", total=len(waiting))
        while waiting and not interrupted.wanted:
            async with mnemon.database.transaction(tenant) as tx:
                ended = await ended_runs(tx, waiting.keys())
            for run in ended:
                one = waiting.pop(run.run_id)
                one.status, one.error_code, one.reason = run.status.value, run.error_code, run.error
                progress.advance(task)
            await _pause(interrupted)
        task = progress.add_task("Finding events", total=len(documents))
        async for read in until_events_are_read(mnemon, tenant, documents):
            progress.update(task, completed=read)
            if interrupted.wanted:
                break
    silent = await never_read(mnemon.database, tenant, documents)
    for one in added:
        if one.doc_id in silent and one.status == RunStatus.SUCCEEDED:
            one.reason = NO_EVENTS_YET


async def _pause(interrupted: Interrupted) -> None:
    try:
        await asyncio.wait_for(interrupted.asked.wait(), POLL_SECONDS)
    except TimeoutError:
        return


def _progress(as_json: bool) -> AbstractContextManager[Progress]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, console=complaints, transient=True, disable=as_json or not complaints.is_terminal)


def _tell(added: Sequence[Added], interrupted: bool) -> None:
    shown = [one for one in added if one.status != "left_out"]
    _table(shown)
    for line in _left_out(added):
        say(line)
    if interrupted:
        say("Stopped. What is queued will be read by the next worker; the rest was not looked at.")
    elif any(one.status == "queued" for one in added):
        say("Queued files are read by the next worker: `mnemon runs list` shows how far they are.")


def _table(shown: Sequence[Added]) -> None:
    """Titles and reasons only where there is one that says more than the file's name."""
    columns = {"File": [one.name for one in shown], "Status": [one.status for one in shown]}
    if any(one.title not in (None, one.path.name) for one in shown):
        columns["Title"] = [one.title or "" for one in shown]
    if any(one.reason for one in shown):
        columns["Reason"] = [one.reason or "" for one in shown]
    table(list(columns), zip(*columns.values(), strict=True), "No files.")


def _left_out(added: Sequence[Added]) -> Iterator[str]:
    reasons = [one.reason for one in added if one.status == "left_out"]
    for reason in sorted({reason for reason in reasons if reason}):
        yield f"Left out {counted(reasons.count(reason), 'file')}: {reason}."
