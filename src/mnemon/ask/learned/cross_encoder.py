"""Cross-encoders: how well each passage or statement answers, judged by reading it together with the question."""

import asyncio
import os
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import orjson

from mnemon.ask.learned.pairs import ReadStatement, marked, pair_of, statement_pair
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


class AskedAsRead(NamedTuple):
    """A question, and where in it the words begin that it is about."""

    words: str
    places: Sequence[int]


class CrossEncoder:
    """Deterministic: the same question and passages give the same. Its model is loaded by the first question."""

    name: ClassVar[str] = "ranker"

    def __init__(self, home: Path, folder: Path | None = None, loaded: AdaptedEncoder | None = None) -> None:
        self._home, self._folder = home, folder
        self._encoder = loaded
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
            rows = (pair_of(asked, *(encoder.tokenizer.ids(one) for one in passage)) for passage in passages)
            return self._judged(encoder, rows)

    def _judged(self, encoder: AdaptedEncoder, rows: Iterable[tuple[int, ...]]) -> Floats:
        def judged(row: tuple[int, ...]) -> float:
            states = encoder.hidden(row)
            weight, bias = encoder.adapter.head
            return float(weight[0] @ np.concatenate([states[0], states.mean(axis=0)]) + bias[0])

        return np.array(list(self._pool.map(judged, rows)))

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

    def read(self, question: AskedAsRead, statements: Sequence[ReadStatement]) -> Floats | None:
        """A logit for each statement; None while there is no model to read with."""
        encoder = self._loaded()
        if encoder is None:
            return None
        with SECONDS.time():
            asked, spans = encoder.tokenizer.encode(question.words)
            first = {start: number for number, (start, _) in enumerate(spans)}
            places = [first.get(place, -1) for place in question.places]
            ids = encoder.tokenizer.ids
            rows = (
                statement_pair(
                    marked(asked, places, one.heard), ids(one.words), ids(one.before), ids(one.head), ids(one.after)
                )
                for one in statements
            )
            return self._judged(encoder, rows)


def open_cross_encoder(settings: Settings) -> CrossEncoder | None:
    return CrossEncoder(settings.home, settings.embedder_folder) if settings.rerank else None


def open_statement_reader(settings: Settings) -> StatementReader | None:
    return StatementReader(settings.home, settings.embedder_folder) if settings.read_statements else None


@cache
def learned(name: str) -> dict[str, Any]:
    """The digest of the adapter, and of the ranker how much its judgement counts beside the other parts."""
    loaded: dict[str, Any] = orjson.loads(resources.files(PACKAGE).joinpath(f"{name}.json").read_bytes())
    return loaded
