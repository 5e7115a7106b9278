"""Learns from a tenant's corrections: reads the corrected texts once more, refits, and records what is better."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from mnemon.db.database import Database
from mnemon.errors import Conflict
from mnemon.log.events import Actor, EntityReference, NewEvent
from mnemon.log.store import EventLog
from mnemon.semantics import events as happened
from mnemon.semantics.corrections.correct import LearningParts
from mnemon.semantics.corrections.learning import LEAST_LABELS, LabelledProposal, Refit, refit
from mnemon.semantics.extract.source import SourceRevision, read_source
from mnemon.semantics.learned.proposals import FEATURES, Proposal, propose
from mnemon.semantics.learned.reader import LearnedReader, shared_reader, shipped_weights
from mnemon.semantics.rules.engine import RulesExtractor
from mnemon.settings import Settings

LABELS = """
SELECT e.doc_version_id, e.category, e.as_read ->> 'category' AS read_as, e.status = 'dismissed' AS wrong,
       v.start_char, v.end_char
  FROM mnemon.semantic_events e
  JOIN mnemon.event_evidence v ON v.tenant_id = e.tenant_id AND v.event_id = e.event_id AND v.merged_from IS NULL
 WHERE e.tenant_id = mnemon.current_tenant() AND e.active AND cardinality(e.correction) > 0
   AND e.merged_into IS NULL AND NOT 'split' = ANY (e.correction)
 ORDER BY e.doc_version_id, v.start_char, e.event_id
"""
LEARNED = "SELECT adapter, weights FROM mnemon.learned_readers WHERE tenant_id = mnemon.current_tenant()"


async def learn(parts: LearningParts, tenant: UUID, actor: Actor) -> Refit:
    """Fit the tenant's own weights. They are recorded, and so used from then on, only if they do better."""
    reader = shared_reader(parts.settings.home, parts.settings.embedder_folder)
    labelled = await labelled_proposals(parts.database, tenant, reader, parts.settings)
    if len(labelled) < LEAST_LABELS:
        raise Conflict(
            f"{len(labelled)} corrections are too few to learn from: at least {LEAST_LABELS} are needed. Confirm and "
            "dismiss some more events."
        )
    adapter, weights = shipped_weights()
    fitted = refit(labelled, [weights[name] for name in FEATURES])
    if fitted.is_better:
        data = {
            "adapter": adapter,
            "weights": dict(zip(FEATURES, fitted.weights, strict=True)),
            "labels": fitted.labels,
            "before": vars(fitted.before),
            "after": vars(fitted.after),
        }
        await _record(parts.log, tenant, happened.READER_LEARNED.type, actor, data)
    return fitted


async def forget(parts: LearningParts, tenant: UUID, actor: Actor) -> bool:
    """Back to the shipped weights; False where there were no others."""
    async with parts.database.transaction(tenant) as tx:
        known = await (await tx.execute(LEARNED)).fetchone()
    if known is None:
        return False
    await _record(parts.log, tenant, happened.READER_FORGOTTEN.type, actor, {})
    return True


async def own_weights(database: Database, tenant: UUID) -> Mapping[str, float] | None:
    """The tenant's, where they were learned for the reader that is installed; else the shipped ones hold."""
    async with database.transaction(tenant) as tx:
        row = await (await tx.execute(LEARNED)).fetchone()
    if row is None or row["adapter"] != shipped_weights()[0] or set(row["weights"]) != set(FEATURES):
        return None
    return dict(row["weights"])


async def labelled_proposals(
    database: Database, tenant: UUID, reader: LearnedReader, settings: Settings
) -> list[LabelledProposal]:
    async with database.transaction(tenant) as tx:
        rows = await (await tx.execute(LABELS)).fetchall()
    found: list[LabelledProposal] = []
    for revision in sorted({row["doc_version_id"] for row in rows}):
        source = await read_source(database, tenant, revision, settings)
        proposals = await asyncio.to_thread(_proposals, source, reader)
        found += _labelled(source, proposals, [row for row in rows if row["doc_version_id"] == revision])
    return found


def _proposals(source: SourceRevision, reader: LearnedReader) -> list[Proposal]:
    rules = RulesExtractor()
    chunks = source.chunks or source.revision.whole()
    read = [asyncio.run(rules.extract_chunk(source.revision, chunk)) for chunk in chunks]
    by_rules = [candidate for one in read for candidate in one.candidates]
    return propose(source.revision, reader.judge(source.revision), by_rules)


def _labelled(
    source: SourceRevision, proposals: Sequence[Proposal], labels: Sequence[dict[str, Any]]
) -> Iterator[LabelledProposal]:
    """What was read and is kept is right; what was dismissed, or is of another category, is wrong."""
    for one in proposals:
        for label in labels:
            if not _overlap(one, label):
                continue
            kept = not label["wrong"] and label["category"] == one.category.value
            if kept or label["read_as"] == one.category.value:
                yield LabelledProposal(str(source.doc_id), one.start, one.features, kept)
                break


def _overlap(one: Proposal, label: Mapping[str, Any]) -> bool:
    shared = min(one.end, label["end_char"]) - max(one.start, label["start_char"])
    return bool(2 * shared >= min(one.end - one.start, label["end_char"] - label["start_char"]))


async def _record(log: EventLog, tenant: UUID, name: str, actor: Actor, data: dict[str, Any]) -> None:
    async with log.transaction(tenant) as transaction:
        event = NewEvent(type=name, data=data, actor=actor, entities=[EntityReference("reader", "semantics")])
        await transaction.append([event])
