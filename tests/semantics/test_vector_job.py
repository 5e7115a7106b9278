"""Claims about vectors of events: an embedding model that is down for a while leaves no event without one."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from uuid import UUID

import pytest

from mnemon.app import Mnemon
from mnemon.errors import MnemonError
from mnemon.models.embedder import Purpose, Vectors
from mnemon.models.failures import EmbedderUnavailable, ModelUnreachable
from mnemon.models.reembed import reembed_step
from mnemon.semantics.artifacts import NewArtifact, ingest_artifact
from mnemon.semantics.search import vector_job
from mnemon.semantics.search.event_vectors import VECTOR_TABLE
from mnemon.semantics.search.vector_job import EMBED_EVENTS
from mnemon.work.enqueue import enqueue
from mnemon.work.kinds import NoPayload
from tests.ask.conftest import TopicEmbedder
from tests.documents.conftest import rows
from tests.semantics.conftest import ADA, Work
from tests.work.conftest import Eventually

WITHOUT_VECTOR = """
SELECT event_id FROM mnemon.semantic_events e
 WHERE NOT EXISTS (SELECT FROM mnemon.semantic_event_vectors v WHERE v.event_id = e.event_id)
"""


class ComesAndGoes(TopicEmbedder):
    """An embedder that fails as it is told to."""

    failure: MnemonError | None = None

    async def embed(self, texts: Sequence[str], purpose: Purpose = "bulk") -> Vectors:
        if self.failure is not None:
            raise self.failure
        return await super().embed(texts, purpose)


@pytest.fixture
def embedder(mnemon: Mnemon, monkeypatch: pytest.MonkeyPatch) -> ComesAndGoes:
    made = ComesAndGoes()
    monkeypatch.setitem(vars(mnemon), "embedder", made)
    monkeypatch.setattr(vector_job, "WAIT", timedelta(milliseconds=50))
    return made


async def take(mnemon: Mnemon, tenant: UUID, content: str) -> UUID:
    new = NewArtifact(artifact_type="note", source_system="test", content=content)
    return (await ingest_artifact(mnemon.log, mnemon.files, mnemon.settings, tenant, ADA, new)).doc_id


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
    async with mnemon.database.transaction(tenant) as tx:
        await enqueue(tx, EMBED_EVENTS, NoPayload())
    await all_done()
    assert await rows(mnemon, tenant, "SELECT FROM mnemon.semantic_event_vectors") == []
