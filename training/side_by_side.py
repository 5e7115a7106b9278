"""Several adapters of all-MiniLM-L6-v2 trained as one batch: the frozen weights are shared, each has its own changes.

One small model leaves a large GPU idle; eight of them at once take hardly longer than one.
"""

import math
from collections.abc import Iterator

import numpy as np
import torch
from adapted_minilm import DENSE, EPSILON, HEADS, LAYERS, WIDTH
from torch import Tensor, nn
from torch.nn import functional


class ManyLowRank(nn.Module):
    """A frozen dense layer, and for each model the product of two narrow ones that is added to its weights."""

    def __init__(self, weight: Tensor, bias: Tensor, models: int, rank: int, scale: float) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)
        self.narrow = nn.Parameter(torch.randn(models, rank, weight.shape[1]) / math.sqrt(weight.shape[1]))
        self.wide = nn.Parameter(torch.zeros(models, weight.shape[0], rank))
        self.scale = scale

    def forward(self, value: Tensor) -> Tensor:
        whole = self.weight + self.scale * torch.bmm(self.wide, self.narrow)
        kind = value.dtype
        bias = self.bias.to(kind).expand(len(whole), 1, -1)
        return torch.baddbmm(bias, value, whole.to(kind).transpose(1, 2))


class ManyMiniLM(nn.Module):
    """Token numbers (models, rows, length) in, the last hidden state of each token out."""

    def __init__(
        self, weights: dict[str, Tensor], models: int, rank: int, scale: float, dropout: float, kind: torch.dtype
    ) -> None:
        super().__init__()
        self.models, self.dropout, self.kind = models, dropout, kind
        words, places = weights["embeddings.word_embeddings.weight"], weights["embeddings.position_embeddings.weight"]
        self.register_buffer("words", words)
        self.register_buffer("places", places + weights["embeddings.token_type_embeddings.weight"][0])
        for name, value in weights.items():
            if "LayerNorm" in name:
                self.register_buffer(name.replace(".", "_"), value)
        self.dense = nn.ModuleDict(
            {
                _flat(layer, part): ManyLowRank(
                    weights[f"encoder.layer.{layer}.{part}.weight"],
                    weights[f"encoder.layer.{layer}.{part}.bias"],
                    models,
                    rank,
                    scale,
                )
                for layer in range(LAYERS)
                for part in DENSE
            }
        )

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        models, rows, length = ids.shape
        found = self._norm(self.words[ids] + self.places[:length], "embeddings.LayerNorm")
        hidden = found.view(models, rows * length, WIDTH)
        seen = torch.zeros(mask.shape, device=mask.device, dtype=self.kind).masked_fill(~mask, -1e4)
        seen = seen.view(models * rows, 1, 1, length)
        for layer in range(LAYERS):
            hidden = self._layer(layer, self._drop(hidden), seen, (models, rows, length))
        return hidden.view(models, rows, length, WIDTH)

    def _layer(self, layer: int, hidden: Tensor, seen: Tensor, shape: tuple[int, int, int]) -> Tensor:
        models, rows, length = shape
        given = hidden.to(self.kind)
        query, key, value = (
            self._dense(layer, part, given).view(models * rows, length, HEADS, -1).transpose(1, 2) for part in DENSE[:3]
        )
        scores = query @ key.transpose(-1, -2) / math.sqrt(WIDTH // HEADS) + seen
        context = scores.softmax(-1) @ value
        joined = self._dense(layer, DENSE[3], context.transpose(1, 2).reshape(models, rows * length, WIDTH))
        hidden = self._norm(hidden + self._drop(joined), f"encoder.layer.{layer}.attention.output.LayerNorm")
        wide = functional.gelu(self._dense(layer, DENSE[4], hidden.to(self.kind)))
        narrow = self._drop(self._dense(layer, DENSE[5], wide))
        return self._norm(hidden + narrow, f"encoder.layer.{layer}.output.LayerNorm")

    def _dense(self, layer: int, part: str, value: Tensor) -> Tensor:
        result: Tensor = self.dense[_flat(layer, part)](value)
        return result

    def _norm(self, value: Tensor, name: str) -> Tensor:
        flat = name.replace(".", "_")
        scale, shift = self.get_buffer(f"{flat}_weight"), self.get_buffer(f"{flat}_bias")
        return functional.layer_norm(value, (WIDTH,), scale, shift, EPSILON)

    def _drop(self, value: Tensor) -> Tensor:
        return functional.dropout(value, self.dropout, self.training)

    def changes(self, model: int) -> Iterator[tuple[str, np.ndarray]]:
        """One adapter as it is shipped: for each dense layer two narrow matrices in half precision."""
        for layer in range(LAYERS):
            for part in DENSE:
                module = self.dense[_flat(layer, part)]
                name = f"encoder.layer.{layer}.{part}"
                yield f"{name}.narrow", module.narrow[model].detach().cpu().numpy().astype(np.float16)
                yield f"{name}.wide", (module.wide[model].detach() * module.scale).cpu().numpy().astype(np.float16)


def _flat(layer: int, part: str) -> str:
    return f"{layer}_{part}".replace(".", "_")
