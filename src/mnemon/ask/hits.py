"""A passage that was found, with everything a reader needs to judge and open it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from mnemon.ask.replaced import ReplacedStatement
from mnemon.ask.snippets import Snippet, snippet_of
from mnemon.ask.wording import Listener

if TYPE_CHECKING:
    from mnemon.ask.search import Ranked
    from mnemon.db.database import Connection

DETAILS = """
SELECT c.chunk_id, c.doc_version_id, c.doc_id, c.ordinal, c.start_offset, c.end_offset, c.heading_path, c.first_page,
    c.last_page, c.speaker, c.said_on, c.text, c.active, v.version_number, v.media_type, v.written_at, d.title,
    split_part(d.source_uri, '#of=', 1) AS source_uri
FROM unnest(%s::uuid[], %s::integer[]) WITH ORDINALITY AS wanted (revision, ordinal, place)
JOIN mnemon.chunks AS c
  ON c.tenant_id = mnemon.current_tenant() AND c.doc_version_id = wanted.revision AND c.ordinal = wanted.ordinal
JOIN mnemon.document_revisions AS v ON v.tenant_id = c.tenant_id AND v.doc_version_id = c.doc_version_id
JOIN mnemon.documents AS d ON d.tenant_id = c.tenant_id AND d.doc_id = c.doc_id
ORDER BY wanted.place
"""


@dataclass(frozen=True)
class ScorePart:
    """One part of a score: what was measured, and what it adds."""

    value: float
    adds: float


@dataclass(frozen=True)
class Explanation:
    """Why a passage stands where it does: what the parts add makes its place."""

    place: float
    parts: dict[str, ScorePart]
    # Each word of the question: its rarity, and how often the passage has it.
    words: dict[str, dict[str, float]]


@dataclass(frozen=True)
class PassageHit:
    """A chunk of a revision; `text` is the revision's `text[start:end]`, in code points, and so is the snippet.

    `score` is the relevance, from 0 to 1 (`mnemon.search.ranking`); `relevance` is what a reranker gave.
    """

    chunk_id: UUID
    doc_id: UUID
    doc_version_id: UUID
    version_number: int
    active: bool
    title: str
    source_uri: str
    media_type: str
    written_at: datetime | None
    headings: Sequence[str]
    first_page: int | None
    last_page: int | None
    # Of a turn of a talk: who says it. The day on which it was said, where the text tells.
    speaker: str | None
    said_on: date | None
    ordinal: int
    start: int
    end: int
    text: str
    snippet: Snippet
    score: float
    relevance: float | None
    explanation: Explanation | None
    # What of it a later statement replaced.
    replaced: Sequence[ReplacedStatement]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


async def read_hits(tx: "Connection", ranked: "Ranked", rows: Sequence[int], explain: bool = False) -> list[PassageHit]:
    """The hits at these rows of the ranking, in this order."""
    places = [ranked.measures.places[row] for row in rows]
    found = await tx.execute(DETAILS, ([one for one, _ in places], [ordinal for _, ordinal in places]))
    row_of = dict(zip(places, rows, strict=True))
    listener = Listener(term.lexeme for term in ranked.terms)
    return [
        _hit(ranked, row_of[detail["doc_version_id"], detail["ordinal"]], detail, explain, listener)
        for detail in await found.fetchall()
    ]


def _hit(ranked: "Ranked", row: int, detail: dict[str, Any], explain: bool, listener: Listener) -> PassageHit:
    return PassageHit(
        chunk_id=detail["chunk_id"],
        doc_id=detail["doc_id"],
        doc_version_id=detail["doc_version_id"],
        version_number=detail["version_number"],
        active=detail["active"],
        title=detail["title"],
        source_uri=detail["source_uri"],
        media_type=detail["media_type"],
        written_at=detail["written_at"],
        headings=detail["heading_path"],
        first_page=detail["first_page"],
        last_page=detail["last_page"],
        speaker=detail["speaker"],
        said_on=detail["said_on"],
        ordinal=detail["ordinal"],
        start=detail["start_offset"],
        end=detail["end_offset"],
        text=detail["text"],
        snippet=snippet_of(detail["text"], detail["start_offset"], ranked.terms, listener),
        score=float(ranked.score[row]),
        relevance=None,
        explanation=_explanation(ranked, row) if explain else None,
        replaced=(),
    )


def _explanation(ranked: "Ranked", row: int) -> Explanation:
    parts = {
        name: ScorePart(float(ranked.parts[name][row]), float(shares[row])) for name, shares in ranked.shares.items()
    }
    words = {
        term.lexeme: {
            "rarity": term.weight,
            "chunks": term.texts,
            "times": float(ranked.measures.occurrences[row, number]),
        }
        for number, term in enumerate(ranked.terms)
    }
    return Explanation(sum(part.adds for part in parts.values()), parts, words)
