"""How much hardware so many documents and tenants need: `python bench/capacity.py --documents 10000000 --tenants 1000`.

Sizes and core-hours come from rates that were measured (see docs/guide/capacity.md for which bench gave which). A day
is then simulated minute by minute: tenants of very different sizes, most work in office hours, bursts of imports; the
workers take what waits, and what is printed is how long a document waits until it can be found.
"""

import argparse
import json
from dataclasses import dataclass

import numpy as np

GIB = 1 << 30
MINUTES = 24 * 60


@dataclass(frozen=True)
class Rates:
    """One core's work, and the bytes that a row takes with its indexes."""

    chunks_embedded: float = 17.7
    chunks_read: float = 100.0
    chunks_stored: float = 541.0
    searches: float = 40.0
    chunk_bytes: int = 4_500
    vector_bytes: int = 1_660
    index_bytes: int = 1_280
    event_bytes: int = 1_760
    file_bytes: int = 100_000


@dataclass(frozen=True)
class Asked:
    documents: int
    tenants: int
    chunks: int
    fresh: float
    searches: int
    cores: int | None


def sizes(asked: Asked, rates: Rates) -> dict[str, float]:
    chunks = asked.documents * asked.chunks
    # Received, read, indexed, and about five statements found in it.
    events = asked.documents * 8
    return {
        "chunks": chunks,
        "text_and_terms_gib": chunks * rates.chunk_bytes / GIB,
        "vectors_gib": chunks * rates.vector_bytes / GIB,
        "vector_index_gib": chunks * rates.index_bytes / GIB,
        "log_gib": events * rates.event_bytes / GIB,
        "bucket_gib": asked.documents * rates.file_bytes / GIB,
        "first_load_core_hours": core_seconds(chunks, rates) / 3600,
    }


def core_seconds(chunks: float, rates: Rates) -> float:
    return chunks * (1 / rates.chunks_embedded + 1 / rates.chunks_read + 1 / rates.chunks_stored)


def arrivals(asked: Asked, chance: np.random.Generator) -> np.ndarray:
    """Documents per minute and tenant. Sizes of tenants follow Zipf; a few import a week's worth at once."""
    share = 1 / np.arange(1, asked.tenants + 1)
    share /= share.sum()
    hours = np.arange(MINUTES) / 60
    day = 0.15 + np.exp(-((hours - 10.5) ** 2) / 4) + 0.8 * np.exp(-((hours - 15) ** 2) / 5)
    day /= day.sum()
    expected = asked.documents * asked.fresh * np.outer(day, share)
    found = chance.poisson(expected)
    for tenant in chance.choice(asked.tenants, max(1, asked.tenants // 200), replace=False):
        found[chance.integers(MINUTES), tenant] += int(asked.documents * asked.fresh * share[tenant] * 5)
    return found


def wait_of(load: np.ndarray, asked: Asked, rates: Rates, cores: int) -> tuple[float, float, float]:
    """Minutes until a document is found, the middle and the worst in a hundred; and how busy workers are."""
    of_a_minute = 60 * cores / core_seconds(asked.chunks, rates)
    came = load.sum(axis=1)
    done = np.zeros(4 * MINUTES)
    backlog = 0.0
    for minute in range(len(done)):
        backlog += came[minute] if minute < MINUTES else 0
        done[minute] = min(backlog, of_a_minute)
        backlog -= done[minute]
    came_by, done_by = np.cumsum(came), np.cumsum(done)
    if done_by[-1] < came_by[-1] - 1:
        return float("inf"), float("inf"), 1.0
    numbers = np.arange(0, came_by[-1], max(1, came_by[-1] // 100_000))
    waits = np.searchsorted(done_by, numbers + 1 - 1e-6) - np.searchsorted(came_by, numbers, side="right")
    waits = np.maximum(waits, 0) + 1
    return float(np.median(waits)), float(np.quantile(waits, 0.99)), done[:MINUTES].sum() / of_a_minute / MINUTES


def enough(load: np.ndarray, asked: Asked, rates: Rates) -> int:
    """The fewest cores with which one document in a hundred waits more than a quarter of an hour."""
    for cores in (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512):
        if wait_of(load, asked, rates, cores)[1] <= 15:
            return cores
    raise SystemExit("More than 512 cores of workers: use a GPU for the first load, or several clusters.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000_000)
    parser.add_argument("--tenants", type=int, default=1_000)
    parser.add_argument("--chunks", type=int, default=10, help="chunks of a document, of 256 tokens")
    parser.add_argument("--fresh", type=float, default=0.002, help="part of the documents that is new each day")
    parser.add_argument("--searches", type=int, default=500_000, help="searches and answers a day")
    parser.add_argument("--cores", type=int, help="cores of workers; without this the fewest that do")
    parser.add_argument("--embedded", type=float, default=Rates.chunks_embedded, help="chunks a core embeds a second")
    told = vars(parser.parse_args())
    rates = Rates(chunks_embedded=told.pop("embedded"))
    given = Asked(**told)
    load = arrivals(given, np.random.default_rng(19))
    found = sizes(given, rates)
    cores = given.cores or enough(load, given, rates)
    middle, unlucky, busy = wait_of(load, given, rates, cores)
    found |= {"worker_cores": cores, "wait_p50_min": middle, "wait_p99_min": unlucky, "workers_busy": busy,
              "fresh_documents": int(load.sum()), "gateway_cores": peak_searches(given) / rates.searches,
              "largest_tenant_gib": largest(given, found)}  # fmt: skip
    for name, value in found.items():
        print(f"{name:<24}{value:>16,.1f}")
    print(json.dumps({"bench": "capacity", "results": {name: round(float(value), 2) for name, value in found.items()}}))


def peak_searches(asked: Asked) -> float:
    """A second of the busiest hour, with a fifth of the day's searches."""
    return asked.searches * 0.2 / 3600


def largest(asked: Asked, found: dict[str, float]) -> float:
    share = 1 / (1 / np.arange(1, asked.tenants + 1)).sum()
    return share * sum(found[name] for name in ("text_and_terms_gib", "vectors_gib", "vector_index_gib", "log_gib"))


if __name__ == "__main__":
    main()
