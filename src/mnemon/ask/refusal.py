"""Refusals: why there is no answer, what was searched, and what came nearest."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from mnemon.ask.frames import Frames
from mnemon.ask.hits import PassageHit
from mnemon.ask.quoting.needs import FILLERS
from mnemon.ask.quoting.periods import AskedPeriod
from mnemon.ask.wording import says, words_of

if TYPE_CHECKING:
    from mnemon.ask.search import Ranked

MISSES = 3

Code = Literal["nothing_found", "weak_evidence", "another_person", "another_time", "no_proof"]


@dataclass(frozen=True)
class NearMiss:
    """A passage that came near and did not suffice; `relevant` tells whether a search would show it, `day` when it was
    said or written, where that is known."""

    doc_id: UUID
    doc_version_id: UUID
    title: str
    start: int
    end: int
    snippet: str
    score: float
    relevant: bool
    day: date | None = None


@dataclass(frozen=True)
class Searched:
    """What was looked through."""

    chunks: int
    words: Sequence[str]
    unknown_words: Sequence[str]
    by_meaning: bool
    filters: dict[str, str]


@dataclass(frozen=True)
class Refusal:
    """An honest no."""

    code: Code
    message: str
    searched: Searched
    near_misses: Sequence[NearMiss]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def refuse_nothing_found(ranked: "Ranked", nearest: Sequence[PassageHit], frames: Frames) -> Refusal:
    why = "none_near" if ranked.scope.chunks else "filtered" if ranked.filters.applied() else "empty"
    filters = ", ".join(f"{name.removesuffix('_id')} {value}" for name, value in ranked.filters.applied().items())
    told = frames.refusal(why, filters=filters.replace("_", " "))
    return _refusal("nothing_found", told, ranked, nearest[:MISSES])


def refuse_weak(ranked: "Ranked", not_by: Sequence[str], hits: Sequence[PassageHit], frames: Frames) -> Refusal:
    """`not_by` are those whom the question names, where what was found is about others."""
    if not_by:
        told = frames.refusal("another_person", names=frames.joined(not_by))
        return _refusal("another_person", told, ranked, hits[:MISSES])
    return _refusal("weak_evidence", frames.refusal("weak_evidence"), ranked, hits[:MISSES])


def refuse_other_time(ranked: "Ranked", asked: AskedPeriod, hits: Sequence[PassageHit], frames: Frames) -> Refusal:
    """What comes near is of other times than the one asked for."""
    days = sorted({day for hit in hits[:MISSES] if (day := _day(hit)) and not asked.holds(day)})
    others = f": {frames.joined([frames.day(day) for day in days])}" if days else ""
    told = frames.refusal("another_time", time=asked.told(frames), days=others)
    return _refusal("another_time", told, ranked, hits[:MISSES])


def refuse_no_proof(ranked: "Ranked", dropped: int, hits: Sequence[PassageHit], frames: Frames) -> Refusal:
    told = frames.refusal("unproven", dropped=dropped) if dropped else frames.refusal("no_sentence")
    return _refusal("no_proof", told, ranked, hits[:MISSES])


def _refusal(code: Code, message: str, ranked: "Ranked", hits: Sequence[PassageHit]) -> Refusal:
    unknown = [_as_asked(ranked, term.lexeme) for term in ranked.terms if not term.texts]
    searched = Searched(
        chunks=ranked.scope.chunks,
        words=[_as_asked(ranked, term.lexeme) for term in ranked.terms if term.texts],
        # "Many", of "how many", is no word that a source would have to have.
        unknown_words=[word for word in unknown if word not in FILLERS],
        by_meaning=ranked.lexical_only is None,
        filters=ranked.filters.applied(),
    )
    return Refusal(code, message, searched, [_near_miss(hit, bool(ranked.order)) for hit in hits])


def _as_asked(ranked: "Ranked", lexeme: str) -> str:
    """The word of the question behind a stem, which may be no word at all."""
    return next((word for word in words_of(ranked.asked.question) if says(word, lexeme)), lexeme)


def _near_miss(hit: PassageHit, relevant: bool) -> NearMiss:
    shown = hit.snippet
    return NearMiss(
        hit.doc_id, hit.doc_version_id, hit.title, shown.start, shown.end, shown.text, hit.score, relevant, _day(hit)
    )


def _day(hit: PassageHit) -> date | None:
    return hit.said_on or (hit.written_at.date() if hit.written_at else None)
