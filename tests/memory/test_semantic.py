"""Neighbours by meaning: found soon after writing, stable, apart by branch, and gone with what is deleted."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.log.events import NewEvent
from mnemon.log.privacy.archive_store import DirectoryStore
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.wrapping_keys import KeyRing
from mnemon.log.project.projector import Projector
from mnemon.memory.gateway import Memory
from mnemon.memory.lens import LENS
from mnemon.memory.objects import Place
from mnemon.memory.reading import Wanted
from mnemon.models.local import LocalEmbedder
from mnemon.models.vector_moves import VectorMoves
from tests.conftest import make_tenant
from tests.memory.conftest import ADA, BOT

CORPUS = {
    "cat": "The cat sleeps on the warm windowsill.",
    "dog": "A dog barks at the postman every morning.",
    "tax": "The company pays its value added tax every quarter.",
    "invoice": "Invoices are due within thirty days of receipt.",
    "boat": "The ferry to the island leaves at noon.",
}


@pytest.fixture(scope="session")
async def embedder(open_folder: Path) -> AsyncIterator[LocalEmbedder]:
    opened = LocalEmbedder(open_folder / "models-home")
    yield opened
    await opened.close()


@pytest.fixture
def memory(memory: Memory, embedder: LocalEmbedder) -> Memory:
    return Memory(memory.log, memory.projector, lambda: embedder)


async def corpus(memory: Memory, tenant: UUID, place: Place, embedder: LocalEmbedder) -> dict[str, UUID]:
    made = {
        name: (await memory.changes.create(tenant, place, ADA, content=text)).object.emo_id
        for name, text in CORPUS.items()
    }
    await memory.vectors.catch_up(tenant, embedder)
    return made


async def test_neighbours_are_by_meaning_and_the_status_says_how_far_behind(
    memory: Memory, tenant: UUID, place: Place, embedder: LocalEmbedder
) -> None:
    made = await corpus(memory, tenant, place, embedder)
    near = await memory.semantic.similar_objects(tenant, place, "a kitten taking a nap", k=2)
    assert near[0].object.emo_id == made["cat"]
    assert near[0].similarity > near[1].similarity
    near = await memory.semantic.similar_objects(tenant, place, made["tax"], k=1)
    assert near[0].object.emo_id == made["invoice"]
    assert await memory.semantic.similar_objects(tenant, place, "a kitten taking a nap", k=5, threshold=0.99) == []
    status = await memory.vectors.status(tenant)
    assert (status.model_id, status.embed_dim, status.vectors, status.behind) == (embedder.model_id, 384, 5, 0)
    await memory.changes.create(tenant, place, ADA, content="Something quite new.")
    assert (await memory.vectors.status(tenant)).behind == 1


async def test_neighbours_are_the_same_after_a_replay_without_asking_the_model(
    memory: Memory, tenant: UUID, place: Place, embedder: LocalEmbedder
) -> None:
    await corpus(memory, tenant, place, embedder)
    question = "When do we have to pay?"
    before = [
        (one.object.emo_id, one.similarity) for one in await memory.semantic.similar_objects(tenant, place, question)
    ]
    assert (await memory.replay.verify(tenant)).same
    assert (await memory.vectors.status(tenant)).behind == 0
    after = [
        (one.object.emo_id, one.similarity) for one in await memory.semantic.similar_objects(tenant, place, question)
    ]
    assert after == before and len(before) == 5


async def test_the_hash_of_an_object_names_the_model(
    memory: Memory, tenant: UUID, place: Place, embedder: LocalEmbedder
) -> None:
    made = await memory.changes.create(tenant, place, ADA, content="x")
    meta = made.object.vector_meta
    assert meta == {"model_id": embedder.model_id, "model_version": "1", "template_id": "plain/1", "embed_dim": 384}
    plain = Memory(memory.log, memory.projector)
    other = await plain.changes.create(tenant, place, ADA, content="x")
    assert other.object.vector_meta is None


async def test_what_is_deleted_is_not_found_and_its_vector_goes(
    memory: Memory, tenant: UUID, place: Place, embedder: LocalEmbedder
) -> None:
    made = await corpus(memory, tenant, place, embedder)
    await memory.changes.delete(tenant, place, ADA, made["cat"])
    near = await memory.semantic.similar_objects(tenant, place, "a kitten taking a nap")
    assert made["cat"] not in {one.object.emo_id for one in near}
    assert await memory.vectors.sweep(tenant) == 1
    await memory.changes.restore(tenant, place, ADA, made["cat"])
    assert await memory.vectors.catch_up(tenant, embedder) == 1
    near = await memory.semantic.similar_objects(tenant, place, "a kitten taking a nap", k=1)
    assert near[0].object.emo_id == made["cat"]


async def test_a_branch_finds_what_it_shows(
    memory: Memory, tenant: UUID, place: Place, embedder: LocalEmbedder
) -> None:
    made = await corpus(memory, tenant, place, embedder)
    away = Place(place.world_id, "away")
    await memory.branches.create(tenant, away, BOT)
    await memory.changes.update(tenant, place, ADA, made["cat"], content="Accounting rules for quarterly reports.")
    await memory.changes.update(tenant, away, BOT, made["boat"], content="Kittens nap in the afternoon sun.")
    await memory.vectors.catch_up(tenant, embedder)
    await memory.vectors.sweep(tenant)
    there = [
        one.object.emo_id for one in await memory.semantic.similar_objects(tenant, away, "a kitten taking a nap", k=2)
    ]
    assert set(there) == {made["cat"], made["boat"]}
    here = await memory.semantic.similar_objects(tenant, place, "a kitten taking a nap", k=5)
    assert {one.object.content for one in here} >= {"Accounting rules for quarterly reports.", CORPUS["boat"]}
    words = await memory.search.search(tenant, away, "afternoon", mode="text")
    assert [one.object.emo_id for one in words.hits] == [made["boat"]]
    assert (await memory.search.search(tenant, place, "afternoon", mode="text")).hits == []


async def test_facets_and_rationales_are_found_by_themselves(
    memory: Memory, tenant: UUID, place: Place, embedder: LocalEmbedder
) -> None:
    made = await corpus(memory, tenant, place, embedder)
    await memory.changes.set_facet(tenant, place, ADA, made["boat"], "advice", "Take a pill against sea sickness.")
    await memory.changes.update(
        tenant, place, ADA, made["tax"], content="VAT is paid monthly.", rationale="The law was changed in spring."
    )
    await memory.vectors.catch_up(tenant, embedder)
    [facet] = await memory.semantic.similar_facets(tenant, place, "remedies for nausea on ships")
    assert (facet.object.emo_id, facet.name, facet.text) == (
        made["boat"],
        "advice",
        "Take a pill against sea sickness.",
    )
    [reason] = await memory.semantic.similar_rationales(tenant, place, "new legislation")
    assert (reason.object.emo_id, reason.text) == (made["tax"], "The law was changed in spring.")
    assert await memory.semantic.similar_rationales(tenant, place, "new legislation", threshold=0.95) == []
    await memory.changes.delete(tenant, place, ADA, made["tax"])
    assert await memory.semantic.similar_rationales(tenant, place, "new legislation") == []


async def test_words_and_meaning_rank_together(
    memory: Memory, tenant: UUID, place: Place, embedder: LocalEmbedder
) -> None:
    made = await corpus(memory, tenant, place, embedder)
    found = await memory.search.search(tenant, place, "tax of the company")
    assert found.mode == "hybrid"
    assert found.hits[0].object.emo_id == made["tax"]
    best = found.hits[0]
    assert best.words == 1.0
    assert best.score == pytest.approx(0.4 * best.words + 0.6 * best.meaning)
    by_type = await memory.search.search(tenant, place, "tax", wanted=Wanted(emo_type="fact"))
    assert by_type.hits == []


async def test_what_was_just_remembered_is_not_behind_what_is_older(
    memory: Memory, tenant: UUID, place: Place, embedder: LocalEmbedder
) -> None:
    """Its vector is made moments later; until then its words count for its meaning too."""
    await memory.changes.create(tenant, place, ADA, content="Refunds over 500 EUR need the CFO's approval")
    await memory.vectors.catch_up(tenant, embedder)
    new = await memory.changes.create(tenant, place, ADA, content="Invoices over 900 EUR need Tim's approval")
    found = await memory.search.search(tenant, place, "who approves invoices")
    assert (found.hits[0].object.emo_id, found.hits[0].meaning) == (new.object.emo_id, 0.0)
    by_meaning = await memory.search.search(tenant, place, "who approves invoices", mode="semantic")
    assert [one.object.content for one in by_meaning.hits] == ["Refunds over 500 EUR need the CFO's approval"]


@pytest.mark.parametrize("nonsense", ["completely unrelated giraffe", "zzzqqq", "???"])
async def test_nonsense_finds_no_object(
    memory: Memory, tenant: UUID, place: Place, embedder: LocalEmbedder, nonsense: str
) -> None:
    await corpus(memory, tenant, place, embedder)
    await memory.changes.create(tenant, place, ADA, content="We like tea.")
    await memory.vectors.catch_up(tenant, embedder)
    for mode in ("hybrid", "text", "semantic"):
        assert (await memory.search.search(tenant, place, nonsense, mode=mode)).hits == []
    [tea] = (await memory.search.search(tenant, place, "What do we like to drink?")).hits
    assert tea.object.content == "We like tea."


async def test_every_match_is_ranked_and_unwanted_words_leave_objects_out(
    memory: Memory, tenant: UUID, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        await memory.changes.create(tenant, place, ADA, content=f"The report of week {number} has nothing new.")
    await memory.changes.create(tenant, place, ADA, content="The report of the week names the budget.")
    await memory.changes.create(tenant, place, ADA, content="Report, report, report!")
    # Every word is common now, and those that have all of them must come first.
    monkeypatch.setattr("mnemon.search.terms.RARE", 0)
    found = await memory.search.search(tenant, place, "report week budget", mode="text", limit=1)
    assert [hit.object.content for hit in found.hits] == ["The report of the week names the budget."]
    found = await memory.search.search(tenant, place, "report", mode="text", limit=1)
    assert [hit.object.content for hit in found.hits] == ["Report, report, report!"]
    found = await memory.search.search(tenant, place, 'report -week -"budget"', mode="text")
    assert [hit.object.content for hit in found.hits] == ["Report, report, report!"]


async def test_without_a_model_words_are_enough(
    memory: Memory, tenant: UUID, place: Place, embedder: LocalEmbedder
) -> None:
    made = await corpus(memory, tenant, place, embedder)
    wordy = Memory(memory.log, memory.projector)
    found = await wordy.search.search(tenant, place, "ferry")
    assert (found.mode, [one.object.emo_id for one in found.hits]) == ("text", [made["boat"]])


async def test_tenants_never_meet(
    memory: Memory, tenant: UUID, other_tenant: UUID, place: Place, embedder: LocalEmbedder
) -> None:
    await corpus(memory, tenant, place, embedder)
    await memory.changes.create(other_tenant, place, ADA, content="A kitten of our own.")
    await memory.vectors.catch_up(other_tenant, embedder)
    near = await memory.semantic.similar_objects(other_tenant, place, "a kitten taking a nap")
    assert [one.object.content for one in near] == ["A kitten of our own."]
    found = await memory.search.search(other_tenant, place, "cat kitten dog")
    assert [one.object.content for one in found.hits] == ["A kitten of our own."]


async def test_another_model_takes_over_without_a_gap(
    memory: Memory, tenant: UUID, place: Place, embedder: LocalEmbedder
) -> None:
    class Renamed(LocalEmbedder):
        model_id = "all-MiniLM-L6-v2@next"

    made = await corpus(memory, tenant, place, embedder)
    await memory.compaction.compact_all(tenant, place, ADA, versions=1)
    other = Renamed(embedder._home)
    try:
        assert (await VectorMoves(memory.log.database, other).move(tenant, 60)).done
        status = await memory.vectors.status(tenant)
        assert (status.model_id, status.vectors) == ("all-MiniLM-L6-v2@next", 5)
        changed = Memory(memory.log, memory.projector, lambda: other)
        near = await changed.semantic.similar_objects(tenant, place, "a kitten taking a nap", k=1)
        assert near[0].object.emo_id == made["cat"]
    finally:
        await other.close()


def test_the_lens_knows_no_model() -> None:
    assert "memory_vectors" not in LENS.real_tables


AWAY = "INSERT INTO mnemon.tenant_moves (tenant_id, slug, state, url) VALUES (%s, 'acme', 'opening', 'https://two')"


async def test_a_tenant_that_is_on_its_way_to_another_database_holds_up_no_other(
    own_database: Database, ring: KeyRing, tmp_path: Path, embedder: LocalEmbedder
) -> None:
    privacy = Privacy(own_database, ring, DirectoryStore(tmp_path / "archive"), listening=False)
    projector = Projector(privacy.log)
    projector.add(LENS)
    memory = Memory(privacy.log, projector, lambda: embedder)
    moving, staying = await make_tenant(own_database), await make_tenant(own_database)
    for tenant in (moving, staying):
        item = {"item_id": "note-1", "content": "The ferry leaves at noon."}
        await memory.log.append(tenant, [NewEvent(type="memory.item.upserted", data=item, actor=ADA.actor)])
        await memory.changes.create(tenant, Memory.place(tenant), ADA, content="The cat sleeps.")
    async with own_database.owner() as owner:
        await owner.execute(AWAY, (moving,))
    follower = memory.follower()
    await follower.translate()
    await follower.embed()
    assert await memory.reading.count(staying, Memory.place(staying)) == 2
    assert (await memory.vectors.status(staying)).behind == 0
    await privacy.close()
