"""Citations: the exact span of an exact revision, and the page they open on, now and after any newer version."""

import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pydantic import computed_field

from mnemon.ask.hits import PassageHit
from mnemon.errors import InvalidRequest, NotFound
from mnemon.operations import Output

if TYPE_CHECKING:
    from mnemon.db.database import Connection
    from mnemon.documents.ingest.content import Page

AROUND = 300
_SPACE = re.compile(r"\s+")
LONGEST = 20_000

REVISION = """
SELECT v.doc_id, v.doc_version_id, v.version_number, v.is_active, v.media_type, v.written_at, v.text_hash, v.purged_at,
    d.title, split_part(d.source_uri, '#of=', 1) AS source_uri
FROM mnemon.document_revisions AS v
JOIN mnemon.documents AS d ON d.tenant_id = v.tenant_id AND d.doc_id = v.doc_id
WHERE v.tenant_id = mnemon.current_tenant() AND v.doc_version_id = %s
"""
PURGED = """
SELECT doc_version_id FROM mnemon.document_revisions
WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = ANY(%s) AND purged_at IS NOT NULL
"""


@dataclass(frozen=True)
class Citation:
    """`text[start:end] == quote` in this revision's text."""

    doc_id: UUID
    doc_version_id: UUID
    version_number: int
    start: int
    end: int
    quote: str
    title: str
    source_uri: str
    speaker: str | None
    headings: Sequence[str]
    first_page: int | None
    last_page: int | None
    written_at: datetime | None
    # Of the text, from 1, where the quote begins.
    line: int | None
    # The semantic event that the quote proves, where one was read from it.
    event_id: str | None
    # The day on which it was said, where the text tells: by a stamp, or by a heading above.
    said_on: date | None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def link(self) -> str:
        """Opens the span for ever: revisions do not change."""
        return f"/v1/evidence/{self.doc_version_id}/{self.start}-{self.end}"

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"link": self.link}


@dataclass(frozen=True)
class MemoryCitation:
    """`content[start:end] == quote` in this version of a memory object."""

    emo_id: UUID
    emo_version: int
    start: int
    end: int
    quote: str
    emo_type: str
    branch: str
    updated_at: datetime

    @computed_field  # type: ignore[prop-decorator]
    @property
    def link(self) -> str:
        """Opens the object; a later version keeps the earlier ones."""
        return f"/v1/emo/{self.emo_id}/versions/{self.emo_version}"

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"link": self.link}


@dataclass(frozen=True)
class QuoteRectangle:
    """A run of the quote on its page, in PDF points from the lower left corner."""

    page: int
    left: float
    bottom: float
    right: float
    top: float


class OpenedEvidence(Output):
    """A span of a revision, opened: its words, those around it, and where they stand on the page."""

    doc_id: UUID
    doc_version_id: UUID
    version_number: int
    is_active: bool
    title: str
    source_uri: str
    media_type: str
    written_at: datetime | None
    text_hash: str
    start: int
    end: int
    quote: str
    before: str
    after: str
    pages: Sequence[int]
    rectangles: Sequence[QuoteRectangle]


def cite(hit: PassageHit, start: int, end: int) -> Citation:
    """The part of a hit between two offsets of its revision."""
    return Citation(
        doc_id=hit.doc_id,
        doc_version_id=hit.doc_version_id,
        version_number=hit.version_number,
        start=start,
        end=end,
        quote=hit.text[start - hit.start : end - hit.start],
        title=hit.title,
        source_uri=hit.source_uri,
        speaker=hit.speaker,
        headings=hit.headings,
        first_page=hit.first_page,
        last_page=hit.last_page,
        written_at=hit.written_at,
        line=None,
        event_id=None,
        said_on=hit.said_on,
    )


async def purged_among(tx: "Connection", revisions: Collection[UUID]) -> set[UUID]:
    """Those of these revisions whose words are gone."""
    rows = await (await tx.execute(PURGED, (list(revisions),))).fetchall()
    return {row["doc_version_id"] for row in rows}


async def open_evidence(tx: "Connection", revision: UUID, start: int, end: int) -> OpenedEvidence:
    """The span as it stands in the revision, whichever version is the newest by now."""
    # Loads all that reads structure, which whoever asks a server does without.
    from mnemon.documents.ingest.revision_texts import read_text

    row = await (await tx.execute(REVISION, (revision,))).fetchone()
    if row is None or row["purged_at"] is not None:
        raise NotFound(f"There is no version {revision}, or it was purged.", doc_version_id=str(revision))
    content = await read_text(tx, revision)
    if not 0 <= start < end <= len(content.text) or end - start > LONGEST:
        raise InvalidRequest(
            f"{start}-{end} is no span of this text of {len(content.text)} characters: give start before end, "
            f"at most {LONGEST} apart.",
            doc_version_id=str(revision),
        )
    del row["purged_at"]
    return OpenedEvidence(
        **row,
        start=start,
        end=end,
        quote=content.text[start:end],
        before=words_before(content.text, start, AROUND),
        after=words_after(content.text, end, AROUND),
        pages=[page.number for page in content.pages if page.start < end and page.end > start],
        rectangles=rectangles_of(content.pages, start, end),
    )


def words_before(text: str, start: int, most: int) -> str:
    """Whole words right before a place. A script without spaces is cut anywhere."""
    first = max(0, start - most)
    if first and not text[first - 1].isspace():
        space = _SPACE.search(text, first, start)
        first = space.end() if space and space.end() < start else first
    return text[first:start]


def words_after(text: str, end: int, most: int) -> str:
    """Whole words right after a place."""
    last = min(len(text), end + most)
    if last < len(text) and not text[last].isspace():
        last = max((space.start() for space in _SPACE.finditer(text, end + 1, last)), default=last)
    return text[end:last]


def rectangles_of(pages: Sequence["Page"], start: int, end: int) -> list[QuoteRectangle]:
    """Where the span's words stand. A run of which only a part is meant is cut in proportion to its letters."""
    found = []
    for page in pages:
        if page.start >= end or page.end <= start:
            continue
        for run in page.glyphs:
            first, last = max(start, run.start), min(end, run.end)
            if first < last:
                width = (run.right - run.left) / (run.end - run.start)
                left = run.left + (first - run.start) * width
                right = run.right - (run.end - last) * width
                found.append(QuoteRectangle(page.number, left, run.bottom, right, run.top))
    return found
