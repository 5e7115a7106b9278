"""Finds the stored events that new ones replace or fulfil, or that replace or fulfil them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mnemon.db.database import Connection
from mnemon.models.embedder import Vectors
from mnemon.semantics.extract.source import SourceRevision
from mnemon.semantics.link.placed import EventLink, Placed, told_at
from mnemon.semantics.link.supersession import links_with
from mnemon.semantics.link.wording import content_words, overlap
from mnemon.semantics.semantic_event import (
    Category,
    Evidence,
    InvolvedActor,
    SemanticEvent,
    Subject,
)

if TYPE_CHECKING:
    from mnemon.models.minilm.graph import Float32s

# Looked at because they share a word; compared in full, each with each, only the likeliest of them.
MOST_CANDIDATES = 1_000
MOST_COMPARED = 150
LINKABLE = frozenset(
    {Category.DECISION, Category.COMMITMENT, Category.EXECUTION, Category.CHANGE, Category.COLLABORATION,
     Category.STAKEHOLDER, Category.QUALITY_RISK, Category.FEEDBACK}
)  # fmt: skip

CANDIDATES = """
SELECT g.event_id, string_agg(g.quote, ' ' ORDER BY g.start_char) AS words
  FROM mnemon.event_evidence g
 WHERE g.tenant_id = mnemon.current_tenant()
   AND g.event_id = ANY(ARRAY(SELECT mnemon.events_to_link(%s, %s, %s, %s, %s::text[], %s)))
 GROUP BY g.event_id
"""
EVENTS = """
SELECT e.event_id, e.doc_id, e.doc_version_id, e.category, e.narrative, e.subject_type, e.subject_ref, e.actors,
       e.event_time, e.happened_at, e.due, e.kind, e.origin, e.confidence, r.created_at AS ingested_at,
       (SELECT jsonb_agg(jsonb_build_array(g.start_char, g.end_char, g.quote) ORDER BY g.start_char)
          FROM mnemon.event_evidence g WHERE g.tenant_id = e.tenant_id AND g.event_id = e.event_id) AS evidence
  FROM mnemon.semantic_events e
  JOIN mnemon.document_revisions r ON r.tenant_id = e.tenant_id AND r.doc_version_id = e.doc_version_id
 WHERE e.tenant_id = mnemon.current_tenant() AND e.event_id = ANY(%s)
"""
VECTORS = """
SELECT event_id, embedding::text AS embedding FROM mnemon.semantic_event_vectors
 WHERE tenant_id = mnemon.current_tenant() AND event_id = ANY(%s) AND model_id = %s
"""


async def links_of(
    tx: Connection, source: SourceRevision, events: Sequence[SemanticEvent], vectors: Vectors | None = None,
    model_id: str = "",
) -> list[EventLink]:  # fmt: skip
    """Every link that one of these events is part of, within the revision and across documents."""
    new = [
        placed_now(source, event, None if vectors is None else unit(vectors[place]))
        for place, event in enumerate(events)
        if event.category in LINKABLE
    ]
    if not new:
        return []
    known = await _known(tx, await _likeliest_ids(tx, source, new), model_id)
    elsewhere = [one for one in known if one.document != str(source.doc_id)]
    before = [one for one in known if one.document == str(source.doc_id)]
    # Long texts keep the processor busy: meanwhile the worker goes on saying that it lives.
    links = await asyncio.to_thread(links_from, new, elsewhere, before)
    others = {one.event.event_id for one in elsewhere}
    return [_without_words(link) if link.later in others else link for link in links]


def links_from(new: Sequence[Placed], elsewhere: Sequence[Placed], before: Sequence[Placed]) -> list[EventLink]:
    """What ties the new events to one another and to other documents, and what of the document's revisions before they
    end. Those are no longer said: they end nothing, and what the new revision says again is no event beside its own."""
    links = links_with(new, elsewhere)
    said_again = {one.words for one in new}
    gone = [one for one in before if one.words not in said_again]
    ending, ended = {link.later for link in links}, {one.event.event_id for one in gone}
    of_before = links_with(new, gone) if gone else []
    return links + [link for link in of_before if link.earlier in ended and link.later not in ending]


def placed_now(source: SourceRevision, event: SemanticEvent, vector: "Float32s | None" = None) -> Placed:
    said_at = told_at(event, source.said_at, source.revision.written_until)
    return Placed(
        event, said_at or source.said_at, str(source.doc_id), str(source.doc_version_id), source.ingested_at, vector
    )


def unit(vector: "Sequence[float] | Float32s") -> "Float32s":
    """Of length one, so that the product of two tells how near they are."""
    import numpy as np

    values = np.asarray(vector, np.float32)
    return values / (np.linalg.norm(values) or 1.0)


def _without_words(link: EventLink) -> EventLink:
    """A link is kept with the revision that found it: another document's words would outlive that document there."""
    return replace(link, reason=link.reason.partition(":")[0])


async def _likeliest_ids(tx: Connection, source: SourceRevision, new: list[Placed]) -> list[str]:
    subjects, quotes = " ".join(one.event.subject.ref for one in new), " ".join(one.words for one in new)
    values = (subjects, quotes, source.doc_id, source.doc_version_id, source.readers, MOST_CANDIDATES)
    rows = await (await tx.execute(CANDIDATES, values)).fetchall()
    return await asyncio.to_thread(likeliest, new, {row["event_id"]: row["words"] for row in rows})


def likeliest(new: Sequence[Placed], known: Mapping[str, str]) -> list[str]:
    """Those that share most words with one of the new events. Ties are settled by id, so that the choice is one."""
    words = [content_words(one.words) for one in new]

    def likeness(text: str) -> float:
        own = content_words(text)
        return max(overlap(own, each) for each in words)

    return sorted(known, key=lambda event_id: (-likeness(known[event_id]), event_id))[:MOST_COMPARED]


async def _known(tx: Connection, ids: list[str], model_id: str) -> list[Placed]:
    import numpy as np  # Late: commands that link nothing do without.

    rows = await (await tx.execute(EVENTS, (ids,))).fetchall()
    stored = await (await tx.execute(VECTORS, (ids, model_id))).fetchall()
    vectors = {
        row["event_id"]: unit(np.fromstring(row["embedding"].strip("[]"), np.float32, sep=",")) for row in stored
    }
    return [
        Placed(
            event_of(row), min(row["happened_at"], row["ingested_at"]), str(row["doc_id"]),
            str(row["doc_version_id"]), row["ingested_at"],
            vectors.get(row["event_id"]),
        )
        for row in rows
    ]  # fmt: skip


def event_of(row: dict[str, Any]) -> SemanticEvent:
    """A stored event in the shape that extraction gave it."""
    return SemanticEvent(
        row["event_id"],
        Category(row["category"]),
        row["narrative"],
        Subject(row["subject_ref"], row["subject_type"]),
        tuple(InvolvedActor(one["ref"], one["role"]) for one in row["actors"]),
        tuple(Evidence(start, end, quote) for start, end, quote in row["evidence"] or ()),
        row["confidence"],
        row["event_time"],
        row["due"],
        row["kind"],
        row["origin"],
    )
