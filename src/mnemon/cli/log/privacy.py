"""`mnemon privacy`: who is in the log, forgetting them, and the proof that nothing is left."""

import sys
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from mnemon.app import Mnemon
from mnemon.cli.bind import binds, command
from mnemon.cli.context import OPERATOR, opened, run_async, tenant_of
from mnemon.cli.output import Json, TenantOption, complaints, counted, say, show, table
from mnemon.errors import InvalidRequest, NotAllowed
from mnemon.identity.roles import Action, CredentialScope, Principal, may
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.identity.users import user_by_email
from mnemon.log.privacy.rotation import Rotation
from mnemon.log.privacy.scan import Scan
from mnemon.log_operations import erasures as operations
from mnemon.log_operations.fields import person_of
from mnemon.operations import Caller, Differs, Operation, read_input
from mnemon.operations import as_json as written

app = typer.Typer(help="People in the log: show, erase, redact, prove; and the keys.", no_args_is_help=True)

SubjectId = Annotated[str, typer.Argument(help="The person's id in the log.", metavar="SUBJECT")]
ErasureId = Annotated[str, typer.Argument(help="The erasure's id.", metavar="ID")]
Reason = Annotated[str, typer.Option(help="A code word like subject_request; it stays in the log.")]
Reference = Annotated[str | None, typer.Option(help="The number of a ticket or letter.")]
By = Annotated[str, typer.Option("--by", help="Who asks: an administrator's e-mail address.", metavar="EMAIL")]
Approver = Annotated[str, typer.Option("--approved-by", help="Another administrator.", metavar="EMAIL")]
PAGE = 1000
EVERYONE = {name: Differs("The command lists everyone.") for name in ("limit", "cursor")}
LONG_PAGE = {"limit": Differs("People look for one entry in all of them.", default=PAGE)}


@app.command()
@binds(operations.people, differences=EVERYONE)
def subjects(tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """List everyone whose personal data the log holds or held."""

    async def work() -> list[operations.PersonOut]:
        people: list[operations.PersonOut] = []
        async with tenant_of(tenant) as (mnemon, tenant_id):
            asked = operations.PrivacyPageAsked(limit=PAGE)
            while True:
                page = await operations.people(mnemon, Caller(tenant_id, OPERATOR), asked)
                people += page.items
                if page.next_cursor is None:
                    return people
                asked = operations.PrivacyPageAsked(limit=PAGE, cursor=page.next_cursor)

    people = run_async(work())
    rows = [(one.subject_id, one.events, one.known_since, one.erased_at or "-", one.generation) for one in people]
    shown = [written(one) for one in people]
    show(shown, as_json, lambda: table(["Subject", "Events", "Since", "Erased", "Key"], rows, "Nobody."))


@app.command()
@binds(operations.request)
def erase(
    subject_id: SubjectId,
    by: By,
    reason: Reason,
    approved_by: Annotated[
        str | None, typer.Option("--approved-by", help="Another administrator, who approves now.", metavar="EMAIL")
    ] = None,
    reference: Reference = None,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Ask that a person be forgotten; with --approved-by, forget them now. It cannot be undone.

    Example: mnemon privacy erase customer-17 --reason subject_request --by ana@example.org
    --approved-by ben@example.org
    """
    wanted = read_input(operations.request, {"subject_id": subject_id, "reason": reason, "reference": reference})

    async def work() -> operations.ErasureOut:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            asking = await _administrator(mnemon, tenant_id, by)
            approving = await _administrator(mnemon, tenant_id, approved_by) if approved_by else None
            if asking == approving:
                raise NotAllowed(f"{by} cannot approve their own request: a second person must.")
            asked = await operations.request(mnemon, asking, wanted)
            if approving is None:
                return asked
            return await operations.approve(mnemon, approving, operations.ErasureAsked(erasure_id=asked.erasure_id))

    _tell(run_async(work()), as_json)


@app.command()
@binds(operations.approve)
def approve(erasure_id: ErasureId, by: By, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Approve an erasure that someone else asked for, or finish one that was interrupted."""
    _tell(_done_by(by, tenant, operations.approve, erasure_id=erasure_id), as_json)


@app.command()
@binds(operations.decline)
def decline(erasure_id: ErasureId, by: By, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Decline an erasure that was asked for, or take one's own request back."""
    _tell(_done_by(by, tenant, operations.decline, erasure_id=erasure_id), as_json)


@app.command()
@binds(operations.readmit)
def readmit(
    subject_id: SubjectId, by: By, reason: Reason, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False
) -> None:
    """Let an erased person be recorded again, under a new key. What was erased stays erased."""
    done = _done_by(by, tenant, operations.readmit, subject_id=subject_id, reason=reason)
    show(written(done), as_json, lambda: say(f"{subject_id} may be recorded again, with key {done.generation}."))


def _print_data(known: operations.PersonalDataList) -> None:
    rows = [(one.legal_entity, one.sequence, one.field, one.value) for one in known.root]
    table(["Legal entity", "Sequence", "Field", "Value"], rows, "Nothing readable.")


def _print_erasures(found: operations.ErasurePage) -> None:
    rows = [(one.erasure_id, one.subject_id, one.status, one.reason, one.requested_at) for one in found.items]
    table(["Id", "Subject", "Status", "Reason", "Requested"], rows, "No erasures.")


command(
    app, "show", operations.data, _print_data, arguments=["subject_id"],
    written=lambda known: [one | {"sequence": int(one["sequence"])} for one in known],
    example="mnemon privacy show customer-17 --json > customer-17.json",
)  # fmt: skip
command(
    app, "erasures", operations.listed, _print_erasures, differences=LONG_PAGE,
    written=lambda found: found["items"], example="mnemon privacy erasures",
)  # fmt: skip


@app.command()
def redact(
    event_id: Annotated[str, typer.Argument(help="The event's id.", metavar="EVENT")],
    fields: Annotated[list[str], typer.Argument(help="JSON pointers like /data/email.", metavar="FIELD...")],
    by: By,
    approved_by: Approver,
    reason: Reason,
    subject: Annotated[str | None, typer.Option(help="Whose values these are.")] = None,
    reference: Reference = None,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Take values out of an event that was stored before they were sealed. It cannot be undone.

    Example: mnemon privacy redact 01KJQ6Y0Q5M8ZQ3T3M6S8V4X2B /data/email --reason legacy_data
    --by ana@example.org --approved-by ben@example.org
    """

    async def work() -> str:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await mnemon.privacy.redactions.redact(
                tenant_id,
                event_id,
                fields,
                reason=reason,
                requested_by=person_of(await _administrator(mnemon, tenant_id, by)),
                approved_by=person_of(await _administrator(mnemon, tenant_id, approved_by)),
                subject_id=subject,
                reference=reference,
            )

    attested_by = run_async(work())
    said = f"Redacted; event {attested_by} attests it." if attested_by else "Nothing to do: redacted already."
    show({"event_id": event_id, "attested_by": attested_by or None}, as_json, lambda: say(said))


@app.command()
def scan(
    subject: SubjectId,
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
    show(done, as_json, lambda: say(said))


async def _administrator(mnemon: Mnemon, tenant_id: UUID, email: str) -> Caller:
    """The person whom the operator names; the record holds their id, not their address."""
    async with mnemon.database.transaction(tenant_id) as connection:
        user = await user_by_email(connection, email)
    if user.disabled_at is not None or not may(user.role, CredentialScope.WRITE, Action.MANAGE_PRIVACY):
        raise NotAllowed(f"{email} is not an active administrator, who alone may {Action.MANAGE_PRIVACY}.")
    return Caller.of(Principal(tenant_id, user.user_id, user.role))


def _done_by(email: str, tenant: str, operation: Operation[Any, Any], **fields: Any) -> Any:
    """An operation on behalf of the administrator whom the operator names."""
    asked = read_input(operation, fields)

    async def work() -> Any:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await operation(mnemon, await _administrator(mnemon, tenant_id, email), asked)

    return run_async(work())


def _tell(erasure: operations.ErasureOut, as_json: bool) -> None:
    said = {
        "requested": f"Another administrator must approve it: mnemon privacy approve {erasure.erasure_id} --by EMAIL",
        "declined": f"The erasure of {erasure.subject_id} is declined.",
        "key_destroyed": f"The key of {erasure.subject_id} is destroyed; approve again to finish.",
        "completed": f"{erasure.subject_id} is erased from {counted(erasure.events_affected or 0, 'event')}.",
    }
    show(written(erasure), as_json, lambda: say(said[erasure.status]))


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
