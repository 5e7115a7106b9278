"""A long file is embedded in slices: its job gives its turn away, goes on in the middle, and leaves nothing behind."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

import numpy as np
import pytest

from mnemon.app import Mnemon
from mnemon.documents.ingest import reader, slices
from mnemon.log.events import SYSTEM
from mnemon.models.embedder import Purpose, Vectors
from mnemon.models.failures import EmbedderUnavailable
from tests.documents.conftest import RunReaches, Upload, Work, rows
from tests.patience import PATIENCE
from tests.work.conftest import Eventually

SECTIONS = 12
LONG_FILE = "\n\n".join(f"# Section {number}\n\nWhat is said in section {number}." for number in range(SECTIONS))
LEFT = """
SELECT (SELECT count(*) FROM mnemon.run_readings) AS readings, (SELECT count(*) FROM mnemon.run_vectors) AS vectors
"""


class Counting:
    """An embedder that remembers every text it was given, and can fail or wait at one of its calls."""

    model_id, dimension, source = "counting@1", 3, "test"

    def __init__(self, fails_at: int = 0, waits_at: int = 0) -> None:
        self.seen: Counter[str] = Counter()
        self.calls = 0
        self.fails_at, self.waits_at = fails_at, waits_at
        self.reached, self.open = asyncio.Event(), asyncio.Event()

    async def embed(self, texts: Sequence[str], purpose: Purpose = "bulk") -> Vectors:
        self.calls += 1
        if self.calls == self.fails_at:
            raise EmbedderUnavailable("The model is away.")
        if self.calls == self.waits_at:
            self.reached.set()
            await self.open.wait()
        self.seen.update(texts)
        return np.array([[1, len(self.seen), 0]] * len(texts), np.float32)

    async def close(self) -> None:
        self.open.set()


@pytest.fixture(autouse=True)
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn ends after each slice of two chunks."""
    monkeypatch.setattr(slices, "LONG", 4)
    monkeypatch.setattr(slices, "SLICE", 2)
    monkeypatch.setattr(slices, "STRETCH_SECONDS", -1.0)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Each time that a file is read."""
    seen: list[str] = []
    read = reader.within_limits

    async def counted(*arguments: object) -> object:
        seen.append("once")
        return await read(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(reader, "within_limits", counted)
    return seen


async def test_a_long_file_gives_its_turn_away_and_goes_on_in_the_middle(
    upload: Upload, work: Work, run_reaches: RunReaches, mnemon: Mnemon, tenant: UUID, readings: list[str]
) -> None:
    embedder = mnemon.__dict__["embedder"] = Counting()
    long = (await upload(LONG_FILE, "long.md")).json()
    await work(slots=1)
    done = await run_reaches(long["run_id"], "succeeded", "failed")
    assert (done["status"], done["attempts"], done["stats"]["chunks_created"]) == ("succeeded", 1, SECTIONS)
    assert done["stats"]["embed_ms"] >= 0
    assert (len(readings), embedder.calls, set(embedder.seen.values())) == (1, SECTIONS / 2, {1})
    stored = await rows(
        mnemon, tenant,
        "SELECT c.ordinal, (v.embedding::real[])[2] AS at FROM mnemon.chunks c JOIN mnemon.chunk_vectors v "
        "USING (tenant_id, chunk_id) ORDER BY ordinal",
    )  # fmt: skip
    # Each slice's vectors say how many texts had been embedded by then.
    assert [row["at"] for row in stored] == [number - number % 2 + 2 for number in range(SECTIONS)]
    assert await rows(mnemon, tenant, LEFT) == [{"readings": 0, "vectors": 0}]


async def test_a_small_file_comes_in_between(
    upload: Upload, work: Work, run_reaches: RunReaches, mnemon: Mnemon
) -> None:
    embedder = mnemon.__dict__["embedder"] = Counting(waits_at=2)
    long = (await upload(LONG_FILE, "long.md")).json()
    await work(slots=1)
    async with asyncio.timeout(PATIENCE):
        await embedder.reached.wait()
    small = (await upload("A short note.")).json()
    embedder.open.set()
    for told in (small, long):
        assert (await run_reaches(told["run_id"], "succeeded", "failed"))["status"] == "succeeded"
    assert list(embedder.seen).index("A short note.") == 4


async def test_an_attempt_that_failed_costs_one_slice(
    upload: Upload, work: Work, run_reaches: RunReaches, mnemon: Mnemon, readings: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(EmbedderUnavailable, "retry", True)
    embedder = mnemon.__dict__["embedder"] = Counting(fails_at=4)
    long = (await upload(LONG_FILE, "long.md")).json()
    await work(slots=1)
    done = await run_reaches(long["run_id"], "succeeded", "failed")
    assert (done["status"], done["attempts"]) == ("succeeded", 2)
    assert (len(readings), set(embedder.seen.values()), len(embedder.seen)) == (1, {1}, SECTIONS)


async def test_a_run_whose_model_fails_for_good_is_stored_without_vectors_and_keeps_no_slices(
    upload: Upload, work: Work, run_reaches: RunReaches, mnemon: Mnemon, tenant: UUID
) -> None:
    mnemon.__dict__["embedder"] = Counting(fails_at=3)
    long = (await upload(LONG_FILE, "long.md")).json()
    await work(slots=1)
    done = await run_reaches(long["run_id"], "succeeded", "failed")
    assert (done["status"], done["stats"]["without_vectors"]) == ("succeeded", "The model is away.")
    assert await rows(mnemon, tenant, LEFT) == [{"readings": 0, "vectors": 0}]


async def test_a_purge_in_the_middle_leaves_nothing_and_nothing_is_added_after(
    upload: Upload, work: Work, mnemon: Mnemon, tenant: UUID, eventually: Eventually
) -> None:
    embedder = mnemon.__dict__["embedder"] = Counting(waits_at=3)
    long = (await upload(LONG_FILE, "long.md")).json()
    worker = await work(slots=1)
    async with asyncio.timeout(PATIENCE):
        await embedder.reached.wait()
    assert await rows(mnemon, tenant, LEFT) == [{"readings": 1, "vectors": 2}]
    await mnemon.purge_document(tenant, SYSTEM, UUID(long["doc_id"]))
    embedder.open.set()

    async def idle() -> bool:
        return worker.running == 0

    await eventually(idle)
    assert await rows(mnemon, tenant, LEFT) == [{"readings": 0, "vectors": 0}]


async def test_a_reading_of_another_version_is_made_anew(
    upload: Upload, work: Work, run_reaches: RunReaches, mnemon: Mnemon, tenant: UUID, readings: list[str]
) -> None:
    embedder = mnemon.__dict__["embedder"] = Counting(waits_at=2)
    long = (await upload(LONG_FILE, "long.md")).json()
    await work(slots=1)
    async with asyncio.timeout(PATIENCE):
        await embedder.reached.wait()
    async with mnemon.database.owner() as owner:
        await owner.execute("UPDATE mnemon.run_readings SET reading = %s", (slices.zlib.compress(b'{"other": 1}'),))
    embedder.open.set()
    done = await run_reaches(long["run_id"], "succeeded", "failed")
    assert (done["status"], len(readings)) == ("succeeded", 2)
