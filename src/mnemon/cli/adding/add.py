"""`mnemon add`: take in files and folders of this machine, and see that they are read."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer
from pydantic import Field
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from mnemon.app import Mnemon
from mnemon.cli.adding.added import Added, Interrupted, added_as, count_versions
from mnemon.cli.adding.gone import Gone, find_gone, find_gone_at, no_more_there, some
from mnemon.cli.adding.sending import send_files
from mnemon.cli.adding.watch import WatchedFiles, follow
from mnemon.cli.binding.bind import acting, bound_command
from mnemon.cli.binding.options import OF_AN_ORIGIN
from mnemon.cli.context import run_async, server_calls
from mnemon.cli.output import complaints, counted, say, show, table
from mnemon.client.reading import BackgroundReading, pause_before_look, until_events_are_read
from mnemon.documents.intake.file_address import file_address
from mnemon.documents.intake.folders import FoundFile, find_files
from mnemon.documents.intake.origin import checked_origin
from mnemon.documents.intake.origin_fields import UploadFields
from mnemon.documents.intake.upload import upload
from mnemon.documents.runs import ended_runs
from mnemon.documents.states import RunStatus
from mnemon.errors import InvalidRequest, MnemonError
from mnemon.operations import Caller, Differs
from mnemon.semantics.extract.status import never_read, unread
from mnemon.telemetry import only_errors_of

SAYS = """Take in files and folders. Where no worker runs, this command reads them itself.

A file is known by its path: added again after a change it is a new version of the same document."""
BESIDE: dict[str, Any] = {
    "paths": Annotated[
        list[Path], typer.Argument(help="Files, and folders with all that is in them.", metavar="PATH…")
    ],
    "by_content": Annotated[
        bool,
        typer.Option(
            "--by-content",
            help="A file is known by its content and not by its path: an edited one is another document.",
        ),
    ],
    "deactivate_gone": Annotated[
        bool, typer.Option("--deactivate-gone", help="Serve no more what came from these folders and is gone there.")
    ],
    "watch": Annotated[
        bool, typer.Option("--watch", help="Go on and take in what changes in these folders, until Ctrl-C.")
    ],
    "wait": Annotated[bool | None, typer.Option("--wait/--no-wait", help="Wait until the files are read.")],
}
ITS_PATH = "Where it comes from, like file:///policies/travel.pdf. Default: its path; with --by-content its content."
ON_THIS_MACHINE = {
    "file": Differs("The files are named by their paths."),
    "source_uri": Differs(
        "A file of this machine has a path.", takes=Annotated[str | None, Field(description=ITS_PATH)]
    ),
}
# What could not be read stands in the table; these would say it too, in lines of the log.
TOLD_BELOW = ("mnemon.work.attempt", "mnemon.documents.failures", "mnemon.documents.ingest.job")
NO_EVENTS_YET = "its events are not read yet: `mnemon jobs list` says why"


def _add(tenant: str, asked: UploadFields, wants_json: bool, left: dict[str, Any]) -> None:
    added, gone, interrupted = run_async(_all(tenant, asked, wants_json, **left))
    if left["watch"]:
        show({"files": added, "gone": gone}, wants_json, lambda: say("Stopped watching."))
        return
    summary = {status: sum(one.status == status for one in added) for status in sorted({one.status for one in added})}
    told = {"files": added, **summary, "gone": gone, "interrupted": interrupted}
    show(told, wants_json, lambda: _tell(added, gone, interrupted, " or ".join(map(str, left["paths"]))))
    if interrupted:
        raise typer.Exit(130)
    if any(one.status in ("failed", "refused") for one in added):
        raise typer.Exit(1)


add = bound_command(
    upload, lambda taken: None, says=SAYS, beside=BESIDE, short=OF_AN_ORIGIN, differences=ON_THIS_MACHINE,
    perform=_add, in_pieces=False, example="mnemon add ~/minutes policy.pdf --tag board",
)  # fmt: skip


async def _all(
    slug: str, asked: UploadFields, wants_json: bool, *, paths: Sequence[Path], by_content: bool,
    deactivate_gone: bool, watch: bool, wait: bool | None,
) -> tuple[list[Added], list[Gone], bool]:  # fmt: skip
    checked_origin(asked.origin())
    places = [path.expanduser() for path in paths]
    found = list(await asyncio.to_thread(lambda: list(find_files(places))))
    if (asked.title or asked.source_uri or asked.new_version_of) and len(found) != 1:
        raise InvalidRequest(
            f"--title, --source-uri and --new-version-of are for a single file, and there are {len(found)}."
        )
    folders = [one for one in places if one.is_dir()]
    if watch and (len(folders) < len(places) or by_content):
        raise InvalidRequest("--watch follows folders, and knows their files by their paths: name folders only.")
    watched = WatchedFiles(found)
    async with server_calls(slug) as server:
        if server is not None:
            interrupted = Interrupted()
            by_path = not by_content and asked.source_uri is None and asked.new_version_of is None

            async def send(files: Sequence[FoundFile]) -> list[Added]:
                with _progress(wants_json) as progress:
                    return await send_files(server, files, asked, by_path, wait is not False, interrupted, progress)

            async def missed() -> list[Gone]:
                return await find_gone_at(server, folders, deactivate_gone)

            sent, lost = await send(found), await missed()
            if watch:
                sent += await _watch(places, watched, send, missed, sent, lost, wants_json, interrupted)
            return sent, lost, interrupted.wanted
    async with acting(slug) as (mnemon, caller):
        interrupted = Interrupted()
        by_path = not by_content and asked.source_uri is None and asked.new_version_of is None

        async def take(files: Sequence[FoundFile]) -> list[Added]:
            with _progress(wants_json) as progress, only_errors_of(*TOLD_BELOW):
                async with BackgroundReading(mnemon, wanted=wait is not False) as reading:
                    added = await _take_in(mnemon, caller, files, asked, by_path, interrupted, progress, reading)
                    if wait is not False and not interrupted.wanted:
                        await _see_through(mnemon, caller.tenant_id, added, interrupted, progress, reading)
                        await count_versions(lambda operation, asked: operation(mnemon, caller, asked), added)
                return added

        async def missing() -> list[Gone]:
            return await find_gone(mnemon, caller, folders, deactivate_gone)

        added, gone = await take(found), await missing()
        if watch:
            added += await _watch(places, watched, take, missing, added, gone, wants_json, interrupted)
        return added, gone, interrupted.wanted


async def _watch(
    places: Sequence[Path], watched: WatchedFiles, take: Callable[[Sequence[FoundFile]], Awaitable[list[Added]]],
    missing: Callable[[], Awaitable[list[Gone]]], added: list[Added], gone: list[Gone], wants_json: bool,
    interrupted: Interrupted,
) -> list[Added]:  # fmt: skip
    """Tell of the first look, then of each change as it comes; with JSON all of it at the end."""
    later: list[Added] = []

    def tell(changed: list[Added], missed: list[Gone]) -> None:
        later.extend(changed)
        gone.extend(one for one in missed if one not in gone)
        if not wants_json:
            for one in changed:
                version = f", version {one.version}" if one.version else ""
                say(f"{one.name}: {one.status.replace('_', ' ')}{version}" + (f" ({one.reason})" if one.reason else ""))
            for line in no_more_there(missed):
                say(line)

    if not wants_json:
        _tell(added, gone, False, " or ".join(map(str, places)))
        say("Watching for changes. Ctrl-C ends it.")
    await follow(places, watched, take, missing, tell, interrupted)
    return later


async def _take_in(
    mnemon: Mnemon,
    caller: Caller,
    found: Sequence[FoundFile],
    asked: UploadFields,
    by_path: bool,
    interrupted: Interrupted,
    progress: Progress,
    reading: BackgroundReading,
) -> list[Added]:
    added = []
    task = progress.add_task("Taking in", total=len(found))
    for one in found:
        if interrupted.wanted:
            break
        said = asked.model_copy(update={"source_uri": file_address(one.path)}) if by_path else asked
        taken = await _take_in_one(mnemon, caller, one, said)
        added.append(taken)
        progress.advance(task)
        if taken.run_id is not None:
            # The first is read while the next is taken in.
            await reading.begin()
    return added


async def _take_in_one(mnemon: Mnemon, caller: Caller, found: FoundFile, asked: UploadFields) -> Added:
    if found.reason is not None:
        return Added(found.path, "refused" if found.named else "left_out", found.name, reason=found.reason)
    try:
        received = await asyncio.to_thread(mnemon.files.take_copy, caller.tenant_id, found.path)
        taken = await upload(mnemon, caller, asked.model_copy(update={"file": received}))
    except MnemonError as refusal:
        return Added(found.path, "refused", found.name, error_code=refusal.code, reason=refusal.message)
    except OSError as failure:
        return Added(found.path, "refused", found.name, reason=failure.strerror or str(failure))
    return added_as(found, taken)


async def _see_through(
    mnemon: Mnemon,
    tenant: UUID,
    added: list[Added],
    interrupted: Interrupted,
    progress: Progress,
    reading: BackgroundReading,
) -> None:
    """Until every run has ended, and what the documents tell was read too: also those that were there already."""
    waiting = {one.run_id: one for one in added if one.run_id is not None}
    documents = {one.doc_id for one in added if one.doc_id}
    if not waiting and not await unread(mnemon.database, tenant, documents):
        return
    await reading.begin()
    task = progress.add_task("Reading", total=len(waiting))
    while waiting and not interrupted.wanted:
        async with mnemon.database.transaction(tenant) as tx:
            ended = await ended_runs(tx, waiting.keys())
        for run in ended:
            one = waiting.pop(run.run_id)
            one.status, one.error_code, one.reason = run.status.value, run.error_code, run.error
            progress.advance(task)
        await interrupted.pause(pause_before_look(len(waiting)))
    task = progress.add_task("Finding events", total=len(documents))
    async for read in until_events_are_read(mnemon, tenant, documents):
        progress.update(task, completed=read)
        if interrupted.wanted:
            break
    silent = await never_read(mnemon.database, tenant, documents)
    for one in added:
        if one.doc_id in silent and one.status == RunStatus.SUCCEEDED:
            one.reason = NO_EVENTS_YET


def _progress(as_json: bool) -> AbstractContextManager[Progress]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, console=complaints, transient=True, disable=as_json or not complaints.is_terminal)


def _tell(added: Sequence[Added], gone: Sequence[Gone], interrupted: bool, places: str) -> None:
    shown = [one for one in added if one.status != "left_out"]
    _table(shown, f"No files in {places}." if places else "No files.")
    for line in (*_left_out(added), *no_more_there(gone)):
        say(line)
    if interrupted:
        waiting = sum(one.status == "queued" for one in added)
        queued = (
            f"{counted(waiting, 'file')} taken in and not read: `mnemon work` reads them, or the next `mnemon add`."
        )
        say(f"Stopped. {queued if waiting else 'All that was taken in is read.'} The rest was not looked at.")
    elif any(one.status == "queued" for one in added):
        say("Queued files are read by `mnemon work`, or a server: `mnemon runs list` shows how far they are.")


def _table(shown: Sequence[Added], nothing: str) -> None:
    """Titles and reasons only where there is one that says more than the file's name."""
    columns = {"File": [one.name for one in shown], "Status": [one.status for one in shown]}
    if any(one.title not in (None, one.path.name) for one in shown):
        columns["Title"] = [one.title or "" for one in shown]
    if any(one.version for one in shown):
        columns["Version"] = [str(one.version) if one.version else "" for one in shown]
    if any(one.reason for one in shown):
        columns["Reason"] = [one.reason or "" for one in shown]
    table(list(columns), zip(*columns.values(), strict=True), nothing)


def _left_out(added: Sequence[Added]) -> Iterator[str]:
    left = [one for one in added if one.status == "left_out"]
    for reason in sorted({one.reason for one in left if one.reason}):
        names = [one.name for one in left if one.reason == reason]
        yield f"Left out {counted(len(names), 'file')} ({some(names)}): {reason}."
