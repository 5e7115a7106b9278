"""Brings the vectors of every registered table to the configured model: who is not there yet, and one tenant's move."""

import time
from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import Database
from mnemon.models.active import ModelInUse
from mnemon.models.embedder import Embedder, embedding_health
from mnemon.models.reembed import model_of, reembed_step
from mnemon.models.vector_index import drop_other_indexes, ensure_vector_index
from mnemon.models.vector_tables import vector_tables
from mnemon.telemetry import logger

NOT_THERE = "SELECT mnemon.tenants_with_other_models(%s, %s) AS tenant_id"
IN_USE = "SELECT DISTINCT relation, model_id, dimension FROM mnemon.embedding_models WHERE relation = ANY(%s)"

log = logger(__name__)


@dataclass(frozen=True)
class Moved:
    """How many rows a move changed, and whether nothing is left to do."""

    rows: int
    done: bool


class VectorMoves:
    """The moves of this program's tables to its embedder's model."""

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder

    async def possible(self) -> bool:
        """Whether there is any table, and the configured model works."""
        return bool(vector_tables()) and (await embedding_health(self._embedder)).available

    async def tenants_to_move(self) -> list[UUID]:
        """Tenants with vectors of another model than the configured one."""
        relations = [table.relation for table in vector_tables()]
        async with self._database.session() as session:
            rows = await (await session.execute(NOT_THERE, (relations, self._embedder.model_id))).fetchall()
        return [row["tenant_id"] for row in rows]

    async def move(self, tenant: UUID, seconds: float) -> Moved:
        """Step through the tables until all are done or the time is up. Any step may be the last one before a crash."""
        deadline = time.monotonic() + seconds
        rows = 0
        for table in vector_tables():
            did = None
            while did != "done":
                if time.monotonic() > deadline:
                    return Moved(rows, done=False)
                step = await reembed_step(self._database, tenant, table, self._embedder)
                did, rows = step.did, rows + step.rows
        return Moved(rows, done=True)

    async def prepare_indexes(self) -> None:
        """An index for the configured model, before its vectors come; none for models that nobody uses any more."""
        target = await model_of(self._embedder)
        relations = [table.relation for table in vector_tables()]
        async with self._database.owner() as owner:
            in_use = await (await owner.execute(IN_USE, (relations,))).fetchall()
            for relation in relations:
                used = [ModelInUse(row["model_id"], row["dimension"]) for row in in_use if row["relation"] == relation]
                await ensure_vector_index(owner, relation, target)
                for dropped in await drop_other_indexes(owner, relation, [target, *used]):
                    log.info("vector_index_dropped", index=dropped)
