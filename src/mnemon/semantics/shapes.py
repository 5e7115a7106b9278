"""Stored events as callers get them: the fields and the ids that tools and REST promise."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from mnemon.db.database import Connection
from mnemon.documents.artifact_names import artifact_name, chunk_name, job_name, revision_name, uid_of
from mnemon.semantics.semantic_event import FACT_CONFIDENCE

EVENTS = """
SELECT e.event_id, e.doc_id, e.doc_version_id, e.category, e.narrative, e.subject_type, e.subject_ref, e.actors,
       e.event_time, e.happened_at, e.due, e.kind, e.origin, e.confidence, e.status, e.extraction_id, e.created_at,
       e.undated, e.topic, e.version, e.correction, e.corrected_by, e.corrected_at, e.merged_into,
       d.source_uri, d.title, r.content_hash, r.is_active AS is_latest
  FROM mnemon.semantic_events e
  JOIN mnemon.documents d ON d.tenant_id = e.tenant_id AND d.doc_id = e.doc_id
  JOIN mnemon.document_revisions r ON r.tenant_id = e.tenant_id AND r.doc_version_id = e.doc_version_id
 WHERE e.tenant_id = mnemon.current_tenant() AND e.event_id = ANY(%s) AND mnemon.may_read(e.readers)
"""
EVIDENCE = """
SELECT event_id, evidence_id, doc_version_id, start_char, end_char, quote, chunk FROM mnemon.event_evidence
 WHERE tenant_id = mnemon.current_tenant() AND event_id = ANY(%s) ORDER BY event_id, start_char
"""
# Only between events that the reader may both see.
LINKS = """
SELECT DISTINCT ON (l.later, l.earlier, l.kind) l.later, l.earlier, l.kind, l.reason, l.said_by,
       l.suggested AND l.said_by IS NULL AS suggested
  FROM mnemon.event_links l
  JOIN mnemon.semantic_events later ON later.tenant_id = l.tenant_id AND later.event_id = l.later
  JOIN mnemon.semantic_events earlier ON earlier.tenant_id = l.tenant_id AND earlier.event_id = l.earlier
 WHERE l.tenant_id = mnemon.current_tenant() AND (l.later = ANY(%(ids)s) OR l.earlier = ANY(%(ids)s))
   AND mnemon.may_read(later.readers) AND mnemon.may_read(earlier.readers) AND NOT l.dismissed
 ORDER BY l.later, l.earlier, l.kind, l.by_person, l.reason
"""

# The latest of what stands in the place of each.
REPLACED = """
SELECT DISTINCT ON (l.earlier) l.earlier, e.event_id, e.narrative, e.happened_at, e.undated
  FROM mnemon.event_links l
  JOIN mnemon.semantic_events e ON e.tenant_id = l.tenant_id AND e.event_id = l.later
 WHERE l.tenant_id = mnemon.current_tenant() AND l.earlier = ANY(%s) AND l.kind = 'supersedes' AND NOT l.dismissed
   AND NOT l.suggested AND e.status <> 'dismissed' AND mnemon.may_read(e.readers)
 ORDER BY l.earlier, e.happened_at DESC, e.event_id
"""

Shape = dict[str, Any]


async def read_events(tx: Connection, ids: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of these events, in this order; without those that the reader may not see."""
    rows = await (await tx.execute(EVENTS, (list(ids),))).fetchall()
    found = {row["event_id"]: row for row in rows}
    return [found[one] for one in ids if one in found]


async def with_replacements(tx: Connection, shapes: Sequence[Shape]) -> list[Shape]:
    """What was replaced says by what, as far as the reader may see that."""
    replaced = [shape["event_id"] for shape in shapes if shape["status"] == "superseded"]
    rows = await (await tx.execute(REPLACED, (replaced,))).fetchall() if replaced else []
    by = {
        row["earlier"]: {
            "event_id": row["event_id"], "narrative": row["narrative"], "happened_at": told_moment(row)
        }
        for row in rows
    }  # fmt: skip
    return [shape | ({"replaced_by": by[shape["event_id"]]} if shape["event_id"] in by else {}) for shape in shapes]


async def read_evidence(
    tx: Connection, rows: Sequence[dict[str, Any]], *, whole: bool = False
) -> dict[str, list[Shape]]:
    """The quotes of these events; `whole` with the ids that one event alone is shown with."""
    documents = {row["event_id"]: row["doc_id"] for row in rows}
    found = await (await tx.execute(EVIDENCE, (list(documents),))).fetchall()
    by_event: dict[str, list[Shape]] = {event_id: [] for event_id in documents}
    for one in found:
        doc_id = documents[one["event_id"]]
        chunk = None if one["chunk"] is None else chunk_name(doc_id, one["doc_version_id"], one["chunk"])
        shape = {name: one[name] for name in ("quote", "start_char", "end_char")} | {"chunk_id": chunk}
        if whole:
            shape = {"evidence_id": one["evidence_id"], **shape, "artifact_id": artifact_name(doc_id)}
        by_event[one["event_id"]].append(shape)
    return by_event


async def read_links(tx: Connection, ids: Sequence[str]) -> dict[str, list[Shape]]:
    rows = await (await tx.execute(LINKS, {"ids": list(ids)})).fetchall()
    return {
        one: [dict(row) for row in rows if one in (row["later"], row["earlier"])]
        for one in ids
    }  # fmt: skip


def event_shape(row: dict[str, Any]) -> Shape:
    """What every list of events shows of one."""
    return {
        "event_id": row["event_id"],
        "artifact_uid": uid_of(row["doc_id"], row["source_uri"]),
        "revision_id": revision_name(row["content_hash"]),
        "category": row["category"],
        "event_time": moment(row["event_time"]),
        "narrative": row["narrative"],
        "subject": {"type": row["subject_type"], "ref": row["subject_ref"]},
        "actors": row["actors"],
        "confidence": row["confidence"],
        "suggestion": row["confidence"] < FACT_CONFIDENCE,
        "status": row["status"],
        "due": row["due"].isoformat() if row["due"] else None,
        "kind": row["kind"],
        "origin": row["origin"],
        "happened_at": told_moment(row),
        "title": row["title"],
        "version": row["version"],
    } | (_corrected(row) if row["correction"] else {})


def _corrected(row: dict[str, Any]) -> Shape:
    return {
        "correction": row["correction"],
        "corrected_by": row["corrected_by"],
        "corrected_at": moment(row["corrected_at"]),
        **({"merged_into": row["merged_into"]} if row["merged_into"] else {}),
    }


def whole_shape(row: dict[str, Any], evidence: list[Shape], links: list[Shape]) -> Shape:
    return event_shape(row) | {
        "evidence": evidence,
        "links": links,
        "is_latest": row["is_latest"],
        "doc_version_id": str(row["doc_version_id"]),
        "extraction_run_id": job_name(row["extraction_id"]),
        "created_at": moment(row["created_at"]),
    }


def told_moment(row: dict[str, Any]) -> str | None:
    """When it happened or was said; nothing where the text tells no day, though the row is filed under one."""
    return None if row["undated"] else moment(row["happened_at"])


def moment(value: datetime | None) -> str | None:
    """In universal time, as the tools write it."""
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z") if value else None
