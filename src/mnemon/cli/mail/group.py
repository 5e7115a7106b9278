"""`mnemon mail`: archives of mailing lists, their messages and threads."""

import asyncio
import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnemon.cli.binding.bind import acting, command
from mnemon.cli.context import run_async
from mnemon.cli.mail.consensus import print_consensus, print_report, print_requested, print_stored, print_whole
from mnemon.cli.mail.passages import print_citations, print_found, print_passages
from mnemon.cli.output import complaints, counted, say, show, table
from mnemon.mail import inputs, operations, outputs
from mnemon.mail.consensus import operations as consensus_operations
from mnemon.mail.consensus.threads import is_reading
from mnemon.mail.sources.kinds import local_path, source_type_of
from mnemon.mail.storing.passages import passages_to_make
from mnemon.operations import Caller, as_json
from mnemon.reports import operations as report_operations
from mnemon.reports import stored_operations as stored
from mnemon.reports.retrieval import operations as retrieval

if TYPE_CHECKING:
    from mnemon.app import Mnemon

app = typer.Typer(help="Mailing lists: archives, messages, threads.", no_args_is_help=True)
POLL_SECONDS = 0.2
FILTERS = {"list_name": "--list", "since": "--from", "until": "--to"}
WAIT = Annotated[bool | None, typer.Option("--wait/--no-wait", help="Wait until the mail is stored.")]
STOPPED = "Stopped. What is stored stays; `mnemon serve` or `mnemon work` goes on with the rest."
ENDED = ("succeeded", "failed")


def print_threads(found: outputs.ThreadPage) -> None:
    rows = [
        (one.last_message_date and one.last_message_date.date(), one.message_count, len(one.participants),
         one.list_name, one.subject, one.thread_id)
        for one in found.items
    ]  # fmt: skip
    table(["Last", "Messages", "People", "List", "Subject", "Id"], rows, "No threads. `mnemon mail import` adds some.")
    _say_more(found.next_cursor)


def print_thread(found: outputs.ThreadShown) -> None:
    say(f"{found.subject}  ({counted(found.message_count, 'message')})", "bold")
    if found.draft_mentions:
        say(f"About: {', '.join(found.draft_mentions)}", "dim")
    for one in found.messages:
        when = one.date.strftime("%Y-%m-%d %H:%M") if one.date else "no date"
        say(f"{'  ' * min(one.depth, 12)}{when}  {one.sender.name or one.sender.email}  {one.message_key}")
        if one.result_of:
            say(f"{'  ' * min(one.depth, 12)}  tells the result of {one.result_of}", "dim")
    if found.ghost_count:
        say(f"{counted(found.ghost_count, 'message')} that others refer to are in no archive.", "dim")


def print_messages(found: outputs.MailPage) -> None:
    rows = [(one.date, one.sender.name or one.sender.email, one.subject, one.message_key) for one in found.items]
    table(["Date", "From", "Subject", "Key"], rows, "No messages.")
    _say_more(found.next_cursor)


def print_message(found: outputs.MailShown) -> None:
    fields = [
        ("From", f"{found.sender.name} <{found.sender.email}>".strip()),
        ("Date", found.date),
        ("Subject", found.subject),
        ("List", found.list_name),
        ("Message-ID", found.message_id),
        ("Thread", found.thread_id),
        ("Document", found.doc_id),
    ]
    table(["Message", found.message_key], fields, "")
    for span in found.spans:
        say(found.body_raw[span.start : span.end].rstrip("\n"), None if span.label == "new" else "dim")


def print_archives(found: outputs.ArchivePage) -> None:
    rows = [
        (one.archive_id, one.status, one.source, one.format, one.message_count, one.defect_count, one.ingestion_date)
        for one in found.items
    ]
    table(["Id", "Status", "Source", "Format", "Messages", "Defects", "When"], rows, "No archives.")
    _say_more(found.next_cursor)


def print_archive(found: outputs.ArchiveWhole) -> None:
    table(["Archive", found.archive_id], [(name, str(value)) for name, value in as_json(found).items()
                                          if name != "defects"], "")  # fmt: skip
    for one in found.defects:
        say(f"{one.offset}+{one.length}: {one.reason}", "dim")


def print_sources(found: outputs.SourceList) -> None:
    rows = [
        (one.name, one.source_type, one.location, one.every_minutes, one.status, one.last_checked_at, one.last_error)
        for one in found.items
    ]
    table(["Name", "Kind", "Place", "Minutes", "Status", "Looked at", "Error"], rows, "No sources.")


def print_imports(found: outputs.MailImportList) -> None:
    rows = [
        (
            one.import_id,
            one.status,
            one.source,
            _share(one),
            one.counts.get("new"),
            one.counts.get("defects"),
            one.error,
        )
        for one in found.items
    ]
    table(["Id", "Status", "Source", "Read", "New", "Defects", "Error"], rows, "No imports.")


def print_checked(found: outputs.MailChecked) -> None:
    rows = [(one.check, one.looked_at, one.found, one.repaired, ", ".join(one.examples)) for one in found.checks]
    table(["Check", "Looked at", "Wrong", "Repaired", "For example"], rows, "")
    say("Mail is whole." if found.holds else "Something is wrong: --repair mends what can be mended.", "bold")


def _share(one: outputs.MailImportShown) -> str:
    return f"{100 * one.position // one.total} %" if one.total else ""


def _say_more(cursor: str | None) -> None:
    if cursor:
        say(f"More: --cursor {cursor}", "dim")


def _import(tenant: str, asked: inputs.ImportAsked, wants_json: bool, beside: dict[str, Any]) -> None:
    try:
        done = run_async(_imported(tenant, asked, beside["wait"] is not False, wants_json))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(STOPPED) from None
    show(done, wants_json, lambda: None)
    if any(one["status"] == "failed" or _has_no_mail(one["counts"]) for one in done.get("imports", ())):
        raise typer.Exit(1)


async def _imported(tenant: str, asked: inputs.ImportAsked, wait: bool, quiet: bool) -> dict[str, Any]:
    """Where no worker runs, this command does the work itself."""
    if source_type_of(asked.location) in ("file", "folder"):
        # Whoever looks again later may stand in another folder.
        asked = asked.model_copy(update={"location": str(local_path(asked.location).absolute())})
    async with acting(tenant) as (mnemon, caller):
        begun = await operations.import_mail(mnemon, caller, asked)
        if not wait:
            if not quiet:
                say(f"{begun.name} is looked at by the next worker: `mnemon mail imports` shows what came of it.")
            return as_json(begun)
        from mnemon.beside import worker_of
        from mnemon.cli.process import settle_memory
        from mnemon.mail.jobs import KINDS

        worker = worker_of(mnemon, KINDS)
        settle_memory()
        working = asyncio.create_task(worker.run())
        try:
            ended = await _followed(mnemon, caller, begun, quiet)
        finally:
            worker.stop()
            await working
    return as_json(begun) | {"imports": [as_json(one) for one in ended]}


async def _followed(
    mnemon: "Mnemon", caller: Caller, begun: outputs.ImportBegun, quiet: bool
) -> list[outputs.MailImportShown]:
    """Until the look at the source has ended, and all that came of it: imports, consensus, passages."""
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    with Progress(*columns, console=complaints, disable=quiet, transient=True) as bar:
        line = bar.add_task(f"Looking at {begun.name}", total=None)
        while True:
            looked, imports = await _state(mnemon, caller, begun)
            for one in imports[:1]:
                read = f"{one.source}: {counted(one.counts.get('messages', 0), 'message')}"
                bar.update(line, description=read, completed=one.position, total=one.total or None)
            if looked == "FAILED":
                break
            if looked == "DONE" and all(one.status in ENDED for one in imports):
                bar.update(line, description="Reading what was agreed", total=None)
                ids = [one.import_id for one in imports]
                left, all_of_them = await passages_to_make(mnemon.database, caller.tenant_id, ids)
                if not await is_reading(mnemon.database, caller.tenant_id):
                    made = all_of_them - left
                    bar.update(line, description="Making passages", completed=made, total=all_of_them or None)
                    if not left:
                        break
            await asyncio.sleep(POLL_SECONDS)
    if not quiet:
        _tell(looked, begun, imports)
    return imports


async def _state(
    mnemon: "Mnemon", caller: Caller, begun: outputs.ImportBegun
) -> tuple[str, list[outputs.MailImportShown]]:
    from mnemon.documents.access import Reader, read_as
    from mnemon.work.jobs import job_by_id

    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, Reader.of(caller.actor))
        job = await job_by_id(tx, begun.job_id, reader=None)
        rows = await (await tx.execute(operations.IMPORTS, (200,))).fetchall()
    names = (job.result or {}).get("imports", ())
    shown = [outputs.MailImportShown(**row) for row in rows if str(row["import_id"]) in names]
    return job.status, shown


def _has_no_mail(counts: dict[str, int]) -> bool:
    return not counts.get("messages") and bool(counts.get("defects"))


def _tell(looked: str, begun: outputs.ImportBegun, imports: list[outputs.MailImportShown]) -> None:
    if looked == "FAILED":
        say(f"{begun.name} could not be read: `mnemon mail sources` says why.", "bold red")
    elif not imports:
        say(f"Nothing is new at {begun.name}.")
    for one in imports:
        counts = one.counts
        if one.status == "failed":
            say(f"{one.source_url}: {one.error}", "bold red")
            continue
        if _has_no_mail(counts):
            say(f"{one.source_url}: this is no archive of mail, nothing in it is a message.", "bold red")
            say(f"If that was a mistake: mnemon mail remove-source {shlex.quote(begun.name)}", "dim")
            continue
        say(
            f"{one.source_url}: {counted(counts.get('messages', 0), 'message')}, {counts.get('new', 0)} of them new, "
            f"{counted(counts.get('defects', 0), 'defect')}."
        )


command(
    app, "import", operations.import_mail, lambda begun: None, arguments=["location"], perform=_import,
    in_pieces=False, beside={"wait": WAIT}, example="mnemon mail import ~/lists/quic.mbox --name ietf-quic",
)  # fmt: skip
command(app, "sources", operations.sources, print_sources, example="mnemon mail sources")
command(
    app, "remove-source", operations.remove_source, lambda gone: say(f"{gone.name} is looked at no more."),
    arguments=["name"], question="Look at {name} no more?", example="mnemon mail remove-source ietf-quic",
)  # fmt: skip
command(app, "imports", operations.imports, print_imports, example="mnemon mail imports --limit 5")
command(app, "archives", operations.archives, print_archives, example="mnemon mail archives --status failed")
command(
    app, "archive", operations.archive, print_archive, arguments=["archive_id"],
    example="mnemon mail archive b9c8d7e6f5a4b3c2",
)  # fmt: skip
command(
    app, "messages", operations.messages, print_messages, short=FILTERS,
    example="mnemon mail messages --person anna@example.org --from 2023-10-01",
)  # fmt: skip
command(
    app, "message", operations.message, print_message, arguments=["message"],
    example="mnemon mail message a1b2c3d4e5f60718",
)  # fmt: skip
command(
    app, "threads", operations.threads, print_threads, short=FILTERS,
    example="mnemon mail threads --list quic.ietf.org --draft draft-ietf-quic-transport",
)  # fmt: skip
command(
    app, "thread", operations.thread, print_thread, arguments=["thread"],
    example="mnemon mail thread '<20231015120000.XYZ789@example.com>'",
)  # fmt: skip
command(
    app, "check", operations.check, print_checked, failed=lambda found: not found.holds,
    example="mnemon mail check --repair",
)  # fmt: skip
command(
    app, "consensus", consensus_operations.consensus, print_consensus, arguments=["thread"],
    example="mnemon mail consensus '<20231015120000.XYZ789@example.com>'",
)  # fmt: skip
command(
    app, "report", report_operations.report, print_report, short=FILTERS | {"form": "--format"},
    example="mnemon mail report --kind weekly --list quic.ietf.org --format html > week.html",
)  # fmt: skip
command(
    app, "publish", stored.publish, print_requested, short=FILTERS,
    example="mnemon mail publish --kind consensus --list quic.ietf.org",
)  # fmt: skip
command(
    app, "reports", stored.reports, print_stored, short=FILTERS, example="mnemon mail reports --kind weekly",
)  # fmt: skip
command(
    app, "show-report", stored.show, print_whole, arguments=["report_id"], short={"form": "--format"},
    example="mnemon mail show-report rpt-01JD0000000000000000000000 --format print > report.html",
)  # fmt: skip
command(
    app, "summaries", stored.summaries, print_stored, short=FILTERS,
    example="mnemon mail summaries --consensus mixed --person \"Anna Berg\"",
)  # fmt: skip
command(
    app, "summary", stored.summary, print_whole, arguments=["summary_id"], short={"form": "--format"},
    example="mnemon mail summary 3f2b8a4e-6c1d-4e0f-9a7b-1c2d3e4f5a6b",
)  # fmt: skip
command(
    app, "search", retrieval.search, print_found, words="query", short=FILTERS,
    example="mnemon mail search connection migration --from 2023-10-01 --draft draft-ietf-quic-transport",
)  # fmt: skip
command(
    app, "passages", retrieval.passages, print_passages, arguments=["thread"],
    example="mnemon mail passages '<20231015120000.XYZ789@example.com>' --json",
)  # fmt: skip
command(
    app, "citations", retrieval.citations, print_citations, arguments=["summary_id"],
    failed=lambda found: not found.holds, example="mnemon mail citations 3f2b8a4e-6c1d-4e0f-9a7b-1c2d3e4f5a6b",
)  # fmt: skip
