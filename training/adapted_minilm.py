"""all-MiniLM-L6-v2 in PyTorch with a low-rank adapter on every dense layer: what the training commands share."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

# As `mnemon.models.adapters` calls the rows of tokens that no text has.
MARKS = "embeddings.word_embeddings.marks"
LAYERS, HEADS, WIDTH, EPSILON = 6, 12, 384, 1e-12
# Of each layer, as the published file calls them.
DENSE = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)


class LowRank(nn.Module):
    """A frozen dense layer and the product of two narrow ones that is added to it."""

    def __init__(self, weight: Tensor, bias: Tensor, rank: int, scale: float) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)
        self.narrow = nn.Parameter(torch.randn(rank, weight.shape[1]) / math.sqrt(weight.shape[1]))
        self.wide = nn.Parameter(torch.zeros(weight.shape[0], rank))
        self.scale = scale

    def forward(self, value: Tensor) -> Tensor:
        change = functional.linear(functional.linear(value, self.narrow), self.wide) * self.scale
        return functional.linear(value, self.weight, self.bias) + change


class AdaptedMiniLM(nn.Module):
    """Token numbers in, the last hidden state of each token out."""

    def __init__(
        self, weights: dict[str, Tensor], rank: int, scale: float = 2.0, dropout: float = 0.1, marks: int = 0
    ) -> None:
        super().__init__()
        # Rows of their own for the first tokens after the padding, which no text has.
        self.marks = nn.Parameter(0.05 * torch.randn(marks, WIDTH)) if marks else None
        words, places = weights["embeddings.word_embeddings.weight"], weights["embeddings.position_embeddings.weight"]
        self.register_buffer("words", words)
        self.register_buffer("places", places + weights["embeddings.token_type_embeddings.weight"][0])
        for name, value in weights.items():
            if "LayerNorm" in name:
                self.register_buffer(name.replace(".", "_"), value)
        self.dense = nn.ModuleDict(
            {
                f"{layer}_{part}".replace(".", "_"): LowRank(
                    weights[f"encoder.layer.{layer}.{part}.weight"],
                    weights[f"encoder.layer.{layer}.{part}.bias"],
                    rank,
                    scale,
                )
                for layer in range(LAYERS)
                for part in DENSE
            }
        )
        self.dropout = dropout

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        words = self.words[ids]
        if self.marks is not None:
            is_mark = (ids > 0) & (ids <= len(self.marks))
            words = torch.where(is_mark[..., None], self.marks[(ids - 1).clamp(0, len(self.marks) - 1)], words)
        hidden = self._norm(words + self.places[: ids.shape[1]], "embeddings.LayerNorm")
        seen = mask[:, None, None, :]
        for layer in range(LAYERS):
            hidden = self._layer(layer, self._drop(hidden), seen)
        return hidden

    def _layer(self, layer: int, hidden: Tensor, seen: Tensor) -> Tensor:
        batch, length, _ = hidden.shape
        query, key, value = (
            self._dense(layer, part, hidden).view(batch, length, HEADS, -1).transpose(1, 2) for part in DENSE[:3]
        )
        context = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        joined = self._dense(layer, DENSE[3], context.transpose(1, 2).reshape(batch, length, WIDTH))
        hidden = self._norm(hidden + self._drop(joined), f"encoder.layer.{layer}.attention.output.LayerNorm")
        wide = functional.gelu(self._dense(layer, DENSE[4], hidden))
        narrow = self._drop(self._dense(layer, DENSE[5], wide))
        return self._norm(hidden + narrow, f"encoder.layer.{layer}.output.LayerNorm")

    def _dense(self, layer: int, part: str, value: Tensor) -> Tensor:
        result: Tensor = self.dense[f"{layer}_{part}".replace(".", "_")](value)
        return result

    def _norm(self, value: Tensor, name: str) -> Tensor:
        flat = name.replace(".", "_")
        scale, shift = self.get_buffer(f"{flat}_weight"), self.get_buffer(f"{flat}_bias")
        return functional.layer_norm(value, (WIDTH,), scale, shift, EPSILON)

    def _drop(self, value: Tensor) -> Tensor:
        return functional.dropout(value, self.dropout, self.training)

    def changes(self) -> Iterator[tuple[str, np.ndarray]]:
        """The adapter as it is shipped: for each dense layer two narrow matrices in half precision."""
        if self.marks is not None:
            yield MARKS, self.marks.detach().cpu().numpy().astype(np.float16)
        for layer in range(LAYERS):
            for part in DENSE:
                module = self.dense[f"{layer}_{part}".replace(".", "_")]
                name = f"encoder.layer.{layer}.{part}"
                yield f"{name}.narrow", module.narrow.detach().cpu().numpy().astype(np.float16)
                yield f"{name}.wide", (module.wide.detach() * module.scale).cpu().numpy().astype(np.float16)


def load_weights(path: Path, device: str) -> dict[str, Tensor]:
    """From the file that `training/pack_weights.py` writes."""
    with np.load(path) as file:
        return {name: torch.tensor(file[name].astype(np.float32), device=device) for name in file.files}
