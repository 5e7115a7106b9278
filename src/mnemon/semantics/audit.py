"""Checks every stored quote against the text that it was taken from."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from mnemon.db.database import Database
from mnemon.documents.ingest.revision_texts import read_text
from mnemon.errors import NotFound
from mnemon.semantics.extract.verify import holds
from mnemon.semantics.semantic_event import Evidence
from mnemon.telemetry import counter

# An event that others were merged into has quotes of several revisions.
REVISIONS = """
SELECT doc_version_id FROM mnemon.semantic_events
 WHERE tenant_id = mnemon.current_tenant() AND doc_version_id > %(after)s
UNION
SELECT doc_version_id FROM mnemon.event_evidence
 WHERE tenant_id = mnemon.current_tenant() AND doc_version_id > %(after)s
ORDER BY doc_version_id LIMIT 200
"""
EVENTS = """
SELECT e.event_id,
       EXISTS (SELECT FROM mnemon.event_evidence g
                WHERE g.tenant_id = e.tenant_id AND g.event_id = e.event_id) AS quoted
  FROM mnemon.semantic_events e
 WHERE e.tenant_id = mnemon.current_tenant() AND e.doc_version_id = %s ORDER BY e.event_id
"""
QUOTES = """
SELECT event_id, start_char, end_char, quote FROM mnemon.event_evidence
 WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = %s ORDER BY event_id, start_char
"""
MOST_NAMED = 100

CHECKED = counter("mnemon_evidence_checked_total", "Stored quotes that were compared with their text.")
BROKEN = counter("mnemon_broken_evidence_total", "Stored quotes that did not stand in their text when checked.")


@dataclass
class Audited:
    """How much was checked, and what does not hold."""

    revisions: int = 0
    events: int = 0
    quotes: int = 0
    broken_quotes: int = 0
    # The first of them, by place.
    broken: list[dict[str, Any]] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.broken_quotes

    def as_json(self) -> dict[str, Any]:
        return vars(self) | {"holds": self.holds}


async def verify_evidence(database: Database, tenant: UUID) -> Audited:
    """Every quote of every event of the tenant. An event without a quote is broken too."""
    audited = Audited()
    last = UUID(int=0)
    while True:
        async with database.transaction(tenant) as tx:
            found = [row["doc_version_id"] for row in await (await tx.execute(REVISIONS, {"after": last})).fetchall()]
        for revision in found:
            await _check(database, tenant, revision, audited)
        if not found:
            return audited
        last = found[-1]


async def _check(database: Database, tenant: UUID, revision: UUID, audited: Audited) -> None:
    async with database.transaction(tenant) as tx:
        events = await (await tx.execute(EVENTS, (revision,))).fetchall()
        quotes = await (await tx.execute(QUOTES, (revision,))).fetchall()
        try:
            text = (await read_text(tx, revision)).text
        except NotFound:
            text = ""
    audited.revisions += 1
    audited.events += len(events)
    audited.quotes += len(quotes)
    CHECKED.inc(len(quotes))
    broken = [
        {"event_id": one["event_id"], "start_char": None, "end_char": None} for one in events if not one["quoted"]
    ]
    broken += [
        {name: one[name] for name in ("event_id", "start_char", "end_char")}
        for one in quotes
        if not holds(text, Evidence(one["start_char"], one["end_char"], one["quote"]))
    ]
    BROKEN.inc(len(broken))
    audited.broken_quotes += len(broken)
    room = MOST_NAMED - len(audited.broken)
    audited.broken += [one | {"doc_version_id": str(revision)} for one in broken[:room]]
