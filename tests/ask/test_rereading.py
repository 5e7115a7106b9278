"""The best passages are read together with the question; without a model to read with, the order stays."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from mnemon.ask import search
from mnemon.ask.learned.cross_encoder import (
    AskedAsRead,
    CrossEncoder,
    StatementReader,
    open_cross_encoder,
    open_statement_reader,
)
from mnemon.ask.learned.pairs import (
    MOST_AFTER,
    MOST_ASKED,
    MOST_BEFORE,
    MOST_HEAD,
    MOST_LED,
    MOST_PASSAGE,
    MOST_QUESTION,
    MOST_STATEMENT,
    ReadStatement,
    marked,
    pair_of,
    statement_pair,
)
from mnemon.ask.search import Searcher
from mnemon.db.database import Database
from mnemon.search.ranking import Floats, Ranking
from mnemon.settings import Settings
from tests.documents.sample_chunks import MODEL, put

from .conftest import TopicEmbedder

TALK = ["Which budget do we have?", "The budget is spent.", "The budget is four thousand.", "Money is tight."]


@dataclass
class Reader(CrossEncoder):
    """Likes passages with this word; remembers what it was given."""

    liked: str | None

    def __post_init__(self) -> None:
        self.given: list[tuple[str, str]] = []

    async def judge(self, question: str, passages: Sequence[tuple[str, str]]) -> Floats | None:
        self.given = list(passages)
        return None if self.liked is None else np.array([5.0 * (self.liked in text) for text, _ in passages])

    def close(self) -> None:
        pass


@pytest.fixture
async def stored(database: Database, tenant: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "LOCAL", MODEL)
    await put(database, tenant, TALK, await TopicEmbedder().embed(TALK), title="Talk")


def searcher(database: Database, liked: str | None) -> tuple[Searcher, Reader]:
    reader = Reader(liked)
    return Searcher(database, lambda _: TopicEmbedder(), Ranking(), None, reader), reader


async def order(database: Database, tenant: UUID, liked: str | None) -> list[str]:
    found = await searcher(database, liked)[0].search(tenant, "What is the budget?")
    return [hit.text for hit in found.hits]


async def test_what_the_reading_likes_rises_and_scores_still_fall(stored: None, database, tenant) -> None:
    before = await order(database, tenant, None)
    read, reader = searcher(database, before[1])
    found = await read.search(tenant, "What is the budget?", explain=True)
    assert [hit.text for hit in found.hits][:2] == [before[1], before[0]]
    assert sorted(hit.text for hit in found.hits) == sorted(before)
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert found.hits[0].explanation is not None
    assert found.hits[0].explanation.parts["judged"].adds > 0
    assert (TALK[1], TALK[0]) in reader.given


async def test_every_page_is_cut_from_the_same_order(stored: None, database, tenant) -> None:
    read, _ = searcher(database, TALK[3])
    whole = [hit.text for hit in (await read.search(tenant, "What is the budget?")).hits]
    pages = [(await read.search(tenant, "What is the budget?", limit=1, offset=at)).hits[0].text for at in range(3)]
    assert pages == whole[:3]


async def test_vectors_of_another_model_are_not_reread(database, tenant) -> None:
    await put(database, tenant, TALK, await TopicEmbedder().embed(TALK))
    read, reader = searcher(database, TALK[3])
    await read.search(tenant, "What is the budget?")
    assert reader.given == []


def test_the_setting_switches_it(tmp_path: Path) -> None:
    assert open_cross_encoder(Settings(home=tmp_path, rerank=True)) is not None
    assert open_cross_encoder(Settings(home=tmp_path, rerank=False)) is None
    assert open_statement_reader(Settings(home=tmp_path)) is not None
    assert open_statement_reader(Settings(home=tmp_path, read_statements=False)) is None


def test_a_pair_keeps_within_the_window() -> None:
    pair = pair_of(range(1000, 1500), range(2000, 2500), range(3000, 3500))
    assert len(pair) == MOST_QUESTION + MOST_PASSAGE + MOST_BEFORE + 4 <= 256
    assert pair[-2] == 3499
    row = statement_pair(*(range(1000 * part, 1000 * part + 500) for part in range(1, 6)))
    assert len(row) == MOST_ASKED + MOST_STATEMENT + MOST_LED + MOST_HEAD + MOST_AFTER + 6 <= 256
    assert (3499 in row, 4000 in row, 5000 in row) == (True, True, True)


def test_a_mark_stands_before_each_word_that_the_question_is_about() -> None:
    assert marked([11, 12, 13, 14], [1, 3, -1], [5, 1, 2]) == [11, 5, 12, 13, 1, 14]


def test_the_shipped_adapter_knows_an_answer_from_a_neighbour(tmp_path: Path) -> None:
    encoder = CrossEncoder(tmp_path)
    passages = [
        ("Ben: The soup was very good yesterday.", ""),
        ("Anna: Clara Roth pays for the new boat out of her own pocket.", "Ben: And who pays for it?"),
        ("Ben: The new boat is red.", ""),
    ]
    logits = encoder.logits("Who pays for the new boat?", passages)
    assert logits is not None
    assert int(np.argmax(logits)) == 1
    assert logits.tolist() == encoder.logits("Who pays for the new boat?", passages).tolist()  # type: ignore[union-attr]
    encoder.close()


def test_the_shipped_adapter_knows_which_statement_answers(tmp_path: Path) -> None:
    reader = StatementReader(tmp_path)
    statements = [
        ReadStatement("Ben: We looked at the kitchen floor again.", "", "4 May 2026. Kitchen", "", (4, 4)),
        ReadStatement("Ben: Mrs Okafor orders the tiles on Monday.", "Who orders the tiles?", "4 May 2026", "", (1, 1)),
        ReadStatement("Anna: The tiles are grey.", "", "4 May 2026. Kitchen", "", (4, 1)),
    ]
    logits = reader.read(AskedAsRead("Who is going to order the tiles?", (16, 26)), statements)
    assert logits is not None
    assert int(np.argmax(logits)) == 1
    reader.close()


def test_without_weights_nothing_is_judged_and_nothing_fails(tmp_path: Path) -> None:
    encoder = CrossEncoder(tmp_path, tmp_path / "none")
    assert encoder.logits("Who?", [("a", ""), ("b", "")]) is None
    encoder.close()
