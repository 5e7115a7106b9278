"""Search: words and meaning together, each scaled to its best hit, in one ranking."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.memory.objects import MemoryObject, Place
from mnemon.memory.reading import EVERY_OBJECT, Reading, Wanted
from mnemon.memory.semantic import Question, Semantic
from mnemon.memory.views import OBJECT, View, find_in, object_of
from mnemon.models.failures import EmbedderUnavailable

Mode = Literal["hybrid", "text", "semantic"]

WORDS = """
SELECT emo_id, score FROM mnemon.search_memory_words(
    %(words)s, %(world)s, %(branches)s, %(bounds)s, %(type)s, %(tags)s, %(updated_since)s, %(most)s)
"""
# Candidates of each kind: enough that an object which is good in both is among both.
CANDIDATES = 60
WEIGHT_OF_WORDS = 0.5


@dataclass(frozen=True, slots=True)
class Hit:
    """An object that was found, how well, and by what: the share of words and of meaning, each from 0 to 1."""

    object: MemoryObject
    score: float
    words: float
    meaning: float


@dataclass(frozen=True, slots=True)
class Found:
    """The best hits; `mode` says what they were found by, which is words alone where no model is at hand."""

    hits: list[Hit]
    mode: Mode


class Search:
    """Finds objects of a branch by what they say."""

    def __init__(self, reading: Reading, semantic: Semantic) -> None:
        self._reading = reading
        self._semantic = semantic

    async def search(
        self,
        tenant: UUID,
        place: Place,
        text: str,
        *,
        mode: Mode = "hybrid",
        wanted: Wanted = EVERY_OBJECT,
        limit: int = 10,
    ) -> Found:
        question: Question | None = None
        if mode != "text":
            try:
                question = await self._semantic.question(text)
            except EmbedderUnavailable:
                if mode == "semantic":
                    raise
                mode = "text"
        async with self._reading.transaction(tenant) as connection:
            view, _ = await self._reading.view_in(connection, tenant, place)
            meanings, mode = await self._meant(connection, view, question, wanted, mode)
            worded = await _worded(connection, view, text, wanted) if mode != "semantic" else {}
            ranked = _ranked(_scaled(worded), _scaled(meanings), limit)
            rows = await find_in(connection, view, [emo_id for emo_id, *_ in ranked], columns=OBJECT)
        hits = [
            Hit(object_of(rows[emo_id]), score, words, meaning)
            for emo_id, score, words, meaning in ranked
            if emo_id in rows
        ]
        return Found(hits, mode)

    async def _meant(
        self, connection: Connection, view: View, question: Question | None, wanted: Wanted, mode: Mode
    ) -> tuple[dict[UUID, float], Mode]:
        """Scores by meaning, and the mode that is left where the stored vectors are of another model."""
        if question is None:
            return {}, mode
        try:
            return await self._semantic.scores_in(connection, view, question, CANDIDATES, wanted), mode
        except EmbedderUnavailable:
            if mode == "semantic":
                raise
            return {}, "text"


async def _worded(connection: Connection, view: View, text: str, wanted: Wanted) -> dict[UUID, float]:
    values: dict[str, Any] = view.values | wanted.values | {"words": text, "most": CANDIDATES}
    rows = await (await connection.execute(WORDS, values)).fetchall()
    return {row["emo_id"]: float(row["score"]) for row in rows}


def _scaled(scores: dict[UUID, float]) -> dict[UUID, float]:
    best = max(scores.values(), default=0.0)
    return {emo_id: max(score, 0.0) / best for emo_id, score in scores.items()} if best > 0 else {}


def _ranked(
    words: dict[UUID, float], meanings: dict[UUID, float], limit: int
) -> list[tuple[UUID, float, float, float]]:
    def weigh(one: UUID) -> float:
        return WEIGHT_OF_WORDS * words.get(one, 0.0) + (1 - WEIGHT_OF_WORDS) * meanings.get(one, 0.0)

    everyone = sorted(({*words, *meanings}), key=lambda one: (-weigh(one), one))
    return [(one, weigh(one), words.get(one, 0.0), meanings.get(one, 0.0)) for one in everyone[:limit]]
