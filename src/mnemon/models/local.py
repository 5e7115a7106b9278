"""Embeds on this machine's processor: every core for bulk work, and queries ahead of it."""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from mnemon.models.bulk_line import BulkLine, BulkSlice
from mnemon.models.embedder import Purpose, Vectors, count_embedded
from mnemon.models.minilm.graph import DIMENSION, NAME, REVISION
from mnemon.models.minilm.session import MiniLM

SLICE = 8
BULK_NICENESS = 10
GIVE_WAY_SECONDS = 0.1


class LocalEmbedder:
    """all-MiniLM-L6-v2, each text calculated alone, so that its vector cannot depend on what else is embedded."""

    model_id = f"{NAME}@{REVISION}"
    dimension = DIMENSION

    def __init__(self, home: Path, folder: Path | None = None, threads: int = 0) -> None:
        self._threads = threads or _cores()
        self.source = str(folder) if folder else "the installed weights"
        self._home = home
        self._folder = folder
        self._model: MiniLM | None = None
        self._loading = threading.Lock()
        self._queries = _QueriesFirst()
        self._line = BulkLine()
        self._bulk = ThreadPoolExecutor(self._threads, "embed-bulk", _lower_priority)
        self._quick = ThreadPoolExecutor(self._threads, "embed-query")

    async def embed(self, texts: Sequence[str], purpose: Purpose = "bulk") -> Vectors:
        """One row per text. A `query` does not wait for `bulk` work, and bulk work takes turns (`in_turn`)."""
        started = time.perf_counter()
        waits = self._ask(texts) if purpose == "query" else self._line_up(texts)
        parts = await asyncio.gather(*waits)
        count_embedded(self.model_id, purpose, len(texts), time.perf_counter() - started)
        return np.concatenate(parts) if parts else np.empty((0, DIMENSION), np.float32)

    async def close(self) -> None:
        self._line.disperse()
        for pool in (self._bulk, self._quick):
            await asyncio.to_thread(pool.shutdown, cancel_futures=True)

    def _ask(self, texts: Sequence[str]) -> "list[asyncio.Future[Vectors]]":
        """Somebody waits for a query: its texts are shared out among all cores."""
        loop = asyncio.get_running_loop()
        each = min(SLICE, -(-len(texts) // self._threads))
        return [loop.run_in_executor(self._quick, self._embed_query, part) for part in _sliced(texts, each)]

    def _line_up(self, texts: Sequence[str]) -> "list[asyncio.Future[Vectors]]":
        """Each thread that is free takes the slice whose turn it is, whoever's that may be."""
        slices = [BulkSlice(part) for part in _sliced(texts, SLICE)]
        if slices:
            self._line.join(slices)
        for _ in slices:
            self._bulk.submit(self._embed_next)
        return [asyncio.wrap_future(one.vectors) for one in slices]

    def _embed_next(self) -> None:
        taken = self._line.take()
        if taken is None:
            return
        try:
            taken.vectors.set_result(self._embed_bulk(taken.texts))
        except BaseException as failure:
            taken.vectors.set_exception(failure)

    def _embed_query(self, texts: Sequence[str]) -> Vectors:
        with self._queries.one_more():
            return np.stack([self._loaded().vector(text) for text in texts])

    def _embed_bulk(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._loaded().vector(text, self._queries.give_way) for text in texts])

    def _loaded(self) -> MiniLM:
        if self._model is None:
            with self._loading:
                self._model = self._model or MiniLM.open(self._home, self._folder)
        return self._model


class _QueriesFirst:
    """Bulk threads pause between two texts while a query runs, but never for long: queries cannot starve them."""

    def __init__(self) -> None:
        self._running = 0
        self._counting = threading.Lock()
        self._none_running = threading.Event()
        self._none_running.set()

    @contextmanager
    def one_more(self) -> Iterator[None]:
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def give_way(self) -> None:
        self._none_running.wait(GIVE_WAY_SECONDS)

    def _count(self, change: int) -> None:
        with self._counting:
            self._running += change
            if self._running:
                self._none_running.clear()
            else:
                self._none_running.set()


def _sliced(texts: Sequence[str], each: int) -> list[Sequence[str]]:
    return [texts[at : at + each] for at in range(0, len(texts), each or 1)]


def _cores() -> int:
    """Those that this process may use, which in a container are fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _lower_priority() -> None:
    """Linux gives each thread a priority of its own, so a query takes the core from a text in progress."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), BULK_NICENESS)
