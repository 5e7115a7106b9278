"""The learned reader of stances: two adapters of the embedder. Their models are loaded when the first text comes."""

import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from mnemon.mail.consensus.reader import PACKAGE, RULES, JudgedSentence, stance_table, weighed
from mnemon.mail.consensus.said import SaidSentence
from mnemon.mail.consensus.situation import Situation
from mnemon.mail.consensus.stances import JUDGED
from mnemon.mail.consensus.windows import ALONE, SITUATED, stance_windows
from mnemon.models.adapters import AdaptedEncoder, read_adapter

# A logit of a sentence that a reader could not see.
NOTHING = -6.0


# What reads, and what of a message's surroundings it is shown. Two that see different things err in different places.
LAYOUTS = {"stance_alone": ALONE, "stance_situated": SITUATED}


class LearnedStanceReader:
    """Deterministic: the same words in the same place give the same judgement."""

    def __init__(self, home: Path, folder: Path | None = None) -> None:
        self._home, self._folder = home, folder
        self._encoders: dict[str, AdaptedEncoder] = {}
        self._loading = threading.Lock()
        digests = stance_table()["adapters"]
        self.name = f"stance-{'-'.join(digests[name][:8] for name in LAYOUTS)}-{RULES}"

    def judge(self, said: Sequence[SaidSentence], situation: Situation) -> list[JudgedSentence]:
        logits = self.logits(said, situation)
        return [weighed(one, logit) for one, logit in zip(said, logits, strict=True)]

    def logits(self, said: Sequence[SaidSentence], situation: Situation) -> list[list[list[float]]]:
        """For each sentence those of every reader."""
        encoders = self._loaded()
        found = [[[NOTHING] * len(JUDGED) for _ in LAYOUTS] for _ in said]
        for number, (name, layout) in enumerate(LAYOUTS.items()):
            encoder = encoders[name]
            for window in stance_windows(said, situation, encoder.tokenizer, layout):
                states = encoder.hidden(window.ids)
                for place, first, last in window.sentences:
                    found[place][number] = encoder.judged(states[first:last])[: len(JUDGED)].tolist()
        return found

    def _loaded(self) -> dict[str, AdaptedEncoder]:
        with self._loading:
            if not self._encoders:
                digests = stance_table()["adapters"]
                adapters = {name: read_adapter(PACKAGE, name, digests[name]) for name in LAYOUTS}
                self._encoders = {
                    name: AdaptedEncoder.open(self._home, self._folder, adapter) for name, adapter in adapters.items()
                }
        return self._encoders


@cache
def shared_stance_reader(home: Path, folder: Path | None) -> LearnedStanceReader:
    """One for the process: its models take memory and a while to load."""
    return LearnedStanceReader(home, folder)
