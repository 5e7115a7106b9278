"""Vectors: gives every text of memory its vector, soon after it was written, and lets go of those nobody needs.

A vector is found under the digest of its text, so the same text in several objects, versions and branches has one, and
a rebuilt lens finds them all again without a model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.store import EventLog
from mnemon.models.active import active_model
from mnemon.models.embedder import Embedder
from mnemon.models.missing_vectors import VectorMaker
from mnemon.models.vector_tables import VectorTable, register_vector_table
from mnemon.search.kinds import MEANING, WORDS, Kind
from mnemon.telemetry import counter

RELATION = "mnemon.memory_vectors"
MEMORY = Kind("memory", "memory", RELATION, MappingProxyType({WORDS: 1.0, MEANING: 1.0}))
BATCH = 32

PENDING = """
SELECT text_hash FROM mnemon.memory_pending_texts WHERE tenant_id = %s ORDER BY queued_at LIMIT %s
"""
# A compacted version has lost its content: any other with the same content will do.
TEXTS = """
SELECT DISTINCT ON (t.text_hash) t.text_hash, found.text
  FROM mnemon.emo_texts t
 CROSS JOIN LATERAL (
    SELECT CASE t.kind WHEN 'content' THEN h.content WHEN 'facet' THEN h.facets->>t.name ELSE h.rationale END AS text
      FROM mnemon.emo_history h
     WHERE h.tenant_id = t.tenant_id AND h.world_id = t.world_id AND h.branch = t.branch AND h.emo_id = t.emo_id
       AND CASE t.kind WHEN 'content' THEN h.content_hash = encode(t.text_hash, 'hex') AND h.content IS NOT NULL
                       ELSE h.emo_version = t.emo_version END
     LIMIT 1) found
 WHERE t.tenant_id = mnemon.current_tenant() AND t.text_hash = ANY (%s) AND found.text IS NOT NULL
"""
DONE = "DELETE FROM mnemon.memory_pending_texts WHERE tenant_id = mnemon.current_tenant() AND text_hash = ANY (%s)"
# Needed: by what holds now, or by what a branch that is still open sees of its parents.
NEEDED = """
SELECT t.text_hash AS key FROM mnemon.emo_texts t
 WHERE t.tenant_id = mnemon.current_tenant()
   AND (t.until = 9223372036854775807
        OR EXISTS (SELECT FROM mnemon.emo_branches b
                    WHERE b.tenant_id = t.tenant_id AND b.world_id = t.world_id AND b.status = 'open'
                      AND b.fork_sequence >= t.since))
"""
SWEEP = f"""
DELETE FROM mnemon.memory_vectors v
 WHERE v.tenant_id = mnemon.current_tenant()
   AND NOT EXISTS (SELECT FROM ({NEEDED}) AS needed WHERE needed.key = v.text_hash)
"""
FORGET_PENDING = """
DELETE FROM mnemon.memory_pending_texts p
 WHERE p.tenant_id = %(tenant)s AND NOT EXISTS (
    SELECT FROM mnemon.emo_texts t WHERE t.tenant_id = p.tenant_id AND t.text_hash = p.text_hash)
"""
BEHIND = """
SELECT count(*) AS texts, min(queued_at) AS oldest FROM mnemon.memory_pending_texts WHERE tenant_id = %s
"""
RENEW_STATISTICS = "SELECT mnemon.renew_memory_statistics()"
HELD = "SELECT count(*) AS n FROM mnemon.memory_vectors WHERE tenant_id = %s AND model_id = %s"

EMBEDDED = counter("mnemon_memory_vectors_total", "Vectors made for texts of memory objects.")


@dataclass(frozen=True, slots=True)
class SemanticStatus:
    """How far search by meaning is behind: texts that wait for a vector, and since when."""

    model_id: str | None
    embed_dim: int | None
    vectors: int
    behind: int
    oldest: datetime | None


class MemoryVectors:
    """The vectors of every tenant, made with one embedder."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._maker = VectorMaker(log.database)

    async def catch_up(self, tenant: UUID, embedder: Embedder) -> int:
        """Embed what waits, soon after it was written; returns how many vectors were made."""
        made = 0
        while hashes := await self._pending(tenant):
            done = await self._maker.embed_apart(tenant, TABLE, embedder, hashes)
            made += done.stored
            if done.refused:
                # The daily look for missing vectors asks once more; until then they are found by their words.
                async with self._log.database.transaction(tenant) as tx:
                    await _wait_no_longer(tx, done.refused)
        EMBEDDED.inc(made)
        return made

    async def status(self, tenant: UUID) -> SemanticStatus:
        async with self._log.database.transaction(tenant) as connection:
            active = await active_model(connection, RELATION)
            behind = await (await connection.execute(BEHIND, (tenant,))).fetchone()
            held = await (await connection.execute(HELD, (tenant, active.model_id if active else ""))).fetchone()
        assert behind is not None and held is not None
        return SemanticStatus(
            active.model_id if active else None,
            active.dimension if active else None,
            held["n"],
            behind["texts"],
            behind["oldest"],
        )

    async def sweep(self, tenant: UUID) -> int:
        """Delete the vectors of texts that nothing shows any more."""
        async with self._log.database.transaction(tenant) as connection:
            await connection.execute(FORGET_PENDING, {"tenant": tenant})
            return (await connection.execute(SWEEP)).rowcount

    async def on_erased(self, tenant: UUID, subjects: Sequence[str], affected: Sequence[object] = ()) -> Sequence[str]:
        """To be called once the lens is free of the people: their texts are in it no more, and their vectors go."""
        await self.sweep(tenant)
        async with self._log.database.transaction(tenant) as connection:
            await connection.execute(RENEW_STATISTICS)
        return ["memory-vectors"]

    async def _pending(self, tenant: UUID) -> list[bytes]:
        async with self._log.database.transaction(tenant) as connection:
            rows = await (await connection.execute(PENDING, (tenant, BATCH))).fetchall()
        return [row["text_hash"] for row in rows]


async def texts_in(connection: Connection, hashes: Sequence[Any]) -> Mapping[Any, str]:
    if not hashes:
        return {}
    rows = await (await connection.execute(TEXTS, (list(hashes),))).fetchall()
    return {row["text_hash"]: row["text"] for row in rows}


async def _wait_no_longer(tx: Connection, hashes: Sequence[Any]) -> None:
    """Also those whose text is gone."""
    await tx.execute(DONE, (list(hashes),))


TABLE = register_vector_table(
    VectorTable(RELATION, "text_hash", texts_in, "bytea", wanted=NEEDED, before_store=_wait_no_longer)
)
