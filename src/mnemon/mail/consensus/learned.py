"""The learned reader of stances: an adapter of the embedder. Its model is loaded when the first text comes."""

import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from mnemon.mail.consensus.reader import PACKAGE, JudgedSentence, stance_table, weighed
from mnemon.mail.consensus.said import SaidSentence
from mnemon.mail.consensus.stances import JUDGED
from mnemon.mail.consensus.windows import stance_windows
from mnemon.models.adapters import AdaptedEncoder, read_adapter

# A logit of a sentence that the reader could not see.
NOTHING = -6.0


class LearnedStanceReader:
    """Deterministic: the same words in the same place give the same judgement."""

    def __init__(self, home: Path, folder: Path | None = None) -> None:
        self._home, self._folder = home, folder
        self._encoder: AdaptedEncoder | None = None
        self._loading = threading.Lock()
        self.name = f"stance-{stance_table()['adapter'][:12]}"

    def judge(self, said: Sequence[SaidSentence], subject: str, is_opener: bool) -> list[JudgedSentence]:
        logits = self.logits(said, subject, is_opener)
        return [weighed(one, logit) for one, logit in zip(said, logits, strict=True)]

    def logits(self, said: Sequence[SaidSentence], subject: str, is_opener: bool) -> list[list[float]]:
        encoder = self._loaded()
        found = [[NOTHING] * len(JUDGED) for _ in said]
        for window in stance_windows(said, subject, is_opener, encoder.tokenizer):
            states = encoder.hidden(window.ids)
            for place, first, last in window.sentences:
                found[place] = encoder.judged(states[first:last])[: len(JUDGED)].tolist()
        return found

    def _loaded(self) -> AdaptedEncoder:
        with self._loading:
            if self._encoder is None:
                adapter = read_adapter(PACKAGE, "stance", stance_table()["adapter"])
                self._encoder = AdaptedEncoder.open(self._home, self._folder, adapter)
        return self._encoder


@cache
def shared_stance_reader(home: Path, folder: Path | None) -> LearnedStanceReader:
    """One for the process: its model takes memory and a while to load."""
    return LearnedStanceReader(home, folder)
