"""What every embedder offers, and the honest one for when there is no model."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel

from mnemon.errors import MnemonError
from mnemon.models.failures import EmbedderUnavailable
from mnemon.models.weights import REMEDY
from mnemon.telemetry import counter, histogram

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
else:
    # Whoever makes or compares vectors loads numpy; most commands do neither.
    Vectors = Any
Purpose = Literal["bulk", "query"]

EMBEDDED = counter("mnemon_embedded_texts_total", "Texts turned into vectors.", ("model", "purpose"))
SECONDS = histogram("mnemon_embedding_seconds", "Time of one call to the embedder.", ("model", "purpose"))


class Embedder(Protocol):
    """Turns texts into unit vectors. A vector is only comparable with others of the same `model_id`."""

    @property
    def model_id(self) -> str: ...
    @property
    def dimension(self) -> int | None: ...
    @property
    def source(self) -> str: ...
    async def embed(self, texts: Sequence[str], purpose: Purpose = "bulk") -> Vectors: ...
    async def close(self) -> None: ...


class NoEmbedder:
    """Stands where no model is: it says why, and what to do about it."""

    model_id = "none"
    dimension = None
    source = "none"

    def __init__(self, reason: str, remedy: str | None = REMEDY) -> None:
        self.reason = reason
        self.remedy = remedy

    async def embed(self, texts: Sequence[str], purpose: Purpose = "bulk") -> Vectors:
        raise EmbedderUnavailable(self.reason, remedy=self.remedy)

    async def close(self) -> None:
        pass


class EmbeddingHealth(BaseModel):
    """Whether texts become vectors right now, found by making one. Without them search is by words alone."""

    available: bool
    model_id: str
    dimension: int | None
    source: str
    error: str | None
    error_code: str | None
    remedy: str | None


async def embedding_health(embedder: Embedder) -> EmbeddingHealth:
    error = code = remedy = None
    try:
        await embedder.embed(["Is anyone there?"], purpose="query")
    except MnemonError as failure:
        error, code, remedy = failure.message, failure.code, failure.details.get("remedy")
    return EmbeddingHealth(
        available=error is None, model_id=embedder.model_id, dimension=embedder.dimension, source=embedder.source,
        error=error, error_code=code, remedy=remedy,
    )  # fmt: skip


def count_embedded(model_id: str, purpose: Purpose, texts: int, seconds: float) -> None:
    EMBEDDED.labels(model_id, purpose).inc(texts)
    SECONDS.labels(model_id, purpose).observe(seconds)
