"""What of a passage no longer stands: statements that a later one replaced, and by which."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from mnemon.ask.hits import PassageHit
    from mnemon.db.database import Connection

REPLACED = """
SELECT DISTINCT ON (wanted.place, v.start_char) wanted.place, v.start_char, v.end_char, v.quote,
       later.event_id, later.narrative, CASE WHEN NOT later.undated THEN later.happened_at END AS happened_at,
       proof.doc_version_id, proof.start_char AS by_start, proof.end_char AS by_end
FROM unnest(%s::uuid[], %s::integer[], %s::integer[]) WITH ORDINALITY AS wanted (revision, first, last, place)
JOIN mnemon.event_evidence AS v
  ON v.tenant_id = mnemon.current_tenant() AND v.doc_version_id = wanted.revision
 AND v.start_char < wanted.last AND v.end_char > wanted.first
JOIN mnemon.semantic_events AS e
  ON e.tenant_id = v.tenant_id AND e.event_id = v.event_id AND e.status = 'superseded' AND e.confidence >= 0.5
JOIN mnemon.event_links AS l
  ON l.tenant_id = e.tenant_id AND l.earlier = e.event_id AND l.kind = 'supersedes' AND NOT l.dismissed
 AND NOT l.suggested
JOIN mnemon.semantic_events AS later
  ON later.tenant_id = l.tenant_id AND later.event_id = l.later AND later.status <> 'dismissed'
JOIN mnemon.event_evidence AS proof ON proof.tenant_id = later.tenant_id AND proof.event_id = later.event_id
WHERE mnemon.may_read(e.readers) AND mnemon.may_read(later.readers)
ORDER BY wanted.place, v.start_char, later.happened_at DESC, later.event_id, proof.start_char
"""


@dataclass(frozen=True)
class ReplacedStatement:
    """`[start, end)` of the text was replaced; the words that did it stand in `[by_start, by_end)` of another."""

    quote: str
    start: int
    end: int
    by: str
    by_event: str
    by_version_id: UUID
    by_start: int
    by_end: int
    on: datetime | None


async def with_replaced(tx: "Connection", hits: Sequence["PassageHit"]) -> list["PassageHit"]:
    """The same passages, each with what of it was replaced. The transaction knows its reader."""
    values = [one.doc_version_id for one in hits], [one.start for one in hits], [one.end for one in hits]
    found: dict[int, list[ReplacedStatement]] = {}
    for row in await (await tx.execute(REPLACED, values)).fetchall():
        one = ReplacedStatement(
            row["quote"], row["start_char"], row["end_char"], row["narrative"], row["event_id"],
            row["doc_version_id"], row["by_start"], row["by_end"], row["happened_at"],
        )  # fmt: skip
        found.setdefault(row["place"], []).append(one)
    return [replace(hit, replaced=tuple(found.get(place, ()))) for place, hit in enumerate(hits, 1)]
