"""Reads the consensus of a thread from the lens, and looks up each quote in the text that it stands in."""

from typing import Any

from mnemon.db.database import Connection
from mnemon.errors import NotFound
from mnemon.mail.consensus import outputs
from mnemon.mail.consensus.objections import UNRESOLVED
from mnemon.mail.message.ids import thread_key
from mnemon.mail.reading import NAMED_THREAD

CONSENSUS = (
    """
SELECT t.thread_id, t.thread_key, t.list_name, t.subject, c.consensus_type, c.confidence, c.read_by, c.read_at, c.found,
       c.digest = (SELECT md5(string_agg(part.message_key || ':' || part.doc_version_id, ',' ORDER BY part.message_key))
                     FROM (SELECT m.message_key, m.doc_version_id FROM mnemon.mail_messages m
                            WHERE m.tenant_id = t.tenant_id AND m.thread_key = t.thread_key AND m.purged_at IS NULL
                           UNION
                           SELECT m.message_key, m.doc_version_id FROM mnemon.mail_messages v
                             JOIN mnemon.mail_messages m ON m.tenant_id = v.tenant_id AND m.result_of = v.message_id
                              AND m.readers IS NOT DISTINCT FROM v.readers AND m.purged_at IS NULL
                            WHERE v.tenant_id = t.tenant_id AND v.thread_key = t.thread_key) AS part)
       AS is_current
  FROM mnemon.mail_threads t
  LEFT JOIN mnemon.mail_consensus c ON c.tenant_id = t.tenant_id AND c.thread_key = t.thread_key
 WHERE """
    + NAMED_THREAD
    + """
 ORDER BY t.readers NULLS FIRST LIMIT 1
"""
)
WORDS = """
SELECT m.message_key, m.message_id, m.doc_version_id, m.sender_name AS name, m.sender_email AS email, m.date, t.text
  FROM mnemon.mail_messages m
  JOIN mnemon.revision_texts t ON t.tenant_id = m.tenant_id AND t.doc_version_id = m.doc_version_id
 WHERE m.tenant_id = mnemon.current_tenant() AND m.message_key = ANY(%s) AND m.purged_at IS NULL
   AND mnemon.may_read(m.readers)
"""
FoundPlace = dict[str, Any]


class _Words:
    """The texts of messages. What was said in one that is gone, or no longer stands there, is not told."""

    def __init__(self, rows: list[FoundPlace]) -> None:
        self.rows = {row["message_key"]: row for row in rows}

    def of(self, found: FoundPlace) -> FoundPlace | None:
        row = self.rows.get(found["message_key"])
        if row is None or found["end"] > len(row["text"]):
            return None
        about = {name: row[name] for name in row if name != "text"}
        return about | {
            "start": found["start"],
            "end": found["end"],
            "quote": row["text"][found["start"] : found["end"]],
        }

    def ids(self, keys: list[str]) -> list[str]:
        return [self.rows[key]["message_id"] for key in keys if key in self.rows]


async def show_consensus(tx: Connection, named: str) -> outputs.ConsensusShown:
    """By the thread's id, its key, or the id of any message in it; as the reader of the transaction may see it."""
    row = await (await tx.execute(CONSENSUS, {"named": named, "id_key": thread_key(named)})).fetchone()
    if row is None:
        raise NotFound(f"There is no thread {named}.", thread=named)
    if row["found"] is None:
        raise NotFound(
            f"The thread {named} was not read yet: `mnemon work` reads what came in.", thread=row["thread_id"]
        )
    found = row["found"]
    words = _Words(await (await tx.execute(WORDS, (_messages_in(found),))).fetchall())
    votes = [outputs.VoteShown(**said, **_rest(one)) for one in found["votes"] if (said := words.of(one))]
    objecting = {_place(one): one["found_by"] for one in found["statements"] if one["stance"] == "object"}
    objections = [
        _objection(one, said, objecting.get(_place(one), "formula"), words)
        for one in found["objections"]
        if (said := words.of(one))
    ]
    told = found["conclusion"]
    concluded = words.of(told) if told else None
    return outputs.ConsensusShown(
        **{name: row[name] for name in AS_ROW},
        has_consensus=row["consensus_type"] == "agreement",
        conclusion=outputs.ConclusionShown(**concluded, concluded=told["concluded"]) if concluded else None,
        tally=_tally(votes),
        votes=votes,
        objections=objections,
        unresolved=sum(not one.resolved for one in objections),
        statements=[
            outputs.StatementShown(**said, **_rest(one)) for one in found["statements"] if (said := words.of(one))
        ],
    )


AS_ROW = ("thread_id", "thread_key", "list_name", "subject", "consensus_type", "confidence", "read_by", "read_at",
          "is_current")  # fmt: skip
PLACE = ("message_key", "start", "end")


def _rest(found: FoundPlace) -> FoundPlace:
    return {name: value for name, value in found.items() if name not in PLACE}


def _messages_in(found: FoundPlace) -> list[str]:
    places = [*found["votes"], *found["statements"], *found["objections"]]
    places += [one["settled_by"] for one in found["objections"] if one["settled_by"]]
    places += [found["conclusion"]] if found["conclusion"] else []
    answers = [key for one in found["objections"] for key in one["answered_in"]]
    return list({*(one["message_key"] for one in places), *answers})


def _place(found: FoundPlace) -> tuple[Any, ...]:
    return tuple(found[name] for name in PLACE)


def _objection(found: FoundPlace, said: FoundPlace, found_by: str, words: _Words) -> outputs.ObjectionShown:
    settled = words.of(found["settled_by"]) if found["settled_by"] else None
    return outputs.ObjectionShown(
        **said,
        state=found["state"],
        resolved=found["state"] not in UNRESOLVED,
        found_by=found_by,
        settled_by=outputs.Said(**settled) if settled else None,
        answered_in=words.ids(found["answered_in"]),
    )


def _tally(votes: list[outputs.VoteShown]) -> dict[str, int]:
    standing = [vote.value for vote in votes if not vote.changed and vote.value]
    return {value: standing.count(value) for value in sorted(set(standing), reverse=True)}
