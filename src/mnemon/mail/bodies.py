"""Reads the texts of several messages at once, for whoever shows a thread."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.mail.spans.labels import LabelledSpan
from mnemon.mail.spans.written import read_spans

BODIES = """
SELECT m.message_key, m.doc_version_id, m.spans, t.text
  FROM mnemon.mail_messages m
  JOIN mnemon.revision_texts t ON t.tenant_id = m.tenant_id AND t.doc_version_id = m.doc_version_id
 WHERE m.tenant_id = mnemon.current_tenant() AND m.message_key = ANY(%s) AND m.purged_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class MessageBody:
    """The text of a message and what each part of it is."""

    doc_version_id: UUID
    text: str
    spans: Sequence[LabelledSpan]


async def read_bodies(tx: Connection, keys: Sequence[str]) -> dict[str, MessageBody]:
    """By the message's key; one that was purged has none."""
    rows = await (await tx.execute(BODIES, (list(keys),))).fetchall()
    return {
        row["message_key"]: MessageBody(row["doc_version_id"], row["text"], read_spans(row["spans"])) for row in rows
    }
