"""Threads of the lens as discussions, and which of them changed since they were read."""

from typing import Any
from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.log.append.arrays import TextArray
from mnemon.mail.consensus.discussion import DiscussedMessage, Discussion
from mnemon.mail.message.message import MailAddress
from mnemon.mail.message.people import merge_people
from mnemon.mail.spans.written import read_spans

# A result that names no headers belongs to the vote that it tells of.
STALE = """
WITH part AS (
    SELECT m.thread_key, m.message_key, m.doc_version_id FROM mnemon.mail_messages m
     WHERE m.tenant_id = mnemon.current_tenant() AND m.thread_key IS NOT NULL AND m.purged_at IS NULL
     UNION
    SELECT v.thread_key, m.message_key, m.doc_version_id FROM mnemon.mail_messages m
      JOIN mnemon.mail_messages v ON v.tenant_id = m.tenant_id AND v.message_id = m.result_of
       AND v.readers IS NOT DISTINCT FROM m.readers
     WHERE m.tenant_id = mnemon.current_tenant() AND v.thread_key IS NOT NULL AND m.purged_at IS NULL),
now AS (
    SELECT thread_key, md5(string_agg(message_key || ':' || doc_version_id, ',' ORDER BY message_key)) AS digest
      FROM part GROUP BY thread_key)
SELECT n.thread_key, n.digest FROM now n
  LEFT JOIN mnemon.mail_consensus c ON c.tenant_id = mnemon.current_tenant() AND c.thread_key = n.thread_key
 WHERE (c.digest, c.read_by) IS DISTINCT FROM (n.digest, %(reader)s::text)
 ORDER BY n.thread_key LIMIT %(limit)s
"""
MEMBERS = """
SELECT message_key, message_id, readers FROM mnemon.mail_messages
 WHERE tenant_id = mnemon.current_tenant() AND thread_key = %(thread)s
"""
RESULTS = """
SELECT message_key FROM mnemon.mail_messages
 WHERE tenant_id = mnemon.current_tenant() AND result_of = ANY(%(ids)s)
   AND readers IS NOT DISTINCT FROM %(readers)s::text[]
"""
# By keys that are known: of an import that was not analyzed yet, PostgreSQL read the whole list for each of its mails.
MESSAGES = """
SELECT m.message_key, m.message_id, m.sender_name, m.sender_email, m.subject, m.date, m.spans, m.parent_id, t.text
  FROM mnemon.mail_messages m
  JOIN mnemon.revision_texts t ON t.tenant_id = m.tenant_id AND t.doc_version_id = m.doc_version_id
 WHERE m.tenant_id = mnemon.current_tenant() AND m.purged_at IS NULL AND m.message_key = ANY(%(keys)s)
 ORDER BY m.date NULLS LAST, m.message_key LIMIT %(most)s
"""
READING = """
SELECT EXISTS (SELECT FROM mnemon.jobs WHERE tenant_id = mnemon.current_tenant() AND kind = 'mail.consensus'
                AND status IN ('PENDING', 'PROCESSING')) AS reading
"""
# A thread of more messages is an automatic one; what came first is read.
MOST_MESSAGES = 2_000


async def stale_threads(tx: Connection, reader: str, limit: int) -> list[tuple[str, str]]:
    """Threads that were not read as they are, by this reader, with the digest of what they are."""
    rows = await (await tx.execute(STALE, {"reader": reader, "limit": limit})).fetchall()
    return [(row["thread_key"], row["digest"]) for row in rows]


async def load_discussion(tx: Connection, thread: str) -> tuple[Discussion, dict[str, str]]:
    """The thread's messages by date, and the key of each by its id."""
    values: dict[str, Any] = {"keys": TextArray(await _keys(tx, thread)), "most": MOST_MESSAGES}
    rows = await (await tx.execute(MESSAGES, values)).fetchall()
    senders = [MailAddress(row["sender_name"], row["sender_email"]) for row in rows]
    people = merge_people(senders)
    messages = tuple(
        DiscussedMessage(
            row["message_id"],
            people[sender],
            row["sender_name"],
            row["subject"],
            row["date"],
            row["text"],
            read_spans(row["spans"]),
            row["parent_id"],
        )
        for row, sender in zip(rows, senders, strict=True)
    )
    subject = messages[0].subject if messages else ""
    return Discussion(subject, messages), {row["message_id"]: row["message_key"] for row in rows}


async def _keys(tx: Connection, thread: str) -> list[str]:
    """Of the thread's messages, which all have the same readers, and of what tells the result of one of them."""
    members = await (await tx.execute(MEMBERS, {"thread": thread})).fetchall()
    if not members:
        return []
    ids = TextArray([row["message_id"] for row in members])
    results = await tx.execute(RESULTS, {"ids": ids, "readers": members[0]["readers"]})
    return sorted({row["message_key"] for row in (*members, *await results.fetchall())})


async def is_reading(database: Database, tenant: UUID) -> bool:
    """Whether threads wait to be read, or are being read."""
    async with database.transaction(tenant) as tx:
        row = await (await tx.execute(READING)).fetchone()
    return bool(row and row["reading"])
