"""Trains the adapter that reads a statement together with the question; needs PyTorch, and a GPU to be quick.

`python training/train_statements.py DATA OUT [NAME=VALUE ...]`: DATA has `statements.npz` and `minilm.npz`. Settings
are the fields of `Settings`. With `fold=0` … `fold=3` every fourth document is not trained on, and OUT/NAME-held.npz
has the logits of its pairs: what the judgement of answers learns to weigh. `held=tune` does the same for a split.
`start=FILE.npz` begins with an adapter that was trained before, `steps=N` ends after so many batches.
"""

import json
import math
import os
import random
import sys
import time
import zlib
from dataclasses import dataclass, fields
from pathlib import Path

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import numpy as np
import torch
from adapted_minilm import DENSE, LAYERS, MARKS, WIDTH, AdaptedMiniLM, load_weights
from torch import Tensor, nn
from torch.nn import functional
from train_ranker import _parts

START, END = 101, 102
# As `mnemon.ask.learned.pairs` lays them out, with a mark before each word that the question is about.
MOST_ASKED, MOST_STATEMENT, MOST_LED, MOST_HEAD, MOST_AFTER = 48, 56, 40, 24, 16
HEARD = 5
FOLDS = 4
# Tokens of an answer that are looked for in the statements.
MOST_ANSWER = 12
# Rows that a processor reads at once.
TOGETHER = 14


@dataclass
class Settings:
    name: str = "statement_reader"
    fold: int = -1
    held: str = "none"
    start: str = ""
    steps: int = 0
    # Where a machine's speed is not known: the rate falls by the time that is left, and the end is there with it.
    seconds: float = 0.0
    threads: int = 0
    # Of a question that is held back only so many statements are judged: as many as an answer compares.
    read: int = 0
    seed: int = 0
    rank: int = 8
    rate: float = 1e-3
    epochs: int = 6
    # Questions in a batch, and statements of each.
    batch: int = 16
    statements: int = 12
    dropout: float = 0.1
    decay: float = 0.01
    # How much it counts that each pair is judged right by itself, beside the choice within a question; and that the
    # words of the answer are told from the others of a statement, which nothing but the training asks for.
    alone: float = 0.3
    told: float = 0.2
    # Of the questions that were made of others, and of those of meetings, each epoch sees these shares.
    meetings: float = 0.4
    # A running mean of the weights is what is kept.
    average: float = 0.995


class StatementJudge(nn.Module):
    """The adapted embedder, one number for the first token's state and the mean of all, and one for each token."""

    def __init__(self, weights: dict[str, Tensor], settings: Settings) -> None:
        super().__init__()
        self.encoder = AdaptedMiniLM(weights, settings.rank, dropout=settings.dropout, marks=HEARD)
        self.head = nn.Linear(2 * WIDTH, 1)
        self.told = nn.Linear(WIDTH, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.constant_(self.head.bias, -2.0)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        mask = ids > 0
        hidden = self.encoder(ids, mask)
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return self.head(torch.cat([hidden[:, 0], mean], -1))[:, 0], self.told(hidden)[..., 0]


class Pairs:
    """All rows as tokens on the device, and the rows of each question."""

    def __init__(self, path: Path, device: str) -> None:
        with np.load(path) as file:
            rows, heard, self.about = file["rows"], file["heard"], json.loads(str(file["about"]))
            texts = _parts(file["texts_ids"], file["texts_ends"])
            asked = _parts(file["asked_ids"], file["asked_ends"])
            places = _parts(file["places_ids"], file["places_ends"])
            answers = _parts(file["answers_ids"], file["answers_ends"])
        ids = [
            [START, *marked(asked[question], places[question], marks)[:MOST_ASKED], END, *texts[words][:MOST_STATEMENT],
             END, *texts[before][-MOST_LED:], END, *texts[head][:MOST_HEAD], END, *texts[after][:MOST_AFTER], END]
            for (question, words, before, head, after, _), marks in zip(rows.tolist(), heard.tolist(), strict=True)
        ]  # fmt: skip
        told = np.zeros((len(asked), MOST_ANSWER), np.int64)
        for number, one in enumerate(answers):
            new = [token for token in dict.fromkeys(one) if token not in asked[number]][:MOST_ANSWER]
            told[number, : len(new)] = new
        self.answers = torch.tensor(told, device=device)[torch.tensor(rows[:, 0].astype(np.int64), device=device)]
        self.length = [len(one) for one in ids]
        filled = np.zeros((len(ids), max(self.length)), np.int32)
        for number, one in enumerate(ids):
            filled[number, : len(one)] = one
        self.ids = torch.tensor(filled, device=device)
        self.gold = rows[:, 5].tolist()
        self.of: dict[int, list[int]] = {}
        for number, row in enumerate(rows):
            self.of.setdefault(int(row[0]), []).append(number)

    def is_held(self, question: int, settings: Settings) -> bool:
        _, split, document, *_ = self.about[question]
        in_fold = settings.fold >= 0 and zlib.crc32(document.encode()) % FOLDS == settings.fold
        return in_fold or split == settings.held

    def batch(self, rows: list[int]) -> Tensor:
        return self.ids[rows, : max(self.length[row] for row in rows)].long()


def marked(question: list[int], places: list[int], marks: list[int]) -> list[int]:
    """As `mnemon.ask.learned.pairs` does; no mark is 0."""
    mark_at = {place: mark for place, mark in zip(places, marks, strict=False) if mark}
    made: list[int] = []
    for place, token in enumerate(question):
        made += [mark_at[place], token] if place in mark_at else [token]
    return made


def main() -> int:
    settings = _settings(sys.argv[3:])
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    torch.manual_seed(settings.seed)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.set_float32_matmul_precision("high")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if settings.threads:
        torch.set_num_threads(settings.threads)
    began = time.perf_counter()
    pairs = Pairs(data / "statements.npz", device)
    model = StatementJudge(load_weights(data / "minilm.npz", device), settings).to(device)
    if settings.start:
        _begin_with(model, Path(settings.start))
    for dense in model.encoder.dense.values() if _has_cuda() else ():
        # They are not trained: in half precision they need not be cast at every step.
        dense.weight, dense.bias = dense.weight.bfloat16(), dense.bias.bfloat16()
    kept = [one for one in pairs.of if not pairs.is_held(one, settings)]
    held = [one for one in pairs.of if pairs.is_held(one, settings) and pairs.about[one][0] == "own"]
    loaded = time.perf_counter()
    _train(model, pairs, kept, settings)
    parts = dict(model.encoder.changes())
    parts["head.weight"] = model.head.weight.detach().cpu().numpy().astype(np.float32)
    parts["head.bias"] = model.head.bias.detach().cpu().numpy().astype(np.float32)
    np.savez(out / f"{settings.name}.npz", **parts)
    for one in held:
        pairs.of[one] = pairs.of[one][: settings.read or None]
    logits = _judged(model, pairs, [row for one in held for row in pairs.of[one]])
    np.savez_compressed(out / f"{settings.name}-held.npz", logits=logits)
    seconds = (round(loaded - began), round(time.perf_counter() - loaded))
    print(f"{settings} {len(kept)} questions, {seconds} s  {_report(pairs, held, logits)}", flush=True)
    return 0


def _begin_with(model: StatementJudge, adapter: Path) -> None:
    with np.load(adapter) as file, torch.no_grad():
        model.encoder.marks.copy_(torch.tensor(file[MARKS].astype(np.float32)))
        for layer in range(LAYERS):
            for part in DENSE:
                dense, name = model.encoder.dense[f"{layer}_{part}".replace(".", "_")], f"encoder.layer.{layer}.{part}"
                dense.narrow.copy_(torch.tensor(file[f"{name}.narrow"].astype(np.float32)))
                dense.wide.copy_(torch.tensor(file[f"{name}.wide"].astype(np.float32)) / dense.scale)
        model.head.weight.copy_(torch.tensor(file["head.weight"]))
        model.head.bias.copy_(torch.tensor(file["head.bias"]))


def _settings(given: list[str]) -> Settings:
    settings = Settings()
    kinds = {field.name: type(getattr(settings, field.name)) for field in fields(Settings)}
    for one in given:
        name, _, value = one.partition("=")
        setattr(settings, name, kinds[name](value))
    return settings


def _train(model: StatementJudge, pairs: Pairs, kept: list[int], settings: Settings) -> None:
    dice = random.Random(settings.seed)
    of = {name: [one for one in kept if pairs.about[one][0] == name] for name in ("own", "meetings")}
    share = {"own": 1.0, "meetings": settings.meetings}
    some = {name: int(len(of[name]) * share[name]) for name in of}
    steps = settings.steps or settings.epochs * -(-sum(some.values()) // settings.batch)
    parameters = [one for one in model.parameters() if one.requires_grad]
    averages = [one.detach().clone() for one in parameters]
    optimiser = torch.optim.AdamW(parameters, settings.rate, weight_decay=settings.decay, fused=_has_cuda())
    model.train()
    done, began = 0, time.perf_counter()
    progress = 0.0
    while progress < 1:
        order = [one for name in of for one in dice.sample(of[name], some[name])]
        dice.shuffle(order)
        for at in range(0, len(order), settings.batch):
            chosen = [_some_of(pairs, one, settings.statements, dice) for one in order[at : at + settings.batch]]
            loss = _loss(model, pairs, chosen, settings)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            for group in optimiser.param_groups:
                group["lr"] = settings.rate * _share_of_rate(progress)
            optimiser.step()
            with torch.no_grad():
                torch._foreach_lerp_(averages, [one.detach() for one in parameters], 1 - settings.average)
            done += 1
            spent = (time.perf_counter() - began) / settings.seconds if settings.seconds else 0.0
            progress = max(done / steps, spent)
            if progress >= 1:
                break
            if done % 25 == 0:
                print(f"{done} of {steps}: {loss.item():.3f}, {time.perf_counter() - began:.0f} s", flush=True)
    with torch.no_grad():
        for one, average in zip(parameters, averages, strict=True):
            one.copy_(average)
    model.eval()


def _share_of_rate(progress: float) -> float:
    """It rises in the first tenth and then falls to nothing."""
    if progress < 0.1:
        return 0.1 + 9 * progress
    return 0.5 * (1 + math.cos(math.pi * (progress - 0.1) / 0.9))


def _has_cuda() -> bool:
    return torch.cuda.is_available()


def _half(pairs: Pairs) -> torch.autocast:
    """Half precision where it is quick: a processor has none."""
    return torch.autocast(pairs.ids.device.type, torch.bfloat16, enabled=_has_cuda())


def _some_of(pairs: Pairs, question: int, most: int, dice: random.Random) -> list[int]:
    """Gold statements, up to a third, and others: the first ones rather, which come nearest."""
    rows = pairs.of[question]
    gold = [row for row in rows if pairs.gold[row]]
    others = [row for row in rows if not pairs.gold[row]]
    gold = dice.sample(gold, min(len(gold), max(1, most // 3)))
    near, far = others[: most // 2], others[most // 2 :]
    more = dice.sample(far, min(len(far), max(0, most - len(gold) - len(near))))
    return [*gold, *near, *more]


def _loss(model: StatementJudge, pairs: Pairs, chosen: list[list[int]], settings: Settings) -> Tensor:
    """The choice is among a question's statements and none of them, which stands at 0."""
    flat = [row for rows in chosen for row in rows]
    logits, of_tokens, ids = _by_length(model, pairs, flat)
    widest = max(map(len, chosen))
    place = torch.full((len(chosen), widest), len(flat))
    gold = torch.zeros(len(chosen), widest + 1, dtype=torch.bool)
    at = 0
    for number, rows in enumerate(chosen):
        place[number, : len(rows)] = torch.arange(at, at + len(rows))
        right = [bool(pairs.gold[row]) for row in rows]
        gold[number, 1 : 1 + len(rows)] = torch.tensor(right)
        gold[number, 0] = not any(right)
        at += len(rows)
    place, gold = place.to(logits.device), gold.to(logits.device)
    padded = torch.cat([logits, logits.new_full((1,), -1e4)])[place]
    table = torch.cat([padded.new_zeros(len(chosen), 1), padded], 1)
    choice = torch.logsumexp(table, 1) - torch.logsumexp(table.masked_fill(~gold, -1e4), 1)
    wanted = torch.tensor([float(pairs.gold[row]) for row in flat], device=logits.device)
    alone = functional.binary_cross_entropy_with_logits(logits, wanted)
    return choice.mean() + settings.alone * alone + settings.told * _told(pairs, flat, wanted, of_tokens, ids)


def _told(pairs: Pairs, rows: list[int], gold: Tensor, logits: Tensor, ids: Tensor) -> Tensor:
    """Of the tokens of the statements themselves: whether they are of the answer."""
    part = (ids == END).cumsum(1)
    own = (part == 1) & (ids != END)
    answer = pairs.answers[rows]
    is_told = ((ids[:, :, None] == answer[:, None, :]) & (answer > 0)[:, None, :]).any(-1) & (gold > 0)[:, None]
    # Statements without gold have no answer; those with it, only where its words stand in them.
    counts = own & (~(gold > 0) | (is_told & own).any(1))[:, None]
    loss = functional.binary_cross_entropy_with_logits(logits, is_told.float(), reduction="none")
    return (loss * counts).sum() / counts.sum().clamp(min=1)


def _by_length(model: StatementJudge, pairs: Pairs, rows: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    """The logits of the rows and of their tokens, and the tokens."""
    ids = pairs.batch(rows)
    with _half(pairs):
        logits, of_tokens = model(ids)
    return logits.float(), of_tokens.float(), ids


@torch.no_grad()
def _judged(model: StatementJudge, pairs: Pairs, rows: list[int]) -> np.ndarray:
    """By row of the pairs; nothing for those that were trained on."""
    logits = np.full(len(pairs.gold), np.nan, np.float32)
    rows = sorted(rows, key=lambda row: pairs.length[row])
    for at in range(0, len(rows), 512 if _has_cuda() else TOGETHER):
        part = rows[at : at + (512 if _has_cuda() else TOGETHER)]
        with _half(pairs):
            logits[part] = model(pairs.batch(part))[0].float().cpu().numpy()
    return logits


def _report(pairs: Pairs, held: list[int], logits: np.ndarray) -> str:
    """How often the best by the logits alone is gold, and how well the best logit tells answerable questions."""
    first, best, none = [], [], []
    for one in held:
        rows = np.array(pairs.of[one])
        gold = np.array([pairs.gold[row] for row in rows])
        if gold.any():
            first.append(bool(gold[int(np.argmax(logits[rows]))]))
        best.append(float(logits[rows].max()))
        none.append(bool(pairs.about[one][4]))
    if not held:
        return ""
    high, low = np.array(best)[~np.array(none)], np.array(best)[np.array(none)]
    area = float((high[:, None] > low[None, :]).mean())
    return f"first {np.mean(first):.3f} of {len(first)}, area {area:.3f} of {len(low)} unanswerable"


if __name__ == "__main__":
    sys.exit(main())
