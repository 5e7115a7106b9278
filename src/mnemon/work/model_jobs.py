"""Jobs about the models: make missing vectors, bring vectors to the configured model, forget old records of calls."""

import time
from datetime import timedelta
from typing import Any, Protocol
from uuid import UUID

from pydantic import BaseModel

from mnemon.db.database import Connection
from mnemon.errors import MnemonError
from mnemon.settings import Settings
from mnemon.work.enqueue import enqueue
from mnemon.work.errors import JobPostponed
from mnemon.work.job import Job
from mnemon.work.kinds import JobKind, NoPayload
from mnemon.work.schedule import Schedule

# After this long the job lets other tenants' jobs have the slot, and goes on at its next turn.
STRETCH_SECONDS = 60.0
# Parts run in many slots at once, so each lets others in sooner.
PART_SECONDS = 5.0
# Into how many parts texts are divided where there are many: as many workers can share them. A power of two.
PARTS = 16
# How long to wait for a model that does not answer.
WAIT = timedelta(minutes=5)
# Whoever adds texts without vectors and asks for the job, and the job while it looks for the last time, take turns.
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('missing vectors of ' || mnemon.current_tenant(), 0))"


class CallAge(BaseModel):
    """How long the records of calls to language models are kept."""

    days: int


class PartToEmbed(BaseModel):
    """Texts whose keys fall into this part of so many."""

    part: int
    of: int


# What a worker does that is there for embedding alone.
GROUP = "embed"
EMBED_MISSING = JobKind("models.embed_missing", NoPayload, attempts=3, time_limit=3600, at_once=1, group=GROUP)
EMBED_PART = JobKind("models.embed_part", PartToEmbed, attempts=20, time_limit=600, group=GROUP)
REEMBED = JobKind("models.reembed", NoPayload, attempts=5, time_limit=600, at_once=2, group=GROUP)
# It builds indexes.
FIND_OLD_VECTORS = JobKind("models.find_old_vectors", NoPayload, attempts=3, time_limit=6 * 3600, at_once=1)
FORGET_CALLS = JobKind("models.forget_calls", CallAge, attempts=3, time_limit=3600, at_once=1)


class VectorsMoved(Protocol):
    rows: int
    done: bool


class VectorMover(Protocol):
    """What `mnemon.models.vector_moves` offers."""

    async def possible(self) -> bool: ...
    async def tenants_to_move(self) -> list[UUID]: ...
    async def prepare_indexes(self) -> None: ...
    async def move(self, tenant: UUID, seconds: float) -> VectorsMoved: ...


class TextsFound(Protocol):
    @property
    def are_many(self) -> bool: ...


class VectorsToMake(Protocol):
    """What `mnemon.models.missing_vectors` offers."""

    rows: int
    refused: int

    async def find(self, tx: Connection) -> TextsFound | None: ...
    async def make(self, tenant: UUID, lacking: Any) -> None: ...


class CallRecords(Protocol):
    """What `mnemon.models.calls` offers."""

    async def forget_older_than(self, days: int) -> int: ...


async def enqueue_missing_vectors(tx: Connection) -> None:
    """Once for a tenant, later, in the transaction that adds the texts: a job that is there already finds them."""
    await tx.execute(LOCK)
    await enqueue(tx, EMBED_MISSING, NoPayload(), dedupe_key=EMBED_MISSING.name, priority=-1, delay=WAIT)


@EMBED_MISSING.handler
async def embed_missing(job: Job[NoPayload]) -> None:
    """Some texts at a time, of every kind, until all have a vector or were refused by the model, each asked alone.
    Where there are many, they are shared out to whoever is there."""
    missing: VectorsToMake = job.context.missing_vectors()
    deadline = time.monotonic() + STRETCH_SECONDS
    while (lacking := await _next_texts(job, missing)) is not None:
        if lacking.are_many:
            async with job.transaction() as tx:
                for part in range(PARTS):
                    share = PartToEmbed(part=part, of=PARTS)
                    await enqueue(tx, EMBED_PART, share, dedupe_key=f"{part} of {PARTS}", priority=-1)
                await job.finish(tx, {"rows": missing.rows, "refused": missing.refused, "parts": PARTS})
            return
        await _embed_until(deadline, job, missing, lacking)


@EMBED_PART.handler
async def embed_part(job: Job[PartToEmbed]) -> None:
    """One part of them, a few seconds at a time."""
    missing: VectorsToMake = job.context.missing_vectors(job.payload.part, job.payload.of)
    deadline = time.monotonic() + PART_SECONDS
    while (lacking := await _next_texts(job, missing)) is not None:
        await _embed_until(deadline, job, missing, lacking)


async def _next_texts(job: Job[Any], missing: VectorsToMake) -> TextsFound | None:
    """None once the job is finished: there is nothing left, and whoever adds a text from now on asks for a new job."""
    async with job.transaction() as tx:
        if (lacking := await missing.find(tx)) is not None:
            return lacking
    async with job.transaction() as tx:
        await tx.execute(LOCK)
        if (lacking := await missing.find(tx)) is None:
            await job.finish(tx, {"rows": missing.rows, "refused": missing.refused})
        return lacking


async def _embed_until(deadline: float, job: Job[Any], missing: VectorsToMake, lacking: TextsFound) -> None:
    try:
        await missing.make(job.tenant_id, lacking)
    except MnemonError:
        raise JobPostponed(WAIT.total_seconds()) from None
    if time.monotonic() > deadline:
        raise JobPostponed(0)


@FIND_OLD_VECTORS.handler
async def find_old_vectors(job: Job[NoPayload]) -> dict[str, int]:
    """A job for each tenant that has vectors of another model than the configured one."""
    moves = _moves(job)
    if not await moves.possible():
        return {"tenants": 0}
    await moves.prepare_indexes()
    tenants = await moves.tenants_to_move()
    for tenant in tenants:
        async with job.database.transaction(tenant) as tx:
            await enqueue(tx, REEMBED, NoPayload(), dedupe_key=REEMBED.name, priority=-1)
    return {"tenants": len(tenants)}


@REEMBED.handler
async def reembed(job: Job[NoPayload]) -> dict[str, int]:
    moved = await _moves(job).move(job.tenant_id, STRETCH_SECONDS)
    if not moved.done:
        raise JobPostponed(0)
    return {"rows": moved.rows}


@FORGET_CALLS.handler
async def forget_calls(job: Job[CallAge]) -> dict[str, int]:
    records: CallRecords = job.context.model_calls
    return {"deleted": await records.forget_older_than(job.payload.days)}


def _moves(job: Job[Any]) -> VectorMover:
    moves: VectorMover = job.context.vector_moves
    return moves


def model_schedules(settings: Settings) -> list[Schedule]:
    return [
        # Also for texts that came before there was a model at all, and for vectors that were lost.
        Schedule("models.embed_missing", EMBED_MISSING, "11 4 * * *", every_tenant=True),
        Schedule("models.find_old_vectors", FIND_OLD_VECTORS, "*/5 * * * *"),
        Schedule(
            "models.forget_calls", FORGET_CALLS, "27 3 * * *", payload=CallAge(days=settings.model_call_keep_days)
        ),
    ]
