"""Trains the learned ranking's adapter and its head; needs PyTorch, and a GPU to be quick.

`python training/train_ranker.py DATA OUT [NAME=VALUE ...]`: DATA has `pairs.npz` and `minilm.npz`. Settings are the
fields of `Settings`. With `held=tune` our own questions of that split, and every fifth meeting, are not trained on;
OUT/NAME.npz then has their logits (`logits`, by row of the pairs) beside the adapter.
"""

import json
import os
import random
import sys
import time
from dataclasses import dataclass, fields
from pathlib import Path

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import numpy as np
import torch
from adapted_minilm import WIDTH, AdaptedMiniLM, load_weights
from torch import Tensor, nn
from torch.nn import functional

START, END = 101, 102
# As `mnemon.ask.learned.pairs` lays them out.
MOST_QUESTION, MOST_PASSAGE, MOST_BEFORE = 40, 112, 36


@dataclass
class Settings:
    name: str = "ranker"
    held: str = "none"
    seed: int = 0
    rank: int = 8
    rate: float = 6e-4
    epochs: int = 4
    # Questions in a batch, and passages of each.
    batch: int = 12
    passages: int = 12
    dropout: float = 0.1
    decay: float = 0.01
    # How much it counts that each pair is judged right by itself, beside the order within a question.
    alone: float = 0.5
    positives: float = 3.0
    # Of the questions of meetings each epoch sees this share.
    meetings: float = 0.5


class Pairs:
    def __init__(self, path: Path) -> None:
        with np.load(path) as file:
            self.rows = file["rows"]
            self.about = json.loads(str(file["about"]))
            self.texts = _parts(file["texts_ids"], file["texts_ends"])
            self.asked = _parts(file["asked_ids"], file["asked_ends"])
        self.of: dict[int, list[int]] = {}
        for number, row in enumerate(self.rows):
            self.of.setdefault(int(row[0]), []).append(number)

    def ids(self, number: int) -> list[int]:
        asked, text, before, _ = self.rows[number]
        return [
            START, *self.asked[asked][:MOST_QUESTION], END, *self.texts[text][:MOST_PASSAGE], END,
            *self.texts[before][-MOST_BEFORE:], END,
        ]  # fmt: skip

    def is_held(self, question: int, held: str) -> bool:
        of, split, group = self.about[question]
        if of == "own":
            return split == held
        return held != "none" and sum(group.encode()) % 5 == 0


def _parts(ids: np.ndarray, ends: np.ndarray) -> list[list[int]]:
    starts = [0, *ends[:-1].tolist()]
    return [ids[start:end].tolist() for start, end in zip(starts, ends.tolist(), strict=True)]


class Judge(nn.Module):
    """The adapted embedder, and one number for the first token's state and the mean of all."""

    def __init__(self, weights: dict[str, Tensor], settings: Settings) -> None:
        super().__init__()
        self.encoder = AdaptedMiniLM(weights, settings.rank, dropout=settings.dropout)
        self.head = nn.Linear(2 * WIDTH, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.constant_(self.head.bias, -2.0)

    def forward(self, ids: Tensor) -> Tensor:
        mask = ids > 0
        hidden = self.encoder(ids, mask)
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return self.head(torch.cat([hidden[:, 0], mean], -1))[:, 0]


def main() -> int:
    settings = _settings(sys.argv[3:])
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    torch.manual_seed(settings.seed)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.set_float32_matmul_precision("high")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    pairs = Pairs(data / "pairs.npz")
    model = Judge(load_weights(data / "minilm.npz", device), settings).to(device)
    kept = [one for one in pairs.of if not pairs.is_held(one, settings.held)]
    held = [one for one in pairs.of if pairs.is_held(one, settings.held)]
    began = time.perf_counter()
    _train(model, pairs, kept, settings, device)
    logits = _judged(model, pairs, [row for one in held for row in pairs.of[one]], device)
    parts = dict(model.encoder.changes())
    parts["head.weight"] = model.head.weight.detach().cpu().numpy().astype(np.float32)
    parts["head.bias"] = model.head.bias.detach().cpu().numpy().astype(np.float32)
    np.savez(out / f"{settings.name}.npz", **parts)
    np.savez(out / f"{settings.name}-held.npz", logits=logits)
    seconds = time.perf_counter() - began
    print(f"{settings} {len(kept)} questions, {seconds:.0f} s  {_report(pairs, held, logits)}", flush=True)
    return 0


def _settings(given: list[str]) -> Settings:
    settings = Settings()
    kinds = {field.name: type(getattr(settings, field.name)) for field in fields(Settings)}
    for one in given:
        name, _, value = one.partition("=")
        setattr(settings, name, kinds[name](value))
    return settings


def _train(model: Judge, pairs: Pairs, kept: list[int], settings: Settings, device: str) -> None:
    dice = random.Random(settings.seed)
    own = [one for one in kept if pairs.about[one][0] == "own"]
    meetings = [one for one in kept if pairs.about[one][0] != "own"]
    some = int(len(meetings) * settings.meetings)
    steps = settings.epochs * -(-(len(own) + some) // settings.batch)
    parameters = [one for one in model.parameters() if one.requires_grad]
    optimiser = torch.optim.AdamW(parameters, settings.rate, weight_decay=settings.decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, settings.rate, steps, pct_start=0.1)
    model.train()
    for _ in range(settings.epochs):
        order = [*own, *dice.sample(meetings, some)]
        dice.shuffle(order)
        for at in range(0, len(order), settings.batch):
            chosen = [_some_of(pairs, one, settings.passages, dice) for one in order[at : at + settings.batch]]
            loss = _loss(model, pairs, chosen, settings, device)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimiser.step()
            schedule.step()
    model.eval()


def _some_of(pairs: Pairs, question: int, most: int, dice: random.Random) -> list[int]:
    """Gold passages, up to a third, and others."""
    rows = pairs.of[question]
    gold = [row for row in rows if pairs.rows[row][3]]
    others = [row for row in rows if not pairs.rows[row][3]]
    gold = dice.sample(gold, min(len(gold), max(1, most // 3)))
    return [*gold, *dice.sample(others, min(len(others), most - len(gold)))]


def _loss(model: Judge, pairs: Pairs, chosen: list[list[int]], settings: Settings, device: str) -> Tensor:
    flat = [row for rows in chosen for row in rows]
    wanted = torch.tensor([float(pairs.rows[row][3]) for row in flat], device=device)
    logits = model(_batch(pairs, flat, device))
    weight = torch.where(wanted > 0, settings.positives, 1.0)
    alone = functional.binary_cross_entropy_with_logits(logits, wanted, weight, reduction="sum") / weight.sum()
    orders, at = [], 0
    for rows in chosen:
        score, gold = logits[at : at + len(rows)], wanted[at : at + len(rows)] > 0
        at += len(rows)
        if gold.any() and not gold.all():
            others = torch.logsumexp(score[~gold], 0)
            orders.append((torch.logaddexp(score[gold], others) - score[gold]).mean())
    order = torch.stack(orders).mean() if orders else torch.zeros((), device=device)
    return order + settings.alone * alone


def _batch(pairs: Pairs, rows: list[int], device: str) -> Tensor:
    ids = [pairs.ids(row) for row in rows]
    filled = np.zeros((len(ids), max(map(len, ids))), np.int64)
    for number, one in enumerate(ids):
        filled[number, : len(one)] = one
    return torch.tensor(filled, device=device)


@torch.no_grad()
def _judged(model: Judge, pairs: Pairs, rows: list[int], device: str) -> np.ndarray:
    """By row of the pairs; nothing for those that were trained on."""
    logits = np.full(len(pairs.rows), np.nan, np.float32)
    for at in range(0, len(rows), 256):
        part = rows[at : at + 256]
        logits[part] = model(_batch(pairs, part, device)).cpu().numpy()
    return logits


def _report(pairs: Pairs, held: list[int], logits: np.ndarray) -> str:
    """How often the first by the logits alone is gold."""
    told = []
    for of in ("own", "meetings"):
        first = []
        for one in held:
            rows = np.array(pairs.of[one])
            gold = pairs.rows[rows, 3] > 0
            if pairs.about[one][0] == of and gold.any():
                first.append(bool(gold[int(np.argmax(logits[rows]))]))
        told.append(f"{of} {np.mean(first):.3f} of {len(first)}" if first else "")
    return "  ".join(told)


if __name__ == "__main__":
    sys.exit(main())
