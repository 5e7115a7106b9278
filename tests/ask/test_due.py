"""Claims about questions for what is due: open commitments by the day that they are due, each cited."""

from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.ask.listing.wanted import wanted_events
from tests.semantics.conftest import ADA, Added, added, all_done, settings, work
from tests.work.conftest import eventually

__all__ = ["added", "all_done", "eventually", "settings", "work"]
Done = Callable[[], Awaitable[None]]
TODAY = date(2026, 11, 18)

MINUTES = """Harbour meeting

Date: 2026-04-02
Present: Ada Byron, Ben Okafor, Tom Reed

Action items
- Ben Okafor to print the price list by 29 May 2026.
- Ada Byron to send the price table to Skagen by 9 May 2026.
- Tom Reed to paint the shed by 12 June 2026.
- Tom Reed to call the insurance.
"""


@pytest.mark.parametrize(
    ("question", "limits"),
    [
        ("List all deadlines in May", {"due": "due 1 May 2027 to 31 May 2027"}),
        ("What is due in May 2026?", {"due": "due 1 May 2026 to 31 May 2026"}),
        ("What is due this week?", {"due": "due 16 November 2026 to 22 November 2026"}),
        ("What is due by Friday?", {"due": "due until 20 November 2026"}),
        ("What's due in the next 14 days?", {"due": "due 18 November 2026 to 2 December 2026"}),
        ("Which deadlines does Ada have before December?", {"person": "Ada", "due": "due until 30 November 2026"}),
        ("Was ist bis Ende Mai fällig?", {"due": "due until 31 May 2027"}),
        ("Welche Fristen gibt es zwischen 3. Mai und 10. Mai?", {"due": "due 3 May 2027 to 10 May 2027"}),
        ("Was ist überfällig?", {"due": "due until 17 November 2026"}),
        ("Deadlines?", {"due": "due on any day"}),
        ("What is the deadline for the tender?", None),
        ("Which invoices are due in May?", None),
    ],
)
def test_a_question_for_what_is_due_says_when(question: str, limits: dict[str, str] | None) -> None:
    wanted = wanted_events(question, TODAY)
    assert (wanted and wanted.understood()) == (limits and {"kind": "commitments", "state": "open"} | limits)


async def test_what_is_due_is_listed_by_its_day(mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done) -> None:
    await added(MINUTES)
    await all_done()
    for question in ("List all deadlines in May", "What is due in May?"):
        answer = await mnemon.asking.ask(tenant, ADA, question)
        assert [one.note for one in answer.sentences] == ["Due 9 May 2026:", "Due 29 May 2026:"], question
        assert "price table" in answer.sentences[0].text and "price list" in answer.sentences[1].text
        assert answer.understood["due"] == "due 1 May 2026 to 31 May 2026"
        assert all(one.event_id and one.quote for one in answer.citations)
    german = await mnemon.asking.ask(tenant, ADA, "Was ist im Mai fällig?")
    assert [one.note for one in german.sentences] == ["Fällig am 9. Mai 2026:", "Fällig am 29. Mai 2026:"]
    limits = {"kind": "Zusagen", "state": "offen", "due": "fällig 1. Mai 2026 bis 31. Mai 2026"}
    assert german.understood == limits and german.language == "de"
    by_then = await mnemon.asking.ask(tenant, ADA, "Was ist bis Ende Mai fällig?")
    assert len(by_then.sentences) == 2 and by_then.understood["due"] == "fällig bis 31. Mai 2026"
    whose = await mnemon.asking.ask(tenant, ADA, "Which deadlines does Tom have?")
    assert [one.note for one in whose.sentences] == ["Due 12 June 2026:"]


async def test_the_coming_time_is_meant_where_something_is_due_then(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    today = datetime.now(UTC).date()
    friday = today + timedelta(days=4 - today.weekday())
    await added(f"{MINUTES}- Ben Okafor to order the rope by {friday.isoformat()}.\n")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "What is due this week?")
    assert [one.citations[0].quote for one in answer.sentences] == [f"Ben Okafor to order the rope by {friday}."]


CHAT = """[02.11.26, 08:14:03] Leo Ferrari: The vaccine fridge was at 11 degrees
[02.11.26, 08:19:01] Hanna Brandt: I'll call the fridge service by 4 November 2026
"""


async def test_what_was_promised_in_a_chat_says_who_and_when(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added(CHAT, "WhatsApp Chat with Linden.txt")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, "What is overdue?")
    (cited,) = answer.citations
    assert "call the fridge service" in cited.quote
    assert (cited.speaker, cited.said_on) == ("Hanna Brandt", date(2026, 11, 2))
