"""Reads messages, threads and archives from the lens, with one set of filters."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.documents.ingest.revision_texts import read_text
from mnemon.errors import NotFound
from mnemon.inputs import from_cursor, to_cursor
from mnemon.mail import outputs
from mnemon.mail.inputs import MailArchivesAsked, MailFilters, MessagesAsked, ThreadsAsked
from mnemon.mail.message.ids import thread_key
from mnemon.mail.message.people import name_key
from mnemon.mail.spans.normalized import new_text
from mnemon.mail.spans.written import read_spans

# A draft without a version is every version of it.
_DRAFT = """(%(draft)s::text IS NULL OR draft_mentions @> ARRAY[%(draft)s]
        OR EXISTS (SELECT FROM unnest(draft_mentions) AS one
                    WHERE starts_with(one, %(draft)s || '-') AND substr(one, length(%(draft)s) + 2) ~ '^[0-9]{2}$'))"""
_LIST = "(%(list)s::text IS NULL OR list_name = %(list)s)"
COLUMNS = """m.message_key, m.message_id, t.thread_id, m.in_reply_to, m.subject, m.sender_name, m.sender_email, m.date,
       m.list_name, m.draft_mentions, m.doc_id, m.created_at"""
_FROM = """FROM mnemon.mail_messages m
  LEFT JOIN mnemon.mail_threads t ON t.tenant_id = m.tenant_id AND t.thread_key = m.thread_key"""
MESSAGES = f"""
SELECT {COLUMNS}, coalesce(m.date, '-infinity')::text AS place
  {_FROM}
 WHERE m.tenant_id = mnemon.current_tenant() AND m.purged_at IS NULL
   AND {_LIST.replace("list_name", "m.list_name")} AND {_DRAFT.replace("draft_mentions", "m.draft_mentions")}
   AND (%(people)s::text[] IS NULL OR m.sender_email = ANY(%(people)s) OR m.sender_key = ANY(%(people)s))
   AND (%(since)s::timestamptz IS NULL OR m.date >= %(since)s)
   AND (%(until)s::timestamptz IS NULL OR m.date <= %(until)s)
   AND (%(thread)s::text IS NULL OR m.thread_key = %(thread)s) AND mnemon.may_read(m.readers)
   AND (%(at)s::text IS NULL OR (coalesce(m.date, '-infinity'), m.message_key) < (%(at)s::timestamptz, %(key)s))
 ORDER BY coalesce(m.date, '-infinity') DESC, m.message_key DESC LIMIT %(limit)s
"""
_CONSENSUS = """(SELECT c.consensus_type FROM mnemon.mail_consensus c
         WHERE c.tenant_id = t.tenant_id AND c.thread_key = t.thread_key) AS consensus"""
THREADS = f"""
SELECT *, {_CONSENSUS}, coalesce(last_message_date, '-infinity')::text AS place FROM mnemon.mail_threads t
 WHERE tenant_id = mnemon.current_tenant() AND mnemon.may_read(readers) AND {_LIST} AND {_DRAFT}
   AND (%(people)s::text[] IS NULL OR participant_keys && %(people)s)
   AND (%(consensus)s::text IS NULL OR EXISTS (
        SELECT FROM mnemon.mail_consensus c
         WHERE c.tenant_id = t.tenant_id AND c.thread_key = t.thread_key
           AND c.consensus_type = %(consensus)s))
   AND (%(since)s::timestamptz IS NULL OR last_message_date >= %(since)s)
   AND (%(until)s::timestamptz IS NULL OR first_message_date <= %(until)s)
   AND (%(at)s::text IS NULL OR (coalesce(last_message_date, '-infinity'), thread_key) < (%(at)s::timestamptz, %(key)s))
 ORDER BY coalesce(last_message_date, '-infinity') DESC, thread_key DESC LIMIT %(limit)s
"""
ARCHIVES = """
SELECT *, ingestion_date::text AS place FROM mnemon.mail_archives
 WHERE tenant_id = mnemon.current_tenant() AND (%(source)s::text IS NULL OR source = %(source)s)
   AND (%(status)s::text IS NULL OR status = %(status)s) AND mnemon.may_read(readers)
   AND (%(at)s::text IS NULL OR (ingestion_date, archive_id) < (%(at)s::timestamptz, %(key)s))
 ORDER BY ingestion_date DESC, archive_id DESC LIMIT %(limit)s
"""
ARCHIVE = """
SELECT * FROM mnemon.mail_archives
 WHERE tenant_id = mnemon.current_tenant() AND archive_id = %s AND mnemon.may_read(readers)
"""
DEFECTS = """
SELECT byte_offset AS "offset", byte_length AS length, reason FROM mnemon.mail_defects
 WHERE tenant_id = mnemon.current_tenant() AND archive_id = %s ORDER BY byte_offset LIMIT 1000
"""
MESSAGE = f"""
SELECT {COLUMNS}, m.doc_version_id, m.refs, m.recipients, m.date_source, m.spans, m.headers, m.attachments, m.defects,
       m.parent_id, m.result_of
  {_FROM}
 WHERE m.tenant_id = mnemon.current_tenant() AND m.purged_at IS NULL
   AND (m.message_id = %(named)s OR m.message_key = %(named)s OR m.message_key IN (
        SELECT c.message_key FROM mnemon.mail_copies c
         WHERE c.tenant_id = mnemon.current_tenant() AND c.copy_key = %(named)s))
   AND mnemon.may_read(m.readers)
 ORDER BY m.date NULLS LAST, m.message_key LIMIT 1
"""
COPIES = """
SELECT archive_id, byte_offset AS "offset", byte_length AS length, digest FROM mnemon.mail_copies
 WHERE tenant_id = mnemon.current_tenant() AND message_key = %s ORDER BY archive_id, byte_offset
"""
# A private thread is found by the messages in it, since its ids are named for its audience.
NAMED_THREAD = """
       t.tenant_id = mnemon.current_tenant() AND mnemon.may_read(t.readers) AND t.thread_key IN (
       SELECT %(named)s UNION ALL SELECT i.thread_key FROM mnemon.mail_thread_ids i
        WHERE i.tenant_id = mnemon.current_tenant() AND i.id_key IN (%(id_key)s, %(named)s)
       UNION ALL SELECT m.thread_key FROM mnemon.mail_messages m
        WHERE m.tenant_id = mnemon.current_tenant() AND m.message_id = %(named)s AND mnemon.may_read(m.readers))
"""
THREAD = f"""
SELECT t.*, {_CONSENSUS} FROM mnemon.mail_threads t WHERE {NAMED_THREAD} ORDER BY t.readers NULLS FIRST LIMIT 1
"""
OF_THREAD = f"""
SELECT {COLUMNS}, m.parent_id, m.result_of
  {_FROM}
 WHERE m.tenant_id = mnemon.current_tenant() AND m.thread_key = %s AND mnemon.may_read(m.readers)
 ORDER BY m.date NULLS LAST, m.message_key
"""
SPELLINGS = """
SELECT sender_email, sender_key FROM mnemon.mail_messages
 WHERE tenant_id = mnemon.current_tenant() AND sender_email = ANY(%(keys)s) AND mnemon.may_read(readers)
UNION
SELECT sender_email, sender_key FROM mnemon.mail_messages
 WHERE tenant_id = mnemon.current_tenant() AND sender_key = ANY(%(keys)s) AND sender_key <> ''
   AND mnemon.may_read(readers)
"""
THREADS_OF = """
SELECT doc_id, thread_key FROM mnemon.mail_messages
 WHERE tenant_id = mnemon.current_tenant() AND doc_id = ANY(%s) AND thread_key IS NOT NULL AND mnemon.may_read(readers)
"""
ThreadFields = tuple(outputs.ThreadListed.model_fields)


async def addresses_of(tx: Connection, person: str | None) -> list[str] | None:
    """Every address and spelling of a person: who shares an address or a full name is the same."""
    if person is None:
        return None
    keys = {person.strip().lower()} | ({name} if (name := name_key(person)) else set())
    for _ in range(3):
        rows = await (await tx.execute(SPELLINGS, {"keys": list(keys)})).fetchall()
        more = keys | {one for row in rows for one in row.values() if one}
        if more == keys:
            break
        keys = more
    return sorted(keys)


async def _values(tx: Connection, asked: MailFilters) -> dict[str, Any]:
    at, _, key = (from_cursor(asked.cursor) or "").partition("|")
    return {
        "list": asked.list_name, "people": await addresses_of(tx, asked.person), "since": asked.since,
        "until": asked.until, "draft": _draft(asked.draft), "limit": asked.limit + 1, "at": at or None, "key": key,
    }  # fmt: skip


def _draft(name: str | None) -> str | None:
    return "".join(name.lower().split()) if name else None


def _next(rows: list[dict[str, Any]], limit: int, key: str) -> str | None:
    return to_cursor(f"{rows[limit - 1]['place']}|{rows[limit - 1][key]}") if len(rows) > limit else None


async def find_messages(tx: Connection, asked: MessagesAsked) -> outputs.MailPage:
    thread = (await _thread_row(tx, asked.thread_id))["thread_key"] if asked.thread_id else None
    rows = await (await tx.execute(MESSAGES, await _values(tx, asked) | {"thread": thread})).fetchall()
    items = [outputs.MailListed(**_listed(row)) for row in rows[: asked.limit]]
    return outputs.MailPage(items=items, next_cursor=_next(rows, asked.limit, "message_key"))


async def find_threads(tx: Connection, asked: ThreadsAsked) -> outputs.ThreadPage:
    values = await _values(tx, asked) | {"consensus": asked.consensus}
    rows = await (await tx.execute(THREADS, values)).fetchall()
    items = [outputs.ThreadListed(**{name: row[name] for name in ThreadFields}) for row in rows[: asked.limit]]
    return outputs.ThreadPage(items=items, next_cursor=_next(rows, asked.limit, "thread_key"))


async def find_archives(tx: Connection, asked: MailArchivesAsked) -> outputs.ArchivePage:
    at, _, key = (from_cursor(asked.cursor) or "").partition("|")
    values = {"source": asked.source, "status": asked.status, "limit": asked.limit + 1, "at": at or None, "key": key}
    rows = await (await tx.execute(ARCHIVES, values)).fetchall()
    items = [_archive(row) for row in rows[: asked.limit]]
    return outputs.ArchivePage(items=items, next_cursor=_next(rows, asked.limit, "archive_id"))


async def threads_of(tx: Connection, documents: Sequence[UUID]) -> dict[UUID, str]:
    """The thread of each of these documents that is a message."""
    rows = await (await tx.execute(THREADS_OF, (list(documents),))).fetchall()
    return {row["doc_id"]: row["thread_key"] for row in rows}


async def one_archive(tx: Connection, archive_id: str) -> outputs.ArchiveWhole:
    row = await (await tx.execute(ARCHIVE, (archive_id,))).fetchone()
    if row is None:
        raise NotFound(f"There is no archive {archive_id}.", archive_id=archive_id)
    defects = await (await tx.execute(DEFECTS, (archive_id,))).fetchall()
    shown = _archive(row).model_dump()
    return outputs.ArchiveWhole(**shown, defects=[outputs.DefectShown(**one) for one in defects])


def _archive(row: dict[str, Any]) -> outputs.ArchiveShown:
    return outputs.ArchiveShown(**{name: row[name] for name in outputs.ArchiveShown.model_fields})


async def one_message(tx: Connection, named: str) -> outputs.MailShown:
    row = await (await tx.execute(MESSAGE, {"named": named})).fetchone()
    if row is None:
        raise NotFound(f"There is no message {named}.", named=named)
    text = (await read_text(tx, row["doc_version_id"])).text
    spans = read_spans(row["spans"])
    copies = await (await tx.execute(COPIES, (row["message_key"],))).fetchall()
    people = {name: _people(row["recipients"].get(name, ())) for name in ("to", "cc")}
    return outputs.MailShown(
        **_listed(row),
        **people,
        references=row["refs"],
        body_raw=text,
        body_normalized=new_text(text, spans),
        spans=[outputs.SpanShown(label=one.label, start=one.start, end=one.end, depth=one.depth) for one in spans],
        copies=[outputs.CopyShown(**one) for one in copies],
        **{name: row[name] for name in WHOLE},
    )


WHOLE = ("doc_version_id", "date_source", "headers", "attachments", "defects", "parent_id", "result_of")


def _listed(row: dict[str, Any]) -> dict[str, Any]:
    names = ("message_key", "message_id", "thread_id", "in_reply_to", "subject", "date", "list_name",
             "draft_mentions", "doc_id", "created_at")  # fmt: skip
    sender = outputs.MailPerson(name=row["sender_name"], email=row["sender_email"])
    return {name: row[name] for name in names} | {"sender": sender}


def _people(pairs: Iterable[tuple[str, str]]) -> list[outputs.MailPerson]:
    return [outputs.MailPerson(name=name, email=email) for name, email in pairs]


async def _thread_row(tx: Connection, named: str) -> dict[str, Any]:
    row = await (await tx.execute(THREAD, {"named": named, "id_key": thread_key(named)})).fetchone()
    if row is None:
        raise NotFound(f"There is no thread {named}.", thread=named)
    return row


async def one_thread(tx: Connection, named: str) -> outputs.ThreadShown:
    row = await _thread_row(tx, named)
    rows = await (await tx.execute(OF_THREAD, (row["thread_key"],))).fetchall()
    return outputs.ThreadShown(**{name: row[name] for name in ThreadFields}, messages=_in_order(rows))


def _in_order(rows: list[dict[str, Any]]) -> list[outputs.ThreadNode]:
    """Each message below the one that it answers, answers by date; below a ghost, at the top."""
    here = {row["message_id"] for row in rows}
    below: dict[str | None, list[dict[str, Any]]] = {}
    for row in rows:
        below.setdefault(row["parent_id"] if row["parent_id"] in here else None, []).append(row)
    ordered: list[outputs.ThreadNode] = []
    waiting = [(row, 0) for row in reversed(below.get(None, []))]
    while waiting:
        row, depth = waiting.pop()
        told = {"parent_id": row["parent_id"], "result_of": row["result_of"], "depth": depth}
        ordered.append(outputs.ThreadNode(**_listed(row), **told))
        waiting += [(one, depth + 1) for one in reversed(below.pop(row["message_id"], []))]
    return ordered
