"""What belongs to a person: documents that they brought, memory that is theirs, mail that they wrote."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row
from pydantic import Field

from mnemon.db.database import Connection
from mnemon.operations import Output

# The newest of each kind: a file is asked for by one person and read whole.
MOST = 10_000

# A private document shows that it is there to whoever may purge it, and no more.
DOCUMENTS = """
SELECT doc_id, CASE WHEN %(everything)s OR mnemon.may_read(readers) THEN title END AS title, visibility_scope,
       created_at
  FROM mnemon.documents
 WHERE tenant_id = mnemon.current_tenant() AND (owner = ANY (%(ids)s) OR created_by = ANY (%(ids)s))
   AND purged_at IS NULL
 ORDER BY created_at DESC, doc_id LIMIT %(limit)s
"""
MEMORY = """
SELECT world_id, branch, emo_id, emo_type, content, tags, facets, deleted, updated_at FROM mnemon.emo_current
 WHERE tenant_id = mnemon.current_tenant() AND owner = ANY (%(ids)s) AND (%(everything)s OR mnemon.may_read(readers))
 ORDER BY updated_at DESC, emo_id LIMIT %(limit)s
"""
MESSAGES = """
SELECT message_key AS message, list_name, subject, date FROM mnemon.mail_messages
 WHERE tenant_id = mnemon.current_tenant() AND purged_at IS NULL
   AND (sender_email = ANY (%(addresses)s) OR lower(sender_name) = ANY (%(names)s))
   AND (%(everything)s OR mnemon.may_read(readers))
 ORDER BY date DESC NULLS LAST, message_key LIMIT %(limit)s
"""


class OwnDocument(Output):
    """A document that they brought, or that is theirs."""

    doc_id: UUID
    title: str | None = Field(description="None where whoever asks may not read it.")
    visibility_scope: str
    created_at: datetime


class OwnMemory(Output):
    """A memory object of theirs as it is now, also one that is deleted, whose history stays."""

    world_id: UUID
    branch: str
    emo_id: UUID
    emo_type: str
    content: str
    tags: list[str]
    facets: dict[str, Any]
    deleted: bool
    updated_at: datetime


class OwnMessage(Output):
    """A message of a mailing list from one of their addresses, or under one of their names."""

    message: str
    list_name: str
    subject: str
    date: datetime | None


class Belongings(Output):
    documents: list[OwnDocument]
    memory: list[OwnMemory]
    messages: list[OwnMessage]

    @property
    def complete(self) -> bool:
        return all(len(one) < MOST for one in (self.documents, self.memory, self.messages))


async def belongings_of(
    tx: Connection, ids: Sequence[str], addresses: Sequence[str], names: Sequence[str], *, everything: bool
) -> Belongings:
    """As far as the reader of the transaction may see them, or `everything`."""
    values = {
        "ids": list(ids), "addresses": [one.lower() for one in addresses], "names": [one.lower() for one in names],
        "everything": everything, "limit": MOST,
    }  # fmt: skip
    documents = tx.cursor(row_factory=class_row(OwnDocument))
    memory = tx.cursor(row_factory=class_row(OwnMemory))
    messages = tx.cursor(row_factory=class_row(OwnMessage))
    await documents.execute(DOCUMENTS, values)
    await memory.execute(MEMORY, values)
    await messages.execute(MESSAGES, values)
    return Belongings(
        documents=await documents.fetchall(), memory=await memory.fetchall(), messages=await messages.fetchall()
    )
