"""The extraction job: reads a revision with the engine of the settings, and records all that its text proves."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol, cast
from uuid import UUID

from mnemon.documents import events as documents
from mnemon.documents.errors import ArtifactNotFound
from mnemon.documents.ingest.extract_job import EXTRACT, RevisionToExtract
from mnemon.documents.intake.locks import lock_document_and_linking
from mnemon.errors import MnemonError
from mnemon.log.events import SYSTEM, NewEvent
from mnemon.log.store import EventLog
from mnemon.models.embedder import Embedder, Vectors
from mnemon.models.language import LanguageModel
from mnemon.semantics import events as happened
from mnemon.semantics.corrections.carry import evidence_data, kept_corrections
from mnemon.semantics.extract.extractor import ExtractedEvents, Extractor, choose_extractor, extract_revision
from mnemon.semantics.extract.refining import learned_extractor, refines
from mnemon.semantics.extract.source import SourceRevision, read_source
from mnemon.semantics.link.linking import links_of
from mnemon.semantics.link.placed import EventLink
from mnemon.semantics.search.event_vectors import replace_vectors, text_to_embed
from mnemon.semantics.semantic_event import SemanticEvent
from mnemon.settings import Settings
from mnemon.work.enqueue import enqueue
from mnemon.work.job import Job
from mnemon.work.kinds import JobKind
from mnemon.work.model_jobs import enqueue_missing_vectors

# Less urgent than to read what nobody has read yet.
REFINE = JobKind("semantics.refine", RevisionToExtract, time_limit=3600)
REFINE_PRIORITY = -2

STILL_THERE = """
SELECT FROM mnemon.document_revisions
 WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = %s AND purged_at IS NULL
"""


class ExtractContext(Protocol):
    """What the worker hands to the handler: the running Mnemon, as far as it needs it."""

    @property
    def settings(self) -> Settings: ...
    @property
    def log(self) -> EventLog: ...
    @property
    def embedder(self) -> Embedder: ...
    @property
    def language_model(self) -> LanguageModel: ...


@EXTRACT.handler
async def extract(job: Job[RevisionToExtract]) -> None:
    """Reading happens outside a transaction; then events, evidence, links and the job's end are there together."""
    context = cast(ExtractContext, job.context)
    engine = choose_extractor(context.settings, context.language_model, job.tenant_id)
    await _extract(job, context, engine)


@REFINE.handler
async def refine(job: Job[RevisionToExtract]) -> None:
    """The learned reader's look at what the rules gave: what it finds takes the place of that, all at once."""
    context = cast(ExtractContext, job.context)
    # Loads the reader's own modules, which an extraction by rules does not need.
    from mnemon.semantics.corrections.learn import own_weights

    weights = await own_weights(job.database, job.tenant_id)
    await _extract(job, context, learned_extractor(context.settings, weights))


async def _extract(job: Job[RevisionToExtract], context: ExtractContext, engine: Extractor) -> None:
    source = await read_source(job.database, job.tenant_id, job.payload.doc_version_id, context.settings)
    with job.stage("extract"):
        found = await _read(engine, source)
    with job.stage("embed"):
        vectors = await _embed(context.embedder, found.events)
    with job.stage("db_write"):
        await _record(job, context, source, engine.name, found, vectors)


async def _read(engine: Extractor, source: SourceRevision) -> ExtractedEvents:
    """Both keep the processor busy: in a thread of their own the worker goes on saying that it lives."""

    def read() -> Coroutine[Any, Any, ExtractedEvents]:
        return extract_revision(engine, source.revision, source.chunks or None)

    if engine.name != "llm":
        # Begun in the thread: a job that ends before one is free begins nothing.
        return await asyncio.to_thread(lambda: asyncio.run(read()))
    return await read()


async def _embed(embedder: Embedder, events: Sequence[SemanticEvent]) -> Vectors | None:
    """While no model answers, the events are found by their words; another job gives them their vectors."""
    if embedder.source == "none" or not events:
        return None
    try:
        return await embedder.embed([text_to_embed(event.narrative, event.subject.ref) for event in events])
    except MnemonError:
        return None


async def _record(
    job: Job[RevisionToExtract], context: ExtractContext, source: SourceRevision, engine: str, found: ExtractedEvents,
    vectors: Vectors | None,
) -> None:  # fmt: skip
    async with context.log.transaction(job.tenant_id) as transaction:
        tx = transaction.connection
        await lock_document_and_linking(tx, source.doc_id)
        if await (await tx.execute(STILL_THERE, (source.doc_version_id,))).fetchone() is None:
            raise ArtifactNotFound(f"Revision {source.doc_version_id} was purged while it was read.")
        links = await links_of(tx, source, found.events, vectors, context.embedder.model_id)
        kept = await kept_corrections(tx, source, found.events)
        await replace_vectors(tx, source.doc_version_id, found.events, vectors, context.embedder.model_id)
        if ((vectors is None and found.events) or kept) and context.embedder.source != "none":
            await enqueue_missing_vectors(tx)
        await transaction.append([_extracted(job.job_id, source, engine, found, links, kept)])
        if engine == "rules" and refines(context.settings):
            again = RevisionToExtract(doc_version_id=source.doc_version_id)
            key = str(source.doc_version_id)
            await enqueue(tx, REFINE, again, dedupe_key=key, priority=REFINE_PRIORITY)
        await job.finish(tx, {"events": len(found.events), "unproven": found.unproven, "links": len(links)})


def _extracted(
    job_id: UUID, source: SourceRevision, engine: str, found: ExtractedEvents, links: list[EventLink],
    kept: list[dict[str, Any]],
) -> NewEvent:  # fmt: skip
    answers = found.answers
    return documents.about(
        happened.EXTRACTED, source.doc_id, SYSTEM,
        doc_version_id=str(source.doc_version_id),
        extraction_id=str(job_id),
        engine=engine,
        model=answers[0].model if answers else None,
        event_count=len(found.events),
        unproven=found.unproven,
        events=[_as_data(event, place, source) for place, event in enumerate(found.events)],
        links=[vars(link) for link in links],
        kept=kept,
        answers=[
            {"call_id": str(one.call_id), "model": one.model, "said": one.said, "seconds": one.seconds}
            for one in answers
        ],
    )  # fmt: skip


def _as_data(event: SemanticEvent, position: int, source: SourceRevision) -> dict[str, Any]:
    happened_at = event.event_time or source.said_at
    return event.as_json() | {
        "position": position,
        "happened_at": happened_at.isoformat(),
        "undated": event.event_time is None and source.revision.today is None,
        "topic": _topic(event, source),
        "rules": list(event.rules),
        "evidence": [evidence_data(event.event_id, one, source.passage_at(one.start)) for one in event.evidence],
    }


def _topic(event: SemanticEvent, source: SourceRevision) -> str:
    """What the title, the first heading and the one above the quote say, each once."""
    layout = source.revision.layout
    said = (source.revision.title, layout.opening, layout.heading_at(event.evidence[0].start))
    return "; ".join(dict.fromkeys(filter(None, said)))
