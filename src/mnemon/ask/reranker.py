"""An optional model behind HTTP that orders the best passages anew. When it fails, the order stays as it was."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import httpx2

from mnemon.settings import Settings
from mnemon.telemetry import counter, histogram, logger

RERANKS = counter("mnemon_reranks_total", "Calls to the reranker, by outcome.", ("outcome",))
SECONDS = histogram("mnemon_rerank_seconds", "Time of one call to the reranker.")

log = logger(__name__)


class Reranker(Protocol):
    """Gives each text a relevance to the question, in the order of the texts; None when it cannot."""

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float] | None: ...
    async def close(self) -> None: ...


@dataclass(frozen=True)
class RerankEndpoint:
    """Where it is. The key never shows in a repr."""

    url: str
    model: str | None
    key: str | None
    timeout: float


class HttpReranker:
    """Speaks the form that Cohere, Jina, Voyage, vLLM and text-embeddings-inference share."""

    def __init__(self, endpoint: RerankEndpoint, client: httpx2.AsyncClient | None = None) -> None:
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        self._endpoint = endpoint
        self._client = client or httpx2.AsyncClient(headers=headers, timeout=endpoint.timeout)

    async def relevance(self, question: str, texts: Sequence[str]) -> list[float] | None:
        body: dict[str, Any] = {"query": question, "documents": list(texts), "top_n": len(texts)}
        if self._endpoint.model:
            body["model"] = self._endpoint.model
        try:
            # The client's own limit is for each read: a server that sends byte by byte would never meet it.
            async with asyncio.timeout(self._endpoint.timeout):
                with SECONDS.time():
                    answer = await self._client.post(self._endpoint.url, json=body)
            answer.raise_for_status()
            scores = _scores(answer.json(), len(texts))
        except (httpx2.HTTPError, TimeoutError, ValueError, KeyError, TypeError, IndexError) as failure:
            RERANKS.labels("failed").inc()
            log.warning("rerank_failed", error=type(failure).__name__)
            return None
        RERANKS.labels("ok").inc()
        return scores

    async def close(self) -> None:
        await self._client.aclose()


def open_reranker(settings: Settings) -> Reranker | None:
    if settings.reranker_url is None:
        return None
    key = settings.reranker_api_key
    return HttpReranker(
        RerankEndpoint(
            settings.reranker_url,
            settings.reranker_model,
            key.get_secret_value() if key else None,
            settings.reranker_timeout_ms / 1000,
        )
    )


def _scores(answer: Any, wanted: int) -> list[float]:
    """One score per text; an answer that leaves some out, or names others, is refused."""
    scores: dict[int, float] = {}
    for one in answer["results"]:
        scores[int(one["index"])] = float(one["relevance_score"])
    if sorted(scores) != list(range(wanted)) or not all(map(math.isfinite, scores.values())):
        raise ValueError("not one score per text")
    return [scores[number] for number in range(wanted)]
