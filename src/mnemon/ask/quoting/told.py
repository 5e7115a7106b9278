"""What semantic events say of a text: which statements are decisions or promises, and which still stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from mnemon.ask.quoting.surroundings import StatementSource, Stretch
from mnemon.db.database import Connection

# Not what is more often no such event than one.
TOLD = """
SELECT e.event_id, v.doc_version_id, v.start_char, v.end_char, e.category, e.status, e.happened_at, e.undated,
       (SELECT string_agg(one ->> 'ref', ', ') FROM jsonb_array_elements(e.actors) AS one) AS people,
       (SELECT string_agg(one ->> 'ref', ', ') FROM jsonb_array_elements(e.actors) AS one
         WHERE one ->> 'role' = 'owner') AS owners
FROM unnest(%(revisions)s::uuid[], %(starts)s::integer[], %(ends)s::integer[]) AS wanted (revision, first, last)
JOIN mnemon.event_evidence AS v
  ON v.tenant_id = mnemon.current_tenant() AND v.doc_version_id = wanted.revision
 AND v.start_char < wanted.last AND v.end_char > wanted.first
JOIN mnemon.semantic_events AS e ON e.tenant_id = v.tenant_id AND e.event_id = v.event_id
WHERE e.confidence >= 0.5 AND e.status <> 'dismissed' AND mnemon.may_read(e.readers)
"""
# From each replaced event to what stands in its place now, over as many steps as it takes.
STANDING = """
WITH RECURSIVE chain (first, event_id, step) AS (
    SELECT earlier, later, 1 FROM mnemon.event_links
     WHERE tenant_id = mnemon.current_tenant() AND kind = 'supersedes' AND NOT dismissed AND NOT suggested
       AND earlier = ANY(%s)
    UNION
    SELECT chain.first, l.later, chain.step + 1 FROM chain
      JOIN mnemon.event_links AS l
        ON l.tenant_id = mnemon.current_tenant() AND l.kind = 'supersedes' AND l.earlier = chain.event_id
       AND NOT l.dismissed AND NOT l.suggested
     WHERE chain.step < 6
)
SELECT DISTINCT ON (chain.first) chain.first, e.event_id, e.category, e.status, e.happened_at, e.undated,
       v.start_char, v.end_char, v.quote,
       (SELECT string_agg(one ->> 'ref', ', ') FROM jsonb_array_elements(e.actors) AS one) AS people,
       r.doc_id, r.doc_version_id, r.version_number, r.is_active, d.title,
       split_part(d.source_uri, '#of=', 1) AS source_uri, r.media_type, r.written_at
FROM chain
JOIN mnemon.semantic_events AS e ON e.tenant_id = mnemon.current_tenant() AND e.event_id = chain.event_id
JOIN mnemon.event_evidence AS v ON v.tenant_id = e.tenant_id AND v.event_id = e.event_id
JOIN mnemon.document_revisions AS r ON r.tenant_id = e.tenant_id AND r.doc_version_id = e.doc_version_id
JOIN mnemon.documents AS d ON d.tenant_id = r.tenant_id AND d.doc_id = r.doc_id
WHERE e.active AND e.status NOT IN ('superseded', 'dismissed') AND r.purged_at IS NULL AND mnemon.may_read(e.readers)
ORDER BY chain.first, chain.step DESC, v.start_char
"""


@dataclass(frozen=True)
class ToldEvent:
    """`[start, end)` of a revision tells of it."""

    event_id: str
    revision: UUID
    start: int
    end: int
    category: str
    status: str
    happened_at: datetime
    people: str
    # Its text tells no day: `happened_at` is when it came to us.
    undated: bool = False
    # Of a commitment: who owes it.
    owners: str = ""


@dataclass(frozen=True)
class Successor:
    """What stands now in the place of a replaced event."""

    event: ToldEvent
    quote: str
    origin: StatementSource


@dataclass(frozen=True)
class ToldEvents:
    """The events that the stretches tell of, and what stands in the place of those that were replaced."""

    events: Sequence[ToldEvent] = ()
    standing: "dict[str, Successor] | None" = None

    def of(self, revision: UUID, start: int, end: int) -> list[ToldEvent]:
        return [one for one in self.events if one.revision == revision and one.start < end and start < one.end]

    def successor(self, event: ToldEvent) -> Successor | None:
        return (self.standing or {}).get(event.event_id)


NOTHING_TOLD = ToldEvents()


async def read_told(tx: Connection, stretches: Sequence[Stretch]) -> ToldEvents:
    values = {
        "revisions": [one.origin.doc_version_id for one in stretches],
        "starts": [one.start for one in stretches],
        "ends": [one.end for one in stretches],
    }
    rows = await (await tx.execute(TOLD, values)).fetchall()
    events = [_event(row) for row in rows]
    replaced = [one.event_id for one in events if one.status == "superseded"]
    if not replaced:
        return ToldEvents(events)
    return ToldEvents(events, await read_successors(tx, replaced))


async def read_successors(tx: Connection, replaced: Sequence[str]) -> dict[str, Successor]:
    """What stands now in the place of each of these events."""
    found = await (await tx.execute(STANDING, (list(replaced),))).fetchall()
    return {row["first"]: _successor(row) for row in found}


def _event(row: dict[str, Any]) -> ToldEvent:
    return ToldEvent(
        row["event_id"], row["doc_version_id"], row["start_char"], row["end_char"], row["category"], row["status"],
        row["happened_at"], row["people"] or "", row["undated"], row.get("owners") or "",
    )  # fmt: skip


def _successor(row: dict[str, Any]) -> Successor:
    origin = StatementSource(
        row["doc_id"], row["doc_version_id"], row["version_number"], row["is_active"], row["title"], row["source_uri"],
        row["media_type"], row["written_at"],
    )  # fmt: skip
    return Successor(_event(row), row["quote"], origin)
