"""Claims about questions for decisions, promises and the like: they are answered by the events that texts tell of."""

from collections.abc import Awaitable, Callable
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.ask.filters import EVERYTHING
from mnemon.ask.inputs import PassageFilters
from mnemon.log.events import Actor
from mnemon.semantics.artifacts import NewArtifact, ingest_artifact
from mnemon.semantics.search.occasions import asked_for
from mnemon.semantics.semantic_event import Category
from tests.semantics.conftest import ADA, BEN, Added, added, all_done, settings, work
from tests.work.conftest import eventually

__all__ = ["added", "all_done", "eventually", "settings", "work"]
Done = Callable[[], Awaitable[None]]

MINUTES = """Harbour meeting

Date: 2026-03-02
Present: Ada Byron, Ben Okafor

One price for a berth and a year would be simple, and the price page is easy to decide about.

Decisions
- Berths get a tiered price from June.

Action items
- Ada Byron to send the price table to Skagen by 9 March 2026.
- Ben Okafor to print the price list by 12 March 2026.
- Ada Byron to call the board by 15 March 2026.
"""


async def answer(mnemon: Mnemon, tenant: UUID, question: str, asker: Actor = ADA) -> str:
    return (await mnemon.asking.ask(tenant, asker, question)).text


@pytest.mark.parametrize(
    ("question", "category"),
    [
        ("What did we decide about pricing?", Category.DECISION),
        ("Which decisions were made in March?", Category.DECISION),
        ("Who promised what by the end of the quarter?", Category.COMMITMENT),
        ("What are the open action items of Ada?", Category.COMMITMENT),
        ("Which risks were named?", Category.QUALITY_RISK),
        ("How much does a berth cost?", None),
        ("Why did we decide against MySQL?", None),
        ("decisions", None),
    ],
)
def test_a_question_says_which_kind_of_event_it_asks_for(question: str, category: Category | None) -> None:
    asked = asked_for(question)
    assert (asked and asked[0]) == category


async def test_a_decision_answers_without_the_word(mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done) -> None:
    await added(MINUTES)
    await all_done()
    assert await answer(mnemon, tenant, "What did we decide about the price?") == "Berths get a tiered price from June."


async def test_a_decision_about_something_else_is_no_answer(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added(MINUTES)
    await all_done()
    assert await answer(mnemon, tenant, "What did we decide about the ferry to Norway?") == ""
    assert await answer(mnemon, tenant, "Which tasks are assigned to Napoleon in March 2026?") == ""


async def test_each_promise_is_an_answer(mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done) -> None:
    await added(MINUTES)
    await all_done()
    promised = await answer(mnemon, tenant, "What did Ada promise?")
    assert "send the price table" in promised and "call the board" in promised
    assert "print" not in promised


async def test_what_was_replaced_does_not_answer_for_what_holds(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added("Date: 2026-03-02\n\nDecision: we use MySQL for the event store.", "march.txt")
    await added("Date: 2026-04-02\n\nDecision: we use Postgres instead of MySQL for the event store.", "april.txt")
    await all_done()
    assert "Postgres" in await answer(mnemon, tenant, "What did we decide about the event store?")


async def test_a_question_for_a_past_decision_is_answered_by_it(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    await added("Date: 2026-03-02\n\nDecision: we use MySQL for the event store.", "first.txt")
    await added("Date: 2026-04-02\n\nDecision: we use Postgres instead of MySQL for the event store.", "then.txt")
    await all_done()
    asked = "What did we decide about the event store in"
    march = await mnemon.asking.ask(tenant, ADA, f"{asked} March?")
    assert [(one.role, one.note) for one in march.sentences] == [
        ("answer", "Until 2 April 2026:"), ("since", "Since 2 April 2026:"),
    ]  # fmt: skip
    assert march.sentences[0].text == "Decision: we use MySQL for the event store."
    assert "Postgres" in await answer(mnemon, tenant, f"{asked} April?")
    assert await answer(mnemon, tenant, "What did we decide about Napoleon in March?") == ""


async def test_a_private_decision_answers_its_reader_alone(mnemon: Mnemon, tenant: UUID, all_done: Done) -> None:
    new = NewArtifact(
        artifact_type="note", source_system="test", content="Decision: we sell the boat.", visibility_scope="me"
    )
    await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)
    await all_done()
    question = "What did we decide about the boat?"
    assert "sell" in await answer(mnemon, tenant, question)
    assert await answer(mnemon, tenant, question, BEN) == ""


async def test_a_refusal_tells_neither_words_nor_number_of_private_texts(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Done
) -> None:
    new = NewArtifact(
        artifact_type="note", source_system="test", content="The Zanzibar bonus is large.", visibility_scope="me"
    )
    await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)
    await added("The large boat is in the harbour.", "boat.txt")
    await all_done()
    question = "Is the Zanzibar submarine large?"

    async def told(reader: Actor, filters: PassageFilters) -> tuple[list[str], list[str], int]:
        refusal = (await mnemon.asking.ask(tenant, reader, question, filters)).refusal
        assert refusal is not None
        searched = refusal.searched
        return sorted(searched.words), sorted(searched.unknown_words), searched.chunks

    for filters in (EVERYTHING, PassageFilters(media_type="txt")):
        assert await told(ADA, filters) == (["large", "zanzibar"], ["submarine"], 2)
        assert await told(BEN, filters) == (["large"], ["submarine", "zanzibar"], 1)
