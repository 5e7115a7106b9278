"""Corrections as labelled data: what the text says, what was read there, and what a person says it is."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.documents.access import Reader, read_as
from mnemon.documents.artifact_names import revision_name, uid_of
from mnemon.documents.ingest.revision_texts import read_text
from mnemon.semantics.shapes import Shape, moment

MOST_LABELLED = 10_000
PAGE = 500
# As much of the text around a quote as a reader needs to judge it.
AROUND = 1_000

CORRECTED = """
SELECT e.event_id, e.doc_id, e.doc_version_id, e.category, e.subject_ref, e.actors, e.due, e.status, e.correction,
       e.corrected_by, e.corrected_at, e.as_read, e.merged_into, d.source_uri, r.content_hash,
       (SELECT jsonb_agg(jsonb_build_array(v.start_char, v.end_char) ORDER BY v.start_char)
          FROM mnemon.event_evidence v
         WHERE v.tenant_id = e.tenant_id AND v.event_id = e.event_id AND v.merged_from IS NULL) AS places
  FROM mnemon.semantic_events e
  JOIN mnemon.documents d ON d.tenant_id = e.tenant_id AND d.doc_id = e.doc_id
  JOIN mnemon.document_revisions r ON r.tenant_id = e.tenant_id AND r.doc_version_id = e.doc_version_id
 WHERE e.tenant_id = mnemon.current_tenant() AND cardinality(e.correction) > 0 AND mnemon.may_read(e.readers)
   AND (e.corrected_at, e.event_id) > (coalesce(%(after_time)s::timestamptz, '-infinity'), coalesce(%(after_id)s, ''))
 ORDER BY e.corrected_at, e.event_id LIMIT %(limit)s
"""


async def labelled(
    database: Database, tenant: UUID, reader: Reader, *, limit: int, after: tuple[str, str] | None = None
) -> list[Shape]:
    """A page of corrected events, by when they were corrected last; without those whose document is for others."""
    after_time, after_id = after or (None, None)
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        values = {"after_time": after_time, "after_id": after_id, "limit": limit}
        rows = await (await tx.execute(CORRECTED, values)).fetchall()
        texts = {one: await _text(tx, one) for one in {row["doc_version_id"] for row in rows}}
    return [_label(row, texts[row["doc_version_id"]]) for row in rows]


async def every_label(database: Database, tenant: UUID, reader: Reader) -> AsyncIterator[Shape]:
    """All of them, at most ten thousand."""
    after, told = None, 0
    while told < MOST_LABELLED:
        page = await labelled(database, tenant, reader, limit=PAGE, after=after)
        for one in page:
            yield one
        told += len(page)
        if len(page) < PAGE:
            return
        after = page[-1]["corrected_at"], page[-1]["event_id"]


async def _text(tx: Connection, revision: UUID) -> str:
    return (await read_text(tx, revision)).text


def _label(row: dict[str, Any], text: str) -> Shape:
    start, end = row["places"][0]
    first, last = paragraph(text, start, end)
    owners = [one["ref"] for one in row["actors"] if one["role"] == "owner"]
    return {
        "event_id": row["event_id"],
        "artifact_uid": uid_of(row["doc_id"], row["source_uri"]),
        "revision_id": revision_name(row["content_hash"]),
        "start_char": start,
        "end_char": end,
        "quote": text[start:end],
        "text": text[first:last],
        "span": [start - first, end - first],
        "verdict": verdict_of(row),
        "category": row["category"],
        "owner": owners[0] if owners else None,
        "due": row["due"].isoformat() if row["due"] else None,
        "subject": row["subject_ref"],
        "correction": row["correction"],
        "read_as": _read_as(row["as_read"]),
        "corrected_by": row["corrected_by"],
        "corrected_at": moment(row["corrected_at"]),
    }


def verdict_of(row: dict[str, Any]) -> str:
    """`wrong`: it is no such event; `edited`: it is one with other fields; `right`: it is one as it was read."""
    if row["merged_into"]:
        return "merged"
    if row["status"] == "dismissed":
        return "split" if "split" in row["correction"] else "wrong"
    edited = {"category", "owner", "due", "subject", "split"} & set(row["correction"])
    return "edited" if edited else "right"


def _read_as(read: dict[str, Any]) -> Shape:
    owners = [one["ref"] for one in read["actors"] if one["role"] == "owner"]
    return {
        "category": read["category"],
        "owner": owners[0] if owners else None,
        "due": read["due"],
        "subject": read["subject_ref"],
        "confidence": read["confidence"],
    }


def paragraph(text: str, start: int, end: int) -> tuple[int, int]:
    """The lines around a quote up to the blank ones, or as far as is read at once."""
    first = max(text.rfind("\n\n", 0, start) + 2 if "\n\n" in text[:start] else 0, start - AROUND)
    blank = text.find("\n\n", end)
    return first, min(blank if blank >= 0 else len(text), end + AROUND)
