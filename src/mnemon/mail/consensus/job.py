"""The job that reads threads which changed and records what they came to. Killed anywhere, it goes on where it was."""

import asyncio
from typing import Protocol, cast
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.store import EventLog
from mnemon.mail.consensus.judging import judge_discussion
from mnemon.mail.consensus.reader import FormulaReader, StanceReader
from mnemon.mail.consensus.recorded import consensus_event
from mnemon.mail.consensus.threads import load_discussion, stale_threads
from mnemon.models.failures import EmbedderUnavailable
from mnemon.models.weights import find_weights
from mnemon.settings import Settings
from mnemon.telemetry import counter
from mnemon.work.enqueue import enqueue
from mnemon.work.job import Job
from mnemon.work.kinds import Backoff, JobKind, NoPayload

AT_ONCE = 25
THREADS_READ = counter(
    "mnemon_mail_threads_read", "Threads whose consensus this process read, by what it was.", ["type"]
)


class ConsensusContext(Protocol):
    """What the worker hands to the handler, as far as it needs it."""

    @property
    def settings(self) -> Settings: ...
    @property
    def log(self) -> EventLog: ...


READ_CONSENSUS = JobKind(
    "mail.consensus", NoPayload, attempts=5, time_limit=6 * 3600, backoff=Backoff(10, 300), at_once=1
)


# For whoever tells of threads: the room above declares what is done then.
THREADS_WERE_READ = JobKind(
    "reports.orchestrate", NoPayload, attempts=5, time_limit=1800, backoff=Backoff(10, 300), at_once=1
)


async def enqueue_consensus(tx: Connection, import_id: UUID) -> None:
    """After an import: whatever threads it changed."""
    await enqueue(tx, READ_CONSENSUS, NoPayload(), dedupe_key=str(import_id), priority=-2)


def stance_reader(settings: Settings) -> StanceReader:
    """The learned one; where the embedder is switched off or not installed, fixed formulas alone."""
    if settings.embedder == "none":
        return FormulaReader()
    try:
        find_weights(settings.embedder_folder)
    except EmbedderUnavailable:
        return FormulaReader()
    # Its model takes a while to load, and most commands read no threads.
    from mnemon.mail.consensus.learned import shared_stance_reader

    return shared_stance_reader(settings.home, settings.embedder_folder)


@READ_CONSENSUS.handler
async def read_consensus(job: Job[NoPayload]) -> dict[str, int]:
    context = cast(ConsensusContext, job.context)
    reader = stance_reader(context.settings)
    read = 0
    while True:
        async with job.transaction() as tx:
            waiting = await stale_threads(tx, reader.name, AT_ONCE)
        if not waiting:
            return await _tell(job, read)
        for thread, digest in waiting:
            await _read_thread(job, context, thread, digest, reader)
            read += 1
        await job.report({"threads": read})


async def _tell(job: Job[NoPayload], read: int) -> dict[str, int]:
    async with job.transaction() as tx:
        if read:
            await enqueue(tx, THREADS_WERE_READ, NoPayload(), dedupe_key=str(job.job_id), priority=-2)
        await job.finish(tx, {"threads": read})
    return {"threads": read}


async def _read_thread(
    job: Job[NoPayload], context: ConsensusContext, thread: str, digest: str, reader: StanceReader
) -> None:
    async with job.transaction() as tx:
        discussion, keys = await load_discussion(tx, thread)
    found = await asyncio.to_thread(judge_discussion, discussion, reader)
    async with context.log.transaction(job.tenant_id) as transaction:
        await transaction.append([consensus_event(thread, digest, found, keys)])
    THREADS_READ.labels(found.type).inc()
