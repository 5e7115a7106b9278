"""Adapters of the embedder: only the shipped one is read, and merged it changes what it should and nothing else."""

import hashlib
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from mnemon.models.adapters import MARKS, WORDS, AdaptedEncoder, Adapter, read_adapter, unpacked
from mnemon.models.failures import EmbedderUnavailable
from mnemon.models.local import LocalEmbedder
from mnemon.models.minilm.session import END, START
from mnemon.models.weights import find_weights

PACKAGE = "mnemon.semantics.learned"
LAYER = "encoder.layer.0.attention.self.query"


def shipped_digest() -> str:
    return hashlib.sha256(resources.files(PACKAGE).joinpath("reader.npz").read_bytes()).hexdigest()


def adapter_of(scale: float) -> Adapter:
    parts = {
        f"{LAYER}.narrow": np.ones((2, 384), np.float16),
        f"{LAYER}.wide": np.full((384, 2), scale, np.float16),
        "head.weight": np.zeros((1, 384), np.float32),
        "head.bias": np.zeros(1, np.float32),
    }
    return Adapter("trial", f"{scale:.4f}".replace(".", "").ljust(12, "0"), parts)


def test_an_adapter_with_another_digest_is_refused() -> None:
    with pytest.raises(EmbedderUnavailable, match="not the one that was shipped"):
        read_adapter(PACKAGE, "reader", "0" * 64)


def test_an_adapter_may_have_rows_of_its_own_for_tokens_that_no_text_has() -> None:
    words = np.ones((6, 384), np.float32)
    made = Adapter("trial", "0" * 12, {MARKS: np.full((2, 384), 5, np.float16)}).merged({WORDS: words})
    assert made[WORDS][:, 0].tolist() == [1, 5, 5, 1, 1, 1]
    assert words.max() == 1


def test_the_shipped_adapter_is_small_and_has_a_part_for_each_dense_layer() -> None:
    adapter = read_adapter(PACKAGE, "reader", shipped_digest())
    assert len([name for name in adapter.parts if name.endswith(".wide")]) == 36
    assert resources.files(PACKAGE).joinpath("reader.npz").stat().st_size < 1_000_000  # type: ignore[attr-defined]


def test_rows_packed_as_bytes_come_back_nearly_as_they_were() -> None:
    rows = np.array([[0.5, -1.0, 0.25], [0.0, 0.002, -0.001]], np.float32)
    scale = np.abs(rows).max(axis=1) / 127
    parts = {"a.wide": np.rint(rows / scale[:, None]).astype(np.int8), "a.wide.scale": scale, "head.bias": rows[0]}
    back = unpacked(parts)
    assert back.keys() == {"a.wide", "head.bias"}
    assert np.allclose(back["a.wide"], rows, atol=float(np.abs(rows).max()) / 254)
    assert back["head.bias"] is rows[0] or np.array_equal(back["head.bias"], rows[0])


def test_merging_adds_the_product_to_its_layer_alone() -> None:
    weights = find_weights().tensors()
    merged = adapter_of(0.25).merged(weights)
    assert np.allclose(merged[f"{LAYER}.weight"], weights[f"{LAYER}.weight"] + 0.5)
    assert merged["encoder.layer.1.output.dense.weight"] is weights["encoder.layer.1.output.dense.weight"]


async def test_an_adapter_that_adds_nothing_gives_the_embedders_own_vectors(
    model_home: Path, embedder: LocalEmbedder
) -> None:
    text = "The depot in Bremen closes in May."
    encoder = AdaptedEncoder.open(model_home, None, adapter_of(0.0))
    states = encoder.hidden((START, *encoder.tokenizer.ids(text), END))
    mean = states.mean(axis=0)
    (vector,) = await embedder.embed([text])
    assert float(mean / np.linalg.norm(mean) @ vector) > 0.9999
