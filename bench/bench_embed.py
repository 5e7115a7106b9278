"""How fast texts become vectors, beside sentence-transformers on the same weights, in alternating rounds."""

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mnemon.models.local import BULK_NICENESS, LocalEmbedder
from mnemon.models.tokens import ModelTokenizer
from mnemon.models.weights import find_weights
from mnemon.telemetry import configure_logging

QUICK = bool(os.environ.get("QUICK"))
ROUNDS = 2 if QUICK else 5
SENTENCES, CHUNKS, QUERIES = (60, 10, 100) if QUICK else (240, 48, 400)
ROOT = Path(__file__).parents[1]
PEER_FOLDER = ROOT / ".make" / "bench-embed"
PEER_PACKAGES = ("torch==2.13.0", "sentence-transformers")
QUESTIONS = ("who approved the budget?", "when does the contract end?", "which risks does the release have?")

PEER = """
import json, os, sys, time, torch
os.nice(int(sys.argv[2]))
from sentence_transformers import SentenceTransformer
model = SentenceTransformer(sys.argv[1], device="cpu")
for line in sys.stdin:
    order = json.loads(line)
    torch.set_num_threads(order["threads"])
    began = time.perf_counter()
    vectors = model.encode(order["texts"], batch_size=32, show_progress_bar=False)
    took = time.perf_counter() - began
    print(json.dumps({"seconds": took, "vectors": vectors.tolist() if order["vectors"] else None}), flush=True)
"""
MEMORY = """
import asyncio, resource, sys
from pathlib import Path
from mnemon.models.local import LocalEmbedder
async def main():
    embedder = LocalEmbedder(Path(sys.argv[1]))
    await embedder.embed(sys.stdin.read().split("\\0"))
    await embedder.close()
asyncio.run(main())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@dataclass
class Rates:
    """Texts per second of each round, by what and with how many threads."""

    seen: dict[tuple[str, str, int], list[float]] = field(default_factory=dict)

    def add(self, who: str, what: str, threads: int, rate: float) -> None:
        self.seen.setdefault((who, what, threads), []).append(rate)

    def of(self, who: str, what: str, threads: int) -> float:
        return statistics.median(self.seen[who, what, threads])

    def ratio(self, what: str, threads: int) -> float:
        """The median of the rounds' own ratios, so that a slow minute of the machine weighs on both."""
        pairs = zip(self.seen["mnemon", what, threads], self.seen["peer", what, threads], strict=True)
        return statistics.median(ours / theirs for ours, theirs in pairs)


class Peer:
    """sentence-transformers in a process and an environment of its own."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    @classmethod
    def start(cls) -> "Peer | None":
        python = PEER_FOLDER / "bin" / "python"
        if not (PEER_FOLDER / "ready").exists() and not cls._install(python):
            return None
        # Bulk work gives way to others on a busy machine; so that both do, the peer gets the same priority.
        command = [python, "-c", PEER, str(find_weights().folder), str(BULK_NICENESS)]
        return cls(
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        )

    @staticmethod
    def _install(python: Path) -> bool:
        print("Installing sentence-transformers with CPU torch into .make/bench-embed (minutes, once)")
        venv.create(PEER_FOLDER, with_pip=True, clear=True, symlinks=True)
        install = [python, "-m", "pip", "install", "--quiet", *PEER_PACKAGES]
        done = subprocess.run(install, capture_output=True, text=True, timeout=1800, check=False)
        if done.returncode:
            print(f"No comparison: {' and '.join(PEER_PACKAGES)} cannot be installed.\n{done.stderr.strip()[-300:]}")
            return False
        (PEER_FOLDER / "ready").touch()
        return True

    def embed(self, texts: list[str], threads: int, vectors: bool = False) -> dict[str, Any]:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps({"texts": texts, "threads": threads, "vectors": vectors}) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def stop(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(30)


def corpus() -> tuple[list[str], list[str]]:
    """Sentences as they come, and chunks of exactly 254 tokens and the model's two marks."""
    text = " ".join((ROOT / "LICENSE").read_text().split() + (find_weights().folder / "README.md").read_text().split())
    sentences = [part.strip() + "." for part in text.split(". ") if 5 <= len(part.split()) <= 60]
    spans = ModelTokenizer(find_weights().tokenizer).spans(text)
    step = (len(spans) - 254) // CHUNKS
    chunks = [text[spans[at * step][0] : spans[at * step + 253][1]] for at in range(CHUNKS)]
    return (sentences * (SENTENCES // len(sentences) + 1))[:SENTENCES], chunks


async def throughput(home: Path, peer: Peer | None, texts: dict[str, list[str]]) -> Rates:
    rates = Rates()
    embedders = {threads: LocalEmbedder(home, threads=threads) for threads in (1, 2)}
    for embedder in embedders.values():
        await embedder.embed(["warm up"])
    for _ in range(ROUNDS):
        for what, some in texts.items():
            for threads, embedder in embedders.items():
                began = time.perf_counter()
                await embedder.embed(some)
                rates.add("mnemon", what, threads, len(some) / (time.perf_counter() - began))
                if peer:
                    rates.add("peer", what, threads, len(some) / peer.embed(some, threads)["seconds"])
    for embedder in embedders.values():
        await embedder.close()
    return rates


async def query_times(embedder: LocalEmbedder, count: int, on: Callable[[], bool] = lambda: True) -> list[float]:
    """Milliseconds of queries that come a hundred times a second."""
    times: list[float] = []
    while len(times) < count and on():
        began = time.perf_counter()
        await embedder.embed([QUESTIONS[len(times) % 3]], purpose="query")
        times.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(0.01)
    return times


async def queries(home: Path, chunks: list[str]) -> tuple[list[float], list[float]]:
    """Alone, and while every core embeds chunks."""
    embedder = LocalEmbedder(home)
    await embedder.embed(["warm up"])
    alone = await query_times(embedder, QUERIES)
    bulk = asyncio.create_task(embedder.embed(chunks * 60))
    await asyncio.sleep(0.2)
    busy = await query_times(embedder, QUERIES, lambda: not bulk.done())
    bulk.cancel()
    await asyncio.gather(bulk, return_exceptions=True)
    await embedder.close()
    return alone, busy


async def least_cosine(home: Path, peer: Peer, texts: list[str]) -> float:
    theirs = np.array(peer.embed(texts, 2, vectors=True)["vectors"])
    embedder = LocalEmbedder(home)
    ours = await embedder.embed(texts)
    await embedder.close()
    return float((ours * theirs).sum(axis=1).min())


def memory(home: Path, chunks: list[str]) -> int:
    """Peak of a process that does nothing but embed with every core, in MB."""
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(home)], input="\0".join(chunks), capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[-1])


def report(rates: Rates, alone: list[float], busy: list[float], rss: int, cosine: float | None) -> None:
    results = {
        "sentences_per_s": round(rates.of("mnemon", "sentences", 2), 1),
        "chunks_per_s": round(rates.of("mnemon", "chunks", 2), 1),
        "query_p50_ms": round(float(np.percentile(alone, 50)), 2),
        "query_p99_busy_ms": round(float(np.percentile(busy, 99)), 2),
        "rss_mb": rss,
    }
    print(f"{'':<28}{'Mnemon':>10}" + (f"{'sentence-transformers':>24}{'ratio':>8}" if cosine else ""))
    for what in ("sentences", "chunks"):
        for threads in (1, 2):
            line = f"{what + '/s, threads: ' + str(threads):<28}{rates.of('mnemon', what, threads):>10.1f}"
            if cosine:
                line += f"{rates.of('peer', what, threads):>24.1f}{rates.ratio(what, threads):>8.2f}"
            print(line)
    for name, times in (("alone", alone), ("during bulk work", busy)):
        print(f"{'query ' + name + ', ms':<28}p50 {np.percentile(times, 50):.2f}  p99 {np.percentile(times, 99):.2f}")
    print(f"{'peak memory, MB':<28}{rss:>10}")
    if cosine:
        print(f"{'least cosine with the peer':<28}{cosine:>10.5f}")
        results["vs_sentence_transformers"] = round(
            min(rates.ratio(what, threads) for what in ("sentences", "chunks") for threads in (1, 2)), 2
        )
        results["least_cosine"] = round(cosine, 5)
    print(json.dumps({"bench": "embed", "results": results}))


async def main() -> None:
    configure_logging("WARNING")
    home = Path(tempfile.mkdtemp(prefix="mnemon-bench-"))
    peer = Peer.start()
    try:
        sentences, chunks = corpus()
        rates = await throughput(home, peer, {"sentences": sentences, "chunks": chunks})
        alone, busy = await queries(home, chunks)
        cosine = await least_cosine(home, peer, sentences + chunks) if peer else None
        report(rates, alone, busy, memory(home, chunks), cosine)
    finally:
        if peer:
            peer.stop()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    asyncio.run(main())
