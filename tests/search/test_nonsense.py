"""Words that mean nothing to the sources find nothing, whatever kind of text is searched; memory has its own test."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest

from mnemon.ask.search import Searcher
from mnemon.db.database import Database
from mnemon.models.active import ModelInUse
from mnemon.models.local import LocalEmbedder
from mnemon.search.ranking import Ranking
from tests.documents.sample_chunks import put

PASSAGES = [
    "We decided to use Postgres for event storage.",
    "Ada will send the pricing table to Ben by 9 March.",
    "The harbour is closed on Sundays, and the ferry leaves at noon.",
    "We like tea.",
    "ok",
]


@pytest.fixture(scope="module")
async def embedder(open_folder: Path) -> AsyncIterator[LocalEmbedder]:
    opened = LocalEmbedder(open_folder / "models-home")
    yield opened
    await opened.close()


@pytest.mark.parametrize("nonsense", ["zzzqqq", "completely unrelated giraffe", "asdfghjkl", "xqzt vrrp", "???"])
async def test_nonsense_finds_no_passage_and_a_question_in_other_words_does(
    database: Database, tenant: UUID, embedder: LocalEmbedder, nonsense: str
) -> None:
    model = ModelInUse(embedder.model_id, 384)
    await put(database, tenant, PASSAGES, await embedder.embed(PASSAGES), model=model)
    searcher = Searcher(database, lambda _: embedder, Ranking())
    found = await searcher.search(tenant, nonsense)
    assert (found.mode, found.total, found.hits) == ("hybrid", 0, [])
    found = await searcher.search(tenant, "Which database keeps the events?")
    assert found.hits[0].text == PASSAGES[0]
    assert 0.2 < found.hits[0].score <= 1
    by_words = await Searcher(database, lambda _: None, Ranking()).search(tenant, nonsense)
    assert (by_words.mode, by_words.hits) == ("lexical", [])
