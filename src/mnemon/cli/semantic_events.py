"""`mnemon events`: what was decided, promised and done, with the words that prove it."""

import sys
from typing import Annotated

import typer
from pydantic import Field

from mnemon.cli.binding.bind import Alternative, command, tenant_named
from mnemon.cli.naming import ANY_TITLE, OF_A_TITLE, artifact_meant
from mnemon.cli.output import complaints, counted, one_line, say, table
from mnemon.operations import Differs
from mnemon.semantics import operations, outputs
from mnemon.semantics.corrections import operations as corrections
from mnemon.semantics.corrections import outputs as labels
from mnemon.semantics.inputs import EventFilters, EventSearch

app = typer.Typer(help="Semantic events: decisions, commitments, risks, each with its proof.", no_args_is_help=True)
# Also before a worker has come to it.
NOTHING_READ = "What no worker has read yet is not found: `mnemon artifact job UID` tells whether a text was read."
FILTERS = {"time_from": "--from", "time_to": "--to", "artifact_uid": "--artifact"}
REVISION = {"revision_id": "--revision"}
PAGE_OF_ALL = EventSearch.model_fields["limit"].default
ALL_OF_THEM = {name: Differs("`mnemon events search` filters.") for name in EventFilters.model_fields} | {
    "limit": Differs("A document's list takes more at once.", takes=Annotated[int, Field(ge=1, le=1_000)])
}
OF_ONE = ("artifact_uid", "revision_id")
PAGE = Field(
    ge=1,
    le=1_000,
    description=f"Most events on this page; unset: all of a document, or {PAGE_OF_ALL} where none is named.",
)
OF_ANY = {
    "include_evidence": Differs("A person reads an event by its quotes.", default=True),
    "artifact_uid": ANY_TITLE,
    "limit": Differs("Without a document, a page is listed.", takes=Annotated[int | None, PAGE]),
}


def print_found(found: outputs.EventsFound) -> None:
    for event in found.events:
        print_event(event)
    if found.next_cursor:
        _say_how_many(len(found.events), found.total, exact=found.total_is_exact)
    else:
        say(f"{counted(found.total, 'event')}{'' if found.total_is_exact else ' or more'}.", "dim")
    if not found.total:
        say(NOTHING_READ, "dim")


def print_whole(event: outputs.WholeEvent) -> None:
    print_event(event)
    for link in event.links:
        if not link.suggested:
            say(f"  {link.later} {link.kind} {link.earlier}: {link.reason}")
    for link in (one for one in event.links if one.suggested):
        say(f"  Perhaps {link.later} {link.kind} {link.earlier}: {link.reason}", "dim")
        say(f"    confirm: mnemon events link {link.later} {link.kind} {link.earlier}", "dim")
        say(f"    refuse: mnemon events unlink {link.later} {link.earlier}", "dim")
    for said in event.corrections:
        changed = ", ".join(f"{name} {value}" for name, value in said.changed.items())
        undone = f", taken back by {said.undone_by}" if said.undone_by else ""
        words = " ".join(part for part in (said.action, changed, said.other) if part)
        say(f"  {said.at:%Y-%m-%d %H:%M} {said.by}: {words}{undone}  ({said.correction_id})")


def print_listed(listed: outputs.EventsOfRevision) -> None:
    if not listed.is_latest:
        say("This version is served no more: no search and no answer uses it.", "dim")
    for event in listed.events:
        print_event(event)
    if listed.next_cursor:
        say(f"{counted(len(listed.events), 'event')}; a higher --limit shows more.", "dim")
    if not listed.events:
        say(f"No events here. {NOTHING_READ}", "dim")


def print_checked(checked: outputs.EvidenceChecked) -> None:
    say(f"{counted(checked.quotes, 'quote')} of {counted(checked.events, 'event')} checked.")
    for one in checked.broken:
        say(f"  {one.event_id}: {one.start_char}-{one.end_char} is not what the text says", "bold red")
    say("Every quote stands in its text." if checked.holds else "Evidence is broken.", "bold")


def print_exported(exported: outputs.EventsExported) -> None:
    sys.stdout.write(exported.text)
    if not exported.complete:
        complaints.print(f"These are the first {exported.events:,} events: --from and --to give the others in parts.")


def print_corrected(page: labels.LabelledEvents) -> None:
    rows = [(one.corrected_at.date(), one.verdict, one.category, one.quote, one.event_id) for one in page.items]
    table(["Corrected", "Verdict", "Category", "Quote", "Event"], rows, "Nothing was corrected yet.")
    if page.next_cursor:
        say(f"More: --cursor {page.next_cursor}", "dim")


def print_labels(exported: labels.LabelsExported) -> None:
    sys.stdout.write(exported.text)
    if not exported.complete:
        complaints.print(f"These are the first {exported.events:,} corrected events.")


def print_learned(learned: labels.ReaderLearned) -> None:
    if learned.own and learned.shipped:
        say(f"{counted(learned.labels, 'correction')}, each judged by weights that had not seen it:")
        for name, one in (("as shipped", learned.shipped), ("fitted", learned.own)):
            say(f"  {name:<10}  log-loss {one.log_loss:.3f}, right in {one.accuracy:.0%}")
    if learned.uses == "own":
        say("The fitted weights do better and are used for what is read from now on; `--forget` goes back.", "bold")
    else:
        say("The weights that Mnemon comes with are used.", "bold")


def print_commitments(view: outputs.Commitments) -> None:
    for one in view.commitments:
        due = f"due {one.due}" if one.due else "no day"
        late = ", overdue" if one.overdue else ""
        perhaps = ", suggested" if one.suggestion else ""
        owners = f"; {', '.join(one.owners)}" if one.owners else ""
        # What a model inferred is nobody's words.
        words = one_line(one.narrative) if one.origin == "inferred" else f"“{one_line(one.narrative)}”"
        say(f"{due}{late}{perhaps}{owners}: {words}")
        say(f"  {one.event_id}", "dim")
    if not view.commitments:
        say("Nothing is open.")
    _say_how_many(len(view.commitments), view.total, exact=view.total_is_exact)
    if view.commitments:
        say(f"To say that one is done: mnemon events mark {view.commitments[0].event_id} done{tenant_named()}", "dim")


def print_people(view: outputs.PeopleOut) -> None:
    rows = [
        (row.person, row.topic, row.events, ", ".join(row.roles), row.last_at.date() if row.last_at else "unknown")
        for row in view.people
    ]
    table(["Person", "Topic", "Events", "As", "Last"], rows, "Nobody is known yet.")
    _say_how_many(len(rows), view.total)


def print_event(event: outputs.EventOut | outputs.WholeEvent) -> None:
    due = f", due {event.due}" if event.due else ""
    state = "" if event.status == "open" else f", {event.status}"
    suggested = "Suggested " if event.suggestion else ""
    say(f"{suggested}{event.category}: {event.narrative}", "bold")
    people = ", ".join(one.ref for one in event.actors)
    day = event.happened_at.date() if event.happened_at else "day unknown"
    say(f"  {day}{due}{state}{f'; {people}' if people else ''}; {event.title}")
    for one in event.evidence:
        say(f"  “{' '.join(one.quote.split())}” {one.start_char}-{one.end_char}")
    perhaps = ": a suggestion, no fact until confirmed" if event.suggestion else ""
    say(f"  {event.event_id}  confidence {event.confidence:.2f}{perhaps}", "dim")


def _say_how_many(shown: int, total: int, *, exact: bool = True) -> None:
    """Where some are left out: a list that ends must not look like the end."""
    if shown < total:
        more = "" if exact else " or more"
        say(f"{shown:,} of {total:,}{more}; --limit shows more, and a filter fewer.", "dim")


command(
    app, "search", operations.search, print_found, words="query", short=FILTERS, prepare=artifact_meant,
    listed="events",
    example="mnemon events search pricing --category Decision",
)  # fmt: skip
command(
    app, "show", operations.get, print_whole, arguments=["event_id"],
    example="mnemon events show evt_0123456789abcdef0123456789abcdef",
)  # fmt: skip
command(
    app, "list", operations.of_revision, print_listed, arguments=["artifact_uid"], short=REVISION,
    differences=OF_ANY, prepare=artifact_meant, example="mnemon events list minutes.md",
    says="All events, the latest first; of one document, by its title, file or uid, in the order of its text.",
    alternatives=[
        Alternative(
            operation=operations.search, when=lambda given: not any(given[one] for one in OF_ONE), human=print_found,
            differences=ALL_OF_THEM, listed="events",
        )
    ],
)  # fmt: skip
command(
    app, "reextract", operations.reextract, lambda one: say(f"{one.job_id} {one.status}: {one.message}"),
    arguments=["artifact_uid"], short=REVISION, prepare=artifact_meant, differences=OF_A_TITLE,
    example="mnemon events reextract uid_0123456789abcdef --force",
)  # fmt: skip
command(
    app, "verify", operations.verify, print_checked, failed=lambda checked: not checked.holds,
    example="mnemon events verify --json",
)  # fmt: skip
command(
    app, "export", operations.export, print_exported, words="query", short=FILTERS, prepare=artifact_meant,
    example="mnemon events export --category Decision --format csv",
)  # fmt: skip
command(
    app, "commitments", operations.commitments, print_commitments,
    example="mnemon events commitments --owner Ada --overdue",
)  # fmt: skip
command(app, "people", operations.people, print_people, example="mnemon events people --topic pricing")
command(
    app, "mark", corrections.mark, print_whole, arguments=["event_id", "verdict"],
    example="mnemon events mark evt_0123456789abcdef0123456789abcdef done",
)  # fmt: skip
command(
    app, "edit", corrections.edit, print_whole, arguments=["event_id"],
    example="mnemon events edit evt_0123456789abcdef0123456789abcdef --owner 'Ada Byron' --due 2026-03-09",
)  # fmt: skip
command(
    app, "merge", corrections.merge, print_whole, arguments=["event_id", "merged"],
    example="mnemon events merge evt_0123456789abcdef0123456789abcdef evt_fedcba9876543210fedcba9876543210",
)  # fmt: skip
command(
    app, "split", corrections.split, print_whole, arguments=["event_id", "quotes"],
    example="mnemon events split evt_0123456789abcdef0123456789abcdef 'Ada sends the budget' 'Ben calls the landlord'",
)  # fmt: skip
command(
    app, "link", corrections.link, print_whole, arguments=["event_id", "kind", "earlier"],
    example="mnemon events link evt_0123456789abcdef0123456789abcdef supersedes evt_fedcba9876543210fedcba9876543210",
)  # fmt: skip
command(
    app, "unlink", corrections.unlink, print_whole, arguments=["event_id", "earlier"],
    example="mnemon events unlink evt_0123456789abcdef0123456789abcdef evt_fedcba9876543210fedcba9876543210",
)  # fmt: skip
command(
    app, "undo", corrections.undo, print_whole, arguments=["event_id"], short={"correction_id": "--correction"},
    example="mnemon events undo evt_0123456789abcdef0123456789abcdef",
)  # fmt: skip
command(
    app, "corrections", corrections.corrected, print_corrected,
    says="List what people corrected, or write it as labelled data: one JSON object on a line.",
    beside={"export": Annotated[bool, typer.Option("--export", help="All of it, as JSON lines.")]},
    alternatives=[
        Alternative(
            operation=corrections.export_corrected, when=lambda given: given["export"], human=print_labels,
        )
    ],
    example="mnemon events corrections --export > labels.jsonl",
)  # fmt: skip
command(app, "learn", corrections.learn, print_learned, example="mnemon events learn")
