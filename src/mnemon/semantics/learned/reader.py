"""The learned reader itself: a logit for each category and each segment, and how sure the two readers are together."""

import json
import math
import os
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from mnemon.models.adapters import AdaptedEncoder, read_adapter
from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.learned.proposals import FEATURES, JudgedSegment, Proposal
from mnemon.semantics.learned.windows import END, START, ReadingWindow, windows_of

PACKAGE = "mnemon.semantics.learned"


class LearnedReader:
    """Deterministic: the same text gives the same judgement. Its model is loaded when the first text comes."""

    def __init__(self, home: Path, folder: Path | None = None) -> None:
        self._home = home
        self._folder = folder
        self._encoder: AdaptedEncoder | None = None
        self._loading = threading.Lock()

    def judge(self, revision: Revision) -> list[JudgedSegment]:
        """In the order of the text; each window by itself, so that as many cores as there are can share the work."""
        encoder = self._loaded()
        windows = list(windows_of(revision.layout.units, revision.title, encoder.tokenizer))
        with ThreadPoolExecutor(min(len(windows), os.cpu_count() or 1) or 1, "read") as pool:
            parts = pool.map(lambda window: _judged(window, encoder), windows)
            return [one for part in parts for one in part]

    def actionable(self, sentence: str) -> float:
        """The probability that a sentence of mail asks for or promises something."""
        encoder = self._loaded()
        ids = encoder.tokenizer.ids(sentence)[:120]
        if not ids:
            return 0.0
        states = encoder.hidden((START, *ids, END))[1 : len(ids) + 1]
        return _likely(float(encoder.judged(states)[-1]) - _table()["actionable_from"])

    def _loaded(self) -> AdaptedEncoder:
        with self._loading:
            if self._encoder is None:
                adapter = read_adapter(PACKAGE, "reader", _table()["adapter"])
                self._encoder = AdaptedEncoder.open(self._home, self._folder, adapter)
        return self._encoder


def _judged(window: ReadingWindow, encoder: AdaptedEncoder) -> list[JudgedSegment]:
    states = encoder.hidden(window.ids)
    return [
        JudgedSegment(one, tuple(encoder.judged(states[one.first_token : one.last_token]).tolist()))
        for one in window.segments
    ]


@cache
def shared_reader(home: Path, folder: Path | None) -> LearnedReader:
    """One for the process: its model takes memory and a while to load."""
    return LearnedReader(home, folder)


def confidence_in(proposal: Proposal, own: Mapping[str, float] | None = None) -> float:
    """How likely it is right, counted on documents that the reader had not seen; by a tenant's own weights if given."""
    weights = own or _table()["weights"]
    score = sum(weights[name] * value for name, value in zip(FEATURES, proposal.features, strict=True))
    return round(_likely(score), 3)


def _likely(score: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def shipped_weights() -> tuple[str, Mapping[str, float]]:
    """Of which adapter, and how much each thing counts that speaks for an event."""
    table = _table()
    return table["adapter"], table["weights"]


@cache
def _table() -> dict[str, Any]:
    text = resources.files(PACKAGE).joinpath("reader.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
