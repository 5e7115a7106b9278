"""The embeddings endpoint is called as its protocol says, and what it gives is checked before it is believed."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
import pytest

from mnemon.errors import MnemonError
from mnemon.models.embedder import embedding_health
from mnemon.models.endpoint import Endpoint, EndpointEmbedder
from mnemon.models.failures import (
    EmbeddingDimensionMismatch,
    InvalidModel,
    ModelKeyRefused,
    ModelQuotaSpent,
    ModelRateLimited,
    ModelRequestRefused,
    ModelTimedOut,
    ModelUnreachable,
)
from tests.patience import PATIENCE

KEY = "sk-very-secret-0123456789"


def vector_of(text: str, dimension: int) -> list[float]:
    return [float(len(text)), *([1.0] * (dimension - 1))]


def embeddings(reply: Any, dimension: int = 3) -> Callable[[Any], Any]:
    """Answers like the real service, rows in the wrong order, as the protocol allows."""

    def answer(request: Any) -> Any:
        rows = [
            {"object": "embedding", "index": index, "embedding": vector_of(text, dimension)}
            for index, text in enumerate(request.body["input"])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return reply({"object": "list", "data": rows[::-1], "model": request.body["model"], "usage": usage})

    return answer


@pytest.fixture
async def open_at(service: Any) -> AsyncIterator[Callable[..., EndpointEmbedder]]:
    opened: list[EndpointEmbedder] = []

    def open_with(**changes: Any) -> EndpointEmbedder:
        options = {"model": "embed-model", "base_url": service.url, "key": KEY, "retries": 0, **changes}
        opened.append(EndpointEmbedder(Endpoint(**options)))
        return opened[-1]

    yield open_with
    for embedder in opened:
        await embedder.close()


async def test_texts_go_in_batches_and_come_back_in_order(service: Any, reply: Any, open_at: Any) -> None:
    service.replies = [embeddings(reply)]
    embedder = open_at(batch_size=4)
    texts = ["x" * length for length in range(1, 12)]
    vectors = await embedder.embed(texts)
    assert sorted(len(request.body["input"]) for request in service.requests) == [3, 4, 4]
    assert np.allclose(vectors[:, 0] / vectors[:, 1], range(1, 12), rtol=1e-5)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert vectors.dtype == np.float32


async def test_the_request_carries_the_key_the_model_and_the_length(service: Any, reply: Any, open_at: Any) -> None:
    service.replies = [embeddings(reply, 5)]
    embedder = open_at(dimension=5)
    await embedder.embed(["a text", ""])
    (request,) = service.requests
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == "embed-model"
    assert request.body["dimensions"] == 5
    assert request.body["input"] == ["a text", " "]
    assert embedder.model_id == "embed-model:5"


async def test_the_length_is_learned_and_then_held_to(service: Any, reply: Any, open_at: Any) -> None:
    service.replies = [embeddings(reply, 3), embeddings(reply, 4)]
    embedder = open_at()
    await embedder.embed(["a"])
    assert embedder.dimension == 3
    with pytest.raises(EmbeddingDimensionMismatch, match="vectors of 4 numbers, not 3"):
        await embedder.embed(["b"])


async def test_another_length_than_the_setting_is_refused(service: Any, reply: Any, open_at: Any) -> None:
    service.replies = [embeddings(reply, 3)]
    with pytest.raises(EmbeddingDimensionMismatch, match="MNEMON_OPENAI_EMBED_DIMS"):
        await open_at(dimension=8).embed(["a"])


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        (429, {"message": "slow down"}, ModelRateLimited),
        (429, {"message": "no credit", "code": "insufficient_quota"}, ModelQuotaSpent),
        (401, {"message": f"Incorrect API key provided: {KEY}"}, ModelKeyRefused),
        (403, {"message": "not yours"}, ModelKeyRefused),
        (404, {"message": "no such model"}, InvalidModel),
        (400, {"message": "unknown model", "code": "model_not_found"}, InvalidModel),
        (400, {"message": "input too long"}, ModelRequestRefused),
        (500, {"message": "oops"}, ModelUnreachable),
        (503, {"message": "loading"}, ModelUnreachable),
    ],
)
async def test_failures_have_the_documented_codes_and_no_secrets(
    service: Any, reply: Any, open_at: Any, status: int, error: dict[str, str], expected: type[MnemonError]
) -> None:
    service.replies = [reply({"error": error}, status)]
    with pytest.raises(expected) as caught:
        await open_at().embed(["a"])
    assert type(caught.value) is expected
    assert KEY not in str(caught.value.as_json())
    assert "embed-model" in caught.value.message


async def test_a_failure_that_passes_is_retried_with_back_off(service: Any, reply: Any, open_at: Any) -> None:
    soon = {"retry-after-ms": "1"}
    service.replies = [
        reply({"error": {"message": "slow down"}}, 429, soon),
        reply({"error": {"message": "oops"}}, 500, soon),
        embeddings(reply),
    ]
    assert (await open_at(retries=2).embed(["a"])).shape == (1, 3)
    assert len(service.requests) == 3


async def test_a_wrong_name_is_not_retried(service: Any, reply: Any, open_at: Any) -> None:
    service.replies = [reply({"error": {"message": "no such model"}}, 404)]
    with pytest.raises(InvalidModel):
        await open_at(retries=3).embed(["a"])
    assert len(service.requests) == 1


async def test_silence_ends_at_the_time_limit(service: Any, reply: Any, open_at: Any) -> None:
    service.replies = [reply(silent=True)]
    with pytest.raises(ModelTimedOut):
        await asyncio.wait_for(open_at(timeout=0.2).embed(["a"]), PATIENCE)


async def test_a_server_that_hangs_up_or_talks_nonsense_is_unreachable(service: Any, reply: Any, open_at: Any) -> None:
    too_few = {"object": "list", "data": [], "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    nowhere = {**too_few, "data": [{"object": "embedding", "index": 0, "embedding": [0.0, 0.0]}]}
    for answer in (reply(hang_up=True), reply(b"<html>", 200), reply(too_few), reply(nowhere)):
        service.replies = [answer]
        with pytest.raises(ModelUnreachable):
            await open_at().embed(["a"])


async def test_health_is_what_the_server_says_now(service: Any, reply: Any, open_at: Any) -> None:
    service.replies = [embeddings(reply), reply({"error": {"message": "no such model"}}, 404)]
    embedder = open_at()
    good, bad = await embedding_health(embedder), await embedding_health(embedder)
    assert (good.available, good.dimension, good.source) == (True, 3, service.url + "/")
    assert (bad.available, bad.error_code) == (False, "OPENAI_INVALID_MODEL")


async def test_a_query_does_not_wait_for_bulk_requests(service: Any, reply: Any, open_at: Any) -> None:
    def only_queries(request: Any) -> Any:
        return reply(silent=True) if request.body["input"][0] == "bulk" else embeddings(reply)(request)

    service.replies = [only_queries]
    embedder = open_at(batch_size=1)
    bulk = asyncio.create_task(embedder.embed(["bulk"] * 10))
    assert (await asyncio.wait_for(embedder.embed(["query"], purpose="query"), PATIENCE)).shape == (1, 3)
    bulk.cancel()
    await asyncio.gather(bulk, return_exceptions=True)


def test_the_key_is_not_in_the_repr() -> None:
    assert KEY not in repr(Endpoint("m", key=KEY))
