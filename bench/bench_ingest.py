"""From upload to search: acknowledgement, documents per second, and search and ask at 100,000 chunks beside Chroma."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import numpy as np
from corpus import Corpus, make_corpus
from neighbour_bench import measure_neighbour
from passages import add_document, add_tenant, own_database
from small_files_bench import measure_small_files
from upload_bench import measure_uploads
from vector_cache import CachedEmbedder

from mnemon.ask.answer import Asking
from mnemon.ask.search import Searcher
from mnemon.db.database import Database
from mnemon.log.events import SYSTEM
from mnemon.log.store import EventLog
from mnemon.models.active import ModelInUse
from mnemon.models.choose import open_embedder
from mnemon.models.embedder import Vectors
from mnemon.models.language import NoLanguageModel
from mnemon.models.vector_index import ensure_vector_index
from mnemon.models.vectors import as_vector
from mnemon.search.ranking import Ranking
from mnemon.settings import load_settings
from mnemon.telemetry import configure_logging

QUICK = bool(os.environ.get("QUICK"))
DATA = Path(os.environ.get("MNEMON_EVAL_DATA") or Path(__file__).parents[2] / "shared" / "eval")
ROOT = Path(__file__).parents[1]
SMALL, LARGE = (1_000, 4_000) if QUICK else (10_000, 100_000)
QUESTIONS = 40 if QUICK else 200
PER_DOCUMENT = 50
TOP = 10
PEER_FOLDER = ROOT / ".make" / "bench-ingest"
PEER_PACKAGE = "chromadb==1.5.9"
NEAREST = "SELECT doc_version_id, ordinal FROM mnemon.nearest_chunks(%s::vector, NULL, %s, %s)"


@dataclass(frozen=True)
class Times:
    """Milliseconds of repeated calls."""

    milliseconds: Sequence[float]

    @property
    def p50(self) -> float:
        return statistics.median(self.milliseconds)

    @property
    def p95(self) -> float:
        return float(np.quantile(self.milliseconds, 0.95))


async def timed(call: Callable[[str], Awaitable[object]], questions: Sequence[str]) -> Times:
    """The first few warm connections, plans and caches up and do not count."""
    for question in questions[:10]:
        await call(question)
    milliseconds = []
    for question in questions:
        began = time.perf_counter()
        await call(question)
        milliseconds.append((time.perf_counter() - began) * 1000)
    return Times(milliseconds)


class Shelf:
    """The corpus in a database, loaded in two steps."""

    def __init__(self, database: Database, tenant: UUID, corpus: Corpus, model: ModelInUse) -> None:
        self.database, self.tenant, self.corpus, self.model = database, tenant, corpus, model
        self.rows: dict[tuple[UUID, int], int] = {}

    async def load(self, first: int, last: int) -> float:
        """Store these passages as the worker does; chunks per second."""
        began = time.perf_counter()
        for at in range(first, last, PER_DOCUMENT):
            passages = self.corpus.passages[at : at + PER_DOCUMENT]
            vectors = self.corpus.vectors[at : at + PER_DOCUMENT]
            async with self.database.transaction(self.tenant) as tx:
                revision = await add_document(tx, self.tenant, f"Meeting {at}", passages, vectors, self.model)
            self.rows |= {(revision, ordinal): at + ordinal for ordinal in range(len(passages))}
        return (last - first) / (time.perf_counter() - began)

    async def load_in_bulk(self, first: int, last: int) -> None:
        """The same rows, with the two large indexes built at the end: that much quicker, and no different after."""
        async with self.database.owner() as owner:
            definitions = await (
                await owner.execute(
                    "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'mnemon' "
                    "AND indexname IN ('chunk_terms_today') OR indexname LIKE 'chunk_vectors_near%'"
                )
            ).fetchall()
            for one in definitions:
                await owner.execute(f"DROP INDEX mnemon.{one['indexname']}".encode())
        await self.load(first, last)
        async with self.database.owner() as owner:
            await owner.execute("SET maintenance_work_mem = '1GB'")
            for one in definitions:
                await owner.execute(one["indexdef"].encode())

    async def settle(self) -> None:
        async with self.database.owner() as owner:
            await ensure_vector_index(owner, "mnemon.chunk_vectors", self.model)
            await owner.execute("VACUUM ANALYZE mnemon.chunks, mnemon.chunk_terms, mnemon.chunk_vectors")
            await owner.execute("VACUUM ANALYZE mnemon.term_counts, mnemon.documents, mnemon.document_revisions")
            # The product asks for both at once; here the vectors alone are compared with a peer's.
            await owner.execute("GRANT EXECUTE ON FUNCTION mnemon.nearest_chunks TO mnemon_app")

    async def nearest(self, vector: Vectors, exhaustive: bool = False) -> list[int]:
        async with self.database.transaction(self.tenant) as tx:
            found = await (await tx.execute(NEAREST, (as_vector(vector), exhaustive, TOP))).fetchall()
        return [self.rows[row["doc_version_id"], row["ordinal"]] for row in found]


def recall_at_top(found: Sequence[Sequence[int]], exact: Sequence[Sequence[int]]) -> float:
    return statistics.mean(len(set(one) & set(other)) / TOP for one, other in zip(found, exact, strict=True))


def exact_of(vectors: Vectors, questions: Vectors) -> list[list[int]]:
    return [np.argsort(-(vectors @ question))[:TOP].tolist() for question in questions]


def install_chroma() -> Path:
    python = PEER_FOLDER / "bin" / "python"
    if not (PEER_FOLDER / "installed").exists():
        print("Installing Chroma for the comparison (once)")
        venv.create(PEER_FOLDER, with_pip=True, clear=True, symlinks=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", PEER_PACKAGE], check=True)
        (PEER_FOLDER / "installed").touch()
    return python


def ask_chroma(vectors: Vectors, questions: Vectors) -> tuple[Times, list[list[int]], float]:
    python = install_chroma()
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / "vectors.npy", Path(folder) / "questions.npy"]
        for file, rows in zip(files, (vectors, questions), strict=True):
            np.save(file, rows)
        script = Path(__file__).parent / "chroma_peer.py"
        ran = subprocess.run([python, script, *files, str(TOP)], check=True, capture_output=True, text=True)
    answer = json.loads(ran.stdout.splitlines()[-1])
    return Times(answer["milliseconds"]), answer["found"], answer["loaded"]


async def measure_search(results: dict[str, float]) -> None:
    """Search and ask at two sizes, then the vectors alone beside Chroma."""
    embedder = open_embedder(load_settings())
    cached = CachedEmbedder(embedder)
    print(f"Making {LARGE:,} passages")
    corpus = await make_corpus(DATA, cached, LARGE, QUESTIONS)
    model = ModelInUse(embedder.model_id, corpus.vectors.shape[1])
    asked = await embedder.embed(corpus.questions)
    async with own_database() as database, EventLog(database) as log:
        shelf = Shelf(database, await add_tenant(database), corpus, model)
        searcher = Searcher(database, lambda _: embedder, Ranking())
        asking = Asking(searcher, log, NoLanguageModel())

        async def search(question: str) -> None:
            await searcher.search(shelf.tenant, question)

        async def ask(question: str) -> None:
            await asking.ask(shelf.tenant, SYSTEM, question)

        rate = await shelf.load(0, SMALL)
        await shelf.settle()
        at_small = await timed(search, corpus.questions)
        await shelf.load_in_bulk(SMALL, LARGE)
        await shelf.settle()
        at_large, asks = await timed(search, corpus.questions), await timed(ask, corpus.questions)
        print(f"\nStored without embedding: {rate:,.0f} chunks/s, all indexes in place")
        print(f"{'':34}{'p50 ms':>9}{'p95 ms':>9}")
        for name, times in (
            (f"search at {SMALL:,} chunks", at_small),
            (f"search at {LARGE:,} chunks", at_large),
            (f"ask without a model at {LARGE:,}", asks),
        ):
            print(f"{name:34}{times.p50:9.1f}{times.p95:9.1f}")
        await compare(shelf, asked, results)
    results |= {
        "search_p95_ms_100k": at_large.p95,
        "ask_p95_ms_100k": asks.p95,
        "search_growth_10k_100k": at_large.p50 / at_small.p50,
    }
    await cached.close()


async def compare(shelf: Shelf, asked: Vectors, results: dict[str, float]) -> None:
    exact = exact_of(shelf.corpus.vectors, asked)
    for vector in asked[:10]:
        await shelf.nearest(vector)
    milliseconds, found = [], []
    for vector in asked:
        began = time.perf_counter()
        found.append(await shelf.nearest(vector))
        milliseconds.append((time.perf_counter() - began) * 1000)
    ours = Times(milliseconds)
    theirs, their_found, loaded = ask_chroma(shelf.corpus.vectors, asked)
    print(f"\n{'vectors alone, top 10':34}{'p50 ms':>9}{'p95 ms':>9}{'recall':>9}")
    print(f"{'mnemon, one tenant, active only':34}{ours.p50:9.1f}{ours.p95:9.1f}{recall_at_top(found, exact):9.3f}")
    print(f"{'chroma':34}{theirs.p50:9.1f}{theirs.p95:9.1f}{recall_at_top(their_found, exact):9.3f}")
    print(f"Chroma loaded in {loaded:.0f} s. A ratio above 1 means that ours is quicker: {theirs.p50 / ours.p50:.2f}.")
    results["search_vs_chroma"] = theirs.p50 / ours.p50


async def main() -> None:
    configure_logging("WARNING")
    if not (DATA / "explainmeetsum").is_dir():
        sys.exit(f"There is no evaluation data in {DATA}: set MNEMON_EVAL_DATA to its folder.")
    results: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        results |= await measure_small_files(Path(folder))
    results |= await measure_uploads(QUICK)
    results |= await measure_neighbour(QUICK)
    await measure_search(results)
    print(json.dumps({"bench": "ingest", "results": {name: round(value, 3) for name, value in results.items()}}))


if __name__ == "__main__":
    asyncio.run(main())
