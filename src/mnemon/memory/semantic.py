"""Neighbours by meaning: objects, facets and rationales that are near a text or near an object."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.documents.access import ANYONE, Reader
from mnemon.errors import InvalidRequest
from mnemon.memory.determinism import text_hash
from mnemon.memory.objects import MemoryObject, Place
from mnemon.memory.reading import EVERY_OBJECT, Reading, Wanted, is_for, not_found
from mnemon.memory.vectors import MEMORY
from mnemon.memory.views import OBJECT, REAL, SHOWN_OF_ONE, View, find_in, object_of
from mnemon.models.active import active_model
from mnemon.models.failures import EmbedderUnavailable
from mnemon.search.questions import LONGEST_QUESTION, Asked, ModelChanged, Questions

# With the row of history that the view shows of each object. Nothing where the active model is another: a question can
# only be compared with vectors of its own model.
NEAREST = f"""
SELECT near.text_kind, near.name, near.emo_version AS text_version, near.similarity, shown.*
  FROM mnemon.embedding_models model
 CROSS JOIN LATERAL mnemon.search_memory_vectors(
      %(question)s::vector, model.model_id, %(world)s, %(branches)s, %(bounds)s, %(kinds)s,
      %(type)s, %(tags)s, %(updated_since)s, %(subject_id)s, %(owner)s, %(agent_id)s, %(session_id)s, %(most)s) AS near
 CROSS JOIN LATERAL ({SHOWN_OF_ONE.format(columns=OBJECT, emo_id="near.emo_id", **REAL)}) AS shown
 WHERE model.tenant_id = %(tenant)s AND model.relation = '{MEMORY.vectors}' AND model.state = 'active'
   AND model.model_id = %(model)s
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

    object: MemoryObject
    kind: str
    name: str
    text: str
    similarity: float


class Semantic:
    """Searches with the model that the stored vectors are of."""

    def __init__(self, reading: Reading, questions: Questions) -> None:
        self._reading = reading
        self._questions = questions

    async def similar_objects(
        self,
        tenant: UUID,
        place: Place,
        like: str | UUID,
        k: int = 10,
        threshold: float = 0.0,
        wanted: Wanted = EVERY_OBJECT,
        reader: Reader = ANYONE,
    ) -> list[Near]:
        """Objects whose content is near a text, or near that of an object, itself left out."""
        return await self._similar(tenant, place, like, ["content"], k, threshold, wanted, reader)

    async def similar_facets(
        self, tenant: UUID, place: Place, like: str | UUID, k: int = 10, threshold: float = 0.0, reader: Reader = ANYONE
    ) -> list[Near]:
        """Facets near a text, or near the content of an object."""
        return await self._similar(tenant, place, like, ["facet"], k, threshold, EVERY_OBJECT, reader)

    async def similar_rationales(
        self, tenant: UUID, place: Place, text: str, k: int = 10, threshold: float = 0.0, reader: Reader = ANYONE
    ) -> list[Near]:
        """Changes that were made for a reason like this one."""
        return await self._similar(tenant, place, text, ["rationale"], k, threshold, EVERY_OBJECT, reader)

    async def _similar(
        self,
        tenant: UUID,
        place: Place,
        like: str | UUID,
        kinds: Sequence[str],
        k: int,
        threshold: float,
        wanted: Wanted,
        reader: Reader,
    ) -> list[Near]:
        if not 1 <= k <= MOST:
            raise InvalidRequest(f"Ask for 1 to {MOST} results, not {k}.", k=k)
        values = wanted.values | {"kinds": list(kinds), "like": like, "k": k, "threshold": threshold}

        async def near(asked: Asked) -> list[Near]:
            return await self._near(tenant, place, asked, values, reader)

        if isinstance(like, str):
            return await self._questions.ask(tenant, MEMORY, like, near)
        async with self._reading.transaction(tenant) as connection:
            view, _ = await self._reading.view_in(connection, tenant, place)
            content, own = await _of_object(connection, view, like, reader)
        with suppress(ModelChanged):
            if own is not None:
                return await near(own)
        return await self._questions.ask(tenant, MEMORY, content[:LONGEST_QUESTION], near)

    async def _near(
        self, tenant: UUID, place: Place, asked: Asked, values: dict[str, Any], reader: Reader
    ) -> list[Near]:
        if asked.model is None:
            return []
        if asked.vector is None:
            raise EmbedderUnavailable(asked.lexical_only or "", model_id=asked.model.model_id)
        async with self._reading.transaction(tenant, reader) as connection:
            view, _ = await self._reading.view_in(connection, tenant, place)
            # One more, as the object that is asked about is nearest to itself.
            values = values | view.values | {"most": values["k"] + 1}
            values |= {"question": asked.vector, "model": asked.model.model_id}
            rows = await (await connection.execute(NEAREST, values)).fetchall()
            if not rows and await active_model(connection, MEMORY.vectors) != asked.model:
                raise ModelChanged
            near = [row for row in rows if row["similarity"] >= values["threshold"] and row["emo_id"] != values["like"]]
            near.sort(key=lambda row: (-row["similarity"], row["emo_id"], row["name"]))
            return await _described(connection, view, near[: values["k"]])


async def _of_object(connection: Connection, view: View, emo_id: UUID, reader: Reader) -> tuple[str, Asked | None]:
    """An object's content, and its own vector if it has one yet."""
    row = (await find_in(connection, view, [emo_id])).get(emo_id)
    if row is None or row["deleted"] or not is_for(reader, row):
        raise not_found(view.place, emo_id)
    model = await active_model(connection, MEMORY.vectors)
    values = (view.tenant, text_hash(row["content"]), model.model_id if model else "")
    stored = await (await connection.execute(STORED, values)).fetchone()
    return row["content"], Asked(row["content"], model, stored["vector"]) if stored else None


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
