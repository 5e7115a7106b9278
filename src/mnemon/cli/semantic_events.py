"""`mnemon events`: what was decided, promised and done, with the words that prove it."""

import sys
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Annotated, Any

import typer

from mnemon.cli.context import OPERATOR, run_async, tenant_of
from mnemon.cli.output import Json, TenantOption, complaints, counted, say, show, table
from mnemon.documents.access import Reader
from mnemon.errors import InvalidRequest
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.log.read.query import end_of, start_of
from mnemon.semantics.audit import verify_evidence
from mnemon.semantics.extract.status import event_reextract
from mnemon.semantics.search.collect import Collected, collect
from mnemon.semantics.search.export import Format, as_csv, as_markdown
from mnemon.semantics.search.query import EventFilters, event_get, event_list_for_revision, event_search
from mnemon.semantics.search.views import open_commitments, people_topics
from mnemon.semantics.semantic_event import Kind

app = typer.Typer(help="Semantic events: decisions, commitments, risks, each with its proof.", no_args_is_help=True)
# Whoever runs the command owns the machine, and still reads no artifact that is for others alone.
READER = Reader.of(OPERATOR)
# Also before a worker has come to it.
NOTHING_READ = "What no worker has read yet is not found: `mnemon artifact job UID` tells whether a text was read."

Words = Annotated[
    list[str] | None,
    typer.Argument(help='Words of the event, its subject or its quotes; "a phrase", this or that, -not this.'),
]
Category = Annotated[str | None, typer.Option("--category", help="Such as Decision or Commitment.")]
ActorName = Annotated[str | None, typer.Option("--actor", help="A person, by name.")]
Subject = Annotated[str | None, typer.Option("--subject", help="Words of the subject.")]
State = Annotated[str | None, typer.Option("--status", help="open, superseded or done.")]
CommitmentKind = Annotated[Kind | None, typer.Option("--kind", help="Of commitments: promise, assignment or request.")]
AllRevisions = Annotated[bool, typer.Option("--all-revisions", help="Also revisions that are no longer served.")]
From = Annotated[str | None, typer.Option("--from", help="Happened on or after this day.")]
To = Annotated[str | None, typer.Option("--to", help="Happened on or before this day.")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="What was true on this day.")]
KnownAt = Annotated[str | None, typer.Option("--known-at", help="What was known here on this day.")]
DueBefore = Annotated[str | None, typer.Option("--due-before", help="Due before this day, YYYY-MM-DD.")]
OfArtifact = Annotated[str | None, typer.Option("--artifact", help="Only this artifact, uid_…")]
Uid = Annotated[str, typer.Argument(help="The artifact, uid_…")]
OneRevision = Annotated[str | None, typer.Option("--revision", help="rev_…; the latest unless given.")]
Limit = Annotated[int, typer.Option(min=1, max=100, help="How many.")]
RowLimit = Annotated[int, typer.Option("--limit", min=1, max=500, help="How many.")]
After = Annotated[str | None, typer.Option("--cursor", help="Where the page before ended.")]


@app.command()
def search(
    words: Words = None, category: Category = None, actor: ActorName = None, subject: Subject = None,
    status: State = None, time_from: From = None, time_to: To = None, as_of: AsOf = None, known_at: KnownAt = None,
    due_before: DueBefore = None, artifact: OfArtifact = None, kind: CommitmentKind = None,
    all_revisions: AllRevisions = False,
    limit: Limit = 20, cursor: After = None, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False,
) -> None:  # fmt: skip
    """Find events: mnemon events search pricing --category Decision"""
    clocks = (time_from, time_to, as_of, known_at, due_before)
    filters = _filters(words, category, actor, subject, status, artifact, clocks)
    filters = replace(filters, kind=kind, all_revisions=all_revisions)

    async def find() -> dict[str, Any]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await event_search(
                mnemon.database, tenant_id, READER, filters, limit=limit, cursor=cursor, embedder=mnemon.embedder
            )

    found = run_async(find())

    def human() -> None:
        for event in found["events"]:
            print_event(event)
        say(counted(found["total"], "event") + ("" if found["total_is_exact"] else " or more") + ".", "dim")
        if found["next_cursor"]:
            say(f"More: --cursor {found['next_cursor']}", "dim")
        if not found["total"]:
            say(NOTHING_READ, "dim")

    show(found, as_json, human)


@app.command("show")
def show_one(
    event_id: Annotated[str, typer.Argument(help="evt_…")], tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False
) -> None:
    """One event with all its evidence and what it is tied to.

    Example: mnemon events show evt_0123456789abcdef0123456789abcdef
    """

    async def find() -> dict[str, Any]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await event_get(mnemon.database, tenant_id, READER, event_id)

    event = run_async(find())

    def human() -> None:
        print_event(event)
        for link in event["links"]:
            say(f"  {link['later']} {link['kind']} {link['earlier']}: {link['reason']}")

    show(event, as_json, human)


@app.command("list")
def list_(
    artifact_uid: Uid, revision: OneRevision = None, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False
) -> None:
    """Everything that one revision says, in the order of its text.

    Example: mnemon events list uid_0123456789abcdef
    """

    async def find() -> dict[str, Any]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await event_list_for_revision(
                mnemon.database, tenant_id, READER, artifact_uid, revision, include_evidence=True
            )

    listed = run_async(find())

    def human() -> None:
        for event in listed["events"]:
            print_event(event)
        if not listed["events"]:
            say(f"No events here. {NOTHING_READ}", "dim")

    show(listed, as_json, human)


@app.command()
def reextract(
    artifact_uid: Uid, revision: OneRevision = None,
    force: Annotated[bool, typer.Option("--force", help="Also where it was done already.")] = False,
    tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False,
) -> None:  # fmt: skip
    """Read a revision again; the old events stay until the new ones are there.

    Example: mnemon events reextract uid_0123456789abcdef --force
    """

    async def queue() -> dict[str, Any]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await event_reextract(mnemon.database, tenant_id, READER, artifact_uid, revision, force=force)

    queued = run_async(queue())
    show(queued, as_json, lambda: say(f"{queued['job_id']} {queued['status']}: {queued['message']}"))


@app.command()
def verify(tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Check every stored quote against its text. Exit code 1 if one does not hold.

    Example: mnemon events verify --json
    """

    async def check() -> Any:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await verify_evidence(mnemon.database, tenant_id)

    audited = run_async(check())

    def human() -> None:
        say(f"{counted(audited.quotes, 'quote')} of {counted(audited.events, 'event')} checked.")
        for one in audited.broken:
            say(f"  {one['event_id']}: {one['start_char']}-{one['end_char']} is not what the text says", "bold red")
        say("Every quote stands in its text." if audited.holds else "Evidence is broken.", "bold")

    show(audited.as_json(), as_json, human)
    if not audited.holds:
        raise typer.Exit(1)


@app.command()
def export(
    words: Words = None, category: Category = None, actor: ActorName = None, subject: Subject = None,
    status: State = None, time_from: From = None, time_to: To = None, as_of: AsOf = None, known_at: KnownAt = None,
    due_before: DueBefore = None, artifact: OfArtifact = None, kind: CommitmentKind = None,
    all_revisions: AllRevisions = False,
    form: Annotated[Format, typer.Option("--format", help="markdown or csv.")] = "markdown",
    tenant: TenantOption = DEFAULT_SLUG,
) -> None:  # fmt: skip
    """All that a search finds, on standard output: mnemon events export --category Decision --format csv"""
    clocks = (time_from, time_to, as_of, known_at, due_before)
    filters = _filters(words, category, actor, subject, status, artifact, clocks)
    filters = replace(filters, kind=kind, all_revisions=all_revisions)

    async def find() -> Collected:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await collect(mnemon.database, tenant_id, READER, filters)

    found = run_async(find())
    sys.stdout.write(as_csv(found.events) if form == "csv" else as_markdown(found.events, complete=found.complete))
    if not found.complete:
        complaints.print(f"These are the first {len(found.events):,} events: --from and --to give the others in parts.")


@app.command()
def commitments(
    owner: Annotated[str | None, typer.Option("--owner", help="Who promised it.")] = None,
    due_before: DueBefore = None,
    overdue: Annotated[bool, typer.Option("--overdue", help="Only what is late.")] = False,
    today: Annotated[str | None, typer.Option("--today", help="Count days from this day.")] = None,
    limit: RowLimit = 100,
    tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False,
) -> None:  # fmt: skip
    """What was promised and is still open, the most urgent first.

    Example: mnemon events commitments --owner Ada --overdue
    """

    async def find() -> dict[str, Any]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await open_commitments(
                mnemon.database, tenant_id, READER,
                owner=owner, due_before=_day(due_before), overdue=overdue, today=_day(today), limit=limit,
            )  # fmt: skip

    view = run_async(find())
    show(view, as_json, lambda: print_commitments(view))


@app.command()
def people(
    person: Annotated[str | None, typer.Option("--person", help="Only this person.")] = None,
    topic: Annotated[str | None, typer.Option("--topic", help="Only events with these words.")] = None,
    limit: RowLimit = 100,
    tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False,
) -> None:  # fmt: skip
    """Who was involved in what: mnemon events people --topic pricing"""

    async def find() -> dict[str, Any]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await people_topics(mnemon.database, tenant_id, READER, person=person, topic=topic, limit=limit)

    view = run_async(find())
    rows = [
        (row["person"], row["topic"], row["events"], ", ".join(row["roles"]), row["last_at"][:10])
        for row in view["people"]
    ]

    def human() -> None:
        table(["Person", "Topic", "Events", "As", "Last"], rows, "Nobody is known yet.")
        _say_how_many(len(rows), view["total"])

    show(view, as_json, human)


def print_event(event: dict[str, Any]) -> None:
    due = f", due {event['due']}" if event["due"] else ""
    state = "" if event["status"] == "open" else f", {event['status']}"
    say(f"{event['category']}: {event['narrative']}", "bold")
    people = ", ".join(one["ref"] for one in event["actors"])
    say(f"  {event['happened_at'][:10]}{due}{state}{f'; {people}' if people else ''}; {event['title']}")
    for one in event.get("evidence", ()):
        say(f"  “{' '.join(one['quote'].split())}” {one['start_char']}-{one['end_char']}")
    say(f"  {event['event_id']}  confidence {event['confidence']:.2f}", "dim")


def print_commitments(view: dict[str, Any]) -> None:
    rows = [
        (one["due"], "overdue" if one["overdue"] else "", ", ".join(one["owners"]), one["narrative"])
        for one in view["commitments"]
    ]
    table(["Due", "", "Owner", "Promise"], rows, "Nothing is open.")
    _say_how_many(len(rows), view["total"], exact=view["total_is_exact"])


def _say_how_many(shown: int, total: int, *, exact: bool = True) -> None:
    """Where some are left out: a list that ends must not look like the end."""
    if shown < total:
        more = "" if exact else " or more"
        say(f"{shown:,} of {total:,}{more}; --limit shows more, and a filter fewer.", "dim")


def _filters(
    words: list[str] | None, category: str | None, actor: str | None, subject: str | None, status: str | None,
    artifact: str | None, clocks: tuple[str | None, str | None, str | None, str | None, str | None],
) -> EventFilters:  # fmt: skip
    time_from, time_to, as_of, known_at, due_before = clocks
    return EventFilters(
        query=" ".join(words) if words else None, category=category, actor=actor, subject=subject,
        status=status,  # type: ignore[arg-type]
        artifact_uid=artifact, due_before=_day(due_before),
        time_from=start_of(time_from) if time_from else None, time_to=end_of(time_to) if time_to else None,
        as_of=end_of(as_of) if as_of else None, known_at=_known(known_at),
    )  # fmt: skip


def _known(day: str | None) -> datetime | None:
    """To the end of that day, or until now if it is not over."""
    return min(end_of(day), datetime.now(UTC)) if day else None


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise InvalidRequest(f"{text!r} is no day: write YYYY-MM-DD.") from None
