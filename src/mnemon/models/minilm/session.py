"""Runs the graph of all-MiniLM-L6-v2 for one text at a time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
import onnxruntime

from mnemon.models.embedder import Vectors
from mnemon.models.failures import EmbedderUnavailable
from mnemon.models.minilm.graph import MOST_TOKENS
from mnemon.models.minilm.graph_cache import cached_graph
from mnemon.models.tokens import ModelTokenizer
from mnemon.models.weights import REMEDY, find_weights

START, END = 101, 102
WINDOW = MOST_TOKENS - 2
MOST_WINDOWS = 16
# Enough for every window of any real text, and a bound on what the tokenizer is given.
MOST_CHARACTERS = 65_536
ERRORS_ONLY = 3


class MiniLM:
    """Safe to share between threads: each call runs in the thread that makes it."""

    def __init__(self, session: Any, tokenizer: ModelTokenizer) -> None:
        self._session = session
        self._tokenizer = tokenizer

    @classmethod
    def open(cls, home: Path, folder: Path | None) -> Self:
        weights = find_weights(folder)
        # The graph was made from weights that were checked then; the tokenizer is read anew each time.
        weights.check("tokenizer.json")
        graph = cached_graph(home, weights)
        try:
            session = onnxruntime.InferenceSession(graph, session_options(), providers=["CPUExecutionProvider"])
        except Exception as failure:
            raise EmbedderUnavailable(
                f"onnxruntime cannot load {graph}: {failure}. Delete that file to have it made again.", remedy=REMEDY
            ) from failure
        return cls(session, ModelTokenizer(weights.tokenizer))

    def vector(self, text: str, before_each_window: Callable[[], None] = lambda: None) -> Vectors:
        """The unit vector of a text; of a long one, the mean of its windows' vectors, weighted by their tokens."""
        windows = self._windows(text)
        vectors = []
        for window in windows:
            before_each_window()
            vectors.append(self._run(window))
        if len(vectors) == 1:
            return vectors[0]
        mean = np.average(vectors, axis=0, weights=[len(window) for window in windows])
        unit: Vectors = (mean / np.linalg.norm(mean)).astype(np.float32)
        return unit

    def _windows(self, text: str) -> list[list[int]]:
        ids = self._tokenizer.ids(text[:MOST_CHARACTERS])[: WINDOW * MOST_WINDOWS]
        return [ids[at : at + WINDOW] for at in range(0, len(ids) or 1, WINDOW)]

    def _run(self, window: list[int]) -> Vectors:
        vector: Vectors = self._session.run(None, {"ids": np.array([[START, *window, END]], np.int64)})[0][0]
        return vector


def session_options() -> Any:
    """One thread per call, and no memory kept for each length of text ever seen."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False
    options.log_severity_level = ERRORS_ONLY
    # The extended level would fuse Add and LayerNormalization into a kernel that is nine times slower.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return options
