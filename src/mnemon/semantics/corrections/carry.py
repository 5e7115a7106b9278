"""Where the corrected events of before are found in a new reading: by place in the same text, by words in a new one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mnemon.db.database import Connection
from mnemon.semantics.extract.source import SourceRevision
from mnemon.semantics.extract.verify import find_evidence
from mnemon.semantics.semantic_event import Category, Evidence, SemanticEvent, event_id, evidence_id

# Those that a person speaks of, as they were read, of this revision and of the one that was read before it.
CORRECTED = """
SELECT e.event_id, e.doc_version_id = %(revision)s AS within, e.narrative, e.event_time, e.happened_at, e.origin,
       e.undated, e.topic,
       coalesce(e.as_read ->> 'category', e.category) AS category,
       coalesce(e.as_read ->> 'subject_type', e.subject_type) AS subject_type,
       coalesce(e.as_read ->> 'subject_ref', e.subject_ref) AS subject_ref,
       coalesce(e.as_read -> 'actors', e.actors) AS actors,
       CASE WHEN e.as_read IS NULL THEN e.due ELSE (e.as_read ->> 'due')::date END AS due,
       CASE WHEN e.as_read IS NULL THEN e.kind ELSE e.as_read ->> 'kind' END AS kind,
       coalesce((e.as_read ->> 'confidence')::float8, e.confidence) AS confidence,
       (SELECT jsonb_agg(jsonb_build_array(v.start_char, v.end_char, v.quote) ORDER BY v.start_char)
          FROM mnemon.event_evidence v
         WHERE v.tenant_id = e.tenant_id AND v.event_id = e.event_id AND v.merged_from IS NULL) AS evidence
  FROM mnemon.semantic_events e
 WHERE e.tenant_id = mnemon.current_tenant() AND e.doc_id = %(doc)s
   AND e.doc_version_id IN (%(revision)s, (
       SELECT x.doc_version_id FROM mnemon.extractions x
        WHERE x.tenant_id = mnemon.current_tenant() AND x.doc_id = %(doc)s AND NOT EXISTS (
              SELECT FROM mnemon.extractions own
               WHERE own.tenant_id = x.tenant_id AND own.doc_version_id = %(revision)s)
        ORDER BY x.extracted_at DESC, x.extraction_id LIMIT 1))
   AND (EXISTS (SELECT FROM mnemon.event_corrections c
                 WHERE c.tenant_id = e.tenant_id AND c.event_id = e.event_id AND c.undone_at IS NULL)
        OR EXISTS (SELECT FROM mnemon.event_corrections c
                    WHERE c.tenant_id = e.tenant_id AND c.other_id = e.event_id AND c.undone_at IS NULL))
 ORDER BY e.event_id
"""


@dataclass(frozen=True)
class CorrectedEvent:
    """An event that a person speaks of, as it was read."""

    event_id: str
    category: str
    evidence: tuple[Evidence, ...]
    # Whether it is of the text that is read again.
    within: bool
    row: dict[str, Any]


async def kept_corrections(
    tx: Connection, source: SourceRevision, events: Sequence[SemanticEvent]
) -> list[dict[str, Any]]:
    """For each, the event that says the same now. Where nothing does but the words still stand there, itself."""
    values = {"doc": source.doc_id, "revision": source.doc_version_id}
    rows = await (await tx.execute(CORRECTED, values)).fetchall()
    spoken_of = [
        CorrectedEvent(row["event_id"], row["category"], tuple(map(_evidence, row["evidence"])), row["within"], row)
        for row in rows
        if row["evidence"]
    ]
    return list(_kept(source, spoken_of, events))


def _kept(
    source: SourceRevision, spoken_of: Sequence[CorrectedEvent], events: Sequence[SemanticEvent]
) -> Iterator[dict[str, Any]]:
    pairs = same_events(spoken_of, events)
    taken = {event.event_id for event in events}
    for one in spoken_of:
        found = {"source": one.event_id, "within": one.within}
        if one.event_id in pairs:
            yield found | {"target": pairs[one.event_id], "event": None}
            continue
        itself = _again(source, one, events)
        if itself is not None and itself["event_id"] not in taken:
            taken.add(itself["event_id"])
            yield found | {"target": itself["event_id"], "event": itself}


def same_events(spoken_of: Sequence[CorrectedEvent], events: Sequence[SemanticEvent]) -> dict[str, str]:
    """Each event of now for one of before at most, the likeliest pairs first."""
    scored = sorted(
        (-likeness, one.event_id, event.event_id)
        for one in spoken_of
        for event in events
        if (likeness := _likeness(one, event)) > 0
    )
    pairs: dict[str, str] = {}
    for _, before, now in scored:
        if before not in pairs and now not in pairs.values():
            pairs[before] = now
    return pairs


def _likeness(one: CorrectedEvent, event: SemanticEvent) -> float:
    """The same id above all; then how much of the words is shared, in the same category rather than another."""
    if one.event_id == event.event_id:
        return 10
    shared = max((_shared(mine, each, one.within) for mine in one.evidence for each in event.evidence), default=0.0)
    if shared < 0.5:
        return 0
    return shared + 2 * (one.category == event.category.value)


def _shared(one: Evidence, other: Evidence, within: bool) -> float:
    """In the same text, how much of the shorter quote both have; in another text, whether the words are the same."""
    if not within:
        return float(one.quote.split() == other.quote.split())
    both = min(one.end, other.end) - max(one.start, other.start)
    return max(0, both) / min(one.end - one.start, other.end - other.start)


def _again(source: SourceRevision, one: CorrectedEvent, events: Sequence[SemanticEvent]) -> dict[str, Any] | None:
    """The event as it was read before, with its words at their place in this text; None where they are gone."""
    places = one.evidence if one.within else tuple(_found(source, one.evidence))
    if not places:
        return None
    name = one.event_id if one.within else event_id(source.revision.revision_id, Category(one.category), places)
    row = one.row
    said_at = row["happened_at"] if one.within else row["event_time"] or source.said_at
    return {
        "event_id": name,
        "position": sum(event.evidence[0].start <= places[0].start for event in events),
        "category": one.category,
        "subject": {"type": row["subject_type"], "ref": row["subject_ref"]},
        "event_time": row["event_time"].isoformat() if row["event_time"] else None,
        "happened_at": said_at.isoformat(),
        "undated": row["event_time"] is None and (row["undated"] if one.within else source.revision.today is None),
        "due": row["due"].isoformat() if row["due"] else None,
        **{name: row[name] for name in ("narrative", "actors", "kind", "origin", "confidence", "topic")},
        "evidence": [evidence_data(name, each, source.passage_at(each.start)) for each in places],
    }


def _found(source: SourceRevision, before: Sequence[Evidence]) -> Iterator[Evidence]:
    for one in before:
        found = find_evidence(source.revision.text, one.quote, one.start)
        if found is not None and found.quote.split() == one.quote.split():
            yield found


def _evidence(stored: Sequence[Any]) -> Evidence:
    start, end, quote = stored
    return Evidence(start, end, quote)


def evidence_data(event: str, one: Evidence, passage: int | None) -> dict[str, Any]:
    """A quote as the events of the log have it, with the number of the passage that it stands in."""
    return {
        "evidence_id": evidence_id(event, one),
        "start_char": one.start,
        "end_char": one.end,
        "quote": one.quote,
        "chunk": passage,
    }
