"""The calculation of all-MiniLM-L6-v2 as an ONNX graph: one text in, its normalised mean vector out."""

import numpy as np
from numpy.typing import NDArray

from mnemon.models.minilm.onnx_file import GraphFile
from mnemon.models.weights import Tensors

NAME = "all-MiniLM-L6-v2"
DIMENSION = 384
LAYERS = 6
HEADS = 12
EPSILON = 1e-12
MOST_TOKENS = 256
# Raise it with every change that may alter a vector: it is part of the model id.
REVISION = 1

CONTRIB = "com.microsoft"
BLOCK = 16
INT8_ACTIVATIONS = 4
# Rounding these four would cost more than all the others together, so they stay in float32.
SENSITIVE = frozenset({(3, "qkv"), (4, "qkv"), (5, "qkv"), (4, "up")})

Float32s = NDArray[np.float32]


def minilm_graph(weights: Tensors) -> bytes:
    """The model file. It takes one text without padding, so that no other text can touch its vector."""
    return _Builder(weights).build()


def hidden_graph(weights: Tensors) -> bytes:
    """The same calculation without its last step: the hidden state of each token."""
    return _Builder(weights).build(pooled=False)


class _Builder:
    def __init__(self, weights: Tensors) -> None:
        self.weights = weights
        self.graph = GraphFile(NAME)

    def build(self, pooled: bool = True) -> bytes:
        hidden = self._embeddings(self.graph.input("ids", "int64", [1, "tokens"]))
        for layer in range(LAYERS):
            hidden = self._feed_forward(layer, self._attention(layer, hidden))
        if not pooled:
            self.graph.output(hidden, "float32", [1, "tokens", DIMENSION])
            return self.graph.contents()
        (mean,) = self.graph.node("ReduceMean", [hidden, self._indices("over_tokens", 1)], keepdims=0)
        (unit,) = self.graph.node("LpNormalization", [mean], axis=-1, p=2)
        self.graph.output(unit, "float32", [1, DIMENSION])
        return self.graph.contents()

    def _embeddings(self, ids: str) -> str:
        words = self.weights["embeddings.word_embeddings.weight"].astype(np.float16)
        (half,) = self.graph.node("Gather", [self.graph.constant("words", words), ids])
        (word,) = self.graph.node("Cast", [half], to=1)
        places = self.weights["embeddings.position_embeddings.weight"]
        kind = self.weights["embeddings.token_type_embeddings.weight"][0]
        (length,) = self.graph.node("Shape", [ids], start=1, end=2)
        first, axis = self._indices("first", 0), self._indices("rows", 0)
        (place,) = self.graph.node("Slice", [self.graph.constant("places", places + kind), first, length, axis])
        return self._norm(self._add(word, place), "embeddings.LayerNorm")

    def _attention(self, layer: int, hidden: str) -> str:
        prefix = f"encoder.layer.{layer}.attention"
        parts = [f"{prefix}.self.{part}" for part in ("query", "key", "value")]
        weight = np.concatenate([self.weights[f"{part}.weight"] for part in parts])
        bias = np.concatenate([self.weights[f"{part}.bias"] for part in parts])
        joint = self._dense(hidden, weight, bias, layer, "qkv")
        split = self.graph.node("Split", [joint], outputs=3, axis=-1, num_outputs=3)
        (context,) = self.graph.node("MultiHeadAttention", split, CONTRIB, num_heads=HEADS)
        result = self._linear(context, f"{prefix}.output.dense", layer, "out")
        return self._norm(self._add(hidden, result), f"{prefix}.output.LayerNorm")

    def _feed_forward(self, layer: int, hidden: str) -> str:
        prefix = f"encoder.layer.{layer}"
        wide = self._linear(hidden, f"{prefix}.intermediate.dense", layer, "up")
        (active,) = self.graph.node("Gelu", [wide])
        result = self._linear(active, f"{prefix}.output.dense", layer, "down")
        return self._norm(self._add(hidden, result), f"{prefix}.output.LayerNorm")

    def _linear(self, value: str, name: str, layer: int, part: str) -> str:
        return self._dense(value, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"], layer, part)

    def _dense(self, value: str, weight: Float32s, bias: Float32s, layer: int, part: str) -> str:
        name = f"{part}_{layer}"
        shift = self.graph.constant(f"{name}_bias", bias)
        if (layer, part) in SENSITIVE:
            (product,) = self.graph.node("MatMul", [value, self.graph.constant(name, weight.T)])
            return self._add(product, shift)
        codes, scales = rounded(weight)
        inputs = [value, self.graph.constant(name, codes), self.graph.constant(f"{name}_scales", scales), "", "", shift]
        wide, narrow = weight.shape
        (product,) = self.graph.node(
            "MatMulNBits", inputs, CONTRIB,
            N=wide, K=narrow, bits=8, block_size=BLOCK, accuracy_level=INT8_ACTIVATIONS,
        )  # fmt: skip
        return product

    def _norm(self, value: str, name: str) -> str:
        scale = self.graph.constant(f"{name}.weight", self.weights[f"{name}.weight"])
        shift = self.graph.constant(f"{name}.bias", self.weights[f"{name}.bias"])
        return self.graph.node("LayerNormalization", [value, scale, shift], axis=-1, epsilon=EPSILON)[0]

    def _add(self, left: str, right: str) -> str:
        return self.graph.node("Add", [left, right])[0]

    def _indices(self, name: str, number: int) -> str:
        return self.graph.constant(name, np.array([number], np.int64))


def rounded(weight: Float32s) -> tuple[NDArray[np.uint8], Float32s]:
    """Eight-bit codes around 128 with one scale for each block of inputs, as MatMulNBits reads them."""
    blocks = weight.reshape(weight.shape[0], -1, BLOCK)
    largest = np.abs(blocks).max(axis=-1)
    scales = np.where(largest == 0, 1, largest / 127).astype(np.float32)
    codes = np.rint(blocks / scales[..., None]) + 128
    return codes.astype(np.uint8), scales
