"""`mnemon privacy`: who is in the log, forgetting them, and the proof that nothing is left."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from mnemon.app import Mnemon
from mnemon.cli.binding.bind import acting, command
from mnemon.cli.context import on_its_own, opened, run_async, tenant_of
from mnemon.cli.log.approver import administrator, proven_administrator
from mnemon.cli.output import Json, TenantOption, complaints, counted, say, show, table
from mnemon.errors import InvalidRequest, NotAllowed
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.log.privacy.erasure import Erasure
from mnemon.log.privacy.rotation import Rotation
from mnemon.log.privacy.scan import Scan
from mnemon.log_operations import erasures as operations
from mnemon.log_operations import redactions
from mnemon.log_operations import retention as terms
from mnemon.log_operations.person_file import PersonFile, person_file
from mnemon.operations import Caller, Differs, Operation, read_input
from mnemon.operations import as_json as written

app = typer.Typer(help="People in the log: show, erase, redact, prove; and the keys.", no_args_is_help=True)

By = Annotated[str, typer.Option("--by", help="Who asks: an administrator's e-mail address.", metavar="EMAIL")]
Approver = Annotated[str, typer.Option("--approved-by", help="Another administrator.", metavar="EMAIL")]
PAGE = 1000
EVERYONE = {
    "limit": Differs("The command lists everyone.", default=PAGE),
    "cursor": Differs("The command lists everyone."),
}
BY: dict[str, Any] = {"by": By}
AND_AT_ONCE: dict[str, Any] = {
    "by": By,
    "approved_by": Annotated[
        str | None, typer.Option("--approved-by", help="Another administrator, who approves now.", metavar="EMAIL")
    ],
}
BY_BOTH: dict[str, Any] = {"by": By, "approved_by": Approver}


async def _who_asks(mnemon: Mnemon, tenant_id: UUID, left: dict[str, Any]) -> Caller:
    return await administrator(mnemon, tenant_id, left["by"])


async def _who_approves(mnemon: Mnemon, tenant_id: UUID, left: dict[str, Any]) -> Caller:
    """Proven: with their access token in MNEMON_APPROVER_TOKEN, or their password when asked."""
    return await proven_administrator(mnemon, tenant_id, left["by"])


async def _by_two(
    tenant: str, people: Mapping[str, str | None], request: Operation[Any, Any], approve: Operation[Any, Any],
    asked: Any, named: str,
) -> Any:  # fmt: skip
    """One administrator asks and, where another is named, that one approves."""
    async with acting(tenant) as (mnemon, operator):
        by, second = people["by"] or "", people["approved_by"]
        asking = await administrator(mnemon, operator.tenant_id, by)
        if second and asking == await administrator(mnemon, operator.tenant_id, second):
            raise NotAllowed(f"{by} cannot approve their own request: a second person must.")
        approving = await proven_administrator(mnemon, operator.tenant_id, second) if second else None
        made = await request(mnemon, asking, asked)
        if approving is None:
            return made
        return await approve(mnemon, approving, read_input(approve, {named: getattr(made, named)}))


def _erase(tenant: str, asked: operations.ErasureWanted, wants_json: bool, left: dict[str, Any]) -> None:
    done = run_async(_by_two(tenant, left, operations.request, operations.approve, asked, "erasure_id"))
    show(written(done), wants_json, lambda: _tell(done))


def _redact(tenant: str, asked: redactions.RedactionWanted, wants_json: bool, left: dict[str, Any]) -> None:
    done = run_async(_by_two(tenant, left, redactions.request, redactions.approve, asked, "redaction_id"))
    attested_by = done.attested_by
    said = f"Redacted; event {attested_by} attests it." if attested_by else "Nothing to do: redacted already."
    show({"event_id": asked.event_id, "attested_by": attested_by}, wants_json, lambda: say(said))


def _told_reason(erasure: Erasure) -> str:
    return f"{erasure.reason} ({erasure.reference})" if erasure.reference else erasure.reason


def _tell(erasure: Erasure) -> None:
    said = {
        "requested": f"Asked for, with the reason {_told_reason(erasure)}. Another administrator must approve it: "
        f"mnemon privacy approve {erasure.erasure_id} --by EMAIL",
        "declined": f"The erasure of {erasure.subject_id} is declined.",
        "key_destroyed": f"The key of {erasure.subject_id} is destroyed; approve again to finish.",
        "completed": f"{erasure.subject_id} is erased from {counted(erasure.events_affected or 0, 'event')}.",
    }
    say(said[erasure.status])


def _print_people(found: operations.PersonPage) -> None:
    rows = [(one.subject_id, one.events, one.known_since, one.erased_at or "-", one.generation) for one in found.items]
    table(["Subject", "Events", "Since", "Erased", "Key"], rows, "Nobody.")


def _print_data(known: operations.PersonalDataList) -> None:
    rows = [(one.legal_entity, one.sequence, one.field, one.value) for one in known.root]
    table(["Legal entity", "Sequence", "Field", "Value"], rows, "Nothing readable.")


def _print_erasures(found: operations.ErasurePage) -> None:
    rows = [(one.erasure_id, one.subject_id, one.status, one.reason, one.requested_at) for one in found.items]
    table(["Id", "Subject", "Status", "Reason", "Requested"], rows, "No erasures.")


command(
    app, "subjects", operations.people, _print_people, differences=EVERYONE, every_page=True,
    written=lambda found: found["items"], example="mnemon privacy subjects",
)  # fmt: skip
command(
    app, "erase", operations.request, _tell, arguments=["subject_id"], beside=AND_AT_ONCE, perform=_erase,
    in_pieces=False,
    says="Ask that a person be forgotten; with --approved-by, forget them now. It cannot be undone.\n\n"
    "Who approves proves who they are: with their access token in MNEMON_APPROVER_TOKEN, or their password when asked.",
    example="mnemon privacy erase customer-17 --reason subject_request --by ana@example.org\n"
    "--approved-by ben@example.org",
)  # fmt: skip
command(
    app, "approve", operations.approve, _tell, arguments=["erasure_id"], beside=BY, on_behalf=_who_approves,
    example="mnemon privacy approve 01KJQ6Y0Q5M8ZQ3T3M6S8V4X2B --by ben@example.org",
)  # fmt: skip
command(
    app, "decline", operations.decline, _tell, arguments=["erasure_id"], beside=BY, on_behalf=_who_asks,
    example="mnemon privacy decline 01KJQ6Y0Q5M8ZQ3T3M6S8V4X2B --by ben@example.org",
)  # fmt: skip
command(
    app, "readmit", operations.readmit,
    lambda done: say(f"{done.subject_id} may be recorded again, with key {done.generation}."),
    arguments=["subject_id"], beside=BY, on_behalf=_who_asks,
    example="mnemon privacy readmit customer-17 --reason new_contract --by ana@example.org",
)  # fmt: skip
command(
    app, "show", operations.data, _print_data, arguments=["subject_id"],
    written=lambda known: [one | {"sequence": int(one["sequence"])} for one in known],
    example="mnemon privacy show customer-17 --json > customer-17.json",
)  # fmt: skip


SOMEONES = {"subject_id": Differs("The operator has no account.", default=..., takes=operations.SubjectId)}


def _print_file(held: PersonFile) -> None:
    if held.account:
        say(f"{held.account.name}, {held.account.email}, {held.account.role}, {counted(len(held.tokens), 'token')}")
    rows = [(one.recorded_at, one.type, one.field, one.value) for one in held.values]
    table(["Recorded", "Event", "Field", "Value"], rows, "The log holds nothing readable.")
    named = counted(len(held.statements), "semantic event")
    say(f"{counted(len(held.acts), 'event')} of theirs, {named} that name them.")
    brought, kept = counted(len(held.documents), "document"), counted(len(held.memory), "memory object")
    say(f"{brought}, {kept} and {counted(len(held.messages), 'message')} of theirs. Everything: --json")


command(
    app, "file", person_file, _print_file, arguments=["subject_id"], short={"names": "--name"},
    differences=SOMEONES,
    example="mnemon privacy file customer-17 --name 'Eve Adams' --json > customer-17.json",
)  # fmt: skip


def _print_terms(found: terms.RetentionReport) -> None:
    rows = [(one.subject_id, one.events, one.ends_at, one.status or "-", one.erasure_id or "-") for one in found.items]
    table(["Subject", "Events", "Term ends", "Erasure", "Id"], rows, "No term ends by then.")


command(
    app, "retention", terms.retention, _print_terms,
    written=lambda found: found["items"], example="mnemon privacy retention --days 365",
)  # fmt: skip
command(
    app, "erasures", operations.listed, _print_erasures, differences=EVERYONE, every_page=True,
    written=lambda found: found["items"], example="mnemon privacy erasures",
)  # fmt: skip
command(
    app, "redact", redactions.request, lambda done: None, arguments=["event_id", "fields"],
    short={"subject_id": "--subject"}, beside=BY_BOTH, perform=_redact, in_pieces=False,
    says="Take values out of an event that was stored before they were sealed. It cannot be undone.",
    example="mnemon privacy redact 01KJQ6Y0Q5M8ZQ3T3M6S8V4X2B /data/email --reason legacy_data\n"
    "--by ana@example.org --approved-by ben@example.org",
)  # fmt: skip


@app.command()
@on_its_own("It reads every table and every file of the machine as its owner.")
def scan(
    subject: Annotated[str, typer.Argument(help="The person's id in the log.", metavar="SUBJECT")],
    words: Annotated[
        Path | None, typer.Option("--words", help="File with one word or phrase per line; - is the input.")
    ] = None,
    folder: Annotated[
        list[Path] | None, typer.Option("--folder", help="Search the files in here too.", metavar="FOLDER")
    ] = None,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Search every table and archived file for plain text about a person; exit with 1 if any is found.

    Before an erasure it knows the words from the log itself; afterwards give them, as `mnemon privacy show` had them.

    Example: mnemon privacy scan customer-17 --words words.txt
    """

    async def work() -> Scan:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await mnemon.privacy.scan(tenant_id, subject, _read_words(words), folder or ())

    found = run_async(work())
    show({"clean": found.clean and found.words > 0} | _as_json(found), as_json, lambda: _describe(found))
    if not found.clean or not found.words:
        raise typer.Exit(1)


@app.command()
@on_its_own("The key that wraps the others lies in a file of this machine, for all tenants.")
def rotate(
    discard: Annotated[
        bool, typer.Option("--discard", help="Destroy the old keys: no older backup can then be read any more.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Wrap every person's key with a new key-encryption key, or finish a rotation that was interrupted.

    The key that backups are encrypted with is changed too. After --discard make a backup: there is none any more.
    """

    async def work() -> Rotation:
        async with opened() as mnemon:
            return await mnemon.privacy.rotate(discard=discard, progress=_progress)

    done = run_async(work())
    lost = [*done.discarded, *done.backup_keys_discarded]
    gone = f" {counted(len(lost), 'old key')} destroyed: earlier backups cannot be read." if lost else ""
    said = f"{counted(done.rewrapped, 'key')} wrapped with {done.key_id}.{gone}"
    show(done, as_json, lambda: _say_rotated(said, done.shared_with))


def _say_rotated(said: str, others: Sequence[str]) -> None:
    say(said)
    if others:
        say(
            f"Keys that other databases of this home and their backups may need stay: {', '.join(others)}. Run "
            "`mnemon privacy rotate --discard` there, then this again. Of a database that is no more, remove what is "
            "named.",
            "yellow",
        )


def _read_words(file: Path | None) -> list[str]:
    """Never from an argument: those stand in the shell's history and in the process list."""
    if file is None:
        return []
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except OSError as failure:
        raise InvalidRequest(f"{file} cannot be read: {failure.strerror}.", file=str(file)) from None
    return [line.strip() for line in text.splitlines() if line.strip()]


def _as_json(found: Scan) -> dict[str, object]:
    return {
        "words": found.words,
        "skipped_words": found.skipped,
        "columns": found.columns,
        "files": found.files,
        "findings": found.findings,
    }


def _describe(found: Scan) -> None:
    if not found.words:
        say("No words to look for: nothing readable is left in the log. Give them with --words.")
        return
    looked = f"{counted(len(found.columns), 'column')} and {counted(len(found.files), 'file')}"
    if found.clean:
        say(f"No plain text in {looked}, for {counted(found.words, 'word')}.")
    else:
        say(f"Found in {counted(len(found.findings), 'place')} of {looked}:")
        rows = [(one.place, one.times, ", ".join(one.examples)) for one in found.findings]
        table(["Place", "Times", "Rows"], rows, "")
    if found.skipped:
        say(f"{counted(found.skipped, 'word')} too short to look for.")


def _progress(done: int, total: int) -> None:
    if complaints.is_terminal:
        complaints.print(f"{done:,} of {total:,}", end="\r")
