"""Trains several readers side by side on one GPU: the folds that judge what they have not seen, and what ships.

`python training/train_readers.py DATA OUT held=0,1,2,3,4,none [seeds=2] [seconds=200] [taught=300] [NAME=VALUE ...]`:
the settings are those of `train_reader.py`. Each part that is held back is trained once for each seed. OUT/folds.json
gets the mean of the logits that the models of a fold give what they held back, OUT/one_folds.json those of the first
of them, OUT/mixed_folds.json those of the mean of their weights; OUT/readerN.npz the adapters that have seen all. With
`seconds` the number of epochs is cut to what fits.

With `taught` they are only the teachers, `teachers` of each part: new ones, which begin anew and learn for so many
seconds, learn from the same labels and from what the teachers of their own fold make of texts that nobody labelled.
They overwrite the files.
"""

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from adapted_minilm import WIDTH, load_weights
from side_by_side import ManyMiniLM
from torch import Tensor, nn
from torch.nn import functional
from train_reader import MASK, Example, Settings, Windows, _is_held, _plans, _report, _settings

TIMED_STEPS = 40
UNTOLD, UNTOLD_SHARE = 2, 0.7
# What was judged by hand in texts that nobody labelled otherwise counts so much beside what teachers make of the rest.
JUDGED_WEIGHT = 2.0


class Readers(nn.Module):
    """As many encoders as there are models, each with its linear head."""

    def __init__(
        self, weights: dict[str, Tensor], models: int, outputs: int, settings: Settings, kind: torch.dtype
    ) -> None:
        super().__init__()
        self.encoder = ManyMiniLM(weights, models, settings.rank, 2.0, settings.dropout, kind)
        wide = WIDTH * (2 if settings.pool == "both" else 1)
        self.head = nn.Parameter(torch.zeros(models, outputs, wide))
        self.bias = nn.Parameter(torch.full((models, 1, outputs), -2.0))
        self.both = settings.pool == "both"
        with torch.no_grad():
            # All begin alike, so that the mean of two is of two that can be compared.
            for module in self.encoder.dense.values():
                module.narrow.copy_(module.narrow[:1].expand_as(module.narrow))

    def forward(self, ids: Tensor, spans: Tensor, masked: float = 0.0) -> Tensor:
        """Logits (models, rows, segments, outputs)."""
        given = ids
        if masked:
            hide = (torch.rand(ids.shape, device=ids.device) < masked) & (ids > MASK)
            given = torch.where(hide, MASK, ids)
        hidden = self.encoder(given, ids > 0)
        models, rows, segments, _ = spans.shape
        at = torch.arange(ids.shape[2], device=ids.device)
        inside = (at >= spans[..., :1]) & (at < spans[..., 1:])
        share = inside.float()
        pooled = share @ hidden / share.sum(-1, keepdim=True).clamp(min=1)
        if self.both:
            low = hidden.to(self.encoder.kind)[:, :, None].masked_fill(~inside[..., None], -1e4).amax(3).float()
            pooled = torch.cat((pooled, torch.where(inside.any(-1, keepdim=True), low, 0.0)), -1)
        logits = torch.baddbmm(self.bias, pooled.view(models, rows * segments, -1), self.head.transpose(1, 2))
        return logits.view(models, rows, segments, -1)


class Course:
    """What one model sees: its rows in batches of like length, anew in each epoch."""

    def __init__(self, examples: list[Example], allowed: set[int], settings: Settings, seed: int) -> None:
        self.lengths = [len(one["ids"]) for one in examples]
        self.settings = settings
        self.dice = random.Random(seed)
        kept = [one if row in allowed else None for row, one in enumerate(examples)]
        places = [row for row, one in enumerate(kept) if one is not None]
        self.plans = [
            ([places[at] for at in plain], [places[at] for at in moved])
            for plain, moved in _plans([examples[row] for row in places])
        ]
        self.mail = [row for row in places if examples[row]["of"] == "mail"]
        self.untold = [row for row in places if examples[row]["of"] == "untold"]
        self.judged = [row for row in self.untold if any(part[2] is not None for part in examples[row]["segments"])]

    def epoch(self, batches: int, mail_batches: int, untold_batches: int) -> list[list[list[int]]]:
        """Of labelled texts, of sentences of mail, of texts without labels."""
        settings, dice = self.settings, self.dice
        seen = [r for p in self.plans for r in p[bool(p[1]) and dice.random() < settings.shifted]]
        mail = dice.sample(self.mail, min(len(self.mail), mail_batches * settings.mail_batch))
        # Those of which a part was judged by hand every other time, the many others seldom.
        often = dice.sample(self.judged, len(self.judged) // 2) if untold_batches else []
        rest = max(0, untold_batches * settings.batch - len(often))
        untold = [*often, *dice.sample(self.untold, min(len(self.untold), rest))]
        return [
            self._cut(seen, batches, settings.batch),
            self._cut(mail, mail_batches, settings.mail_batch),
            self._cut(untold, untold_batches, settings.batch),
        ]

    def _cut(self, rows: list[int], batches: int, size: int) -> list[list[int]]:
        """Filled up with rows that are seen twice, so that every model has as many batches as the others."""
        if not rows:
            return []
        rows = rows + self.dice.choices(rows, k=max(0, batches * size - len(rows)))
        self.dice.shuffle(rows)
        rows = sorted(rows[: batches * size], key=lambda row: self.lengths[row] * self.dice.uniform(0.7, 1.3))
        return [rows[at * size : (at + 1) * size] for at in range(batches)]


class Taught:
    """What the teachers of each fold make of texts without labels: probabilities, by model and row."""

    def __init__(
        self, teachers: Readers, windows: Windows, rows: list[int], taught_by: list[str], each: list[tuple[str, int]]
    ) -> None:
        logits = judge(teachers, windows, rows)
        means = {
            part: logits[[place for place, other in enumerate(taught_by) if other == part]].mean(0)
            for part in set(taught_by)
        }
        likely = np.stack([1 / (1 + np.exp(-means[part])) for part, _ in each])
        self.likely = torch.tensor(likely, device=windows.ids.device)
        self.place = torch.zeros(len(windows.counts), dtype=torch.long, device=windows.ids.device)
        self.place[torch.tensor(rows, device=self.place.device)] = torch.arange(len(rows), device=self.place.device)

    def of(self, windows: Windows, rows: Tensor, most: int) -> tuple[Tensor, Tensor]:
        """What is wanted of each segment, and its weight: none for the mail's own output and where no segment is. What
        was judged by hand is known better than any teacher does."""
        models = torch.arange(len(rows), device=rows.device)[:, None]
        wanted = self.likely[models, self.place[rows], :most]
        weight = (windows.spans[rows, :most, 1:] > 0).float().expand_as(wanted).clone()
        weight[..., -1] = 0.0
        by_hand = windows.weight[rows, :most]
        return (
            torch.where(by_hand > 0, windows.wanted[rows, :most], wanted),
            torch.where(by_hand > 0, JUDGED_WEIGHT * by_hand, weight),
        )


def train(
    model: Readers, windows: Windows, courses: list[Course], settings: Settings, seconds: float,
    taught: Taught | None = None,
) -> None:  # fmt: skip
    """One cycle of the rate, a running mean of the weights, gradients cut to length for each model by itself."""
    dice = random.Random(settings.seed)
    own = max(sum(len(plan[0]) for plan in course.plans) for course in courses)
    mail = max(len(course.mail) for course in courses)
    batches = -(-own // settings.batch)
    mail_batches = int(mail * settings.mail_share) // settings.mail_batch
    untold_batches = int(batches * UNTOLD_SHARE) if taught else 0
    epochs = settings.epochs
    parameters = [one for one in model.parameters() if one.requires_grad]
    mean = [one.detach().clone() for one in parameters]
    optimiser = torch.optim.AdamW(
        parameters, settings.rate, weight_decay=settings.decay, fused=parameters[0].device.type == "cuda"
    )
    model.train()
    began, step, epoch = time.perf_counter(), 0, 0
    while epoch < epochs:
        parts = [course.epoch(batches, mail_batches, untold_batches) for course in courses]
        order = [(kind, at) for kind in range(3) for at in range(len(parts[0][kind]))]
        dice.shuffle(order)
        for kind, at in order:
            optimiser.param_groups[0]["lr"] = settings.rate * rate_at(step / (epochs * len(order)))
            rows = torch.tensor([part[kind][at] for part in parts], device=windows.ids.device)
            _step(model, windows, rows, optimiser, settings, parameters, taught if kind == UNTOLD else None)
            torch._foreach_lerp_(mean, [one.detach() for one in parameters], 1 - settings.average)
            step += 1
            if seconds and step in (TIMED_STEPS, 5 * TIMED_STEPS):
                if parameters[0].device.type == "cuda":
                    torch.cuda.synchronize()
                each = (time.perf_counter() - began) / step
                fits = int((seconds - (time.perf_counter() - began)) / (each * len(order)))
                epochs = max(2, min(settings.epochs, fits))
                print(f"{1000 * each:.1f} ms a step, {len(order)} steps an epoch, {epochs} epochs", flush=True)
        epoch += 1
    for one, kept in zip(parameters, mean, strict=True):
        one.data.copy_(kept)
    model.eval()


def rate_at(share: float) -> float:
    """Up in the first tenth, then down by a cosine."""
    if share < 0.1:
        return 0.04 + 0.96 * (1 - np.cos(np.pi * share / 0.1)) / 2
    return float((1 + np.cos(np.pi * min(1.0, (share - 0.1) / 0.9))) / 2)


def _step(
    model: Readers, windows: Windows, rows: Tensor, optimiser: torch.optim.Optimizer, settings: Settings,
    parameters: list[nn.Parameter], taught: Taught | None,
) -> None:  # fmt: skip
    flat = rows.flatten().tolist()
    length, most = max(windows.lengths[row] for row in flat), max(windows.counts[row] for row in flat)
    ids, spans = windows.ids[rows, :length], windows.spans[rows, :most]
    if taught:
        wanted, weight = taught.of(windows, rows, most)
    else:
        wanted, weight = windows.wanted[rows, :most], windows.weight[rows, :most]
    logits = model(ids, spans, settings.masked)
    loss = functional.binary_cross_entropy_with_logits(logits, wanted, weight, reduction="none").sum((1, 2, 3))
    optimiser.zero_grad()
    (4 * loss / weight.sum((1, 2, 3)).clamp(min=1)).sum().backward()
    lengths = sum(one.grad.flatten(1).pow(2).sum(1) for one in parameters if one.grad is not None)
    shrink = (1.0 / (torch.as_tensor(lengths).sqrt() + 1e-6)).clamp(max=1.0)
    for one in parameters:
        if one.grad is not None:
            one.grad.mul_(shrink.view(-1, *[1] * (one.dim() - 1)))
    optimiser.step()


@torch.no_grad()
def judge(model: Readers, windows: Windows, rows: list[int]) -> np.ndarray:
    """(models, rows, segments, outputs) of all models."""
    found, most = [], max(windows.counts[row] for row in rows)
    for begin in range(0, len(rows), 16):
        some = torch.tensor(rows[begin : begin + 16], device=windows.ids.device)
        models = len(model.head)
        ids = windows.ids[some].expand(models, -1, -1)
        spans = windows.spans[some][:, :most].expand(models, -1, -1, -1)
        found.append(model(ids, spans).float().cpu().numpy())
    return np.concatenate(found, 1)


def told(examples: list[Example], rows: list[int], logits: np.ndarray) -> list[list[Any]]:
    return [
        [one["of"], one["name"], segment[4], segment[5], logits[place, at].round(3).tolist()]
        for place, row in enumerate(rows)
        for one in [examples[row]]
        for at, segment in enumerate(one["segments"])
    ]


def main() -> int:
    own = {one.partition("=")[0]: one.partition("=")[2] for one in sys.argv[3:]}
    parts, seeds = own.pop("held").split(","), int(own.pop("seeds", "1"))
    seconds, more = float(own.pop("seconds", "0")), float(own.pop("taught", "0"))
    teachers = int(own.pop("teachers", str(seeds)))
    settings = _settings([f"{name}={value}" for name, value in own.items()])
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    torch.manual_seed(settings.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    table = json.loads((data / "examples.json").read_text())
    examples, outputs = table["examples"], len(table["categories"]) + 1
    windows = Windows(examples, outputs, settings, device)
    weights = load_weights(data / "minilm.npz", device)

    def trained(each: list[tuple[str, int]], seconds: float, taught: Taught | None = None) -> Readers:
        model = Readers(weights, len(each), outputs, settings, kind).to(device)
        allowed = {part: {r for r, one in enumerate(examples) if not _is_held(one, part)} for part, _ in each}
        courses = [Course(examples, allowed[part], settings, seed) for part, seed in each]
        train(model, windows, courses, settings, seconds, taught)
        return model

    each = [(part, seed) for part in parts for seed in range(seeds)]
    if more:
        first = [(part, seed) for part in parts for seed in range(teachers)]
        model = trained(first, seconds)
        _tell(model, windows, examples, first, out, outputs - 1, "fold")
        untold = [row for row, one in enumerate(examples) if one["of"] == "untold"]
        model = trained(each, more, Taught(model, windows, untold, [part for part, _ in first], each))
    else:
        model = trained(each, seconds)
    for place, (part, seed) in enumerate(each):
        if part == "none":
            _export(model, place, out / f"reader{seed}.npz")
    _tell(model, windows, examples, each, out, outputs - 1, "fold")
    _mix(model, each)
    _tell(model, windows, examples, each, out, outputs - 1, "mixed_fold")
    return 0


def _tell(
    model: Readers, windows: Windows, examples: list[Example], each: list[tuple[str, int]], out: Path, outputs: int,
    name: str,
) -> None:  # fmt: skip
    model.eval()
    every: dict[str, list[list[list[Any]]]] = {"": [], "one_": []}
    for part in dict.fromkeys(part for part, _ in each if part != "none"):
        rows = [r for r, one in enumerate(examples) if _is_held(one, part) and not one["shifted"]]
        logits = judge(model, windows, rows)
        mine = [place for place, (other, _) in enumerate(each) if other == part]
        for kind, chosen in (("", mine), ("one_", mine[:1])):
            found = told(examples, rows, logits[chosen].mean(0))
            every[kind] += [found]
            print(f"{kind}{name}{part}: {_report([examples[r] for r in rows], found, outputs)}", flush=True)
    for kind, parts in every.items():
        (out / f"{kind}{name}s.json").write_text(json.dumps({"held": [one for part in parts for one in part]}))


@torch.no_grad()
def _mix(model: Readers, each: list[tuple[str, int]]) -> None:
    """Every model becomes the mean of those that held the same part back."""
    for one in model.parameters():
        for part in {part for part, _ in each}:
            mine = [place for place, (other, _) in enumerate(each) if other == part]
            one[mine] = one[mine].mean(0, keepdim=True).expand(len(mine), *one.shape[1:])


def _export(model: Readers, place: int, path: Path) -> None:
    parts = dict(model.encoder.changes(place))
    parts["head.weight"] = model.head[place].detach().cpu().numpy().astype(np.float32)
    parts["head.bias"] = model.bias[place, 0].detach().cpu().numpy().astype(np.float32)
    np.savez(path, **parts)


if __name__ == "__main__":
    sys.exit(main())
