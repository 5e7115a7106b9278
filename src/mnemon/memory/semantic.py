"""Search by meaning: objects, facets and rationales that are near a text or near an object."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.errors import InvalidRequest
from mnemon.log.store import EventLog
from mnemon.memory.determinism import text_hash
from mnemon.memory.objects import MemoryObject, Place
from mnemon.memory.reading import EVERY_OBJECT, Reading, Wanted, not_found
from mnemon.memory.vectors import RELATION
from mnemon.memory.views import OBJECT, REAL, SHOWN_OF_ONE, View, find_in, object_of
from mnemon.models.active import ModelInUse, active_model
from mnemon.models.embedder import Embedder
from mnemon.models.failures import EmbedderUnavailable
from mnemon.models.vectors import as_vector

# Nothing where the active model is another: a question can only be compared with vectors of its own model.
NEAR = f"""
SELECT near.emo_id, near.text_kind, near.name, near.emo_version AS text_version, near.similarity
  FROM mnemon.embedding_models model
 CROSS JOIN LATERAL mnemon.search_memory_vectors(
      %(question)s, model.model_id, model.dimension, %(world)s, %(branches)s, %(bounds)s, %(kinds)s,
      %(type)s, %(tags)s, %(updated_since)s, %(most)s) AS near
 WHERE model.tenant_id = %(tenant)s AND model.relation = '{RELATION}' AND model.state = 'active'
   AND model.model_id = %(model)s
"""
# With the row of history that the view shows of each object.
NEAREST = f"""
SELECT near.text_kind, near.name, near.text_version, near.similarity, shown.*
  FROM ({NEAR}) AS near
 CROSS JOIN LATERAL ({SHOWN_OF_ONE.format(columns=OBJECT, emo_id="near.emo_id", **REAL)}) AS shown
"""
STORED = """
SELECT embedding::text AS vector FROM mnemon.memory_vectors
 WHERE tenant_id = %s AND text_hash = %s AND model_id = %s
"""
RATIONALE = """
SELECT rationale FROM mnemon.emo_history
 WHERE tenant_id = %(tenant)s AND world_id = %(world)s AND branch = ANY (%(branches)s) AND emo_id = %(emo_id)s
   AND emo_version = %(version)s AND rationale IS NOT NULL LIMIT 1
"""
MOST = 200


@dataclass(frozen=True, slots=True)
class Question:
    """What is sought, as a vector of a model."""

    model_id: str
    vector: str


@dataclass(frozen=True, slots=True)
class Near:
    """A text that is near: of which object, which part of it, and how near (1 is the same)."""

    object: MemoryObject
    kind: str
    name: str
    text: str
    similarity: float


class Semantic:
    """Searches with the model that the stored vectors are of."""

    def __init__(self, log: EventLog, reading: Reading, embedder: Callable[[], Embedder | None]) -> None:
        self._log = log
        self._reading = reading
        self._embedder = embedder

    async def similar_objects(
        self,
        tenant: UUID,
        place: Place,
        like: str | UUID,
        k: int = 10,
        threshold: float = 0.0,
        wanted: Wanted = EVERY_OBJECT,
    ) -> list[Near]:
        """Objects whose content is near a text, or near that of an object, itself left out."""
        return await self._similar(tenant, place, like, ["content"], k, threshold, wanted)

    async def similar_facets(
        self, tenant: UUID, place: Place, like: str | UUID, k: int = 10, threshold: float = 0.0
    ) -> list[Near]:
        """Facets near a text, or near the content of an object."""
        return await self._similar(tenant, place, like, ["facet"], k, threshold, EVERY_OBJECT)

    async def similar_rationales(
        self, tenant: UUID, place: Place, text: str, k: int = 10, threshold: float = 0.0
    ) -> list[Near]:
        """Changes that were made for a reason like this one."""
        return await self._similar(tenant, place, text, ["rationale"], k, threshold, EVERY_OBJECT)

    async def _similar(
        self,
        tenant: UUID,
        place: Place,
        like: str | UUID,
        kinds: Sequence[str],
        k: int,
        threshold: float,
        wanted: Wanted,
    ) -> list[Near]:
        if not 1 <= k <= MOST:
            raise InvalidRequest(f"Ask for 1 to {MOST} results, not {k}.", k=k)
        question = await self.question(like) if isinstance(like, str) else None
        async with self._reading.transaction(tenant) as connection:
            view, _ = await self._reading.view_in(connection, tenant, place)
            if isinstance(like, UUID):
                question = await self._question_in(connection, view, like)
            if question is None:
                return []
            # One more, as the object that is asked about is nearest to itself.
            rows = await self._rows_in(connection, NEAREST, view, question, kinds, k + 1, wanted)
            near = [row for row in rows if row["similarity"] >= threshold and row["emo_id"] != like]
            near.sort(key=lambda row: (-row["similarity"], row["emo_id"], row["name"]))
            return await _described(connection, view, near[:k])

    async def question(self, text: str) -> Question:
        embedder = self._embedder()
        if embedder is None:
            raise EmbedderUnavailable("No embedding model is at hand.")
        [vector] = await embedder.embed([text], purpose="query")
        return Question(embedder.model_id, as_vector(vector))

    async def scores_in(
        self, connection: Connection, view: View, question: Question, most: int, wanted: Wanted
    ) -> dict[UUID, float]:
        """The objects whose content is nearest, each with how near it is."""
        rows = await self._rows_in(connection, NEAR, view, question, ["content"], most, wanted)
        return {row["emo_id"]: float(row["similarity"]) for row in rows}

    async def _rows_in(
        self,
        connection: Connection,
        statement: str,
        view: View,
        question: Question,
        kinds: Sequence[str],
        most: int,
        wanted: Wanted,
    ) -> list[dict[str, Any]]:
        values = view.values | wanted.values | {"kinds": list(kinds), "most": most}
        values |= {"question": question.vector, "model": question.model_id}
        rows = await (await connection.execute(statement, values)).fetchall()
        if not rows:
            _refuse_other(await active_model(connection, RELATION), question.model_id)
        return rows

    async def _question_in(self, connection: Connection, view: View, emo_id: UUID) -> Question | None:
        """The object's own vector; made on the spot if it has none yet. None while there are no vectors at all."""
        row = (await find_in(connection, view, [emo_id])).get(emo_id)
        if row is None or row["deleted"]:
            raise not_found(view.place, emo_id)
        model = await active_model(connection, RELATION)
        if model is None:
            return None
        values = (view.tenant, text_hash(row["content"]), model.model_id)
        stored = await (await connection.execute(STORED, values)).fetchone()
        if stored is not None:
            return Question(model.model_id, str(stored["vector"]))
        embedder = self._embedder()
        _refuse_other(model, embedder.model_id if embedder else None)
        return await self.question(row["content"])


def _refuse_other(active: ModelInUse | None, asked: str | None) -> None:
    """A question can only be compared with vectors of the model that it was asked with."""
    if active is not None and active.model_id != asked:
        raise EmbedderUnavailable(
            f"The stored vectors are of {active.model_id}, and that model is not at hand just now.",
            model_id=active.model_id,
        )


async def _described(connection: Connection, view: View, rows: Sequence[dict[str, Any]]) -> list[Near]:
    found = []
    for row in rows:
        one = object_of(row)
        text = one.content
        if row["text_kind"] == "facet":
            text = one.facets[row["name"]]
        elif row["text_kind"] == "rationale":
            values = view.values | {"emo_id": row["emo_id"], "version": row["text_version"]}
            kept = await (await connection.execute(RATIONALE, values)).fetchone()
            text = kept["rationale"] if kept else ""
        found.append(Near(one, row["text_kind"], row["name"], text, float(row["similarity"])))
    return found
