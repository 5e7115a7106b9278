"""How many passages a second onnxruntime embeds with its provider for GPUs, and how far from Mnemon's own vectors.

`python3 training/onnx_rate.py DATA`, where onnxruntime-gpu is installed and a GPU is at hand, with the weights that
`pack_weights.py` wrote to DATA. Two graphs are tried: Mnemon's own, one passage at a time, and the same calculation in
half precision for batches of one length.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnxruntime

from mnemon.models.minilm.graph import DIMENSION, LAYERS, Float32s, _Builder, minilm_graph

RUNS = 20
HALF = 10


class BatchedBuilder(_Builder):
    """All passages of a batch have the same length, so that no mask is needed."""

    def build(self, pooled: bool = True) -> bytes:
        hidden = self._embeddings(self.graph.input("ids", "int64", ["batch", "tokens"]))
        for layer in range(LAYERS):
            hidden = self._feed_forward(layer, self._attention(layer, hidden))
        (exact,) = self.graph.node("Cast", [hidden], to=1)
        (mean,) = self.graph.node("ReduceMean", [exact, self._indices("over_tokens", 1)], keepdims=0)
        self.graph.output(mean, "float32", ["batch", DIMENSION])
        return self.graph.contents()

    def _dense(self, value: str, weight: Float32s, bias: Float32s, layer: int, part: str) -> str:
        name = f"{part}_{layer}"
        (product,) = self.graph.node("MatMul", [value, self.graph.constant(name, weight.T.astype(np.float16))])
        return self._add(product, self.graph.constant(f"{name}_bias", bias.astype(np.float16)))

    def _norm(self, value: str, name: str) -> str:
        parts = [
            self.graph.constant(f"{name}.{part}", self.weights[f"{name}.{part}"].astype(np.float16))
            for part in ("weight", "bias")
        ]
        (half,) = self.graph.node("Cast", [value], to=HALF)
        return self.graph.node("LayerNormalization", [half, *parts], axis=-1, epsilon=1e-12)[0]


def session(graph: bytes, provider: str) -> onnxruntime.InferenceSession:
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        Path(file.name).write_bytes(graph)
        made = onnxruntime.InferenceSession(file.name, providers=[provider])
    assert made.get_providers()[0] == provider, f"{provider} is not to be had: {made.get_providers()}"
    return made


def rate(model: onnxruntime.InferenceSession, batch: int, length: int) -> float:
    ids = np.random.default_rng(7).integers(1_000, 20_000, (batch, length), np.int64)
    for _ in range(3):
        model.run(None, {"ids": ids})
    began = time.perf_counter()
    for _ in range(RUNS):
        model.run(None, {"ids": ids})
    return RUNS * batch / (time.perf_counter() - began)


def least_cosine(model: onnxruntime.InferenceSession, other: onnxruntime.InferenceSession) -> float:
    ids = np.random.default_rng(8).integers(1_000, 20_000, (64, 200), np.int64)
    ours = np.concatenate([other.run(None, {"ids": one[None]})[0] for one in ids])
    theirs = model.run(None, {"ids": ids})[0]
    theirs /= np.linalg.norm(theirs, axis=1, keepdims=True)
    return float((ours * theirs).sum(1).min())


def main() -> int:
    provider = sys.argv[2] if len(sys.argv) > 2 else "CUDAExecutionProvider"
    if hasattr(onnxruntime, "preload_dlls"):
        onnxruntime.preload_dlls()
    print(f"onnxruntime {onnxruntime.__version__}, {onnxruntime.get_available_providers()}")
    packed = np.load(Path(sys.argv[1]) / "minilm.npz")
    weights = {name: packed[name].astype(np.float32) for name in packed.files}
    own, batched = minilm_graph(weights), BatchedBuilder(weights).build()
    model = session(batched, provider)
    print(f"least cosine with Mnemon's own vectors: {least_cosine(model, session(own, 'CPUExecutionProvider')):.5f}")
    for length in (64, 256):
        for batch in (1, 32, 256, 1_024):
            print(f"{length} tokens, {batch} at a time: {rate(model, batch, length):,.0f} passages/s", flush=True)
    alone = session(own, provider)
    for length in (64, 256):
        print(f"Mnemon's own graph, {length} tokens: {rate(alone, 1, length):,.0f} passages/s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
