"""A reranker changes the order when it answers, and nothing when it does not."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.ask.ranking import Ranking
from mnemon.ask.reranker import RERANKS, HttpReranker, RerankEndpoint
from mnemon.ask.search import Searcher
from mnemon.db.database import Database
from tests.documents.sample_chunks import put

ENDPOINT = RerankEndpoint("http://rerank.test/v1/rerank", "a-model", "a-key", 1.0)
PASSAGES = ["A ferret, a ferret.", "One ferret sleeps.", "This ferret is the one."]


def searcher_with(database: Database, answer: Callable[[httpx.Request], httpx.Response]) -> Searcher:
    client = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    return Searcher(database, lambda _: None, Ranking(), HttpReranker(ENDPOINT, client))


async def test_the_order_is_the_rerankers(database: Database, tenant: UUID) -> None:
    asked: list[dict[str, Any]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content))
        scores = [1.0 if "the one" in text else 0.1 for text in asked[0]["documents"]]
        results = [{"index": number, "relevance_score": score} for number, score in enumerate(scores)]
        return httpx.Response(200, json={"results": list(reversed(results))})

    await put(database, tenant, PASSAGES)
    found = await searcher_with(database, answer).search(tenant, "ferret", limit=2)
    assert found.reranked
    assert (found.hits[0].text, found.hits[0].relevance) == (PASSAGES[2], 1.0)
    assert len(found.hits) == 2
    assert (asked[0]["model"], asked[0]["query"], sorted(asked[0]["documents"])) == (
        "a-model",
        "ferret",
        sorted(PASSAGES),
    )


def broken(_: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("nobody there")


@pytest.mark.parametrize(
    "answer",
    [
        broken,
        lambda _: httpx.Response(500),
        lambda _: httpx.Response(200, text="not JSON"),
        lambda _: httpx.Response(200, json={"results": [{"index": 0, "relevance_score": 1}]}),
        lambda _: httpx.Response(200, json=[1, 2]),
    ],
)
async def test_when_it_fails_the_order_stays(
    database: Database, tenant: UUID, answer: Callable[[httpx.Request], httpx.Response]
) -> None:
    await put(database, tenant, PASSAGES)
    plain = await Searcher(database, lambda _: None, Ranking()).search(tenant, "ferret")
    before = RERANKS.labels("failed")._value.get()
    found = await searcher_with(database, answer).search(tenant, "ferret")
    assert not found.reranked
    assert [hit.chunk_id for hit in found.hits] == [hit.chunk_id for hit in plain.hits]
    assert RERANKS.labels("failed")._value.get() == before + 1
