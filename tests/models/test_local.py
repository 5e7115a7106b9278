"""Bulk work and queries share the machine: the event loop stays free and queries do not wait in line."""

import asyncio
import threading
from pathlib import Path

import numpy as np

from mnemon.models.embedder import EMBEDDED
from mnemon.models.local import LocalEmbedder
from tests.patience import PATIENCE

CHUNK = "The committee decided to postpone the migration until the audit is over. " * 16


async def test_no_texts_give_no_rows(embedder: LocalEmbedder) -> None:
    vectors = await embedder.embed([])
    assert vectors.shape == (0, 384)
    assert vectors.dtype == np.float32


async def test_a_query_overtakes_the_bulk_work(embedder: LocalEmbedder) -> None:
    await embedder.embed(["warm up"])
    bulk = asyncio.create_task(embedder.embed([CHUNK] * 200))
    await asyncio.sleep(0)
    for number in range(5):
        await asyncio.wait_for(embedder.embed([f"who decided number {number}?"], purpose="query"), PATIENCE)
    assert not bulk.done()
    bulk.cancel()
    await asyncio.gather(bulk, return_exceptions=True)


async def test_a_cancelled_call_frees_the_threads(embedder: LocalEmbedder) -> None:
    bulk = asyncio.create_task(embedder.embed([CHUNK] * 4_000))
    await asyncio.sleep(0)
    bulk.cancel()
    await asyncio.gather(bulk, return_exceptions=True)
    assert (await asyncio.wait_for(embedder.embed(["next"]), PATIENCE)).shape == (1, 384)


async def test_the_event_loop_runs_on_during_bulk_work(embedder: LocalEmbedder) -> None:
    await embedder.embed(["warm up"])
    bulk = asyncio.create_task(embedder.embed([CHUNK] * 16))
    turns = 0
    while not bulk.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert turns > 20


async def test_queries_without_end_do_not_starve_bulk_work(embedder: LocalEmbedder) -> None:
    bulk = asyncio.create_task(embedder.embed(["a short text"] * 16))

    async def ask_on() -> None:
        while not bulk.done():
            await embedder.embed(["again and again?"], purpose="query")

    await asyncio.wait_for(asyncio.gather(ask_on(), ask_on(), bulk), PATIENCE)


async def test_what_was_embedded_is_counted(embedder: LocalEmbedder) -> None:
    def counted() -> float:
        return EMBEDDED.labels(embedder.model_id, "bulk")._value.get()

    before = counted()
    await embedder.embed(["one", "two", "three"])
    assert counted() == before + 3


async def test_a_closed_embedder_leaves_no_thread(model_home: Path) -> None:
    opened = LocalEmbedder(model_home)
    before = {thread for thread in threading.enumerate() if thread.name.startswith("embed-")}
    await opened.embed(["a text"])
    await opened.close()
    assert {thread for thread in threading.enumerate() if thread.name.startswith("embed-")} == before


async def test_the_texts_of_a_query_come_back_in_their_order_whichever_core_took_them(embedder: LocalEmbedder) -> None:
    texts = [f"sentence number {number}" for number in range(5)]
    together = await embedder.embed(texts, purpose="query")
    assert np.array_equal(together, np.concatenate([await embedder.embed([one]) for one in texts]))
