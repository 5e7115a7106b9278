"""Makes proven sentences of what was chosen: clean words, exact quotes, and where each stands."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from mnemon.ask.citations import Citation, MemoryCitation
from mnemon.ask.frames import Frames, Note
from mnemon.ask.hits import PassageHit
from mnemon.ask.proven import ProvenSentence
from mnemon.ask.quoting.choosing import Choice
from mnemon.ask.quoting.clean import clean_words
from mnemon.ask.quoting.features import CandidateStatement
from mnemon.ask.quoting.places import QuotePlace, read_places
from mnemon.ask.recall import Remembered
from mnemon.db.database import Connection
from mnemon.documents.structure.mail import opens_quotation

# What is known of revisions that are served no more: since when, and by which number.
GONE_BY = """
SELECT r.doc_version_id, r.version_number, coalesce(r.replaced_at, r.deactivated_at) AS since, now.version_number AS now
FROM mnemon.document_revisions AS r
LEFT JOIN mnemon.document_revisions AS now
  ON now.tenant_id = r.tenant_id AND now.doc_id = r.doc_id AND now.is_active
WHERE r.tenant_id = mnemon.current_tenant() AND r.doc_version_id = ANY(%s) AND NOT r.is_active
"""


async def compose(
    tx: Connection, choices: Sequence[Choice], hits: Sequence[PassageHit], frames: Frames
) -> list[ProvenSentence]:
    """What is said of a quote is in the words of `frames`."""
    documents = [one for one in choices if one.candidate.origin.memory is None]
    spans = [(one.candidate.origin.doc_version_id, one.candidate.statement.start) for one in documents]
    places = dict(zip(spans, await read_places(tx, spans), strict=True)) if spans else {}
    gone = await _gone(tx, {revision for revision, _ in spans}) if spans else {}
    return [_sentence(choice, places, gone, hits, frames) for choice in choices]


async def _gone(tx: Connection, revisions: set[UUID]) -> dict[UUID, Note]:
    """What to say of words that stand in an old version, or in a document that was withdrawn."""
    rows = await (await tx.execute(GONE_BY, (list(revisions),))).fetchall()
    return {row["doc_version_id"]: _old(row) for row in rows}


def _old(row: dict[str, Any]) -> Note:
    if row["now"] is None:
        return Note("withdrawn", row["since"])
    return Note("old_version", row["since"], (row["version_number"], row["now"]))


def _sentence(
    choice: Choice, places: dict[tuple[UUID, int], QuotePlace | None], gone: dict[UUID, Note],
    hits: Sequence[PassageHit], frames: Frames,
) -> ProvenSentence:  # fmt: skip
    one = choice.candidate
    text = clean_words(one.statement.text, one.statement.columns)
    said = frames.note(choice.note)
    if one.origin.memory is not None:
        return ProvenSentence(text, (), (_memory_citation(one, one.origin.memory),), choice.role, said)
    revision = one.origin.doc_version_id
    place = places.get((revision, one.statement.start))
    note = " ".join(part for part in (said, frames.note(gone.get(revision))) if part)
    return ProvenSentence(text, (_citation(one, place, hits),), (), choice.role, note)


def _citation(one: CandidateStatement, place: QuotePlace | None, hits: Sequence[PassageHit]) -> Citation:
    origin, statement = one.origin, one.statement
    hit = next((hit for hit in hits if _holds(hit, one)), None)
    page = place.page if place and place.page else (hit.first_page if hit else None)
    return Citation(
        doc_id=origin.doc_id, doc_version_id=origin.doc_version_id, version_number=origin.version_number,
        start=statement.start, end=statement.end, quote=statement.text, title=origin.title,
        source_uri=origin.source_uri, speaker=statement.speaker or _speaker_of(hit, statement.quoted),
        headings=(list(place.headings) if place and place.headings else list(hit.headings) if hit else []),
        first_page=page, last_page=page, written_at=origin.written_at, line=place.line if place else None,
        event_id=one.events[0].event_id if one.events else None, said_on=one.said_on or (hit.said_on if hit else None),
    )  # fmt: skip


def _speaker_of(hit: PassageHit | None, quoted: bool) -> str | None:
    """The speaker of a passage that is a quotation is whoever is quoted, else whoever quotes."""
    return hit.speaker if hit and quoted == opens_quotation(hit.text) else None


def _holds(hit: PassageHit, one: CandidateStatement) -> bool:
    return hit.doc_version_id == one.origin.doc_version_id and hit.start <= one.statement.start < hit.end


def _memory_citation(one: CandidateStatement, memory: Remembered) -> MemoryCitation:
    statement = one.statement
    return MemoryCitation(
        memory.emo_id, memory.emo_version, statement.start, statement.end, statement.text, memory.emo_type,
        memory.branch, memory.updated_at,
    )  # fmt: skip
