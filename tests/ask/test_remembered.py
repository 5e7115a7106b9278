"""Claims about memory in answers: what was remembered answers beside documents, with its own proof."""

from uuid import UUID

from mnemon.app import Mnemon
from mnemon.ask.inputs import PassageFilters, PassageSearch, Question
from mnemon.ask.operations import ask, search
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
