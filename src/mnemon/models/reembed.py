"""Moves a table of vectors to another model in small steps, while searches go on with the old one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from psycopg import sql

from mnemon.db.database import Connection, Database
from mnemon.models.active import ModelInUse, active_model, begin_change, finish_change, model_states
from mnemon.models.embedder import Embedder
from mnemon.models.failures import EmbedderUnavailable
from mnemon.models.vector_tables import VectorTable
from mnemon.models.vectors import as_vector

BATCH = 64
SWEEP = 1_000

MISSING = sql.SQL("""
SELECT old.{key} AS key FROM {relation} AS old
WHERE old.tenant_id = mnemon.current_tenant() AND old.model_id = %(active)s
  AND NOT EXISTS (
      SELECT FROM {relation} AS new
      WHERE new.tenant_id = old.tenant_id AND new.{key} = old.{key} AND new.model_id = %(target)s)
ORDER BY old.{key} LIMIT %(most)s
""")
# The old vector is locked: one that is being forgotten meanwhile is waited for, and its text is not embedded anew.
INSERT_BESIDE = sql.SQL("""
INSERT INTO {relation} (tenant_id, {key}, model_id, embedding)
SELECT old.tenant_id, old.{key}, %(target)s, fresh.embedding::vector
FROM {relation} AS old
JOIN unnest(%(keys)s::{key_type}[], %(vectors)s::text[]) AS fresh (key, embedding) ON fresh.key = old.{key}
WHERE old.tenant_id = mnemon.current_tenant() AND old.model_id = %(active)s
FOR SHARE OF old
ON CONFLICT DO NOTHING
""")
# A vector whose text is gone can never be made anew, and nobody could be shown what it found.
DROP_ORPHANS = sql.SQL("DELETE FROM {relation} WHERE tenant_id = mnemon.current_tenant() AND {key} = ANY(%s)")
SWEEP_RETIRED = sql.SQL("""
DELETE FROM {relation} WHERE ctid = ANY (ARRAY(
    SELECT gone.ctid FROM {relation} AS gone
    WHERE gone.tenant_id = mnemon.current_tenant() AND gone.model_id = ANY(%(retired)s) LIMIT %(most)s))
""")
FORGET_RETIRED = """
DELETE FROM mnemon.embedding_models
WHERE tenant_id = mnemon.current_tenant() AND relation = %s AND state = 'retired'
"""


@dataclass(frozen=True)
class ReembedStep:
    """What one step did, and to how many rows. After `done` there is nothing left to do."""

    did: Literal["filled", "switched", "swept", "done"]
    rows: int = 0


async def reembed_step(database: Database, tenant: UUID, table: VectorTable, embedder: Embedder) -> ReembedStep:
    """One bounded step towards the embedder's model. Any process may take it; one that dies leaves no damage."""
    target = await model_of(embedder)
    async with database.transaction(tenant) as tx:
        state = await begin_change(tx, table.relation, target)
        active = await active_model(tx, table.relation)
        assert active is not None
        keys = await _missing(tx, table, active, target) if state == "filling" else []
        texts = await table.texts(tx, keys) if keys else {}
        if orphans := [key for key in keys if key not in texts]:
            await tx.execute(table.query(DROP_ORPHANS), (orphans,))
    if keys:
        return await _fill(database, tenant, table, embedder, active, target, texts)
    if state == "filling":
        return await _switch(database, tenant, table, active, target)
    return await _sweep(database, tenant, table)


async def model_of(embedder: Embedder) -> ModelInUse:
    """The embedder's model; an endpoint tells the length of its vectors only with the first ones."""
    if embedder.dimension is None:
        await embedder.embed(["How long are the vectors?"])
    if embedder.dimension is None:
        raise EmbedderUnavailable(f"The length of the vectors of {embedder.model_id} is not known.")
    return ModelInUse(embedder.model_id, embedder.dimension)


async def _missing(tx: Connection, table: VectorTable, active: ModelInUse, target: ModelInUse) -> list[Any]:
    wanted = {"active": active.model_id, "target": target.model_id, "most": BATCH}
    rows = await (await tx.execute(table.query(MISSING), wanted)).fetchall()
    return [row["key"] for row in rows]


async def _fill(
    database: Database, tenant: UUID, table: VectorTable, embedder: Embedder,
    active: ModelInUse, target: ModelInUse, texts: Mapping[Any, str],
) -> ReembedStep:  # fmt: skip
    """Embed outside any transaction, then store what still has its old vector."""
    keys = list(texts)
    vectors = await embedder.embed([texts[key] for key in keys])
    fresh = {
        "keys": keys, "vectors": [as_vector(row) for row in vectors],
        "active": active.model_id, "target": target.model_id,
    }  # fmt: skip
    async with database.transaction(tenant) as tx:
        stored = await tx.execute(table.query(INSERT_BESIDE), fresh)
        return ReembedStep("filled", stored.rowcount)


async def _switch(
    database: Database, tenant: UUID, table: VectorTable, active: ModelInUse, target: ModelInUse
) -> ReembedStep:
    """Under the lock that writers share, so that no row written meanwhile is left without its new vector."""
    async with database.transaction(tenant) as tx:
        states = await model_states(tx, table.relation)
        if states.get(target.model_id) != "filling" or await _missing(tx, table, active, target):
            return ReembedStep("filled")
        await finish_change(tx, table.relation, target)
        return ReembedStep("switched")


async def _sweep(database: Database, tenant: UUID, table: VectorTable) -> ReembedStep:
    async with database.transaction(tenant) as tx:
        states = await model_states(tx, table.relation)
        retired = [model_id for model_id, state in states.items() if state == "retired"]
        if not retired:
            return ReembedStep("done")
        swept = await tx.execute(table.query(SWEEP_RETIRED), {"retired": retired, "most": SWEEP})
        if swept.rowcount < SWEEP:
            await tx.execute(FORGET_RETIRED, (table.relation,))
        return ReembedStep("swept", swept.rowcount)
