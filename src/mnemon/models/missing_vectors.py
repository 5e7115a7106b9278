"""Gives a vector to every text that should have one and has none, whatever kind of text it is, in small slices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import sql

from mnemon.db.database import Connection, Database
from mnemon.log.privacy.epochs import epoch_in, hold_epoch_in
from mnemon.models.active import ModelInUse, active_model
from mnemon.models.embedder import Embedder, Vectors
from mnemon.models.failures import ModelRequestRefused
from mnemon.models.vector_index import ensure_vector_index
from mnemon.models.vector_tables import VectorTable, vector_tables
from mnemon.telemetry import counter, logger

SLICE = 32
LOOK = 256
# A model that refuses so many texts, and has taken none, refuses everything: its settings are at fault, not the texts.
MOST_REFUSED = 16

REFUSED = counter("mnemon_texts_refused_total", "Texts that an embedding model refused, each asked alone.", ["model"])

log = logger(__name__)

# A vector of the model in use will do when another is configured: a change of model brings it along.
LACKING = sql.SQL("""
SELECT wanted.key FROM ({wanted}) AS wanted
 WHERE NOT EXISTS (SELECT FROM {relation} AS has
                    WHERE has.tenant_id = mnemon.current_tenant() AND has.{key} = wanted.key
                      AND has.model_id = ANY (%(models)s))
   AND wanted.key <> ALL (%(besides)s::{key_type}[])
   AND hashtextextended(wanted.key::text, 0) & %(mask)s::bigint = %(part)s::bigint
 LIMIT %(most)s
""")
GIVEN = sql.SQL("SELECT unnest(%(keys)s::{key_type}[]) AS key")


@dataclass(frozen=True)
class Part:
    """The texts whose keys fall into this part of so many, a power of two: for those who share the work."""

    number: int = 0
    of: int = 1

    @property
    def condition(self) -> dict[str, int]:
        return {"mask": self.of - 1, "part": self.number}


WHOLE = Part()


@dataclass(frozen=True)
class Lacking:
    """Texts of one table without a vector."""

    table: VectorTable
    keys: Sequence[Any]

    @property
    def are_many(self) -> bool:
        """More than one look has found."""
        return len(self.keys) >= LOOK


@dataclass(frozen=True)
class VectorsMade:
    """How many vectors were stored, and the keys of texts that the model refused, each asked alone."""

    stored: int
    refused: Sequence[Any] = ()


class MissingVectors:
    """One look through the tables of a tenant. What has no text, or changes meanwhile, is tried once in a look."""

    def __init__(self, database: Database, embedder: Embedder, part: Part = WHOLE) -> None:
        self._maker = VectorMaker(database)
        self._embedder = embedder
        self._part = part
        self._tried: dict[str, set[Any]] = {}
        self.rows = 0
        # Texts that the model refuses, each asked alone: they are set aside for this look.
        self.refused = 0

    async def find(self, tx: Connection) -> Lacking | None:
        """Some texts of the first table that lacks vectors; none if all are there, or if there is no model at all."""
        if self._embedder.source == "none":
            return None
        for table in vector_tables():
            if table.wanted is None:
                continue
            values = {"besides": list(self._tried.get(table.relation, ())), "most": LOOK} | self._part.condition
            if keys := await _lacking(tx, table, self._embedder, sql.SQL(table.wanted), values):
                return Lacking(table, keys)
        return None

    async def make(self, tenant: UUID, lacking: Lacking) -> None:
        """Raises what the model raises; what was stored until then stays."""
        for start in range(0, len(lacking.keys), SLICE):
            keys = lacking.keys[start : start + SLICE]
            made = await self._maker.embed_apart(tenant, lacking.table, self._embedder, keys)
            self.rows += made.stored
            self.refused += len(made.refused)
            if made.stored < len(keys):
                self._tried.setdefault(lacking.table.relation, set()).update(keys)
            if self.rows == 0 and self.refused >= MOST_REFUSED:
                raise ModelRequestRefused(f"{self._embedder.model_id} refuses every text: look at its settings.")


class VectorMaker:
    """Embeds texts and stores their vectors; knows which indexes it has seen."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._indexed: set[tuple[str, ModelInUse]] = set()

    async def embed_apart(
        self, tenant: UUID, table: VectorTable, embedder: Embedder, keys: Sequence[Any]
    ) -> VectorsMade:
        """One text that is too long for the model, or filtered, keeps no other from its vector: where they are refused
        together, each is asked alone."""
        try:
            return VectorsMade(await self.embed_texts(tenant, table, embedder, keys))
        except ModelRequestRefused as refusal:
            if len(keys) > 1:
                each = [await self.embed_apart(tenant, table, embedder, [key]) for key in keys]
                return VectorsMade(sum(one.stored for one in each), [key for one in each for key in one.refused])
            REFUSED.labels(embedder.model_id).inc()
            log.warning("text_refused_by_model", tenant_id=tenant, relation=table.relation, reason=refusal.message)
            return VectorsMade(0, keys)

    async def embed_texts(self, tenant: UUID, table: VectorTable, embedder: Embedder, keys: Sequence[Any]) -> int:
        """Vectors for those of these texts that have none; how many were stored. The model is asked outside any
        transaction, and nothing is stored of a text that was erased, purged or replaced meanwhile."""
        async with self._database.transaction(tenant) as tx:
            epoch = await epoch_in(tx, tenant)
            values = {"keys": list(keys), "besides": [], "most": len(keys)} | WHOLE.condition
            found = await _lacking(tx, table, embedder, table.query(GIVEN), values)
            texts = await table.texts(tx, found) if found else {}
        vectors = await embedder.embed(list(texts.values())) if texts else None
        async with self._database.transaction(tenant) as tx:
            held = await hold_epoch_in(tx, tenant, epoch)
            stored = await _store(tx, table, keys, texts, vectors, embedder.model_id) if held else 0
        if not held:
            return await self.embed_texts(tenant, table, embedder, keys)
        if vectors is not None:
            await self._ensure_index(table.relation, ModelInUse(embedder.model_id, vectors.shape[1]))
        return stored

    async def _ensure_index(self, relation: str, model: ModelInUse) -> None:
        if (relation, model) not in self._indexed:
            async with self._database.owner() as owner:
                await ensure_vector_index(owner, relation, model)
            self._indexed.add((relation, model))


async def _lacking(
    tx: Connection, table: VectorTable, embedder: Embedder, wanted: sql.Composable, values: Mapping[str, Any]
) -> list[Any]:
    active = await active_model(tx, table.relation)
    models = [embedder.model_id, active.model_id if active else embedder.model_id]
    rows = await (await tx.execute(table.query(LACKING, wanted=wanted), {**values, "models": models})).fetchall()
    # The same text may be wanted at several places.
    return list(dict.fromkeys(row["key"] for row in rows))


async def _store(
    tx: Connection, table: VectorTable, keys: Sequence[Any], texts: Mapping[Any, str], vectors: Vectors | None,
    model_id: str,
) -> int:  # fmt: skip
    """Of texts that still say what was embedded."""
    await table.before_store(tx, keys)
    if vectors is None:
        return 0
    now = await table.texts(tx, list(texts))
    kept = [(place, key) for place, (key, text) in enumerate(texts.items()) if now.get(key) == text]
    return await table.store(tx, [key for _, key in kept], vectors[[place for place, _ in kept]], model_id)
