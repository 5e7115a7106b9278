"""Cross-encoders: how well each passage or statement answers, judged by reading it together with the question."""

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import orjson

from mnemon.ask.learned.pairs import pair_of, statement_pair
from mnemon.models.adapters import AdaptedEncoder, read_adapter
from mnemon.models.failures import EmbedderUnavailable
from mnemon.search.ranking import Floats
from mnemon.settings import Settings
from mnemon.telemetry import histogram, logger

PACKAGE = "mnemon.ask.learned"
SECONDS = histogram(
    "mnemon_read_together_seconds", "Time that one question's passages or statements took to be read with it."
)

log = logger(__name__)


class CrossEncoder:
    """Deterministic: the same question and passages give the same. Its model is loaded by the first question."""

    name: ClassVar[str] = "ranker"
    # The question's tokens and those of each part of what is read with it, as one row.
    row: ClassVar[Callable[..., tuple[int, ...]]] = staticmethod(pair_of)

    def __init__(self, home: Path, folder: Path | None = None) -> None:
        self._home, self._folder = home, folder
        self._encoder: AdaptedEncoder | None = None
        self._missing = False
        self._loading = threading.Lock()
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1, "read-together")

    async def judge(self, question: str, passages: Sequence[tuple[str, ...]]) -> Floats | None:
        """A logit for each passage, which comes with the words before it; None while there is no model to read with."""
        return await asyncio.to_thread(self.logits, question, passages)

    def logits(self, question: str, passages: Sequence[tuple[str, ...]]) -> Floats | None:
        encoder = self._loaded()
        if encoder is None:
            return None
        with SECONDS.time():
            asked = encoder.tokenizer.ids(question)

            def judged(passage: tuple[str, ...]) -> float:
                states = encoder.hidden(self.row(asked, *(encoder.tokenizer.ids(one) for one in passage)))
                weight, bias = encoder.adapter.head
                return float(weight[0] @ np.concatenate([states[0], states.mean(axis=0)]) + bias[0])

            return np.array(list(self._pool.map(judged, passages)))

    def close(self) -> None:
        self._pool.shutdown(wait=False)

    def _loaded(self) -> AdaptedEncoder | None:
        with self._loading:
            if self._encoder is None and not self._missing:
                try:
                    adapter = read_adapter(PACKAGE, self.name, learned(self.name)["adapter"])
                    self._encoder = AdaptedEncoder.open(self._home, self._folder, adapter)
                except EmbedderUnavailable as failure:
                    # Said once: the order of the other parts stands.
                    self._missing = True
                    log.warning("passages_not_read_together", error=failure.message)
            return self._encoder


class StatementReader(CrossEncoder):
    """The same for single statements, each with its speaker, the words before it, its day and headings."""

    name = "statements"
    row = staticmethod(statement_pair)


def open_cross_encoder(settings: Settings) -> CrossEncoder | None:
    return CrossEncoder(settings.home, settings.embedder_folder) if settings.rerank else None


def open_statement_reader(settings: Settings) -> StatementReader | None:
    return StatementReader(settings.home, settings.embedder_folder) if settings.read_statements else None


@cache
def learned(name: str) -> dict[str, Any]:
    """The digest of the adapter, and of the ranker how much its judgement counts beside the other parts."""
    loaded: dict[str, Any] = orjson.loads(resources.files(PACKAGE).joinpath(f"{name}.json").read_bytes())
    return loaded
