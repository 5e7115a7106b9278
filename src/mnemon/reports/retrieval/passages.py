"""Passages of messages with what the specification has beside each: thread, archive, sender, drafts, model."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from mnemon.db.database import Connection
from mnemon.mail.message.ids import chunk_key
from mnemon.operations import Output

_PAYLOAD = """
SELECT c.chunk_id AS passage_id, c.ordinal, c.text, c.tokens, c.start_offset, c.end_offset, c.doc_version_id, m.doc_id,
       m.message_key, m.message_id, m.thread_key, t.thread_id, t.subject AS thread_subject, m.sender_email,
       m.sender_name, m.sender_key, m.date, m.subject, m.list_name, m.draft_mentions, m.spans,
       (SELECT p.archive_id FROM mnemon.mail_copies p
         WHERE p.tenant_id = m.tenant_id AND p.message_key = m.message_key ORDER BY p.archive_id LIMIT 1) AS archive_id,
       v.model_id, v.embedding
  FROM mnemon.chunks c
  JOIN mnemon.mail_messages m ON m.tenant_id = c.tenant_id AND m.doc_id = c.doc_id
       AND m.doc_version_id = c.doc_version_id AND m.purged_at IS NULL AND mnemon.may_read(m.readers)
  LEFT JOIN mnemon.mail_threads t ON t.tenant_id = m.tenant_id AND t.thread_key = m.thread_key
  LEFT JOIN LATERAL (SELECT n.model_id, CASE WHEN %(vectors)s THEN n.embedding::float4[] END AS embedding
                       FROM mnemon.chunk_vectors n WHERE n.tenant_id = c.tenant_id AND n.chunk_id = c.chunk_id
                      ORDER BY n.model_id LIMIT 1) v ON true
 WHERE c.tenant_id = mnemon.current_tenant()
"""
BY_PASSAGE = f"{_PAYLOAD} AND c.chunk_id = ANY(%(passages)s)"
OF_THREAD = f"""{_PAYLOAD} AND m.thread_key = %(thread)s
   AND (%(after)s::text IS NULL OR (coalesce(m.date, 'infinity'), m.message_key, c.ordinal)
        > (%(after)s::timestamptz, %(key)s, %(ordinal)s))
 ORDER BY coalesce(m.date, 'infinity'), m.message_key, c.ordinal LIMIT %(limit)s
"""


class MailPassage(Output):
    """A passage of a message. `chunk_id` is the specification's; offsets count code points of the message's text."""

    chunk_id: str
    message_key: str
    message_id: str
    thread_id: str | None
    archive_id: str | None
    chunk_index: int
    text: str
    start_offset: int
    end_offset: int
    sender: str
    sender_name: str
    date: datetime | None
    subject: str
    draft_mentions: list[str]
    token_count: int
    embedding_generated: bool
    embedding_model: str | None
    embedding: list[float] | None = Field(None, description="The vector, where it was asked for.")


async def passages_by_id(tx: Connection, passages: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
    rows = await (await tx.execute(BY_PASSAGE, {"passages": list(passages), "vectors": False})).fetchall()
    return {row["passage_id"]: row for row in rows}


def shown_passage(row: dict[str, Any], vectors: bool = False) -> MailPassage:
    told = {
        name: row[name]
        for name in (
            "message_key", "message_id", "thread_id", "archive_id", "text", "start_offset", "end_offset",
            "sender_name", "date", "subject", "draft_mentions",
        )
    }  # fmt: skip
    passage = MailPassage(
        **told,
        chunk_id=chunk_key(row["message_key"], row["ordinal"]),
        chunk_index=row["ordinal"],
        sender=row["sender_email"],
        token_count=row["tokens"],
        embedding_generated=row["model_id"] is not None,
        embedding_model=row["model_id"],
    )
    return passage.model_copy(update={"embedding": row["embedding"]}) if vectors else passage
