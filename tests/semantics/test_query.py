"""Claims about searching semantic events of uploaded documents."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.documents.access import Reader
from mnemon.documents.artifact_names import uid_of
from mnemon.documents.ingest.revision_texts import read_text
from mnemon.models.local import LocalEmbedder
from mnemon.semantics.extract.status import event_reextract
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.rules import engine as rules
from mnemon.semantics.search.query import event_get, event_search
from tests.ask.conftest import TopicEmbedder
from tests.documents.conftest import rows
from tests.semantics.conftest import Added

if TYPE_CHECKING:
    from mnemon.models.embedder import Embedder

MINUTES = """Weekly meeting

Date: 2026-03-02
Present: Ada Byron, Ben Okafor

Decisions
- We decided to use Postgres for event storage.

Action items
- Ada Byron will send the pricing table to Ben by 9 March 2026.
"""

Done = Callable[[], Awaitable[None]]


async def test_an_uploaded_document_is_searched_for_what_was_decided(
    mnemon: Mnemon, tenant: UUID, reader: Reader, added: Added, all_done: Done
) -> None:
    await added(MINUTES)
    await all_done()

    found = await event_search(mnemon.database, tenant, reader, EventFilters(query="Postgres", category="Decision"))

    assert found["total"] == 1
    event = found["events"][0]
    assert "Postgres" in event["evidence"][0]["quote"]
    assert found["filters_applied"] == {"query": "Postgres", "category": "Decision"}
    whole = await event_get(mnemon.database, tenant, reader, event["event_id"])
    async with mnemon.database.transaction(tenant) as tx:
        text = (await read_text(tx, UUID(whole["doc_version_id"]))).text
    for evidence in whole["evidence"]:
        assert text[evidence["start_char"] : evidence["end_char"]] == evidence["quote"]
        assert evidence["evidence_id"].startswith("evi_")
    assert whole["extraction_run_id"].startswith("job_")


async def test_only_what_was_read_with_enough_confidence_is_found(
    mnemon: Mnemon, tenant: UUID, reader: Reader, added: Added, all_done: Done
) -> None:
    await added(MINUTES)
    await all_done()
    found = (await event_search(mnemon.database, tenant, reader, EventFilters()))["events"]
    highest = max(event["confidence"] for event in found)

    for least in (0.0, highest, highest + 0.001):
        asked = await event_search(mnemon.database, tenant, reader, EventFilters(confidence_min=least))
        assert {one["event_id"] for one in asked["events"]} == {
            one["event_id"] for one in found if one["confidence"] >= least
        }


async def test_an_event_is_found_by_what_it_means(
    mnemon: Mnemon, tenant: UUID, reader: Reader, added: Added, all_done: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = TopicEmbedder()
    monkeypatch.setitem(vars(mnemon), "embedder", embedder)
    await added("We decided to give the ferret a bigger cage.\n\nWe decided to raise the budget.", "pets.txt")
    await all_done()

    found = await event_search(
        mnemon.database, tenant, reader, EventFilters(query="which animal"), embedder=cast("Embedder", embedder)
    )

    assert ["ferret" in event["narrative"] for event in found["events"]] == [True]
    assert 0.2 < found["events"][0]["score"] <= 0.6
    words_only = await event_search(mnemon.database, tenant, reader, EventFilters(query="which animal"))
    assert words_only["events"] == []


async def test_a_rare_word_counts_more_for_the_score_than_a_common_one(
    mnemon: Mnemon, tenant: UUID, reader: Reader, added: Added, all_done: Done
) -> None:
    await added("We decided to buy Postgres.", "database.txt")
    for number in range(4):
        await added(f"We decided to buy tea of sort {number}.", f"tea {number}.txt")
    await all_done()
    found = await event_search(mnemon.database, tenant, reader, EventFilters(query="Postgres or tea"))
    scores = [("Postgres" in event["narrative"], event["score"]) for event in found["events"]]
    assert scores[0][0] and scores[0][1] > 0.5 > scores[-1][1] > 0
    assert [score for _, score in scores] == sorted((score for _, score in scores), reverse=True)


async def test_nonsense_finds_no_event(
    mnemon: Mnemon, tenant: UUID, reader: Reader, added: Added, all_done: Done, monkeypatch: pytest.MonkeyPatch,
    open_folder: Path,
) -> None:  # fmt: skip
    embedder = LocalEmbedder(open_folder / "models-home")
    monkeypatch.setitem(vars(mnemon), "embedder", embedder)
    await added(MINUTES)
    await all_done()

    async def found(query: str) -> list[float]:
        search = await event_search(mnemon.database, tenant, reader, EventFilters(query=query), embedder=embedder)
        return [event["score"] for event in search["events"]]

    for nonsense in ("zzzqqq", "completely unrelated giraffe", "???"):
        assert await found(nonsense) == []
    # All of the words, once about the same matter and once not.
    [whole], [words] = await found("Postgres for event storage"), await found("use")
    assert 1 >= whole > words >= 0.4
    await embedder.close()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("flat fee", {"guests", "boats"}),
        ('"flat fee"', {"guests"}),
        ("fee -guests", {"boats", "ferries"}),
        ('fee -"flat fee"', {"boats", "ferries"}),
        ('guests ferries -"flat fee', {"ferries"}),
        ("guests or ferries", {"guests", "ferries"}),
        ("guests ferries", {"guests", "ferries"}),
        ("50 % 'O\\'Neil | <->", set()),
        ("-fee", set()),
        ("the", set()),
    ],
)
async def test_a_query_is_read_as_in_a_web_search(
    mnemon: Mnemon, tenant: UUID, reader: Reader, added: Added, all_done: Done, query: str, found: set[str]
) -> None:
    """Words that no event has together are looked for one by one, but never those that are not wanted."""
    decisions = ("a flat fee for guests", "a fee for boats of flat build", "a season fee for ferries")
    await added("\n\n".join(f"We decided to introduce {one}." for one in decisions))
    await all_done()

    events = (await event_search(mnemon.database, tenant, reader, EventFilters(query=query)))["events"]
    assert {word for event in events for word in ("guests", "boats", "ferries") if word in event["narrative"]} == found


async def test_a_reading_that_finds_nothing_leaves_no_old_vectors(
    mnemon: Mnemon, tenant: UUID, reader: Reader, added: Added, all_done: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vars(mnemon), "embedder", TopicEmbedder())
    uid = uid_of(await added("We decided to give the ferret a bigger cage.", "pets.txt"), "upload://")

    async def read_again() -> int:
        await event_reextract(mnemon.database, tenant, reader, uid, force=True)
        await all_done()
        return len(await rows(mnemon, tenant, "SELECT FROM mnemon.semantic_event_vectors"))

    await all_done()
    assert await read_again() == 1
    monkeypatch.setattr(rules, "_read_chunk", lambda *_: iter(()))
    assert await read_again() == 0, "they would outlive a purge: only events lead to them"


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"subject": "Postgres"}, 1),
        ({"subject": "the"}, 0),
        ({"subject": "?"}, 0),
        ({"subject": " ", "actor": "", "query": "", "artifact_uid": "", "kind": ""}, 2),
    ],
)
async def test_a_filter_without_a_word_to_find_finds_nothing_and_an_empty_one_asks_for_nothing(
    mnemon: Mnemon, tenant: UUID, reader: Reader, added: Added, all_done: Done, asked: dict[str, str], found: int
) -> None:
    await added(MINUTES)
    await all_done()
    page = await event_search(mnemon.database, tenant, reader, EventFilters(**asked))  # type: ignore[arg-type]
    assert page["total"] == found
    assert page["filters_applied"] == {name: value for name, value in asked.items() if value.strip()}


async def test_a_decision_that_has_the_words_stands_before_what_says_them_better(
    mnemon: Mnemon, tenant: UUID, reader: Reader, added: Added, all_done: Done, monkeypatch: pytest.MonkeyPatch,
    open_folder: Path,
) -> None:  # fmt: skip
    """Its heading says what it is about; a risk and a promise say it themselves, and are near in meaning."""
    embedder = LocalEmbedder(open_folder / "models-home")
    monkeypatch.setitem(vars(mnemon), "embedder", embedder)
    await added(
        "# Practice meeting\n\nDate: 2026-10-05\n\n## X-ray\nRisk: the x-ray machine fails about once a week.\n"
        "Priti will show the new x-ray machine on 24 April 2027.\n\nDecision: we buy the machine of Rontech.\n"
    )
    await all_done()
    asked = EventFilters(query="What did we decide about the x-ray machine?")
    found = await event_search(mnemon.database, tenant, reader, asked, embedder=embedder)
    assert found["events"][0]["category"] == "Decision", found["events"]
    assert len(found["events"]) > 1
