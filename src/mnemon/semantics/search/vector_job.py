"""The job that gives vectors to events which were read while no embedding model answered."""

import time
from datetime import timedelta
from typing import Any, Protocol, cast

from mnemon.db.database import Connection
from mnemon.documents.intake.locks import lock_document, lock_linking
from mnemon.errors import MnemonError
from mnemon.models.embedder import Embedder, Vectors
from mnemon.semantics.search.event_vectors import add_vectors, events_without_vectors, text_to_embed
from mnemon.work.enqueue import enqueue
from mnemon.work.errors import JobPostponed
from mnemon.work.job import Job
from mnemon.work.kinds import JobKind, NoPayload
from mnemon.work.schedule import Schedule

# After this long the job lets other jobs have the slot, and goes on at its next turn.
STRETCH_SECONDS = 60.0
# How long to wait for a model that does not answer.
WAIT = timedelta(minutes=5)

EMBED_EVENTS = JobKind("semantics.embed_events", NoPayload, attempts=3, time_limit=3600, at_once=1)


class VectorContext(Protocol):
    """What the worker hands to the handler: the running Mnemon, as far as it needs it."""

    @property
    def embedder(self) -> Embedder: ...


async def enqueue_embedding(tx: Connection) -> None:
    """Once for a tenant, later. The transaction holds the lock of linking, under which the job looks for the last time:
    so the job that is there already, if any, finds the events of this transaction."""
    await enqueue(tx, EMBED_EVENTS, NoPayload(), dedupe_key=EMBED_EVENTS.name, priority=-1, delay=WAIT)


@EMBED_EVENTS.handler
async def embed_events(job: Job[NoPayload]) -> None:
    """A revision at a time, until none is left."""
    embedder = cast(VectorContext, job.context).embedder
    deadline, stored = time.monotonic() + STRETCH_SECONDS, 0
    while True:
        async with job.transaction() as tx:
            await lock_linking(tx)
            events = await events_without_vectors(tx) if embedder.source != "none" else []
            if not events:
                await job.finish(tx, {"rows": stored})
                return
        vectors = await _embed(embedder, events)
        async with job.transaction() as tx:
            # Nobody purges the document or reads it anew between the look and the store.
            await lock_document(tx, events[0]["doc_id"])
            stored += await add_vectors(tx, [one["event_id"] for one in events], vectors, embedder.model_id)
        if time.monotonic() > deadline:
            raise JobPostponed(0)


async def _embed(embedder: Embedder, events: list[dict[str, Any]]) -> Vectors:
    try:
        return await embedder.embed([text_to_embed(one["narrative"], one["subject_ref"]) for one in events])
    except MnemonError:
        raise JobPostponed(WAIT.total_seconds()) from None


def vector_schedules() -> list[Schedule]:
    """Also for events that were read before there was a model at all."""
    return [Schedule("semantics.embed_events", EMBED_EVENTS, "11 4 * * *", every_tenant=True)]
