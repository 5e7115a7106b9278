"""A view shows every character of its part once, with exactly the cited words marked."""

import pytest

from mnemon.documents.ingest.content import Page
from mnemon.documents.ingest.revision_texts import RevisionText
from mnemon.documents.structure.preamble import Preamble
from mnemon.documents.structure.stored import dump_structure
from mnemon.documents.structure.structure import Block, Structure, StructurePart
from mnemon.errors import InvalidRequest
from mnemon.web.passages import BEFORE, LONGEST, view_of

TEXT = "Title\n\nÆ𝄞 first words. Second page here."
SAMPLE = RevisionText(
    TEXT,
    blocks=[Block("heading", 0, 5, 1), Block("paragraph", 7, len(TEXT))],
    remarks=[],
    pages=[Page(1, 0, 23, 600, 800), Page(2, 23, len(TEXT), 600, 800)],
)


def test_the_cited_words_are_marked_by_code_points_and_nothing_is_lost() -> None:
    view = view_of(SAMPLE, 8, 16)
    assert "".join(piece.text for piece in view.pieces) == TEXT
    assert [piece.text for piece in view.pieces if piece.marked] == [TEXT[8:16]]
    assert [piece.text for piece in view.pieces if piece.heading] == ["Title"]
    assert [piece.page for piece in view.pieces if piece.page] == [1, 2]
    assert view.pages == [1]


def test_the_reading_that_was_stored_tells_the_heading_and_who_speaks() -> None:
    text = "Decisions\n\nAnn: We take the tram.\nBob: Fine.\n"
    said = text.index("We")
    parts = (
        StructurePart("lead", 0, 9),
        StructurePart("paragraph", said, said + 17, speaker="Ann"),
        StructurePart("paragraph", text.index("Fine"), len(text) - 1, speaker="Bob"),
    )
    stored = dump_structure(Structure(parts, Preamble()))
    view = view_of(RevisionText(text, [], [], [], stored), said, said + 17)
    assert (view.section, view.speaker) == ("Decisions", "Ann")
    assert [piece.text for piece in view.pieces if piece.heading] == ["Decisions"]
    assert "".join(piece.text for piece in view.pieces) == text


def test_words_across_two_pages_are_marked_on_both() -> None:
    view = view_of(SAMPLE, 20, 30)
    assert "".join(piece.text for piece in view.pieces if piece.marked) == TEXT[20:30]
    assert view.pages == [1, 2]


def test_without_a_citation_nothing_is_marked() -> None:
    view = view_of(SAMPLE)
    assert not view.marked
    assert not any(piece.marked for piece in view.pieces)


def test_a_long_text_is_shown_around_the_citation_with_ways_to_the_rest() -> None:
    long = RevisionText("x" * (4 * LONGEST), [], [], [])
    view = view_of(long, 2 * LONGEST, 2 * LONGEST + 10)
    assert sum(len(piece.text) for piece in view.pieces) == LONGEST
    assert (view.earlier, view.later) == (LONGEST - BEFORE, 3 * LONGEST - BEFORE)
    assert sum(len(piece.text) for piece in view.pieces if piece.marked) == 10
    last = view_of(long, at=3 * LONGEST)
    assert last.later is None


@pytest.mark.parametrize(("start", "end"), [(5, 5), (-1, 3), (0, len(TEXT) + 1), (9, 4)])
def test_a_span_that_is_none_is_refused(start: int, end: int) -> None:
    with pytest.raises(InvalidRequest, match="no span of this text"):
        view_of(SAMPLE, start, end)
