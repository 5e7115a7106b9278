"""A report as the log keeps it, places instead of words, and back: words and names are looked up in the messages."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.documents.events import subject_of
from mnemon.reports.catalogue import unwrapped, wrapped
from mnemon.reports.composing import ReportScope
from mnemon.reports.report import MailReport, ReportCitation, ReportLine, ReportSection

THREADS_OF = """
SELECT thread_key, thread_id, subject FROM mnemon.mail_threads
 WHERE tenant_id = mnemon.current_tenant() AND thread_key = ANY(%s) AND mnemon.may_read(readers)
"""
# A place is read in the revision that was cited, also when the message has another one by now.
WORDS_OF = """
SELECT asked.place, m.message_id, m.sender_name, m.sender_email, m.date,
       substr(t.text, asked.first + 1, asked.last - asked.first) AS quote
  FROM unnest(%(places)s::int[], %(keys)s::text[], %(revisions)s::uuid[], %(firsts)s::int[], %(lasts)s::int[])
       AS asked (place, message_key, revision, first, last)
  JOIN mnemon.mail_messages m ON m.tenant_id = mnemon.current_tenant() AND m.message_key = asked.message_key
       AND m.purged_at IS NULL AND mnemon.may_read(m.readers)
  JOIN mnemon.revision_texts t ON t.tenant_id = m.tenant_id AND t.doc_version_id = asked.revision
       AND length(t.text) >= asked.last
"""
OWNERS = """
SELECT message_key, doc_id FROM mnemon.mail_messages
 WHERE tenant_id = mnemon.current_tenant() AND message_key = ANY(%s) AND purged_at IS NULL
"""
PlacedLine = dict[str, Any]


async def recorded_lines(tx: Connection, report: MailReport) -> dict[str, Any]:
    """Sections and sentences for the event."""
    keys = [one.message_key for one in report.citations]
    rows = await (await tx.execute(OWNERS, (keys,))).fetchall()
    owners = {row["message_key"]: subject_of(row["doc_id"]) for row in rows}
    sentences: list[dict[str, Any]] = []

    def line_of(line: ReportLine) -> PlacedLine:
        made: PlacedLine = {
            "says": line.says,
            "details": dict(line.details),
            "places": list(map(_place, line.citations)),
        }
        if line.says == "sentence":
            made["details"] = {"sentence": len(sentences)}
            sentences.append(wrapped(line.sentence, list(dict.fromkeys(owners[c.message_key] for c in line.citations))))
        return made

    sections = [
        {
            "thread_key": section.thread_key,
            "consensus_type": section.consensus_type,
            "lines": [line_of(line) for line in section.lines],
        }
        for section in report.sections
    ]
    return {"sections": sections, "sentences": sentences}


def _place(one: ReportCitation) -> PlacedLine:
    return {
        "message_key": one.message_key, "doc_version_id": str(one.doc_version_id), "start": one.start, "end": one.end,
    }  # fmt: skip


async def restored(tx: Connection, scope: ReportScope, data: Mapping[str, Any]) -> MailReport:
    """The report that an event keeps. A line that cites a message which is gone is left out and counted."""
    sections: Sequence[PlacedLine] = data["sections"]
    places = [place for section in sections for line in section["lines"] for place in line["places"]]
    citations = await _citations(tx, places)
    keys = [section["thread_key"] for section in sections]
    rows = await (await tx.execute(THREADS_OF, (keys,))).fetchall()
    threads = {row["thread_key"]: row for row in rows}
    dropped, made = data["dropped"], []
    for section in sections:
        lines = [_line(line, citations, data["sentences"]) for line in section["lines"]]
        kept = tuple(line for line in lines if line is not None)
        dropped += len(lines) - len(kept)
        thread = threads.get(section["thread_key"])
        if kept:
            made.append(
                ReportSection(
                    thread["subject"] if thread else "", thread["thread_id"] if thread else "",
                    section["thread_key"], section["consensus_type"], kept,
                )
            )  # fmt: skip
    whole = MailReport(scope.kind, scope.title, tuple(made), dropped, data["llm_model"])
    if scope.kind == "thread" and made:
        return replace(whole, title=f"Summary: {made[0].heading}")
    return whole


def _line(line: PlacedLine, citations: Mapping[tuple[Any, ...], ReportCitation], sentences: Any) -> ReportLine | None:
    found = [citations.get(_key(place)) for place in line["places"]]
    sentence = unwrapped(sentences[line["details"]["sentence"]]) if line["says"] == "sentence" else ""
    if sentence is None or any(one is None for one in found):
        return None
    return ReportLine(line["says"], tuple(one for one in found if one is not None), line["details"], sentence)


def _key(place: PlacedLine) -> tuple[Any, ...]:
    return place["message_key"], place["doc_version_id"], place["start"], place["end"]


async def _citations(tx: Connection, places: Sequence[PlacedLine]) -> dict[tuple[Any, ...], ReportCitation]:
    values = {
        "places": list(range(len(places))),
        "keys": [one["message_key"] for one in places],
        "revisions": [UUID(one["doc_version_id"]) for one in places],
        "firsts": [one["start"] for one in places],
        "lasts": [one["end"] for one in places],
    }
    found = {}
    for row in await (await tx.execute(WORDS_OF, values)).fetchall():
        one = places[row["place"]]
        found[_key(one)] = ReportCitation(
            row["message_id"], one["message_key"], UUID(one["doc_version_id"]), one["start"], one["end"], row["quote"],
            row["sender_name"] or row["sender_email"], row["date"],
        )  # fmt: skip
    return found
