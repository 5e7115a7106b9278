"""Claims about missing vectors: a model that is down, or the loss of vectors, leaves no text without one for good."""

import dataclasses
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.db.database import Connection
from mnemon.errors import MnemonError
from mnemon.memory import vectors as memory_vectors
from mnemon.memory.changing.change_events import Author
from mnemon.memory.gateway import Memory
from mnemon.models import missing_vectors, vector_tables
from mnemon.models.embedder import Embedder, NoEmbedder, Purpose, Vectors
from mnemon.models.failures import EmbedderUnavailable, ModelRequestRefused, ModelUnreachable
from mnemon.models.reembed import reembed_step
from mnemon.semantics.artifacts import NewArtifact, ingest_artifact
from mnemon.semantics.search.event_vectors import VECTOR_TABLE
from mnemon.work import model_jobs
from mnemon.work.enqueue import enqueue
from mnemon.work.kinds import NoPayload, kinds_named
from mnemon.work.model_jobs import EMBED_MISSING
from tests.ask.conftest import TopicEmbedder
from tests.documents.conftest import rows
from tests.documents.sample_chunks import put_document
from tests.memory.test_forgetting import erase
from tests.semantics.conftest import ADA, Added, Work
from tests.work.conftest import Eventually

WITHOUT_VECTOR = """
SELECT event_id FROM mnemon.semantic_events e
 WHERE NOT EXISTS (SELECT FROM mnemon.semantic_event_vectors v WHERE v.event_id = e.event_id)
"""
# Of each kind of text: how many there are, and how many of them have a vector of this model.
KINDS = {
    "passages": ("mnemon.chunks", "mnemon.chunk_vectors", "chunk_id"),
    "memory": ("mnemon.emo_texts", "mnemon.memory_vectors", "text_hash"),
    "semantic events": ("mnemon.semantic_events", "mnemon.semantic_event_vectors", "event_id"),
}
TEXTS = [
    "We decided to cut the budget.",
    "We decided to take the train.",
    "We decided to hire a lawyer.",
]


class ComesAndGoes(TopicEmbedder):
    """An embedder that fails as it is told to."""

    failure: MnemonError | None = None

    def __init__(self) -> None:
        self.refused = 0
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str], purpose: Purpose = "bulk") -> Vectors:
        if self.failure is not None:
            self.refused += 1
            raise self.failure
        self.texts.extend(texts)
        return await super().embed(texts, purpose)


@pytest.fixture
def embedder(mnemon: Mnemon, monkeypatch: pytest.MonkeyPatch) -> ComesAndGoes:
    made = ComesAndGoes()
    monkeypatch.setitem(vars(mnemon), "embedder", made)
    monkeypatch.setattr(model_jobs, "WAIT", timedelta(milliseconds=50))
    return made


async def take(mnemon: Mnemon, tenant: UUID, content: str) -> UUID:
    new = NewArtifact(artifact_type="note", source_system="test", content=content)
    return (await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)).doc_id


async def look_for_missing(mnemon: Mnemon, tenant: UUID) -> None:
    async with mnemon.database.transaction(tenant) as tx:
        await enqueue(tx, EMBED_MISSING, NoPayload())


async def with_vectors(mnemon: Mnemon, tenant: UUID, model_id: str) -> dict[str, tuple[int, int]]:
    found = {}
    for kind, (texts, vectors, key) in KINDS.items():
        count = f"""
            SELECT count(DISTINCT t.{key}) AS texts, count(v.{key}) AS vectors
              FROM {texts} t LEFT JOIN {vectors} v ON v.{key} = t.{key} AND v.model_id = %s"""
        [row] = await rows(mnemon, tenant, count, model_id)
        found[kind] = row["texts"], row["vectors"]
    return found


async def lose_vectors(mnemon: Mnemon, tenant: UUID, most: int | None = None) -> None:
    """Of every kind, by hand: nothing is told of it."""
    async with mnemon.database.transaction(tenant) as tx:
        for _, vectors, _ in KINDS.values():
            await tx.execute(
                f"DELETE FROM {vectors} WHERE ctid = ANY (ARRAY(SELECT ctid FROM {vectors} LIMIT %s))", (most,)
            )


async def remember(mnemon: Mnemon, tenant: UUID) -> None:
    for text in TEXTS:
        await mnemon.memory.changes.create(tenant, Memory.place(tenant), Author(ADA), content=text)


@pytest.mark.parametrize("failure", [EmbedderUnavailable("No weights."), ModelUnreachable("The server is down.")])
async def test_events_read_while_the_model_is_down_get_their_vectors_later(
    mnemon: Mnemon, tenant: UUID, work: Work, eventually: Eventually, embedder: ComesAndGoes, failure: MnemonError
) -> None:
    embedder.failure = failure
    for text in ("We decided to cut the budget.", "We decided to take the train."):
        await take(mnemon, tenant, text)
    await work()

    async def without_vector() -> int:
        return len(await rows(mnemon, tenant, WITHOUT_VECTOR))

    async def both_read() -> bool:
        return await without_vector() == 2

    async def all_have_one() -> bool:
        return await without_vector() == 0

    await eventually(both_read)
    embedder.failure = None
    await eventually(all_have_one)
    models = await rows(mnemon, tenant, "SELECT DISTINCT model_id FROM mnemon.semantic_event_vectors")
    assert models == [{"model_id": embedder.model_id}]


async def test_every_kind_of_text_taken_in_without_a_model_gets_its_vectors_once_there_is_one(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Callable[[], Awaitable[None]], embedder: ComesAndGoes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(missing_vectors, "LOOK", 2)
    monkeypatch.setattr(missing_vectors, "SLICE", 1)
    monkeypatch.setitem(vars(mnemon), "embedder", NoEmbedder("None is set."))
    for number, text in enumerate(TEXTS):
        await added(text, f"{number}.txt")
    await remember(mnemon, tenant)
    await look_for_missing(mnemon, tenant)
    await all_done()
    assert await with_vectors(mnemon, tenant, embedder.model_id) == dict.fromkeys(KINDS, (3, 0))

    monkeypatch.setitem(vars(mnemon), "embedder", embedder)
    await look_for_missing(mnemon, tenant)
    await all_done()
    assert await with_vectors(mnemon, tenant, embedder.model_id) == dict.fromkeys(KINDS, (3, 3))
    assert (await mnemon.memory.vectors.status(tenant)).behind == 0


async def test_the_job_waits_for_a_model_that_is_down_and_then_serves_every_kind(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Callable[[], Awaitable[None]], embedder: ComesAndGoes,
    eventually: Eventually,
) -> None:  # fmt: skip
    for number, text in enumerate(TEXTS):
        await added(text, f"{number}.txt")
    await all_done()
    await remember(mnemon, tenant)
    await lose_vectors(mnemon, tenant)
    embedder.failure = ModelUnreachable("The server is down.")
    refused = embedder.refused
    await look_for_missing(mnemon, tenant)

    async def was_asked() -> bool:
        return embedder.refused >= refused + 2

    await eventually(was_asked)
    assert await with_vectors(mnemon, tenant, embedder.model_id) == dict.fromkeys(KINDS, (3, 0))
    embedder.failure = None
    await all_done()
    assert await with_vectors(mnemon, tenant, embedder.model_id) == dict.fromkeys(KINDS, (3, 3))


async def test_lost_vectors_are_noticed_and_only_they_are_made_again(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Callable[[], Awaitable[None]], embedder: ComesAndGoes
) -> None:
    for number, text in enumerate(TEXTS):
        await added(text, f"{number}.txt")
    await remember(mnemon, tenant)
    await all_done()
    await mnemon.memory.vectors.catch_up(tenant, embedder)
    assert await with_vectors(mnemon, tenant, embedder.model_id) == dict.fromkeys(KINDS, (3, 3))
    await lose_vectors(mnemon, tenant, most=1)
    assert await with_vectors(mnemon, tenant, embedder.model_id) == dict.fromkeys(KINDS, (3, 2))
    asked = len(embedder.texts)
    await look_for_missing(mnemon, tenant)
    await all_done()
    assert await with_vectors(mnemon, tenant, embedder.model_id) == dict.fromkeys(KINDS, (3, 3))
    assert len(embedder.texts) == asked + len(KINDS)


async def test_a_text_that_cannot_be_had_keeps_no_other_from_its_vector(
    mnemon: Mnemon, tenant: UUID, all_done: Callable[[], Awaitable[None]], embedder: ComesAndGoes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(missing_vectors, "LOOK", 1)
    await remember(mnemon, tenant)
    texts_of = memory_vectors.TABLE.texts

    async def all_but_one(tx: Connection, keys: Sequence[Any]) -> Mapping[Any, str]:
        return {key: text for key, text in (await texts_of(tx, keys)).items() if "train" not in text}

    without = dataclasses.replace(memory_vectors.TABLE, texts=all_but_one)
    monkeypatch.setitem(vector_tables._registered, without.relation, without)
    await look_for_missing(mnemon, tenant)
    await all_done()
    assert (await with_vectors(mnemon, tenant, embedder.model_id))["memory"] == (3, 2)


class Refusing(ComesAndGoes):
    """Refuses whatever comes with a word that it does not like."""

    disliked = "train"

    async def embed(self, texts: Sequence[str], purpose: Purpose = "bulk") -> Vectors:
        if any(self.disliked in text for text in texts):
            raise ModelRequestRefused("This input is not allowed.")
        return await super().embed(texts, purpose)


async def test_a_text_that_the_model_refuses_is_set_aside_and_told(
    mnemon: Mnemon, tenant: UUID, added: Added, all_done: Callable[[], Awaitable[None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    refusing = Refusing()
    monkeypatch.setitem(vars(mnemon), "embedder", refusing)
    monkeypatch.setattr(model_jobs, "WAIT", timedelta(milliseconds=50))
    # A file whose model refuses is stored, found by its words, and says so.
    for number, text in enumerate(TEXTS):
        await added(text, f"{number}.txt")
    await remember(mnemon, tenant)
    assert await mnemon.memory.vectors.catch_up(tenant, cast("Embedder", refusing)) == 2
    assert (await mnemon.memory.vectors.status(tenant)).behind == 0
    await all_done()
    await look_for_missing(mnemon, tenant)
    await all_done()
    assert await with_vectors(mnemon, tenant, refusing.model_id) == dict.fromkeys(KINDS, (3, 2))
    [last] = await rows(
        mnemon, tenant, "SELECT result FROM mnemon.jobs WHERE kind = %s ORDER BY created_at DESC LIMIT 1",
        EMBED_MISSING.name,
    )  # fmt: skip
    assert last["result"] == {"rows": 0, "refused": 3}
    told = await rows(mnemon, tenant, "SELECT stats ->> 'without_vectors' AS why FROM mnemon.ingestion_runs")
    assert sorted(row["why"] or "" for row in told) == ["", "", "This input is not allowed."]
    assert (await mnemon.searcher.search(tenant, "train")).hits[0].text == TEXTS[1]


async def test_a_model_that_refuses_everything_is_waited_for(
    mnemon: Mnemon, tenant: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missing_vectors, "MOST_REFUSED", 2)
    refusing = Refusing()
    refusing.disliked = ""
    await remember(mnemon, tenant)
    looking = missing_vectors.MissingVectors(mnemon.database, cast("Embedder", refusing))
    async with mnemon.database.transaction(tenant) as tx:
        lacking = await looking.find(tx)
    assert lacking is not None
    with pytest.raises(ModelRequestRefused):
        await looking.make(tenant, lacking)


async def test_a_person_erased_meanwhile_leaves_no_vector(
    mnemon: Mnemon, tenant: UUID, all_done: Callable[[], Awaitable[None]], embedder: ComesAndGoes
) -> None:
    mnemon.tie_lenses_to_privacy()
    place = Memory.place(tenant)
    await remember(mnemon, tenant)
    await mnemon.memory.changes.create(tenant, place, Author(ADA), content="She likes soup.", subject_id="person-7")
    embed = embedder.embed

    async def erase_then_embed(texts: Sequence[str], purpose: Purpose = "bulk") -> Vectors:
        if any("soup" in text for text in texts):
            await erase(mnemon.privacy, tenant)
        return await embed(texts, purpose)

    embedder.embed = erase_then_embed  # type: ignore[method-assign]
    await look_for_missing(mnemon, tenant)
    await all_done()
    kept = [row["text_hash"] for row in await rows(mnemon, tenant, "SELECT text_hash FROM mnemon.memory_vectors")]
    assert {hashlib.sha256(text.encode()).digest() for text in TEXTS} <= set(kept)
    assert hashlib.sha256(b"She likes soup.").digest() not in kept


async def test_another_model_takes_over_the_vectors_of_events(
    mnemon: Mnemon, tenant: UUID, all_done: Callable[[], Awaitable[None]], embedder: ComesAndGoes
) -> None:
    class Renamed(TopicEmbedder):
        model_id = "the next one"

    await take(mnemon, tenant, "We decided to cut the budget.")
    await all_done()
    while (await reembed_step(mnemon.database, tenant, VECTOR_TABLE, Renamed())).did != "done":
        pass
    models = await rows(mnemon, tenant, "SELECT model_id FROM mnemon.semantic_event_vectors")
    assert models == [{"model_id": "the next one"}]


async def test_a_document_purged_meanwhile_gets_no_vector(
    mnemon: Mnemon, tenant: UUID, all_done: Callable[[], Awaitable[None]], embedder: ComesAndGoes
) -> None:
    doc_id = await take(mnemon, tenant, "We decided to cut the budget.")
    await all_done()
    async with mnemon.database.transaction(tenant) as tx:
        await tx.execute("DELETE FROM mnemon.semantic_event_vectors")
    embed = embedder.embed

    async def purge_then_embed(texts: Sequence[str], purpose: Purpose = "bulk") -> Vectors:
        await mnemon.purge_document(tenant, ADA, doc_id)
        return await embed(texts, purpose)

    embedder.embed = purge_then_embed  # type: ignore[method-assign]
    await look_for_missing(mnemon, tenant)
    await all_done()
    assert await rows(mnemon, tenant, "SELECT FROM mnemon.semantic_event_vectors") == []


async def test_many_texts_are_shared_out_and_each_is_embedded_once(
    mnemon: Mnemon, tenant: UUID, embedder: ComesAndGoes, work: Work, eventually: Eventually,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(missing_vectors, "LOOK", 4)
    texts = [f"Passage {number} is about the budget." for number in range(40)]
    async with mnemon.database.transaction(tenant) as tx:
        await put_document(tx, tenant, texts)
    await look_for_missing(mnemon, tenant)
    for _ in range(2):
        await work()

    async def jobs() -> list[dict[str, Any]]:
        return await rows(
            mnemon, tenant, "SELECT kind, status, count(*) AS n FROM mnemon.jobs GROUP BY 1, 2 ORDER BY 1"
        )

    async def all_done() -> bool:
        return {one["status"] for one in await jobs()} == {"DONE"}

    await eventually(all_done)
    found = {one["kind"]: one["n"] for one in await jobs()}
    assert found == {"models.embed_missing": 1, "models.embed_part": model_jobs.PARTS}
    assert (await with_vectors(mnemon, tenant, embedder.model_id))["passages"] == (40, 40)
    assert sorted(embedder.texts) == sorted(texts)


def test_the_kinds_that_embed_are_named_together() -> None:
    assert {one.name for one in kinds_named(["embed"])} == {
        "models.embed_missing",
        "models.embed_part",
        "models.reembed",
    }
