"""Intake: whatever is taken in becomes a document, a run, a job and an event in one transaction, or is known already.

A file waits for the run that reads it. A text is read before it comes here: its revision is there at once.
"""

import asyncio
from uuid import UUID

from mnemon.documents.errors import EmptyFile, UploadNotStored
from mnemon.documents.extraction.kinds import MEDIA_TYPES
from mnemon.documents.extraction.sniff import sniff
from mnemon.documents.intake.arrival import Arrival, Outcome, TextRead
from mnemon.documents.intake.files import Files, Received
from mnemon.documents.intake.new_run import user_behind
from mnemon.documents.intake.origin import Origin, checked_origin
from mnemon.documents.intake.settle import settle
from mnemon.errors import MnemonError
from mnemon.log.append.transaction import retry_on_conflict
from mnemon.log.events import Actor
from mnemon.log.store import EventLog
from mnemon.telemetry import counter, logger

ACCEPTED = counter("mnemon_documents_received", "Files and texts that were taken in or known already.", ["outcome"])

log = logger(__name__)


async def accept(
    events: EventLog, files: Files, tenant: UUID, actor: Actor, received: Received, origin: Origin | None = None,
    text: TextRead | None = None,
) -> Outcome:  # fmt: skip
    """Take it in. Whatever happens, the upload is either a run's or gone; a crash leaves it to the sweep."""
    try:
        arrival = await _arrival(actor, received, origin or Origin(), text)

        async def attempt() -> Outcome:
            async with events.transaction(tenant) as transaction:
                return await settle(transaction, files, arrival)

        outcome = await retry_on_conflict(attempt)
    except OSError as failure:
        await asyncio.to_thread(files.discard_upload, tenant, received.run_id)
        raise UploadNotStored(f"The file could not be read back from disk: {failure.strerror}. Try again.") from failure
    except MnemonError as refusal:
        if refusal.status < 500 or text is not None:
            await asyncio.to_thread(files.discard_upload, tenant, received.run_id)
        raise
    if outcome.run_id is None or text is not None:
        # Known already, or a blob by now.
        await asyncio.to_thread(files.discard_upload, tenant, received.run_id)
    _report(tenant, arrival, outcome)
    return outcome


async def _arrival(actor: Actor, received: Received, origin: Origin, text: TextRead | None) -> Arrival:
    origin = checked_origin(origin)
    if received.size == 0:
        raise EmptyFile(f"{received.filename!r} is empty: there is nothing to read.", filename=received.filename)
    kind = "txt" if text else await asyncio.to_thread(sniff, received.path, received.filename)
    return Arrival(actor, received, origin, kind, text)


def _report(tenant: UUID, arrival: Arrival, outcome: Outcome) -> None:
    ACCEPTED.labels(outcome.dedup).inc()
    received = arrival.received
    log.info(
        "ingest_job_submitted",
        tenant_id=tenant,
        user_id=user_behind(arrival.actor),
        run_id=outcome.run_id,
        doc_id=outcome.doc_id,
        dedup_result=outcome.dedup,
        filename=received.filename,
        content_type=MEDIA_TYPES[arrival.kind],
        size_bytes=received.size,
        content_hash=received.content_hash,
        source_uri=outcome.source_uri,
        upload_uri=received.path.as_uri() if outcome.run_id else None,
        delegation_mode="queue",
        delegation_success=outcome.run_id is not None,
    )
