"""Trains the learned reader's adapter and its linear head; needs PyTorch, and a GPU to be quick.

`python training/train_reader.py DATA OUT [NAME=VALUE ...]`: DATA has `examples.json` and `minilm.npz`. Settings are the
fields of `Settings`. With `held=tune` or `held=0` … `held=4` (a fold) that part is not trained on. OUT/NAME.json gets
the logits of everything that was held back; OUT/NAME.npz the adapter.
"""

import json
import os
import random
import sys
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import numpy as np
import torch
from adapted_minilm import WIDTH, AdaptedMiniLM, load_weights
from torch import Tensor, nn
from torch.nn import functional

MASK = 103
FOLDS = 5
Example = dict[str, Any]


@dataclass
class Settings:
    name: str = "reader"
    held: str = "none"
    seed: int = 0
    rank: int = 8
    rate: float = 1e-3
    epochs: int = 40
    batch: int = 16
    masked: float = 0.1
    dropout: float = 0.1
    decay: float = 0.01
    positives: float = 1.5
    mail: float = 0.5
    mail_batch: int = 64
    # Of the sentences of mail each epoch sees this share.
    mail_share: float = 0.3
    # How often a document is seen with other borders and no title.
    shifted: float = 0.4
    # What a segment's tokens are judged by: their mean, or mean and maximum.
    pool: str = "mean"
    # The weights that are kept are a running mean of those of the last steps; 0 for the last ones.
    average: float = 0.0
    only: str = "corpus,gold,passages,mail"


def main() -> int:
    settings = _settings(sys.argv[3:])
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    torch.manual_seed(settings.seed)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.set_float32_matmul_precision("high")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    table = json.loads((data / "examples.json").read_text())
    outputs = len(table["categories"]) + 1
    held = [one for one in table["examples"] if _is_held(one, settings.held) and not one["shifted"]]
    kept = [one for one in table["examples"] if one["of"] in settings.only and not _is_held(one, settings.held)]
    model = AdaptedMiniLM(load_weights(data / "minilm.npz", device), settings.rank, dropout=settings.dropout)
    model = model.to(device)
    head = nn.Linear(WIDTH * (2 if settings.pool == "both" else 1), outputs).to(device)
    nn.init.zeros_(head.weight)
    nn.init.constant_(head.bias, -2.0)
    began = time.perf_counter()
    _train(model, head, kept, settings, device)
    _export(model, head, out / f"{settings.name}.npz")
    logits = _judge(model, head, held, settings, device)
    (out / f"{settings.name}.json").write_text(json.dumps({"settings": vars(settings), "held": logits}))
    print(f"{settings.name} {vars(settings)}\n  {len(kept)} windows, {time.perf_counter() - began:.0f} s", end="  ")
    print(_report(held, logits, outputs - 1), flush=True)
    return 0


def _settings(given: list[str]) -> Settings:
    settings = Settings()
    kinds = {field.name: type(getattr(settings, field.name)) for field in fields(Settings)}
    for one in given:
        name, _, value = one.partition("=")
        setattr(settings, name, kinds[name](value))
    return settings


def fold_of(group: str) -> int:
    """Documents of one series are held back together, whatever else there is."""
    return sum(group.encode()) % FOLDS


def _is_held(example: Example, held: str) -> bool:
    if held == "none" or example["of"] in ("gold", "passages", "untold"):
        return False
    if held == "tune":
        return example["split"] == "tune" or (example["of"] == "mail" and fold_of(example["group"]) == 0)
    return fold_of(example["group"]) == int(held)


class Windows:
    """All windows as tensors on the device: tokens, and for each segment its tokens and what is wanted of it."""

    def __init__(self, examples: list[Example], outputs: int, settings: Settings, device: str) -> None:
        self.lengths = [len(one["ids"]) for one in examples]
        self.counts = [len(one["segments"]) for one in examples]
        most, length = max(self.counts, default=1), max(self.lengths, default=1)
        ids = np.zeros((len(examples), length), np.int64)
        spans = np.zeros((len(examples), most, 2), np.int64)
        wanted = np.zeros((len(examples), most, outputs), np.float32)
        weight = np.zeros((len(examples), most, outputs), np.float32)
        for row, one in enumerate(examples):
            ids[row, : len(one["ids"])] = one["ids"]
            for place, (first, last, found, *_) in enumerate(one["segments"]):
                spans[row, place] = first, last
                if found is None:
                    continue
                if one["of"] == "mail":
                    wanted[row, place, -1], weight[row, place, -1] = found[0], settings.mail
                else:
                    wanted[row, place, found], weight[row, place, :-1] = 1.0, 1.0
        weight *= np.where(wanted > 0, settings.positives, 1.0)
        self.pool = settings.pool
        self.ids, self.spans, self.wanted, self.weight = (
            torch.tensor(each, device=device) for each in (ids, spans, wanted, weight)
        )

    def batch(self, rows: list[int]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Cut to the longest of the rows."""
        length, most = max(self.lengths[row] for row in rows), max(self.counts[row] for row in rows)
        at = torch.tensor(rows, device=self.ids.device)
        return self.ids[at, :length], self.spans[at, :most], self.wanted[at, :most], self.weight[at, :most]

    def vectors(self, model: AdaptedMiniLM, ids: Tensor, spans: Tensor, masked: float = 0.0) -> Tensor:
        """The mean of the hidden states of each segment's tokens, and perhaps their maximum beside it."""
        if masked:
            hide = (torch.rand(ids.shape, device=ids.device) < masked) & (ids > MASK)
            hidden = model(torch.where(hide, MASK, ids), ids > 0)
        else:
            hidden = model(ids, ids > 0)
        at = torch.arange(ids.shape[1], device=ids.device)
        inside = (at >= spans[..., :1]) & (at < spans[..., 1:])
        share = inside.float()
        mean = share @ hidden / share.sum(-1, keepdim=True).clamp(min=1)
        if self.pool != "both":
            return mean
        most = hidden[:, None].masked_fill(~inside[..., None], -1e4).amax(2)
        return torch.cat((mean, torch.where(inside.any(-1, keepdim=True), most, 0.0)), -1)


def _train(model: AdaptedMiniLM, head: nn.Linear, kept: list[Example], settings: Settings, device: str) -> None:
    dice = random.Random(settings.seed)
    windows = Windows(kept, head.out_features, settings, device)
    plans = _plans(kept)
    mail = [row for row, one in enumerate(kept) if one["of"] == "mail"]
    some = int(len(mail) * settings.mail_share)
    own = sum(len(plan[0]) for plan in plans)
    steps = settings.epochs * (-(-own // settings.batch) + -(-some // settings.mail_batch) + 2)
    parameters = [one for one in (*model.parameters(), *head.parameters()) if one.requires_grad]
    kept_mean = [one.detach().clone() for one in parameters]
    optimiser = torch.optim.AdamW(parameters, settings.rate, weight_decay=settings.decay, fused=device == "cuda")
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, settings.rate, steps, pct_start=0.1)
    model.train()
    for _ in range(settings.epochs):
        seen = [row for plan in plans for row in plan[bool(plan[1]) and dice.random() < settings.shifted]]
        parts = [*_cut(seen, settings.batch, dice), *_cut(dice.sample(mail, some), settings.mail_batch, dice)]
        dice.shuffle(parts)
        for part in parts:
            ids, spans, wanted, weight = windows.batch(part)
            logits = head(windows.vectors(model, ids, spans, settings.masked))
            loss = functional.binary_cross_entropy_with_logits(logits, wanted, weight, reduction="sum")
            optimiser.zero_grad()
            (4 * loss / weight.sum().clamp(min=1)).backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimiser.step()
            if schedule.last_epoch < steps - 1:
                schedule.step()
            if settings.average:
                torch._foreach_lerp_(kept_mean, [one.detach() for one in parameters], 1 - settings.average)
    if settings.average:
        for one, mean in zip(parameters, kept_mean, strict=True):
            one.data.copy_(mean)
    model.eval()


def _plans(kept: list[Example]) -> list[tuple[list[int], list[int]]]:
    """For each document the rows of its windows as they are read, and those with other borders."""
    plans: dict[tuple[str, str], tuple[list[int], list[int]]] = {}
    for row, one in enumerate(kept):
        if one["of"] not in ("mail", "untold"):
            plans.setdefault((one["of"], one["name"]), ([], []))[one["shifted"]].append(row)
    return list(plans.values())


def _cut(rows: list[int], size: int, dice: random.Random) -> list[list[int]]:
    order = list(rows)
    dice.shuffle(order)
    return [order[at : at + size] for at in range(0, len(order), size)]


@torch.no_grad()
def _judge(
    model: AdaptedMiniLM, head: nn.Linear, held: list[Example], settings: Settings, device: str
) -> list[list[Any]]:
    found: list[list[Any]] = []
    windows = Windows(held, head.out_features, settings, device)
    for begin in range(0, len(held), 64):
        rows = list(range(begin, min(begin + 64, len(held))))
        ids, spans, *_ = windows.batch(rows)
        logits = head(windows.vectors(model, ids, spans)).cpu().numpy().round(3)
        for place, row in enumerate(rows):
            one = held[row]
            found += [
                [one["of"], one["name"], segment[4], segment[5], logits[place, at].tolist()]
                for at, segment in enumerate(one["segments"])
            ]
    return found


def _export(model: AdaptedMiniLM, head: nn.Linear, path: Path) -> None:
    parts = dict(model.changes())
    parts["head.weight"] = head.weight.detach().cpu().numpy().astype(np.float32)
    parts["head.bias"] = head.bias.detach().cpu().numpy().astype(np.float32)
    np.savez(path, **parts)


def _report(held: list[Example], logits: list[list[Any]], outputs: int) -> str:
    """The best F1 over segments, for the categories and for mail."""
    truth = [(one["of"], one["language"], s[2]) for one in held for s in one["segments"]]
    scores = np.array([one[4] for one in logits]) if logits else np.zeros((0, outputs + 1))
    told = []
    for name, rows in (
        ("all", [at for at, one in enumerate(truth) if one[0] == "corpus"]),
        ("en", [at for at, one in enumerate(truth) if one[:2] == ("corpus", "en")]),
        ("de", [at for at, one in enumerate(truth) if one[:2] == ("corpus", "de")]),
    ):
        wanted = np.array([[number in truth[at][2] for number in range(outputs)] for at in rows])
        told.append(f"{name} {_best_f1(scores[rows, :-1], wanted):.3f}" if rows else "")
    mail = [at for at, one in enumerate(truth) if one[0] == "mail"]
    told.append(
        f"mail {_best_f1(scores[mail, -1], np.array([truth[at][2][0] for at in mail]) > 0):.3f}" if mail else ""
    )
    return "  ".join(told)


def _best_f1(scores: np.ndarray, wanted: np.ndarray) -> float:
    order = np.argsort(-scores.ravel())
    right = np.cumsum(wanted.ravel()[order])
    return float((2 * right / (np.arange(1, len(order) + 1) + wanted.sum())).max())


if __name__ == "__main__":
    sys.exit(main())
