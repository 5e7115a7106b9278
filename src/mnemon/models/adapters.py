"""Small adapters of the embedder: read from the package, checked, merged into the installed weights."""

import hashlib
import io
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Self

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from mnemon.models.failures import EmbedderUnavailable
from mnemon.models.minilm.graph import Float32s
from mnemon.models.minilm.graph_cache import adapted_graph
from mnemon.models.minilm.session import session_options
from mnemon.models.tokens import ModelTokenizer
from mnemon.models.weights import Tensors, Weights, find_weights

NARROW, WIDE, SCALE = ".narrow", ".wide", ".scale"
WORDS = "embeddings.word_embeddings.weight"
# Rows for the first tokens after the padding, which no text has: what they mean is learned.
MARKS = "embeddings.word_embeddings.marks"


@dataclass(frozen=True)
class Adapter:
    """Two narrow matrices for each dense layer, and a linear head. Its digest is part of what it gives."""

    name: str
    digest: str
    parts: dict[str, NDArray[Any]]

    @cached_property
    def head(self) -> tuple[Float32s, Float32s]:
        """Weights and biases of what is judged about a vector."""
        return self.parts["head.weight"].astype(np.float32), self.parts["head.bias"].astype(np.float32)

    def merged(self, weights: Tensors) -> Tensors:
        """The weights with the adapter's product added to each dense layer that it has, and its own rows of words."""
        changed = dict(weights)
        if MARKS in self.parts:
            marks = self.parts[MARKS].astype(np.float32)
            words = weights[WORDS].copy()
            words[1 : 1 + len(marks)] = marks
            changed[WORDS] = words
        for name, wide in self.parts.items():
            if name.endswith(WIDE):
                layer = name.removesuffix(WIDE)
                change = wide.astype(np.float32) @ self.parts[layer + NARROW].astype(np.float32)
                changed[f"{layer}.weight"] = weights[f"{layer}.weight"] + change
        return changed


def read_adapter(package: str, name: str, digest: str) -> Adapter:
    """The package's file NAME.npz. One with another digest is refused: it would give other judgements."""
    contents = resources.files(package).joinpath(f"{name}.npz").read_bytes()
    found = hashlib.sha256(contents).hexdigest()
    if found != digest:
        raise EmbedderUnavailable(
            f"The adapter {name} of {package} is not the one that was shipped: its SHA-256 is {found}, not {digest}. "
            "Install Mnemon again.",
            remedy="pip install --force-reinstall mnemon",
        )
    with np.load(io.BytesIO(contents)) as file:
        return Adapter(name, digest, unpacked({part: file[part] for part in file.files}))


def unpacked(parts: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Matrices that were packed as bytes with a scale for each row, as numbers again; others as they are."""
    scales = {part.removesuffix(SCALE): parts[part] for part in parts if part.endswith(SCALE)}
    return {
        part: value.astype(np.float32) * scales[part][:, None] if part in scales else value
        for part, value in parts.items()
        if not part.endswith(SCALE)
    }


class AdaptedEncoder:
    """The embedder with an adapter in it: a hidden state for each token. Safe to share between threads."""

    def __init__(self, session: Any, tokenizer: ModelTokenizer, adapter: Adapter) -> None:
        self._session = session
        self.tokenizer = tokenizer
        self.adapter = adapter

    @classmethod
    def open(cls, home: Path, folder: Path | None, adapter: Adapter) -> Self:
        weights: Weights = find_weights(folder)
        weights.check("tokenizer.json")
        graph = adapted_graph(home, weights, adapter.name, adapter.digest, adapter.merged)
        try:
            session = onnxruntime.InferenceSession(graph, session_options(), providers=["CPUExecutionProvider"])
        except Exception as failure:
            raise EmbedderUnavailable(
                f"onnxruntime cannot load {graph}: {failure}. Delete that file to have it made again.", remedy=None
            ) from failure
        return cls(session, ModelTokenizer(weights.tokenizer), adapter)

    def hidden(self, ids: tuple[int, ...]) -> Float32s:
        """One row for each token, marks for start and end included where they were given."""
        states: Float32s = self._session.run(None, {"ids": np.array([ids], np.int64)})[0][0]
        return states

    def judged(self, states: Float32s) -> Float32s:
        """What the head makes of a stretch of tokens: of the mean of their states, and of their maximum beside it where
        it was made for both."""
        weight, bias = self.adapter.head
        mean: Float32s = states.mean(axis=0)
        both = mean if weight.shape[1] == len(mean) else np.concatenate((mean, states.max(axis=0)))
        found: Float32s = weight @ both + bias
        return found
