"""Search finds by words and by meaning, in the right revisions, for the right tenant."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from mnemon.ask.inputs import PassageFilters
from mnemon.ask.search import FoundPassages, Searcher
from mnemon.db.database import Database
from mnemon.documents.ingest.chunk_store import PASSAGE, VECTORS
from mnemon.errors import InvalidRequest
from mnemon.models.active import ModelInUse, finish_change
from mnemon.models.embedder import Vectors
from mnemon.search.ranking import Ranking
from tests.documents.sample_chunks import MODEL, put

from .conftest import TopicEmbedder, searcher_of

PURGE = "UPDATE mnemon.document_revisions SET purged_at = now(), is_active = false WHERE doc_version_id = %s"


async def titles(searcher: Searcher, tenant: UUID, question: str, **filters: object) -> list[str]:
    found = await searcher.search(tenant, question, PassageFilters(**filters))  # type: ignore[arg-type]
    return [hit.title for hit in found.hits]


async def put_embedded(database: Database, tenant: UUID, passages: list[str], **more: object) -> tuple[UUID, UUID]:
    return await put(database, tenant, passages, await TopicEmbedder().embed(passages), **more)


async def test_words_are_found_in_any_form(database: Database, tenant: UUID, searcher: Searcher) -> None:
    await put(database, tenant, ["The committees approved two budgets."], title="Right")
    await put(database, tenant, ["The weather was fine."], title="Wrong")
    assert await titles(searcher, tenant, "Which budget did the committee approve?") == ["Right"]


async def test_a_rare_word_outweighs_a_common_one(database: Database, tenant: UUID, searcher: Searcher) -> None:
    for number in range(20):
        await put(database, tenant, [f"Report number {number}: the report is about the report."], title="Common")
    await put(database, tenant, ["A ferret was seen near the bridge yesterday."], title="Rare")
    assert (await titles(searcher, tenant, "report ferret"))[0] == "Rare"


async def test_meaning_is_found_without_a_shared_word(database: Database, tenant: UUID, searcher: Searcher) -> None:
    await put_embedded(database, tenant, ["My pet sleeps all day."], title="Pets")
    await put_embedded(database, tenant, ["The train was late."], title="Travel")
    found = await searcher.search(tenant, "ferret")
    assert found.mode == "hybrid"
    assert found.hits[0].title == "Pets"


async def test_a_passage_beside_the_words_of_the_question_is_found(
    database: Database, tenant: UUID, searcher: Searcher
) -> None:
    talk = ["Where did you buy the violin?", "In Cremona, last May."]
    await put(database, tenant, talk, title="Talk")
    found = await searcher.search(tenant, "violin bought", explain=True)
    answer = next(hit for hit in found.hits if hit.text == talk[1])
    assert answer.explanation is not None
    assert answer.explanation.parts["words"].value == 0
    assert answer.explanation.parts["words_nearby"].value > 0


async def test_without_vectors_search_is_lexical_and_says_so(database: Database, tenant: UUID) -> None:
    await put(database, tenant, ["The budget was approved."])
    found = await searcher_of(database, None).search(tenant, "budget")
    assert (len(found.hits), found.mode) == (1, "lexical")
    assert "No vectors are stored" in (found.lexical_only or "")


async def test_vectors_of_a_model_that_is_not_offered_are_left_alone(database: Database, tenant: UUID) -> None:
    await put_embedded(database, tenant, ["The budget was approved."])
    found = await searcher_of(database, None).search(tenant, "budget")
    assert (len(found.hits), found.mode) == (1, "lexical")
    assert "test-model" in (found.lexical_only or "")


async def test_tenants_never_meet(database: Database, tenant: UUID, other_tenant: UUID, searcher: Searcher) -> None:
    await put_embedded(database, other_tenant, ["The secret ferret budget."])
    for question in ("secret ferret budget", "animal", "money"):
        assert await titles(searcher, tenant, question) == []
    await put_embedded(database, tenant, ["Our own budget."], title="Ours")
    assert await titles(searcher, tenant, "ferret budget") == ["Ours"]


async def test_only_the_newest_version_is_searched_unless_an_old_one_is_asked_for(
    database: Database, tenant: UUID, searcher: Searcher
) -> None:
    doc_id, old = await put_embedded(database, tenant, ["The limit is 100 ferrets."])
    between = datetime.now(UTC)
    _, new = await put_embedded(database, tenant, ["The limit is 200 ferrets."], doc_id=doc_id)
    assert [hit.doc_version_id for hit in (await searcher.search(tenant, "limit ferrets")).hits] == [new]
    asked = {"doc_version_id": old}, {"as_of": between}
    for filters in asked:
        hits = (await searcher.search(tenant, "limit ferrets", PassageFilters(**filters))).hits  # type: ignore[arg-type]
        assert [(hit.doc_version_id, hit.active) for hit in hits] == [(old, False)]


@pytest.mark.parametrize(
    "filters",
    [
        {"tag": "board"},
        {"source": "drive"},
        {"source": "drive://"},
        {"person": "ada"},
        {"person": "Ada Lovelace"},
        {"person": "Boole"},
        {"from_date": datetime(2026, 5, 1, tzinfo=UTC)},
        {"from_date": datetime(2026, 5, 1, tzinfo=UTC), "to_date": datetime(2026, 7, 1, tzinfo=UTC)},
        {"media_type": "plain", "tag": "board"},
        {"media_type": "txt", "tag": "board"},
    ],
)
async def test_filters_leave_what_matches(
    database: Database, tenant: UUID, searcher: Searcher, filters: dict[str, object]
) -> None:
    await put_embedded(database, tenant, ["The budget of March."], title="March")
    await put_embedded(
        database, tenant, ["The budget of June."], title="June", tags=["board"], source="drive",
        people=["Ada Lovelace"], speaker="George Boole", written_at=datetime(2026, 6, 1, tzinfo=UTC),
    )  # fmt: skip
    assert sorted(await titles(searcher, tenant, "budget")) == ["June", "March"]
    assert await titles(searcher, tenant, "budget", **filters) == ["June"]


async def test_a_filter_that_matches_nothing_finds_nothing(
    database: Database, tenant: UUID, searcher: Searcher
) -> None:
    await put_embedded(database, tenant, ["The budget of March."])
    assert await titles(searcher, tenant, "budget", tag="none such") == []
    assert await titles(searcher, tenant, "budget", media_type="%") == []


async def test_what_the_parts_add_is_the_place_and_scores_never_rise(
    database: Database, tenant: UUID, searcher: Searcher
) -> None:
    await put_embedded(database, tenant, ["A budget.", "The ferret.", "A cash budget for the ferret."])
    for method in ({}, {"fusion": "rrf"}):
        explained = await searcher_of(database, TopicEmbedder(), **method).search(tenant, "ferret money", explain=True)
        assert len(explained.hits) == 3
        scores = [hit.score for hit in explained.hits]
        assert all(0 < score <= 1 for score in scores) and scores == sorted(scores, reverse=True)
        for hit in explained.hits:
            assert hit.explanation is not None
            assert sum(part.adds for part in hit.explanation.parts.values()) == pytest.approx(hit.explanation.place)
            assert hit.explanation.words["ferret"]["times"] == hit.text.lower().count("ferret")


async def test_snippets_are_the_text_at_their_offsets(database: Database, tenant: UUID, searcher: Searcher) -> None:
    passages = ["Ünïcode 🐾 first. " * 30 + "The ferret sleeps here. " + "And more after it. " * 30, "Second ferret."]
    await put(database, tenant, passages)
    text = "\n\n".join(passages)
    hits = (await searcher.search(tenant, "where does the ferret sleep")).hits
    assert hits
    for hit in hits:
        assert text[hit.start : hit.end] == hit.text
        assert text[hit.snippet.start : hit.snippet.end] == hit.snippet.text
        assert "ferret" in hit.snippet.text


async def test_pages_follow_each_other_without_repeating(database: Database, tenant: UUID, searcher: Searcher) -> None:
    await put_embedded(
        database, tenant, [f"Ferret number {number}." + " Walk." * (number % 7) for number in range(120)]
    )
    seen: list[UUID] = []
    offset: int | None = 0
    while offset is not None:
        found = await searcher.search(tenant, "ferret", limit=10, offset=offset)
        seen += [hit.chunk_id for hit in found.hits]
        offset = found.next_offset
    assert len(seen) == len(set(seen)) == found.total
    assert found.total >= 50


@pytest.mark.parametrize("question", ["", "  \n", "\0", "x" * 2001])
async def test_a_question_that_cannot_be_searched_is_refused(searcher: Searcher, tenant: UUID, question: str) -> None:
    with pytest.raises(InvalidRequest):
        await searcher.search(tenant, question)


@pytest.mark.parametrize("question", ["the of and", "'; DROP TABLE x; --", "a & b | !c", "\\", "🐾", "%s %(x)s", "“”"])
async def test_any_text_can_be_asked(database: Database, tenant: UUID, searcher: Searcher, question: str) -> None:
    await put_embedded(database, tenant, ["The budget of March, it's a\\b & c."])
    await searcher.search(tenant, question)


async def test_a_filter_brings_no_old_and_no_purged_version_back(
    database: Database, tenant: UUID, searcher: Searcher
) -> None:
    doc_id, _ = await put_embedded(database, tenant, ["The old budget."], tags=["board"])
    _, newest = await put_embedded(database, tenant, ["The new budget."], doc_id=doc_id)
    for filters in (PassageFilters(tag="board"), PassageFilters(doc_id=doc_id), PassageFilters(media_type="txt")):
        found = await searcher.search(tenant, "budget", filters)
        assert [hit.text for hit in found.hits] == ["The new budget."]
    async with database.owner() as owner:
        await owner.execute(PURGE, (newest,))
    for filters in (
        PassageFilters(tag="board"),
        PassageFilters(doc_version_id=newest),
        PassageFilters(as_of=datetime.now(UTC)),
    ):
        assert (await searcher.search(tenant, "budget", filters)).hits == []


async def test_vectors_that_come_after_a_search_are_found_by_the_next(
    database: Database, tenant: UUID, searcher: Searcher
) -> None:
    await put(database, tenant, ["Nothing to see."])
    assert (await searcher.search(tenant, "ferret")).mode == "lexical"
    await put_embedded(database, tenant, ["My pet sleeps all day."], title="Pets")
    assert (await searcher.search(tenant, "ferret")).hits[0].title == "Pets"


async def test_a_change_of_model_between_two_searches_is_noticed(database: Database, tenant: UUID) -> None:
    class Contrary(TopicEmbedder):
        """Of another model: what was near is far."""

        model_id = "contrary"

        def vector(self, text: str) -> Vectors:
            return super().vector(text)[::-1].copy()

    offered = {one.model_id: one for one in (TopicEmbedder(), Contrary())}
    searcher = Searcher(database, offered.get, Ranking())
    passages = ["My pet sleeps all day.", "The train was late."]
    await put_embedded(database, tenant, passages)
    before = await searcher.search(tenant, "ferret", explain=True)
    async with database.transaction(tenant) as tx:
        rows = await (await tx.execute("SELECT chunk_id, text FROM mnemon.chunks")).fetchall()
        for row in rows:
            values = (row["chunk_id"], offered["contrary"].vector(row["text"]))
            await tx.execute(
                "INSERT INTO mnemon.chunk_vectors VALUES (mnemon.current_tenant(), %s, 'contrary', %s::vector)", values
            )
        await finish_change(tx, VECTORS, ModelInUse("contrary", MODEL.dimension))
    after = await searcher.search(tenant, "ferret", explain=True)
    assert after.mode == "hybrid"
    # Compared with a vector of the old model, the passage would be as far as can be.
    assert _meaning(after) == pytest.approx(_meaning(before), abs=1e-6)


def _meaning(found: FoundPassages) -> dict[str, float]:
    return {hit.text: hit.explanation.parts["meaning"].value for hit in found.hits if hit.explanation}


async def test_where_all_words_are_common_those_with_two_come_first_and_then_those_with_the_rarest(
    database: Database, tenant: UUID, searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    passages = ["Budget and rain.", *["Only rain."] * 4, *["Only a budget."] * 3]
    for passage in passages:
        await put(database, tenant, [passage])
    monkeypatch.setattr("mnemon.search.terms.RARE", 2)
    found = await searcher.search(tenant, "budget rain")
    assert [hit.text for hit in found.hits] == [passages[0], *passages[5:], *passages[1:5]]
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True) and scores[0] == 1.0 and scores[-1] > 0


async def test_a_search_leaves_the_planner_of_its_transaction_as_it_was(
    database: Database, tenant: UUID, searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put_embedded(database, tenant, ["My pet sleeps all day."])
    # As if there were too many to compare all.
    monkeypatch.setattr("mnemon.ask.candidates.EXHAUSTIVE", 0)
    asked = await searcher.questions.prepare(tenant, PASSAGE, "ferret")
    async with database.transaction(tenant) as tx:
        assert (await searcher.rank(tx, asked)).order
        row = await (await tx.execute("SHOW enable_sort")).fetchone()
    assert row == {"enable_sort": "on"}
