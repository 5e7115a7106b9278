"""Claims about questions for lists of events: time, person and state are read from the question and shown as limits."""

from collections.abc import Awaitable, Callable
from datetime import date
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.ask.inputs import Question
from mnemon.ask.listing.wanted import wanted_events
from mnemon.semantics.artifacts import NewArtifact, ingest_artifact
from tests.semantics.conftest import ADA, BEN, Added, added, all_done, settings, work
from tests.work.conftest import eventually

__all__ = ["added", "all_done", "eventually", "settings", "work"]
Done = Callable[[], Awaitable[None]]
TODAY = date(2026, 11, 16)

MARCH = """Harbour meeting

Date: 2026-03-02
Present: Ada Byron, Ben Okafor

Decisions
- Berths get a tiered price from June.

Action items
- Ada Byron to send the price table to Skagen by 9 March 2026.
- Ben Okafor to print the price list by 12 March 2026.
"""
APRIL = "Date: 2026-04-02\n\nDecision: we use Postgres for the event store."


@pytest.mark.parametrize(
    ("question", "limits"),
    [
        ("What was decided in March?", {"kind": "decisions and changes", "time": "1 March 2026 to 31 March 2026"}),
        ("Which decisions were made in January 2025?",
         {"kind": "decisions and changes", "time": "1 January 2025 to 31 January 2025"}),
        ("What changed since the last meeting?", {"kind": "changes and decisions"}),
        ("What is still open for Ada?", {"kind": "commitments", "state": "open", "person": "Ada"}),
        ("What does Ada have to do?", {"kind": "commitments", "person": "Ada"}),
        ("What is Ada's task?", {"kind": "commitments", "person": "Ada"}),
        ("what are ada's to-dos?", {"kind": "commitments", "person": "ada"}),
        ("Ada Byron's tasks", {"kind": "commitments", "person": "Ada Byron"}),
        ("What is Ben supposed to do?", {"kind": "commitments", "person": "Ben"}),
        ("Aufgaben von Ada", {"kind": "commitments", "person": "Ada"}),
        ("Was sind Bens Aufgaben?", {"kind": "commitments", "person": "Ben"}),
        ("Was soll Ada machen?", {"kind": "commitments", "person": "Ada"}),
        ("What does this task cost?", None),
        ("What does Ada still have to do?", {"kind": "commitments", "state": "open", "person": "Ada"}),
        ("Was wurde im März beschlossen?", {"kind": "decisions and changes", "time": "1 March 2026 to 31 March 2026"}),
        ("Was ist noch offen für Ada?", {"kind": "commitments", "state": "open", "person": "Ada"}),
        ("What was decided about the price in March?", None),
        ("What did we decide?", {"kind": "decisions and changes"}),
        ("Was wurde beschlossen?", {"kind": "decisions and changes"}),
        ("What is still open?", {"kind": "commitments", "state": "open"}),
        ("What did we decide about pricing?", None),
        ("What did Dev promise?", {"kind": "commitments", "person": "Dev"}),
        ("what did dev promise", {"kind": "commitments", "person": "dev"}),
        ("What has Aisha Bello committed to?", {"kind": "commitments", "person": "Aisha Bello"}),
        ("What did Dev and Aisha promise?", {"kind": "commitments", "person": "Dev or Aisha"}),
        ("What did Dev promise Aisha?", None),
        ("What did Dev promise the board?", None),
        ("Was hat Jonas zugesagt?", {"kind": "commitments", "person": "Jonas"}),
        ("Welche Risiken hat Mira genannt?", {"kind": "risks", "person": "Mira"}),
        ("What did Ada decide?", {"kind": "decisions and changes", "person": "Ada"}),
        ("Which tasks does Ada have this week?",
         {"kind": "commitments", "state": "open", "person": "Ada", "due": "due 16 November 2026 to 22 November 2026"}),
        ("When does the contract end?", None),
    ],
)  # fmt: skip
def test_a_question_for_a_list_says_its_limits(question: str, limits: dict[str, str] | None) -> None:
    wanted = wanted_events(question, TODAY)
    assert (wanted and wanted.understood()) == limits


async def test_lists_keep_to_time_person_and_state_and_say_so(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added(MARCH, "march.txt")
    await added(APRIL, "april.txt")
    await all_done()
    march = await mnemon.asking.ask(tenant, ADA, "What was decided in March?")
    assert "tiered price" in march.text and "Postgres" not in march.text
    assert march.understood["time"] == "1 March 2026 to 31 March 2026"
    assert all(one.quote and one.event_id for one in march.citations)
    ours = await mnemon.asking.ask(tenant, ADA, "What is still open for Ada?")
    assert "price table" in ours.text and "print" not in ours.text
    assert ours.understood["person"] == "Ada"
    since = await mnemon.asking.ask(tenant, ADA, "What changed since the last meeting?")
    assert "Postgres" in since.text and since.understood["time"] == "from 2 March 2026 on"
    plain = Question(question="What was decided in March?", as_words=True)
    assert (await mnemon.asking.ask(tenant, ADA, plain.question, plain)).understood == {}


PROMISES = """Stand-up

Date: 2026-03-04
Present: Aisha Bello, Dev Patel, Jonas Weber

- Dev Patel will send the draft to Aisha Bello by 12 March 2026.
- Jonas Weber will book the hall for Dev Patel.
"""


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What did Dev promise?", "draft"), ("What has Dev Patel committed to?", "draft"),
        ("Was hat Jonas zugesagt?", "hall"), ("what did jonas promise", "hall"),
    ],
)  # fmt: skip
async def test_promises_are_of_whoever_owes_them(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done, question: str, told: str
) -> None:
    await added(PROMISES, "standup.txt")
    await all_done()
    answer = await mnemon.asking.ask(tenant, ADA, question)
    assert [told in one.text for one in answer.sentences] == [True]
    nobodys = await mnemon.asking.ask(tenant, ADA, "What did Aisha promise?")
    assert nobodys.outcome == "refused"


async def test_what_was_replaced_is_listed_as_replaced(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added("Date: 2026-03-02\n\nDecision: we use MySQL for the event store.", "first.txt")
    await added("Date: 2026-04-02\n\nDecision: we use Postgres instead of MySQL for the event store.", "then.txt")
    await all_done()
    march = await mnemon.asking.ask(tenant, ADA, "What was decided in March?")
    assert [(one.role, one.note) for one in march.sentences] == [
        ("replaced", "Until 2 April 2026:"), ("since", "Since 2 April 2026:"),
    ]  # fmt: skip


async def test_what_stands_is_listed_once_beside_what_it_replaced(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added("Date: 2026-03-02\n\nDecision: we use MySQL for the event store.", "first.txt")
    await added("Date: 2026-04-02\n\nDecision: we use Postgres instead of MySQL for the event store.", "then.txt")
    await all_done()
    decided = await mnemon.asking.ask(tenant, ADA, "What did we decide?")
    assert [one.role for one in decided.sentences] == ["replaced", "since"]


async def test_a_list_has_nothing_that_the_reader_may_not_see(mnemon: Mnemon, tenant: UUID, all_done: Done) -> None:
    new = NewArtifact(
        artifact_type="note", source_system="test", content="Date: 2026-03-02\n\nDecision: we sell the boat.",
        visibility_scope="me",
    )  # fmt: skip
    await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)
    await all_done()
    question = "What was decided in March?"
    assert "boat" in (await mnemon.asking.ask(tenant, ADA, question)).text
    assert "boat" not in (await mnemon.asking.ask(tenant, BEN, question)).text


async def test_a_copy_of_a_document_tells_nothing_twice(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added(MARCH, "march.txt")
    await added(f"{MARCH}\nCopied for the archive.\n", "copy.txt")
    await added(APRIL, "april.txt")
    await all_done()
    for question in ("What did we decide?", "What did Ada promise?", "What is due in March 2026?"):
        answer = await mnemon.asking.ask(tenant, ADA, question)
        quotes = [one.quote for one in answer.citations]
        assert quotes and len(quotes) == len(set(quotes)), question
    decided = await mnemon.asking.ask(tenant, ADA, "What did we decide?")
    assert decided.text.count("tiered price") == 1 and "Postgres" in decided.text
