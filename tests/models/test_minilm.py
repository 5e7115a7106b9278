"""The graph gives the vectors of the published model, and always the same bits for the same text."""

import asyncio
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mnemon.models.local import LocalEmbedder
from mnemon.models.minilm.graph import rounded
from mnemon.models.minilm.graph_cache import cached_graph
from mnemon.models.minilm.session import MOST_WINDOWS, WINDOW, MiniLM
from mnemon.models.tokens import ModelTokenizer
from mnemon.models.weights import Tensors, find_weights
from tests.patience import PATIENCE

Floats = NDArray[np.float64]
erf = np.vectorize(math.erf)

TEXTS = [
    "Anna approved the budget for the second quarter.",
    "Der Vertrag läuft am 31. März aus; niemand hat ihn verlängert.",
    "数据库已经关闭了，请联系管理员。",
    "def area(radius):\n    return 3.14159 * radius ** 2",
    "ok",
    "?!",
    "",
    "We decided to move the release. " * 12,
    "The risk is that the vendor cannot deliver before the audit, and nobody owns the follow-up. " * 16,
]
PRINTS_BITS = """
import asyncio, sys
from pathlib import Path
from mnemon.models.local import LocalEmbedder
async def main():
    embedder = LocalEmbedder(Path(sys.argv[1]))
    print((await embedder.embed(sys.argv[2:])).tobytes().hex())
    await embedder.close()
asyncio.run(main())
"""


def similarities(left: NDArray[np.float32], right: Floats) -> Floats:
    return (left * right).sum(axis=1)


@pytest.fixture(scope="module")
def tensors() -> Tensors:
    return find_weights().tensors()


@pytest.fixture(scope="module")
def tokenizer() -> ModelTokenizer:
    return ModelTokenizer(find_weights().tokenizer)


async def test_vectors_agree_with_the_model_at_full_precision(
    embedder: LocalEmbedder, tensors: Tensors, tokenizer: ModelTokenizer
) -> None:
    short = TEXTS[:8]
    expected = np.stack([reference_vector(tensors, [101, *tokenizer.ids(text), 102]) for text in short])
    assert similarities(await embedder.embed(short), expected).min() > 0.999


async def test_a_long_text_is_the_weighted_mean_of_its_windows(
    embedder: LocalEmbedder, tensors: Tensors, tokenizer: ModelTokenizer
) -> None:
    ids = tokenizer.ids(TEXTS[8])
    assert WINDOW < len(ids) < 2 * WINDOW
    windows = [ids[at : at + WINDOW] for at in range(0, len(ids), WINDOW)]
    total = sum(reference_vector(tensors, [101, *window, 102]) * len(window) for window in windows)
    expected = np.asarray(total / np.linalg.norm(total))[None]
    assert similarities(await embedder.embed([TEXTS[8]]), expected).min() > 0.999


async def test_the_end_of_a_long_text_counts_up_to_the_last_window(embedder: LocalEmbedder) -> None:
    body = "word " * (WINDOW * MOST_WINDOWS - 3)
    plain, inside, outside = await embedder.embed([body, body + "budget for audit", body + "a b c budget for audit"])
    assert not np.array_equal(plain, inside)
    assert np.array_equal(outside, (await embedder.embed([body + "a b c nothing else"]))[0])


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    text=st.text(max_size=300),
    others=st.lists(st.text(max_size=120), max_size=12),
    place=st.integers(0, 12),
)
def test_a_vector_is_the_same_alone_and_in_any_batch(
    same_machine: MiniLM, text: str, others: list[str], place: int
) -> None:
    alone = same_machine.vector(text)
    batch = [*others[:place], text, *others[place:]]
    with ThreadPoolExecutor(3) as threads:
        vectors = list(threads.map(same_machine.vector, batch))
    assert np.array_equal(vectors[min(place, len(others))], alone)
    assert abs(np.linalg.norm(alone) - 1) < 1e-5


@pytest.fixture(scope="module")
def same_machine(model_home: Path) -> MiniLM:
    return MiniLM.open(model_home, None)


async def test_the_order_and_purpose_of_a_call_change_no_bit(embedder: LocalEmbedder) -> None:
    forward = await embedder.embed(TEXTS)
    backward = await embedder.embed(TEXTS[::-1])
    queried = np.concatenate([await embedder.embed([text], purpose="query") for text in TEXTS])
    assert np.array_equal(forward, backward[::-1])
    assert np.array_equal(forward, queried)


async def test_a_restart_changes_no_bit(embedder: LocalEmbedder, model_home: Path) -> None:
    command = [sys.executable, "-c", PRINTS_BITS, str(model_home), *TEXTS]
    restarted = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert restarted.stdout.strip() == (await embedder.embed(TEXTS)).tobytes().hex()


async def test_processes_that_start_at_once_share_one_graph(home: Path) -> None:
    command = [sys.executable, "-c", PRINTS_BITS, str(home), "a text"]
    started = await asyncio.gather(
        *(
            asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL)
            for _ in range(3)
        )
    )
    outputs = await asyncio.wait_for(asyncio.gather(*(process.communicate() for process in started)), PATIENCE)
    assert len({output.split()[-1] for output, _ in outputs}) == 1
    assert [process.returncode for process in started] == [0, 0, 0]
    assert [path.suffix for path in (home / "models").iterdir()] == [".onnx"]


def test_the_graph_is_made_once(model_home: Path) -> None:
    first = cached_graph(model_home, find_weights())
    made = first.stat().st_mtime_ns
    assert cached_graph(model_home, find_weights()).stat().st_mtime_ns == made


def test_rounding_is_off_by_at_most_half_a_step() -> None:
    weight = np.random.default_rng(7).normal(size=(8, 64)).astype(np.float32)
    weight[3, :16] = 0
    codes, scales = rounded(weight)
    restored = (codes.astype(np.float32) - 128) * scales[..., None]
    assert np.all(np.abs(restored - weight.reshape(restored.shape)) <= scales[..., None] / 2 + 1e-7)
    assert np.all(restored[3, 0] == 0)


def reference_vector(weights: Tensors, ids: list[int]) -> Floats:
    hidden = (
        weights["embeddings.word_embeddings.weight"][ids].astype(float)
        + weights["embeddings.position_embeddings.weight"][: len(ids)]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    hidden = _norm(weights, hidden, "embeddings.LayerNorm")
    for layer in range(6):
        name = f"encoder.layer.{layer}"
        attended = _linear(weights, _attention(weights, hidden, name), f"{name}.attention.output.dense")
        hidden = _norm(weights, hidden + attended, f"{name}.attention.output.LayerNorm")
        wide = _linear(weights, hidden, f"{name}.intermediate.dense")
        wide = wide * 0.5 * (1 + erf(wide / math.sqrt(2)))
        hidden = _norm(weights, hidden + _linear(weights, wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    mean: Floats = hidden.mean(axis=0)
    return mean / np.linalg.norm(mean)


def _attention(weights: Tensors, hidden: Floats, name: str) -> Floats:
    def heads(part: str) -> Floats:
        return _linear(weights, hidden, f"{name}.attention.self.{part}").reshape(len(hidden), 12, 32).swapaxes(0, 1)

    scores = heads("query") @ heads("key").swapaxes(1, 2) / math.sqrt(32)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return (shares @ heads("value")).swapaxes(0, 1).reshape(len(hidden), 384)


def _linear(weights: Tensors, value: Floats, name: str) -> Floats:
    return value @ weights[f"{name}.weight"].T.astype(float) + weights[f"{name}.bias"]


def _norm(weights: Tensors, value: Floats, name: str) -> Floats:
    centred = value - value.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
    return centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]
