"""How `mnemon mail consensus` and `mnemon mail report` show what they found."""

import re

import typer

from mnemon.cli.output import console, say, table
from mnemon.mail.consensus.outputs import ConsensusShown, Said
from mnemon.reports.operations import ReportShown
from mnemon.reports.stored_operations import (
    ReportListed,
    ReportPage,
    ReportRequested,
    ReportWhole,
    SummaryPage,
    SummaryWhole,
)

# What keeps somebody's words from being read as Markdown.
ESCAPED = re.compile(r"\\([^\w\s])")
LABELS = {"agreement": "Agreement", "dissent": "Dissent", "mixed": "Mixed", "none": "None"}


def print_consensus(found: ConsensusShown) -> None:
    say(f"{found.subject}", "bold")
    say(f"{LABELS[found.consensus_type]}, confidence {found.confidence:.2f}, read by {found.read_by}")
    if not found.is_current:
        say("Messages came since: `mnemon work` reads it again.", "dim")
    if found.conclusion:
        _quote(f"Concluded ({found.conclusion.concluded})", found.conclusion)
    if found.tally:
        say("Votes: " + ", ".join(f"{value} x {count}" for value, count in found.tally.items()))
    for vote in found.votes:
        marks = [{True: "binding", False: "non-binding", None: ""}[vote.binding], vote.kind if vote.kind == "implicit"
                 else "", "changed later" if vote.changed else ""]  # fmt: skip
        told = ", ".join(mark for mark in marks if mark)
        say(f"  {vote.value or 'taken back'}  {vote.name or vote.email}{f' ({told})' if told else ''}")
    for one in found.objections:
        _quote(f"{'Reads as an objection' if one.found_by == 'learned' else 'Objection'} ({one.state})", one)
        if one.settled_by:
            _quote("  settled", one.settled_by)


def _quote(label: str, said: Said) -> None:
    words = " ".join(said.quote.split())
    say(f"{label}: {said.name or said.email}: “{words}”  {said.message_key}:{said.start}-{said.end}")


def print_stored(page: SummaryPage | ReportPage) -> None:
    if not page.items:
        say("There is none. `mnemon mail publish` has one made; threads that were imported get theirs by themselves.")
        return
    rows = [
        (
            one.report_id if isinstance(one, ReportListed) else str(one.summary_id), one.summary_type,
            one.list_name or one.draft or "", ", ".join(one.consensus_types), one.line_count,
            one.generated_at.date().isoformat(),
        )
        for one in page.items
    ]  # fmt: skip
    table(["Id", "Kind", "Of", "Came to", "Lines", "Made"], rows, "")


def print_whole(found: SummaryWhole | ReportWhole) -> None:
    print_report(found.report)


def print_requested(found: ReportRequested) -> None:
    say(f"{found.report_id} is being made (job {found.job_id}).")
    say(f"mnemon mail show-report {found.report_id}", "dim")


def print_report(found: ReportShown) -> None:
    # On a screen nobody renders it; in a file or a pipe it stays what it is.
    plain = found.form == "markdown" and console.is_terminal
    typer.echo(ESCAPED.sub(r"\1", found.content) if plain else found.content, nl=False)
    if found.dropped:
        say(f"{found.dropped} lines had no proof that held and were left out.", "dim")
