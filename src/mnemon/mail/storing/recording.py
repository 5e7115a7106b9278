"""Records a batch: documents, events and how far the import is, in one transaction, or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

import orjson

from mnemon.db.database import Connection
from mnemon.documents.intake.filing import FiledText, filed_event, store_filed_texts
from mnemon.log.append.arrays import TextArray
from mnemon.log.append.transaction import LogTransaction
from mnemon.log.events import Actor, NewEvent
from mnemon.mail import catalogue as happened
from mnemon.mail.consensus.job import enqueue_consensus
from mnemon.mail.message.ids import audience_of, thread_key
from mnemon.mail.storing.attachments import enqueue_attachments
from mnemon.mail.storing.batch import SOURCE_TYPE, MailBatch, filed_text
from mnemon.mail.storing.blanking import enqueue_blanking
from mnemon.mail.storing.passages import enqueue_passages

# Threads are made of what several archives hold: two imports of a tenant take turns, a batch at a time.
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('mail of ' || mnemon.current_tenant(), 0))"
KNOWN = """
SELECT m.message_key, m.doc_id, m.choice, m.purged_at,
       (SELECT coalesce(max(version_number), 0) FROM mnemon.document_revisions r
         WHERE r.tenant_id = m.tenant_id AND r.doc_id = m.doc_id) AS last_number
  FROM mnemon.mail_messages m WHERE m.tenant_id = mnemon.current_tenant() AND m.message_key = ANY(%s)
"""
THREADS_BEFORE = """
SELECT DISTINCT t.thread_key, t.message_count FROM mnemon.mail_thread_ids i
  JOIN mnemon.mail_threads t ON t.tenant_id = i.tenant_id AND t.thread_key = i.thread_key
 WHERE i.tenant_id = mnemon.current_tenant() AND i.id_key = ANY(%s)
"""
THREADS_AFTER = """
SELECT i.id_key, i.thread_key, t.message_count FROM mnemon.mail_thread_ids i
  JOIN mnemon.mail_threads t ON t.tenant_id = i.tenant_id AND t.thread_key = i.thread_key
 WHERE i.tenant_id = mnemon.current_tenant() AND i.id_key = ANY(%s)
"""
PROGRESS = """
UPDATE mnemon.mail_imports
   SET position = %(position)s, counts = %(counts)s::text::jsonb, stage = 'parse', updated_at = clock_timestamp()
 WHERE tenant_id = mnemon.current_tenant() AND import_id = %(import_id)s
"""


@dataclass(frozen=True)
class ImportOrder:
    """What a batch belongs to."""

    tenant: UUID
    import_id: UUID
    archive_id: str
    # What its messages are a list's of where they do not say so themselves.
    source: str
    actor: Actor
    ingested_as: str
    # Who may read it; None for everyone of the tenant.
    readers: list[str] | None = None

    @cached_property
    def audience(self) -> str:
        return audience_of(self.readers)


async def record_batch(
    transaction: LogTransaction, order: ImportOrder, batch: MailBatch, counts: dict[str, int]
) -> dict[str, int]:
    """The counts of the import with this batch. The append comes last but for the end of the job."""
    tx = transaction.connection
    await tx.execute(LOCK)
    texts = await _to_file(tx, order, batch)
    await store_filed_texts(tx, texts)
    await enqueue_passages(tx, order.archive_id, order.import_id, texts)
    await enqueue_attachments(tx, order.import_id, texts)
    if batch.is_last:
        await enqueue_consensus(tx, order.import_id)
    counts = _added(counts, batch, texts)
    values = {
        "position": batch.position, "counts": orjson.dumps(counts).decode(), "import_id": order.import_id,
    }  # fmt: skip
    await tx.execute(PROGRESS, values)
    filed = [
        filed_event(text, order.actor, order.import_id, SOURCE_TYPE, order.source, order.ingested_as, order.readers)
        for text in texts
    ]
    before = await _threads_of(tx, order, texts)
    await transaction.append([*filed, _parsed(order, batch, texts)])
    if before and (change := await _thread_change(tx, order, before)):
        await transaction.append([change])
    return counts


async def _threads_of(tx: Connection, order: ImportOrder, texts: Sequence[FiledText]) -> dict[str, int]:
    """The threads that these messages may change, with how many messages each has."""
    named = {one for text in texts for one in (text.kept["message_id"], *text.kept["references"])}
    named |= {text.kept["in_reply_to"] for text in texts if text.kept["in_reply_to"]}
    keys = TextArray([thread_key(one, order.audience) for one in named])
    rows = await (await tx.execute(THREADS_BEFORE, (keys,))).fetchall()
    return {row["thread_key"]: row["message_count"] for row in rows}


async def _thread_change(tx: Connection, order: ImportOrder, before: dict[str, int]) -> NewEvent | None:
    """A thread is called by its root: where that belongs now, the whole thread went."""
    rows = await (await tx.execute(THREADS_AFTER, (TextArray(list(before)),))).fetchall()
    merged = sorted([row["id_key"], row["thread_key"]] for row in rows if row["thread_key"] != row["id_key"])
    parted = sorted(row["id_key"] for row in rows
                    if row["thread_key"] == row["id_key"] and row["message_count"] < before[row["id_key"]])  # fmt: skip
    if not merged and not parted:
        return None
    return happened.mail_event(
        happened.THREADS_CHANGED, order.archive_id, str(order.import_id), order.actor, order.ingested_as,
        merged=merged, parted=parted,
    )  # fmt: skip


async def _to_file(tx: Connection, order: ImportOrder, batch: MailBatch) -> list[FiledText]:
    """Messages that are new, and those of which this is a better copy. What was purged stays so, here too."""
    rows = await (await tx.execute(KNOWN, (TextArray(list(batch.messages)),))).fetchall()
    known: dict[str, dict[str, Any]] = {row["message_key"]: row for row in rows}
    texts = []
    for key, (choice, message, size) in batch.messages.items():
        found = known.get(key)
        if found is not None and found["purged_at"] is not None:
            await enqueue_blanking(tx, found["doc_id"], order.archive_id)
            continue
        if found is not None and found["choice"] <= choice:
            continue
        number = found["last_number"] + 1 if found else 1
        texts.append(filed_text(order.tenant, key, message, choice, size, message.list_id or order.source, number))
    return texts


def _parsed(order: ImportOrder, batch: MailBatch, texts: Sequence[FiledText]) -> NewEvent:
    return happened.mail_event(
        happened.PARSED, order.archive_id, str(order.import_id), order.actor, order.ingested_as,
        archive_id=order.archive_id,
        message_count=len(batch.copies),
        message_keys=[text.filed_as for text in texts],
        copies=[[one.message_key, one.copy_key, one.offset, one.length, one.digest] for one in batch.copies],
        defects=[list(one) for one in batch.defects],
        is_last=batch.is_last,
        parsing_duration_seconds=round(batch.seconds, 3),
    )  # fmt: skip


def _added(counts: dict[str, int], batch: MailBatch, texts: Sequence[FiledText]) -> dict[str, int]:
    new = sum(text.number == 1 for text in texts)
    more = {"messages": len(batch.copies), "new": new, "copies": len(batch.copies) - new, "defects": len(batch.defects)}
    return {name: counts.get(name, 0) + count for name, count in more.items()}
