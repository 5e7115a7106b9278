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
from mnemon.memory.reading import EVERY_OBJECT, Reading, Version, Wanted, not_found, version_of
from mnemon.memory.vectors import RELATION
from mnemon.memory.views import COLUMNS, REAL, SHOWN_OF_ONE, View, find_in
from mnemon.models.active import ModelInUse, active_model
from mnemon.models.embedder import Embedder
from mnemon.models.failures import EmbedderUnavailable
from mnemon.models.vectors import as_vector

# With the row of history that the view shows of each object.
NEAREST = f"""
SELECT near.text_kind, near.name, near.emo_version AS text_version, near.similarity, shown.*
  FROM mnemon.search_memory_vectors(
      %(question)s, %(model)s, %(dimension)s, %(world)s, %(branches)s, %(bounds)s, %(kinds)s,
      %(type)s, %(tags)s, %(updated_since)s, %(most)s) AS near
 CROSS JOIN LATERAL ({SHOWN_OF_ONE.format(columns=COLUMNS, emo_id="near.emo_id", **REAL)}) AS shown
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
class Near:
    """A text that is near: of which object, which part of it, and how near (1 is the same)."""

    version: Version
    kind: str
    name: str
    text: str
    similarity: float

    @property
    def object(self) -> MemoryObject:
        return self.version.object


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
        question = await self._vector_of(like) if isinstance(like, str) else None
        async with self._reading.transaction(tenant) as connection:
            model = await active_model(connection, RELATION)
            if model is None:
                return []
            if question is None:
                question = await self._stored_in(connection, tenant, place, like, model)
            else:
                self._check(model)
            view, _ = await self._reading.view_in(connection, tenant, place)
            # One more, as the object that is asked about is nearest to itself.
            values = view.values | wanted.values | {"kinds": list(kinds), "most": k + 1}
            values |= {"question": question, "model": model.model_id, "dimension": model.dimension}
            rows = await (await connection.execute(NEAREST, values)).fetchall()
            near = [row for row in rows if row["similarity"] >= threshold and row["emo_id"] != like]
            near.sort(key=lambda row: (-row["similarity"], row["emo_id"], row["name"]))
            return await _described(connection, view, near[:k])

    async def _vector_of(self, text: str) -> str:
        embedder = self._embedder()
        if embedder is None:
            raise EmbedderUnavailable("No embedding model is at hand.")
        [vector] = await embedder.embed([text], purpose="query")
        return as_vector(vector)

    async def _stored_in(
        self, connection: Connection, tenant: UUID, place: Place, emo_id: UUID | str, model: ModelInUse
    ) -> str:
        """The object's own vector; made on the spot if it has none yet."""
        assert isinstance(emo_id, UUID)
        view, _ = await self._reading.view_in(connection, tenant, place)
        row = (await find_in(connection, view, [emo_id])).get(emo_id)
        if row is None or row["deleted"]:
            raise not_found(place, emo_id)
        values = (tenant, text_hash(row["content"]), model.model_id)
        stored = await (await connection.execute(STORED, values)).fetchone()
        if stored is not None:
            return str(stored["vector"])
        self._check(model)
        return await self._vector_of(row["content"])

    def _check(self, model: ModelInUse) -> None:
        """A question can only be compared with vectors of the model that it was asked with."""
        embedder = self._embedder()
        if embedder is None or embedder.model_id != model.model_id:
            raise EmbedderUnavailable(
                f"The stored vectors are of {model.model_id}, and that model is not at hand just now.",
                model_id=model.model_id,
            )


async def _described(connection: Connection, view: View, rows: Sequence[dict[str, Any]]) -> list[Near]:
    found = []
    for row in rows:
        version = version_of(row)
        text = version.object.content
        if row["text_kind"] == "facet":
            text = version.object.facets[row["name"]]
        elif row["text_kind"] == "rationale":
            values = view.values | {"emo_id": row["emo_id"], "version": row["text_version"]}
            kept = await (await connection.execute(RATIONALE, values)).fetchone()
            text = kept["rationale"] if kept else ""
        found.append(Near(version, row["text_kind"], row["name"], text, float(row["similarity"])))
    return found
