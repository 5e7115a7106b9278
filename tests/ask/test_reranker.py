"""A reranker changes the order when it answers, and nothing when it does not."""

import asyncio
import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import httpx2
import pytest

from mnemon.ask.reranker import RERANKS, HttpReranker, RerankEndpoint
from mnemon.ask.search import Searcher
from mnemon.db.database import Database
from mnemon.search.ranking import Ranking
from tests.documents.sample_chunks import put
from tests.patience import PATIENCE

ENDPOINT = RerankEndpoint("http://rerank.test/v1/rerank", "a-model", "a-key", 1.0)
NO_NUMBERS = '{"results": [' + ", ".join(f'{{"index": {n}, "relevance_score": NaN}}' for n in range(3)) + "]}"
PASSAGES = ["A ferret, a ferret.", "One ferret sleeps.", "This ferret is the one."]


def searcher_with(database: Database, answer: Callable[[httpx2.Request], httpx2.Response]) -> Searcher:
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    return Searcher(database, lambda _: None, Ranking(), HttpReranker(ENDPOINT, client))


async def test_the_order_is_the_rerankers(database: Database, tenant: UUID) -> None:
    asked: list[dict[str, Any]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(json.loads(request.content))
        scores = [1.0 if "the one" in text else 0.1 for text in asked[0]["documents"]]
        results = [{"index": number, "relevance_score": score} for number, score in enumerate(scores)]
        return httpx2.Response(200, json={"results": list(reversed(results))})

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


def broken(_: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError("nobody there")


@pytest.mark.parametrize(
    "answer",
    [
        broken,
        lambda _: httpx2.Response(500),
        lambda _: httpx2.Response(200, text="not JSON"),
        lambda _: httpx2.Response(200, json={"results": [{"index": 0, "relevance_score": 1}]}),
        lambda _: httpx2.Response(200, json=[1, 2]),
        lambda _: httpx2.Response(200, text=NO_NUMBERS),
    ],
)
async def test_when_it_fails_the_order_stays(
    database: Database, tenant: UUID, answer: Callable[[httpx2.Request], httpx2.Response]
) -> None:
    await put(database, tenant, PASSAGES)
    plain = await Searcher(database, lambda _: None, Ranking()).search(tenant, "ferret")
    before = RERANKS.labels("failed")._value.get()
    found = await searcher_with(database, answer).search(tenant, "ferret")
    assert not found.reranked
    assert [hit.chunk_id for hit in found.hits] == [hit.chunk_id for hit in plain.hits]
    assert RERANKS.labels("failed")._value.get() == before + 1


async def test_one_that_sends_byte_by_byte_is_not_waited_for(database: Database, tenant: UUID) -> None:
    """Each byte comes in time, the answer never does."""
    asked = asyncio.Event()

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        asked.set()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        try:
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.05)
        except ConnectionError:
            writer.close()

    await put(database, tenant, PASSAGES)
    async with await asyncio.start_server(drip, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        reranker = HttpReranker(RerankEndpoint(f"http://127.0.0.1:{port}/", None, None, 0.3))
        async with asyncio.timeout(PATIENCE):
            found = await Searcher(database, lambda _: None, Ranking(), reranker).search(tenant, "ferret")
        await reranker.close()
    assert asked.is_set()
    assert not found.reranked
    assert len(found.hits) == 3
