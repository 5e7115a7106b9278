"""The job that hands what is attached to messages to the intake, where it becomes documents of its own.

A message lists its attachments; their bytes stand in its archive. What the intake cannot read stays listed.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol, cast
from uuid import UUID

from pydantic import BaseModel

from mnemon.db.database import Connection
from mnemon.documents.intake.files import Files
from mnemon.documents.intake.filing import FiledText
from mnemon.documents.intake.origin import Origin
from mnemon.documents.intake.receive import accept
from mnemon.errors import MnemonError
from mnemon.log.events import SYSTEM
from mnemon.log.store import EventLog
from mnemon.mail.archives.ranges import ArchivedMessage
from mnemon.mail.message.headers import read_headers
from mnemon.mail.message.message import MailAttachment
from mnemon.mail.message.mime import MOST_ATTACHMENTS, attachments_in
from mnemon.mail.message.reading import unescaped
from mnemon.mail.storing.packs import Packs
from mnemon.telemetry import logger
from mnemon.work.enqueue import enqueue_many
from mnemon.work.job import Job
from mnemon.work.kinds import Backoff, JobKind

AT_ONCE = 20
# What proves or decorates a message is nothing that anybody reads.
NO_DOCUMENTS = ("image/", "audio/", "video/", "font/", "application/pgp-", "application/pkcs7-", "application/x-pkcs7-")
MESSAGES = """
SELECT DISTINCT ON (m.message_key) m.message_key, m.sender_name, m.sender_email, m.date, m.list_name, m.readers,
       c.archive_id, c.byte_offset, a.start_offset
  FROM mnemon.mail_messages m
  JOIN mnemon.mail_copies c ON c.tenant_id = m.tenant_id AND c.message_key = m.message_key
  JOIN mnemon.mail_archives a ON a.tenant_id = c.tenant_id AND a.archive_id = c.archive_id
 WHERE m.tenant_id = mnemon.current_tenant() AND m.message_key = ANY(%s) AND m.purged_at IS NULL
 ORDER BY m.message_key, c.archive_id, c.byte_offset
"""
ATTACHED = """
SELECT d.doc_id FROM mnemon.documents d
 WHERE d.tenant_id = mnemon.current_tenant() AND d.purged_at IS NULL AND d.source_uri IN (
       SELECT 'mail://' || m.message_key || '/' || number
         FROM mnemon.mail_messages m, generate_series(0, %(most)s) AS number
        WHERE m.tenant_id = mnemon.current_tenant() AND m.doc_id = %(doc)s)
"""

log = logger(__name__)


class AttachmentContext(Protocol):
    """What the worker hands to the handler, as far as it needs it."""

    @property
    def log(self) -> EventLog: ...
    @property
    def files(self) -> Files: ...


class AttachmentsToTake(BaseModel):
    """Messages that have something attached."""

    import_id: UUID
    message_keys: list[str]


ATTACHMENTS = JobKind("mail.attachments", AttachmentsToTake, attempts=5, time_limit=1800, backoff=Backoff(10, 300))


async def enqueue_attachments(tx: Connection, import_id: UUID, texts: Sequence[FiledText]) -> None:
    keys = [text.filed_as for text in texts if any(_is_document(one["media_type"]) for one in text.kept["attachments"])]
    parts = [keys[at : at + AT_ONCE] for at in range(0, len(keys), AT_ONCE)]
    if parts:
        payloads = [AttachmentsToTake(import_id=import_id, message_keys=one) for one in parts]
        await enqueue_many(tx, ATTACHMENTS, payloads, priority=-1)


def _is_document(media_type: str) -> bool:
    return not media_type.startswith(NO_DOCUMENTS)


@ATTACHMENTS.handler
async def take_attachments(job: Job[AttachmentsToTake]) -> dict[str, int]:
    """Repeating it changes nothing: each attachment has an address, and the same content there is known."""
    context = cast(AttachmentContext, job.context)
    packs, counts = Packs(context.files), {"taken": 0, "refused": 0}
    async with job.transaction() as tx:
        rows = await (await tx.execute(MESSAGES, (job.payload.message_keys,))).fetchall()
    for row in rows:
        for number, (attached, content) in enumerate(await asyncio.to_thread(_attached, packs, job.tenant_id, row)):
            if content and _is_document(attached.media_type):
                taken = await _take(context, job.tenant_id, row, number, attached, content)
                counts["taken" if taken else "refused"] += 1
    return counts


def _attached(packs: Packs, tenant: UUID, row: dict[str, Any]) -> list[tuple[MailAttachment, bytes]]:
    ranged = next(packs.ranges(tenant, row["archive_id"], row["byte_offset"], row["start_offset"]), None)
    if not isinstance(ranged, ArchivedMessage):
        return []
    content = unescaped(ranged.content, ranged.escaping)
    headers, body = read_headers(content)
    return attachments_in(headers, content[body:])


async def _take(
    context: AttachmentContext, tenant: UUID, row: dict[str, Any], number: int, attached: MailAttachment, content: bytes
) -> bool:
    incoming = context.files.receive(tenant, attached.name)
    received = await asyncio.to_thread(incoming.complete, content)
    origin = Origin(
        title=attached.name,
        source_uri=f"mail://{row['message_key']}/{number}",
        source_system=row["list_name"] or None,
        author=row["sender_name"] or row["sender_email"] or None,
        written_at=row["date"],
        readers=tuple(row["readers"] or ()),
    )
    try:
        await accept(context.log, context.files, tenant, SYSTEM, received, origin)
    except MnemonError as refusal:
        if refusal.status >= 500:
            raise
        log.info("attachment_refused", message_key=row["message_key"], number=number, code=refusal.code)
        return False
    return True


async def attached_documents(tx: Connection, doc_id: UUID) -> list[UUID]:
    """Documents that came with a message, and go with it."""
    values = {"doc": doc_id, "most": MOST_ATTACHMENTS}
    return [row["doc_id"] for row in await (await tx.execute(ATTACHED, values)).fetchall()]
