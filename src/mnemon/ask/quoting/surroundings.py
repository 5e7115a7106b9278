"""The text around what a search found: read once per document, so that a reply is seen with its question."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from uuid import UUID

from mnemon.ask.hits import PassageHit
from mnemon.ask.quoting.statements import Statement, statements_in
from mnemon.ask.recall import Remembered
from mnemon.db.database import Connection
from mnemon.documents.structure.mail import opens_quotation

# What is read before and after a passage, in characters; longer after it, since replies follow questions.
BEFORE, AFTER = 500, 700
# A table is read from its head on, if that stands no further before.
FURTHER = 4_000
# So much of a text is looked at for its first line.
OPENING = 160

WINDOWS = """
SELECT wanted.place, substr(t.text, wanted.first + 1, wanted.length) AS words, left(t.text, %(opening)s) AS opening
FROM unnest(%(revisions)s::uuid[], %(starts)s::integer[], %(lengths)s::integer[])
     WITH ORDINALITY AS wanted (revision, first, length, place)
JOIN mnemon.revision_texts AS t
  ON t.tenant_id = mnemon.current_tenant() AND t.doc_version_id = wanted.revision
ORDER BY wanted.place
"""
# Of all passages there, found or not: what stands beside a message of June may be one of July.
DAYS = """
SELECT wanted.place, c.start_offset AS start, c.said_on AS day
FROM unnest(%(revisions)s::uuid[], %(starts)s::integer[], %(lengths)s::integer[])
     WITH ORDINALITY AS wanted (revision, first, length, place)
JOIN mnemon.chunks AS c
  ON c.tenant_id = mnemon.current_tenant() AND c.doc_version_id = wanted.revision
WHERE c.end_offset > wanted.first AND c.start_offset < wanted.first + wanted.length
ORDER BY wanted.place, c.start_offset
"""


@dataclass(frozen=True)
class StatementSource:
    """The revision that statements stand in."""

    doc_id: UUID
    doc_version_id: UUID
    version_number: int
    active: bool
    title: str
    source_uri: str
    media_type: str
    written_at: datetime | None
    # Where it is no revision at all but a memory object.
    memory: Remembered | None = None
    # The first line of its text: what a file is about that has no title but its name.
    opening: str = ""

    @classmethod
    def of(cls, hit: PassageHit) -> "StatementSource":
        return cls(
            hit.doc_id, hit.doc_version_id, hit.version_number, hit.active, hit.title, hit.source_uri, hit.media_type,
            hit.written_at,
        )  # fmt: skip


@dataclass(frozen=True)
class Stretch:
    """Passages of one revision that stand near each other, with the statements in and around them."""

    origin: StatementSource
    hits: Sequence[PassageHit]
    start: int
    end: int
    statements: Sequence[Statement]
    # Where there are no hits: of a memory object.
    score: float = 0.0
    # Where each of its passages begins, and the day on which it was said, where the text tells.
    days: Sequence[tuple[int, date | None]] = ()

    def day_at(self, position: int) -> date | None:
        place = bisect_right(self.days, position, key=lambda one: one[0]) - 1
        return self.days[place][1] if place >= 0 else None


async def read_stretches(tx: Connection, hits: Sequence[PassageHit]) -> list[Stretch]:
    """Around all hits, those first whose best hit is first."""
    groups = _groups(hits)
    starts = [max(0, min(one.start for one in own) - _reach_back(own)) for own in groups]
    values = {
        "revisions": [own[0].doc_version_id for own in groups],
        "starts": starts,
        "opening": OPENING,
        "lengths": [max(one.end for one in own) + AFTER - start for own, start in zip(groups, starts, strict=True)],
    }
    rows = await (await tx.execute(WINDOWS, values)).fetchall()
    days: dict[int, list[tuple[int, date | None]]] = defaultdict(list)
    for one in await (await tx.execute(DAYS, values)).fetchall():
        days[one["place"]].append((one["start"], one["day"]))
    return [
        replace(
            _stretch(groups[row["place"] - 1], starts[row["place"] - 1], row["words"], opening_of(row["opening"])),
            days=days[row["place"]],
        )
        for row in rows
    ]


def opening_of(text: str) -> str:
    """Its first line that says something."""
    return next((words for line in text.split("\n") if (words := line.strip(" \t\r#*_=-"))), "")


def _reach_back(own: Sequence[PassageHit]) -> int:
    first = min(own, key=lambda one: one.start)
    return FURTHER if first.text.lstrip().startswith("|") else BEFORE


def _groups(hits: Sequence[PassageHit]) -> list[list[PassageHit]]:
    groups: list[list[PassageHit]] = []
    for hit in hits:
        for own in groups:
            if own[0].doc_version_id == hit.doc_version_id and any(_near(hit, one) for one in own):
                own.append(hit)
                break
        else:
            groups.append([hit])
    return groups


def _near(one: PassageHit, other: PassageHit) -> bool:
    return one.start - BEFORE <= other.end + AFTER and other.start - BEFORE <= one.end + AFTER


def _stretch(own: Sequence[PassageHit], start: int, words: str, opening: str) -> Stretch:
    """From a whole line to a whole line."""
    first = words.find("\n") + 1 if start else 0
    # A passage that begins within a line is not to be cut off.
    first = first if start + first <= min(one.start for one in own) else 0
    last = len(words)
    if last > (reach := max(one.end for one in own) - start):
        cut = words.rfind("\n", reach)
        last = cut if cut > 0 else last
    at = start + first
    ordered = sorted(own, key=lambda one: one.start)
    # Of a passage that is a quotation, the speaker is whoever is quoted.
    speaker = next((one.speaker for one in ordered if not opens_quotation(one.text)), None)
    found = statements_in(words[first:last], at, ordered[0].headings, speaker, from_start=start == 0)
    return Stretch(replace(StatementSource.of(own[0]), opening=opening), own, at, start + last, found)
