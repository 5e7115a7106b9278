"""The mail lens: archives, messages, copies and threads, as the log tells of them.

It follows the documents lens: that a message was filed, and that one was purged, are facts about documents. How
messages are tied into threads depends on the set of them alone, so that any order of archives comes to the same rows.
"""

from collections.abc import Sequence
from typing import Any

import orjson

from mnemon.db.database import Connection
from mnemon.documents import events as documents
from mnemon.log.append.arrays import TextArray
from mnemon.log.events import Event
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.log.project.lens import Lens, Tables
from mnemon.log.read.pattern import Pattern
from mnemon.mail import catalogue as happened
from mnemon.mail.message.people import name_key
from mnemon.mail.storing.batch import SOURCE_TYPE
from mnemon.mail.thread_rows import tie_threads
from mnemon.mail.threads.subjects import parse_subject

ADD_MESSAGES = """
INSERT INTO {mail_messages} AS m
       (tenant_id, message_key, doc_id, doc_version_id, message_id, in_reply_to, refs, list_name, subject, subject_key,
        sender_name, sender_email, sender_key, recipients, date, date_source, spans, draft_mentions, attachments,
        headers, defects, choice, readers, created_at, thread_key, parent_id, result_of)
SELECT tenant, message_key, doc, revision, message_id, in_reply_to, refs, list_name, subject, subject_key, sender_name,
       sender_email, sender_key, recipients, date, date_source, spans, draft_mentions, attachments, headers, defects,
       choice, readers, at, thread_key, parent_id, result_of
  FROM json_to_recordset(%s::json) AS given (
       tenant uuid, message_key text, doc uuid, revision uuid, message_id text, in_reply_to text, refs text[],
       list_name text, subject text, subject_key text, sender_name text, sender_email text, sender_key text,
       recipients jsonb, date timestamptz, date_source text, spans text, draft_mentions text[], attachments jsonb,
       headers jsonb, defects text[], choice text, readers text[], at timestamptz, thread_key text, parent_id text,
       result_of text)
ON CONFLICT (tenant_id, message_key) DO UPDATE
   SET doc_version_id = excluded.doc_version_id, in_reply_to = excluded.in_reply_to, refs = excluded.refs,
       list_name = excluded.list_name, sender_name = excluded.sender_name, sender_key = excluded.sender_key,
       recipients = excluded.recipients, date = excluded.date, date_source = excluded.date_source,
       spans = excluded.spans, draft_mentions = excluded.draft_mentions, attachments = excluded.attachments,
       headers = excluded.headers, defects = excluded.defects, choice = excluded.choice,
       readers = excluded.readers, thread_key = coalesce(excluded.thread_key, m.thread_key),
       parent_id = CASE WHEN excluded.thread_key IS NULL THEN m.parent_id ELSE excluded.parent_id END,
       result_of = CASE WHEN excluded.thread_key IS NULL THEN m.result_of ELSE excluded.result_of END
 WHERE m.purged_at IS NULL
"""
ADD_ARCHIVE = """
INSERT INTO {mail_archives}
       (tenant_id, archive_id, file_hash, file_size_bytes, source, source_type, source_url, format, start_offset,
        continues, readers, status, ingestion_date)
VALUES (%(tenant)s, %(archive_id)s, %(file_hash_sha256)s, %(file_size_bytes)s, %(source_name)s, %(source_type)s,
        %(source_url)s, %(format)s, %(start_offset)s, %(continues)s, %(readers)s::text[], 'pending', %(at)s)
ON CONFLICT (tenant_id, archive_id) DO UPDATE SET status = 'pending'
"""
ADD_COPIES = """
INSERT INTO {mail_copies} (tenant_id, archive_id, byte_offset, byte_length, digest, message_key, copy_key)
SELECT %(tenant)s, %(archive_id)s, byte_offset::bigint, byte_length::bigint,
       -- Bytes of what was purged are overwritten.
       CASE WHEN m.purged_at IS NULL THEN digest ELSE '' END, given.message_key, copy_key
  FROM unnest(%(keys)s, %(copy_keys)s, %(offsets)s, %(lengths)s, %(digests)s)
       AS given (message_key, copy_key, byte_offset, byte_length, digest)
  LEFT JOIN {mail_messages} m ON m.tenant_id = %(tenant)s AND m.message_key = given.message_key
ON CONFLICT (tenant_id, archive_id, byte_offset) DO NOTHING
"""
ADD_DEFECTS = """
INSERT INTO {mail_defects} (tenant_id, archive_id, byte_offset, byte_length, reason)
SELECT %(tenant)s, %(archive_id)s, (one ->> 0)::bigint, (one ->> 1)::bigint, one ->> 2
  FROM json_array_elements(%(defects)s::json) AS one
ON CONFLICT (tenant_id, archive_id, byte_offset) DO NOTHING
"""
COUNT_ARCHIVE = """
UPDATE {mail_archives} a
   SET message_count = (SELECT count(*) FROM {mail_copies} c
                         WHERE c.tenant_id = a.tenant_id AND c.archive_id = a.archive_id),
       defect_count = (SELECT count(*) FROM {mail_defects} c
                        WHERE c.tenant_id = a.tenant_id AND c.archive_id = a.archive_id),
       status = 'processed'
 WHERE tenant_id = %(tenant)s AND archive_id = %(archive_id)s
"""
FAIL_ARCHIVE = """
UPDATE {mail_archives} SET status = 'failed' WHERE tenant_id = %(tenant)s AND archive_id = %(archive_id)s
"""
# The same as replay gives once the key is gone.
FORGET = """
UPDATE {mail_messages}
   SET doc_version_id = NULL, message_id = NULL, in_reply_to = NULL, refs = '{{}}', list_name = '', subject = '',
       subject_key = '', sender_name = '', sender_email = '', sender_key = '', recipients = '{{}}', date = NULL,
       date_source = 'none', spans = '', draft_mentions = '{{}}', attachments = '[]', headers = '{{}}',
       defects = '{{}}', choice = '', thread_key = NULL, parent_id = NULL, result_of = NULL, readers = NULL,
       purged_at = %(at)s
 WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s
"""
OF_DOCUMENT = "SELECT message_key, thread_key FROM {mail_messages} WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s"
READERS = """
UPDATE {mail_messages} SET readers = %(readers)s::text[] WHERE tenant_id = %(tenant)s AND doc_id = %(doc)s
"""
NO_DIGEST = "UPDATE {mail_copies} SET digest = '' WHERE tenant_id = %(tenant)s AND message_key = %(key)s"

Row = dict[str, Any]
MailRows = dict[str, Row]


async def apply(connection: Connection, events: Sequence[Event], tables: Tables) -> None:
    # What was filed waits for the event that places it in threads, mostly the next: so it is written once.
    filed: MailRows = {}
    for event in events:
        if event.type == documents.FILED.type:
            if event.data["source_type"] == SOURCE_TYPE:
                await _file(connection, _message_row(event), filed, tables)
        elif event.type == happened.PARSED.type:
            await _parsed(connection, event, filed, tables)
        else:
            await _write(connection, filed, tables)
            await STEPS[event.type](connection, event, tables)
    await _write(connection, filed, tables)


async def _file(connection: Connection, row: Row, filed: MailRows, tables: Tables) -> None:
    """Of two versions of a message the later one is written after the first."""
    if row["message_key"] in filed:
        await _write(connection, filed, tables)
    filed[row["message_key"]] = row


async def _write(connection: Connection, rows: MailRows, tables: Tables) -> None:
    if rows:
        await connection.execute(ADD_MESSAGES.format(**tables), (orjson.dumps(list(rows.values())).decode(),))
    rows.clear()


def _message_row(event: Event) -> Row:
    data, about = event.data, event.data.get("about")
    doc_id = data["subject"].removeprefix(f"{documents.ENTITY}:")
    row = {"tenant": event.tenant_id, "doc": doc_id, "at": event.recorded_at, "number": data["version_number"]}
    if not isinstance(about, dict):
        # It was purged later: only that there was one is known, and its key.
        return row | _nothing(data["filed_as"])
    kept = about["kept"]
    name, address = kept["from"]
    return row | {
        "message_key": data["filed_as"],
        "readers": data["readers"],
        "revision": data["doc_version_id"],
        "refs": kept["references"],
        "subject_key": parse_subject(kept["subject"]).base[:200],
        "sender_name": name,
        "sender_email": address,
        "sender_key": name_key(name) or "",
        "recipients": {"to": kept["to"], "cc": kept["cc"]},
        **{one: kept[one] for one in AS_KEPT},
    }


AS_KEPT = (
    "message_id", "in_reply_to", "list_name", "subject", "date", "date_source", "spans", "draft_mentions",
    "attachments", "headers", "defects", "choice",
)  # fmt: skip


def _nothing(key: str) -> dict[str, Any]:
    empty: dict[str, Any] = dict.fromkeys((*AS_KEPT, "subject_key", "sender_name", "sender_email", "sender_key"), "")
    lists: dict[str, Any] = {"refs": [], "draft_mentions": [], "attachments": [], "defects": []}
    none = dict.fromkeys(("message_id", "in_reply_to", "date", "revision", "readers"))
    return empty | lists | none | {"headers": {}, "recipients": {}, "date_source": "none", "message_key": key}


async def _ingested(connection: Connection, event: Event, tables: Tables) -> None:
    told = {"source_name": REDACTED, "source_url": REDACTED, "continues": None, "readers": None} | dict(event.data)
    values = told | {"tenant": event.tenant_id, "at": event.recorded_at}
    await connection.execute(ADD_ARCHIVE.format(**tables), values)


async def _parsed(connection: Connection, event: Event, filed: MailRows, tables: Tables) -> None:
    data = event.data
    values = {
        "tenant": event.tenant_id, "archive_id": data["archive_id"], "defects": orjson.dumps(data["defects"]).decode(),
    }  # fmt: skip
    if data["copies"]:
        columns = [TextArray(list(map(str, column))) for column in zip(*data["copies"], strict=True)]
        names = ("keys", "copy_keys", "offsets", "lengths", "digests")
        await connection.execute(ADD_COPIES.format(**tables), values | dict(zip(names, columns, strict=True)))
    if data["defects"]:
        await connection.execute(ADD_DEFECTS.format(**tables), values)
    if data["is_last"]:
        await connection.execute(COUNT_ARCHIVE.format(**tables), values)
    keys = data["message_keys"]
    new = {key: filed.pop(key) for key in keys if key in filed and filed[key]["number"] == 1}
    # A better copy of a known message: its row says where it stands.
    await _write(connection, filed, tables)
    await tie_threads(connection, event, [key for key in keys if key not in new], (), tables, new)
    await _write(connection, new, tables)


async def _failed(connection: Connection, event: Event, tables: Tables) -> None:
    values = {"tenant": event.tenant_id, "archive_id": event.data["archive_id"]}
    await connection.execute(FAIL_ARCHIVE.format(**tables), values)


async def _purged(connection: Connection, event: Event, tables: Tables) -> None:
    doc_id = event.data["subject"].removeprefix(f"{documents.ENTITY}:")
    values: dict[str, Any] = {"tenant": event.tenant_id, "doc": doc_id, "at": event.recorded_at}
    row = await (await connection.execute(OF_DOCUMENT.format(**tables), values)).fetchone()
    if row is None:
        return
    await connection.execute(FORGET.format(**tables), values)
    await connection.execute(NO_DIGEST.format(**tables), values | {"key": row["message_key"]})
    if row["thread_key"] is not None:
        await tie_threads(connection, event, (), (row["thread_key"],), tables)


async def _described(connection: Connection, event: Event, tables: Tables) -> None:
    """Its owner says who may read a message: it goes to the thread of those."""
    doc_id = event.data["subject"].removeprefix(f"{documents.ENTITY}:")
    values: dict[str, Any] = {"tenant": event.tenant_id, "doc": doc_id, "readers": event.data["readers"]}
    row = await (await connection.execute(OF_DOCUMENT.format(**tables), values)).fetchone()
    if row is None or row["thread_key"] is None:
        return
    await connection.execute(READERS.format(**tables), values)
    await tie_threads(connection, event, (row["message_key"],), (row["thread_key"],), tables)


STEPS = {
    documents.DESCRIBED.type: _described,
    happened.ARCHIVE_INGESTED.type: _ingested,
    happened.PARSING_FAILED.type: _failed,
    documents.PURGED.type: _purged,
}


async def forget(connection: Connection, subject_id: str, tables: Tables) -> None:
    """A message's key is destroyed together with the event that says so; an archive's rows tell where it came from."""
    kind, _, name = subject_id.partition(":")
    if kind == happened.ARCHIVE:
        statement = "UPDATE {mail_archives} SET source = %s, source_url = %s WHERE archive_id = %s"
        await connection.execute(statement.format(**tables), (REDACTED, REDACTED, name))


MAIL = Lens(
    name="mail",
    tables=(
        "mnemon.mail_archives", "mnemon.mail_messages", "mnemon.mail_copies", "mnemon.mail_defects",
        "mnemon.mail_thread_ids", "mnemon.mail_threads",
    ),
    apply=apply,
    lifecycle="inline",
    pattern=Pattern(types=(documents.FILED.type, happened.PARSED.type, *STEPS)),
    version=2,
    forget=forget,
)  # fmt: skip
