"""Embeds through an OpenAI-compatible endpoint: in batches, with retries, and with every vector checked."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from openai import AsyncOpenAI, OpenAIError, omit
from openai.types import CreateEmbeddingResponse

from mnemon.models.embedder import Purpose, Vectors, count_embedded
from mnemon.models.failures import EmbeddingDimensionMismatch, ModelUnreachable
from mnemon.models.openai_failures import as_mnemon_error
from mnemon.models.redact import without_login

BULK_REQUESTS_AT_ONCE = 2
NO_KEY = "no-key"


@dataclass(frozen=True)
class Endpoint:
    """A server that speaks OpenAI's protocol, and how patient to be with it. The key never shows in a repr."""

    model: str
    base_url: str | None = None
    key: str | None = field(default=None, repr=False)
    dimension: int | None = None
    timeout: float = 30
    retries: int = 3
    batch_size: int = 100


class EndpointEmbedder:
    """Vectors from elsewhere. They are made unit length here; whether they are reproducible is up to the server."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.dimension = endpoint.dimension
        self._bulk = asyncio.Semaphore(BULK_REQUESTS_AT_ONCE)
        self._client = AsyncOpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.key or NO_KEY,
            timeout=endpoint.timeout,
            max_retries=endpoint.retries,
        )

    @property
    def model_id(self) -> str:
        """Vectors of one model cut to different lengths do not compare, so the length asked for is part of the id."""
        asked = self.endpoint.dimension
        return f"{self.endpoint.model}:{asked}" if asked else self.endpoint.model

    @property
    def source(self) -> str:
        return without_login(str(self._client.base_url))

    async def embed(self, texts: Sequence[str], purpose: Purpose = "bulk") -> Vectors:
        """One row per text, in order. Queries do not wait for the requests of bulk work."""
        started = time.perf_counter()
        size = self.endpoint.batch_size
        batches = [texts[at : at + size] for at in range(0, len(texts), size)]
        ask = self._ask if purpose == "query" else self._ask_in_line
        parts = await asyncio.gather(*(ask(batch) for batch in batches))
        count_embedded(self.model_id, purpose, len(texts), time.perf_counter() - started)
        return np.concatenate(parts) if parts else np.empty((0, self.dimension or 0), np.float32)

    async def close(self) -> None:
        await self._client.close()

    async def _ask_in_line(self, texts: Sequence[str]) -> Vectors:
        async with self._bulk:
            return await self._ask(texts)

    async def _ask(self, texts: Sequence[str]) -> Vectors:
        try:
            # The endpoint refuses an empty text; a space means as little.
            answer = await self._client.embeddings.create(
                model=self.endpoint.model,
                input=[text or " " for text in texts],
                encoding_format="float",
                dimensions=self.endpoint.dimension or omit,
            )
        except OpenAIError as failure:
            raise as_mnemon_error(failure, self.endpoint.model, self.source, self.endpoint.key) from None
        except ValueError as failure:
            raise ModelUnreachable(f"{self.source} did not answer with JSON: {failure}") from None
        return self._checked(answer, len(texts))

    def _checked(self, answer: CreateEmbeddingResponse, expected: int) -> Vectors:
        rows = sorted(getattr(answer, "data", None) or [], key=lambda row: row.index)
        if [row.index for row in rows] != list(range(expected)):
            raise ModelUnreachable(f"{self.source} gave {len(rows)} vectors for {expected} texts.")
        lengths = {len(row.embedding) for row in rows}
        wanted = self.dimension or min(lengths)
        if lengths != {wanted}:
            found = " and ".join(map(str, sorted(lengths)))
            raise EmbeddingDimensionMismatch(
                f"{self.endpoint.model} at {self.source} gives vectors of {found} numbers, "
                f"not {wanted}: set MNEMON_OPENAI_EMBED_DIMS to what it gives, or name another model.",
                expected=wanted,
                found=sorted(lengths),
            )
        self.dimension = wanted
        return self._unit(np.array([row.embedding for row in rows], np.float32))

    def _unit(self, vectors: Vectors) -> Vectors:
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.all(np.isfinite(norms)) or not np.all(norms > 0):
            raise ModelUnreachable(f"{self.endpoint.model} at {self.source} gave a vector without direction.")
        unit: Vectors = vectors / norms
        return unit
