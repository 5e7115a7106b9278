"""The rows of threads: those that new messages touch are made anew from all messages that may belong to them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import orjson

from mnemon.db.database import Connection
from mnemon.log.append.arrays import TextArray
from mnemon.log.events import Event
from mnemon.log.project.lens import Tables
from mnemon.mail.message.ids import audience_of, thread_key
from mnemon.mail.threads.linking import SUBJECT_WINDOW, LinkedThread, ThreadMember, threads_of
from mnemon.mail.threads.results import votes_of_results

_COLUMNS = """message_key, message_id, in_reply_to, refs, subject, subject_key, list_name, date, thread_key, parent_id,
       result_of, sender_name, sender_email, sender_key, draft_mentions, readers"""
BY_KEY = f"""
SELECT {_COLUMNS} FROM {{mail_messages}}
 WHERE tenant_id = %(tenant)s AND message_key = ANY(%(keys)s) AND message_id IS NOT NULL
"""
BY_THREAD = f"""
SELECT {_COLUMNS} FROM {{mail_messages}}
 WHERE tenant_id = %(tenant)s AND thread_key = ANY(%(threads)s) AND message_id IS NOT NULL
"""
TOUCHED = """
SELECT thread_key FROM {mail_thread_ids} WHERE tenant_id = %(tenant)s AND id_key = ANY(%(ids)s)
UNION
SELECT thread_key FROM {mail_messages}
 WHERE tenant_id = %(tenant)s AND subject_key = ANY(%(subjects)s) AND thread_key IS NOT NULL
   AND date BETWEEN %(first)s AND %(last)s
"""
# Most ids of a thread stay: only what changes is written.
DROP_IDS = """
DELETE FROM {mail_thread_ids}
 WHERE tenant_id = %(tenant)s AND thread_key = ANY(%(threads)s) AND NOT id_key = ANY(%(kept)s)
"""
DROP_THREADS = "DELETE FROM {mail_threads} WHERE tenant_id = %(tenant)s AND thread_key = ANY(%(threads)s)"
ADD_IDS = """
INSERT INTO {mail_thread_ids} AS i (tenant_id, id_key, thread_key)
SELECT %(tenant)s, id_key, thread_key
  FROM json_to_recordset(%(rows)s::json) AS given (id_key text, thread_key text)
ON CONFLICT (tenant_id, id_key) DO UPDATE SET thread_key = excluded.thread_key
 WHERE i.thread_key <> excluded.thread_key
"""
ADD_THREADS = """
INSERT INTO {mail_threads}
       (tenant_id, thread_key, thread_id, list_name, subject, participants, participant_keys, message_count,
        ghost_count, first_message_date, last_message_date, draft_mentions, readers)
SELECT %(tenant)s, thread_key, thread_id, list_name, subject, participants, participant_keys, message_count,
       ghost_count, first_message_date, last_message_date, draft_mentions, readers
  FROM json_to_recordset(%(rows)s::json) AS given (
       thread_key text, thread_id text, list_name text, subject text, participants jsonb, participant_keys text[],
       message_count integer, ghost_count integer, first_message_date timestamptz, last_message_date timestamptz,
       draft_mentions text[], readers text[])
"""
PLACE_MESSAGES = """
UPDATE {mail_messages} m
   SET thread_key = given.thread_key, parent_id = given.parent_id, result_of = given.result_of
  FROM json_to_recordset(%(rows)s::json) AS given (
       message_key text, thread_key text, parent_id text, result_of text)
 WHERE m.tenant_id = %(tenant)s AND m.message_key = given.message_key
"""
MOST_PARTICIPANTS = 500
NO_DATE = datetime(1970, 1, 1, tzinfo=UTC)
ThreadRow = dict[str, Any]


async def tie_threads(
    connection: Connection,
    event: Event,
    keys: Sequence[str],
    threads: Sequence[str],
    tables: Tables,
    unwritten: Mapping[str, ThreadRow] = MappingProxyType({}),
) -> None:
    """Make anew every thread that these messages, or those of these threads, belong to.

    `unwritten` are messages that have no row yet: they are told their places, for whoever writes them.
    """
    values: ThreadRow = {"tenant": event.tenant_id, "keys": TextArray(list(keys))}
    new = await _fetch(connection, BY_KEY, values, tables) if keys else []
    new += [_as_written(row) for row in unwritten.values() if row["message_id"] is not None]
    if not new and not threads:
        return
    ids = _thread_keys(new)
    subjects = {row["subject_key"] for row in new if row["subject_key"]}
    touched = {row["thread_key"] for row in new if row["thread_key"]} | set(threads)
    dated = [row["date"] for row in new if row["date"]] or [NO_DATE]
    # By subject, nothing is tied to what is further away in time.
    values |= {"ids": TextArray(list(ids)), "subjects": TextArray(list(subjects)), "first": min(dated) - SUBJECT_WINDOW,
               "last": max(dated) + SUBJECT_WINDOW}  # fmt: skip
    touched |= {row["thread_key"] for row in await _fetch(connection, TOUCHED, values, tables)}
    values["threads"] = TextArray(list(touched))
    rows = {row["message_key"]: row for row in new}
    if touched:
        rows |= {row["message_key"]: row for row in await _fetch(connection, BY_THREAD, values, tables)}
        await connection.execute(DROP_THREADS.format(**tables), values)
    await _store(connection, event, rows, list(touched), tables, unwritten)


def _as_written(row: ThreadRow) -> ThreadRow:
    """As it would be read from its row."""
    date = datetime.fromisoformat(row["date"]) if row["date"] else None
    return row | {"date": date, "thread_key": None, "parent_id": None, "result_of": None}


async def _fetch(connection: Connection, statement: str, values: ThreadRow, tables: Tables) -> list[ThreadRow]:
    return await (await connection.execute(statement.format(**tables), values)).fetchall()


def _thread_keys(rows: Iterable[ThreadRow]) -> set[str]:
    """Of all ids that these messages name, as those have them who may read the messages."""
    named: dict[str, set[str]] = {}
    for row in rows:
        ids = named.setdefault(audience_of(row["readers"]), set())
        ids.update(row["refs"])
        ids.update(filter(None, (row["message_id"], row["in_reply_to"])))
    return {thread_key(one, audience) for audience, ids in named.items() for one in ids}


async def _store(
    connection: Connection,
    event: Event,
    rows: dict[str, ThreadRow],
    touched: list[str],
    tables: Tables,
    unwritten: Mapping[str, ThreadRow],
) -> None:
    placed: list[ThreadRow] = []
    ids: list[ThreadRow] = []
    threads: list[ThreadRow] = []
    audiences: dict[str, dict[str, ThreadRow]] = {}
    for key, row in rows.items():
        audiences.setdefault(audience_of(row["readers"]), {})[key] = row
    for audience, own in audiences.items():
        _link(audience, own, placed, ids, threads)
    for one in placed:
        if one["message_key"] in unwritten:
            unwritten[one["message_key"]].update(one)
    placed = [one for one in placed if one["message_key"] not in unwritten]
    if touched:
        kept = {"tenant": event.tenant_id, "threads": TextArray(touched),
                "kept": TextArray([one["id_key"] for one in ids])}  # fmt: skip
        await connection.execute(DROP_IDS.format(**tables), kept)
    for statement, given in ((ADD_IDS, ids), (ADD_THREADS, threads), (PLACE_MESSAGES, placed)):
        if given:
            values = {"tenant": event.tenant_id, "rows": orjson.dumps(given).decode()}
            await connection.execute(statement.format(**tables), values)


def _link(
    audience: str, rows: dict[str, ThreadRow], placed: list[ThreadRow], ids: list[ThreadRow], threads: list[ThreadRow]
) -> None:
    """The threads of those whom the same people may read, added to what will be written."""
    members = [
        ThreadMember(
            key, row["message_id"], row["in_reply_to"], row["refs"], row["subject"], row["date"], row["list_name"]
        )
        for key, row in rows.items()
    ]
    votes = votes_of_results(members)
    here = {one.message_id for one in members}
    for thread in threads_of(members):
        key = thread_key(thread.root, audience)
        ids += [{"id_key": one, "thread_key": key} for one in _known_ids(thread, audience)]
        for one in thread.members:
            row = rows[one.key]
            # A vote in a thread that is not made anew is still the one that was told of.
            known = row["result_of"] if row["result_of"] not in here else None
            place = (key, thread.parents.get(one.message_id), votes.get(one.message_id, known))
            if place != (row["thread_key"], row["parent_id"], row["result_of"]):
                names = ("thread_key", "parent_id", "result_of")
                placed.append({"message_key": one.key, **dict(zip(names, place, strict=True))})
        threads.append(_thread_row(key, thread, rows))


def _known_ids(thread: LinkedThread, audience: str) -> set[str]:
    named = {thread.root, *thread.ghosts}
    for one in thread.members:
        named |= {one.message_id, *one.references}
        if one.in_reply_to:
            named.add(one.in_reply_to)
    return {thread_key(one, audience) for one in named}


def _thread_row(key: str, thread: LinkedThread, rows: dict[str, ThreadRow]) -> ThreadRow:
    own = [rows[one.key] for one in thread.members]
    dated = [row["date"] for row in own if row["date"]]
    people = dict.fromkeys((row["sender_name"], row["sender_email"]) for row in own)
    keys = {key for row in own for key in (row["sender_email"], row["sender_key"]) if key}
    root = next((row for row in own if row["message_id"] == thread.root), own[0])
    return {
        "thread_key": key,
        "readers": own[0]["readers"],
        "thread_id": thread.root,
        "list_name": root["list_name"],
        "subject": root["subject"],
        "participants": [{"name": name, "email": email} for name, email in list(people)[:MOST_PARTICIPANTS]],
        "participant_keys": sorted(keys),
        "message_count": len(own),
        "ghost_count": len(thread.ghosts),
        "first_message_date": min(dated, default=None),
        "last_message_date": max(dated, default=None),
        "draft_mentions": sorted({name for row in own for name in row["draft_mentions"]}),
    }
