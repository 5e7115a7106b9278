"""How passages of mail are printed: found ones, those of a thread, and those that a summary cites."""

from mnemon.cli.output import counted, say, table
from mnemon.reports.retrieval.operations import CheckedCitations, MailFound, PassagePage


def print_found(found: MailFound) -> None:
    for one in found.items:
        passage = one.passage
        when = passage.date.date().isoformat() if passage.date else "no date"
        say(
            f"{one.score:.2f}  {when}  {passage.sender_name or passage.sender}  {one.thread or passage.subject}", "bold"
        )
        say(f"      {' '.join(passage.text.split())[:300]}")
        say(f"      {passage.message_key}:{passage.start_offset}-{passage.end_offset}", "dim")
    if not found.items:
        say("Nothing fits.")
    if found.lexical_only:
        say(f"By words alone: {found.lexical_only}", "dim")


def print_passages(found: PassagePage) -> None:
    rows = [
        (one.chunk_id, one.date, one.sender_name or one.sender, " ".join(one.text.split())[:80]) for one in found.items
    ]
    table(["Passage", "Date", "From", "Says"], rows, "No passages: they are made after an import.")
    if found.next_cursor:
        say(f"More: --cursor {found.next_cursor}", "dim")


def print_citations(found: CheckedCitations) -> None:
    rows = [
        ("yes" if one.valid else "NO", one.message_key, one.chunk_id, " ".join(one.quote.split())[:80])
        for one in found.citations
    ]
    table(["Stands", "Message", "Passage", "Quote"], rows, "It cites nothing.")
    if found.gone:
        say(f"{counted(found.gone, 'line')} cited messages that were forgotten.", "dim")
