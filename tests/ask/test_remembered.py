"""Claims about memory in answers: what was remembered answers beside documents, with its own proof."""

from datetime import UTC, datetime
from uuid import UUID

from mnemon.app import Mnemon
from mnemon.ask.inputs import PassageFilters, PassageSearch, Question
from mnemon.ask.operations import ask, search
from mnemon.ask.quoting.features import Weighing
from mnemon.ask.quoting.needs import need_of
from mnemon.ask.quoting.remembering import candidates_of
from mnemon.ask.quoting.statements import statements_in
from mnemon.ask.quoting.surroundings import StatementSource, Stretch
from mnemon.ask.quoting.told import NOTHING_TOLD
from mnemon.ask.recall import Remembered
from mnemon.log.events import Actor
from mnemon.memory.changing.change_events import Author
from mnemon.operations import Caller
from tests.semantics.conftest import settings

__all__ = ["settings"]

ADA = Actor("human", "user:ada")
REFUNDS = "Refunds over 500 EUR need the CFO's approval."


async def remember(mnemon: Mnemon, tenant: UUID, text: str) -> UUID:
    place = mnemon.memory.place(tenant)
    made = await mnemon.memory.changes.create(tenant, place, Author(ADA), content=text, emo_type="fact")
    return made.object.emo_id


async def test_a_memory_answers_and_is_cited_by_id_version_and_words(mnemon: Mnemon, tenant: UUID) -> None:
    emo_id = await remember(mnemon, tenant, f"A note. {REFUNDS}")
    told = await ask(mnemon, Caller(tenant, ADA), Question(question="Who approves refunds over 500 EUR?"))
    assert (told.outcome, told.text) == ("answered", REFUNDS)
    (proof,) = told.sentences[0].remembered
    assert (proof.emo_id, proof.emo_version, proof.quote) == (emo_id, 1, REFUNDS)
    assert f"A note. {REFUNDS}"[proof.start : proof.end] == proof.quote
    assert str(emo_id) in proof.link


async def test_another_tenant_has_other_memories(mnemon: Mnemon, tenant: UUID, other_tenant: UUID) -> None:
    await remember(mnemon, tenant, REFUNDS)
    told = await mnemon.asking.ask(other_tenant, ADA, "Who approves refunds over 500 EUR?")
    assert told.outcome == "refused"


async def test_a_search_finds_memories_beside_passages(mnemon: Mnemon, tenant: UUID) -> None:
    emo_id = await remember(mnemon, tenant, REFUNDS)
    found = await search(mnemon, Caller(tenant, ADA), PassageSearch(query="refunds approval"))
    assert [(one.emo_id, one.content) for one in found.remembered] == [(emo_id, REFUNDS)]
    narrowed = await search(mnemon, Caller(tenant, ADA), PassageSearch(query="refunds approval", tag="finance"))
    assert narrowed.remembered == []


async def test_filters_of_documents_leave_memory_out(mnemon: Mnemon, tenant: UUID) -> None:
    await remember(mnemon, tenant, REFUNDS)
    told = await mnemon.asking.ask(tenant, ADA, "Who approves refunds over 500 EUR?", PassageFilters(tag="finance"))
    assert told.outcome == "refused"


async def test_a_number_to_reach_somebody_is_told_from_memory_and_no_other_text_in_its_place(
    mnemon: Mnemon, tenant: UUID
) -> None:
    plumber = "The plumber of the yard is Rohrwerk, tel 030 555 0190"
    await remember(mnemon, tenant, plumber)
    await remember(mnemon, tenant, "Noor waters the plants.")
    for question in ("Who is the plumber?", "What is the plumber's phone number?"):
        told = await mnemon.asking.ask(tenant, ADA, question)
        assert (told.outcome, told.text) == ("answered", plumber), question
    for question in ("What is Noor's phone number?", "What is the email address of the plumber?"):
        assert (await mnemon.asking.ask(tenant, ADA, question)).outcome == "refused", question


def test_memories_are_ranked_among_themselves_and_not_behind_all_passages() -> None:
    day = datetime(2026, 3, 2, tzinfo=UTC)
    memory = Remembered(UUID(int=1), 1, "fact", "main", "The window cleaner comes on Mondays.", day, 0.8)
    (remembered,) = candidates_of([memory])
    source = StatementSource(UUID(int=2), UUID(int=3), 1, True, "List", "list.md", "text/markdown", day)
    passages = [Stretch(source, (), 0, 9, statements_in(f"Row {n}.", 20 * n), 0.5) for n in range(4)]
    weighing = Weighing(need_of("When does the window cleaner come?"), (), 10)
    found = weighing.candidates([*passages, remembered], NOTHING_TOLD)
    assert [one.values["rank"] for one in found] == [1, 1 / 2, 1 / 3, 1 / 4, 1]
