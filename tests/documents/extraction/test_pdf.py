"""A PDF becomes one text in reading order, whose every character knows its place on the page."""

from pathlib import Path

import pytest
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.limits import DEFAULT_LIMITS, Limits
from mnemon.documents.extraction.pdf.extract import extract_pdf
from mnemon.documents.ingest.content import Extraction
from tests.documents.pdf_samples import (
    columns,
    heading,
    interleaved_columns,
    japanese,
    lines,
    pdf,
    picture,
    together,
)

DEJAVU = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")


def read(content: bytes) -> Extraction:
    return extract_pdf(content, DEFAULT_LIMITS)


def blocks(extraction: Extraction) -> list[tuple[str, str]]:
    return [(block.kind, extraction.text[block.start : block.end]) for block in extraction.blocks]


def test_lines_become_paragraphs_and_large_letters_headings() -> None:
    page = together(
        heading("Travel policy"),
        lines("Everybody may travel by train. Flights need", "the consent of the board.", y=740),
        heading("Costs", y=690, size=15),
        lines("Bills are paid within a month.", y=660),
    )
    found = read(pdf(page))
    assert blocks(found) == [
        ("heading", "Travel policy"),
        ("paragraph", "Everybody may travel by train. Flights need the consent of the board."),
        ("heading", "Costs"),
        ("paragraph", "Bills are paid within a month."),
    ]
    assert [block.level for block in found.blocks] == [1, 0, 2, 0]


@pytest.mark.parametrize("draw", [columns, interleaved_columns], ids=["by column", "line by line"])
def test_columns_are_read_one_after_the_other(draw) -> None:
    text = read(pdf(draw)).text
    assert "since the tests of the new importer are not ready" in text
    assert "tell the customers by mail" in text
    assert "A decision will follow in the next meeting" in text
    assert text.index("Nobody objected") < text.index("In the second part")


def test_a_table_keeps_its_rows_although_it_is_written_in_columns() -> None:
    rows = [("Name", "Task", "Until"), ("Anna", "writes the notes", "Monday"), ("Ben", "books the hall", "Friday")]
    page = together(*(lines(*(row[n] for row in rows), x=72 + 150 * n) for n in range(3)))
    # Drawn cell by cell down each column, which is how the rows get lost elsewhere.
    by_row = together(*(lines(row[n], x=72 + 150 * n, y=740 - 14 * r) for r, row in enumerate(rows) for n in range(3)))
    expected = ("table", "Name | Task | Until\nAnna | writes the notes | Monday\nBen | books the hall | Friday")
    assert blocks(read(pdf(by_row))) == [expected]
    assert "writes the notes" in read(pdf(page)).text


def test_justified_lines_of_few_words_are_no_table() -> None:
    def draw(canvas) -> None:
        canvas.setFont("Times-Roman", 11)
        for number, words in enumerate(
            [
                "Representatives from international",
                "telecommunication offices met and",
                "talked about many important things",
                "until it was late and dark. Then",
            ]
        ):
            parts = words.split()
            free = 240 - sum(canvas.stringWidth(part) for part in parts)
            x = 72.0
            for part in parts:
                canvas.drawString(x, 740 - 14 * number, part)
                x += canvas.stringWidth(part) + free / (len(parts) - 1)
        canvas.drawString(72, 740 - 14 * 4, "all went home.")

    assert blocks(read(pdf(draw))) == [
        (
            "paragraph",
            "Representatives from international telecommunication offices met and talked about many important things "
            "until it was late and dark. Then all went home.",
        )
    ]


def test_a_line_that_ends_although_the_next_word_would_fit_ends_its_paragraph() -> None:
    found = read(pdf(lines("First item", "Second item that is so long that it needs to go on", "in a second line")))
    assert [words for _, words in blocks(found)] == [
        "First item",
        "Second item that is so long that it needs to go on in a second line",
    ]


def test_a_hyphen_at_the_end_of_a_line_goes_only_where_the_word_has_none() -> None:
    text = read(
        pdf(
            lines(
                "Our commitment is plain. Every commit-",
                "ment counts, and each well-",
                "known rule of the long-term plan, the long-",
                "term goals too, and the Schmidt-",
                "Meyer house.",
            )
        )
    ).text
    assert text == (
        "Our commitment is plain. Every commitment counts, and each well-known rule of the long-term plan, "
        "the long-term goals too, and the Schmidt-Meyer house."
    )


@pytest.mark.skipif(not DEJAVU.exists(), reason="needs the DejaVu fonts")
def test_ligatures_and_soft_hyphens_become_the_letters_they_stand_for() -> None:
    pdfmetrics.registerFont(TTFont("DejaVu", DEJAVU))
    found = read(pdf(lines("The ﬁrst oﬃce aﬀair ﬂew co\u00adop to Zoe\u0301", font="DejaVu")))
    assert found.text == "The first office affair flew coop to Zoé"
    assert sum(len(run.widths) for page in found.pages for run in page.glyphs) == len(found.text)


def test_other_scripts_are_read() -> None:
    assert read(pdf(japanese("会議は月曜日に始まります。"))).text == "会議は月曜日に始まります。"


def test_running_headers_and_footers_are_kept_but_never_inside_a_sentence() -> None:
    def page(number: int, *texts: str):
        return together(
            lines("Acme Corporation, internal", y=815, size=9),
            lines(*texts, y=740),
            lines(f"Page {number} of 3", y=30, size=9),
        )

    found = read(
        pdf(
            page(
                1, "This is the first paragraph and it ends here.", "The board of the company has", "decided that the"
            ),
            page(2, "release moves to March. Anna writes to all customers and", "Ben tells the press about the"),
            page(3, "new date. That is all."),
        )
    )
    assert "has decided that the release moves to March. Anna" in found.text
    assert found.text.count("Acme Corporation, internal") == 3
    assert found.text.count("of 3") == 3
    headers = [words for kind, words in blocks(found) if kind == "header"]
    assert len(headers) == 6


def test_a_word_parted_between_two_pages_is_one_word() -> None:
    found = read(pdf(lines("We keep every commitment and each commit-"), lines("ment that follows.")))
    assert found.text == "We keep every commitment and each commitment that follows."
    assert [found.text[page.start : page.end] for page in found.pages] == [
        "We keep every commitment and each commit",
        "ment that follows.",
    ]
    assert found.pages[0].glyphs[-1].end == found.pages[0].end


def test_pages_part_the_text_without_a_gap_that_matters() -> None:
    found = read(pdf(lines("One."), lines("Two."), picture, lines("Four.")))
    assert [found.text[page.start : page.end] for page in found.pages] == ["One.", "Two.", "", "Four."]
    assert [page.number for page in found.pages] == [1, 2, 3, 4]
    assert found.pages[0].width == pytest.approx(595.28, abs=0.1)


def test_every_run_lies_where_its_words_are_in_the_text() -> None:
    found = read(pdf(columns, interleaved_columns, lines("Every commit-", "ment counts.")))
    for page in found.pages:
        for run in page.glyphs:
            assert page.start <= run.start < run.end <= page.end
            assert len(run.widths) == run.end - run.start
            assert run.left + sum(run.widths) / 10 == pytest.approx(run.right, abs=0.2)
    covered = "".join(found.text[run.start : run.end] for page in found.pages for run in page.glyphs)
    assert "".join(covered.split()) == "".join(found.text.split())


def test_a_list_is_one_block_with_a_line_for_each_item() -> None:
    found = read(
        pdf(
            lines(
                "To be done:",
                "1. Call the customers and tell them",
                "    about the new date",
                "2. Write the notes",
                "3. Book the hall",
            )
        )
    )
    assert blocks(found) == [
        ("paragraph", "To be done:"),
        ("list", "1. Call the customers and tell them about the new date\n2. Write the notes\n3. Book the hall"),
    ]


def test_what_the_file_says_of_itself_is_kept() -> None:
    details = read(pdf(lines("Text."), title="Travel policy")).details
    assert details.title == "Travel policy"
    assert details.authors == ["Anna Berg"]
    assert details.written_at is not None
    assert details.written_at.tzinfo is not None
    assert read(pdf(lines("Text."), title="untitled")).details.title is None


def test_a_scan_is_refused_with_the_reason() -> None:
    with pytest.raises(ExtractionFailed, match="no text layer") as failure:
        read(pdf(picture, picture))
    assert failure.value.reason == "no_text_layer"


def test_an_encrypted_file_is_refused_with_the_reason() -> None:
    with pytest.raises(ExtractionFailed, match="needs a password") as failure:
        read(pdf(lines("Secret."), password="secret"))
    assert failure.value.reason == "encrypted"


def test_a_file_of_too_many_pages_is_refused_with_the_figures() -> None:
    with pytest.raises(ExtractionFailed, match="3 pages, the limit is 2") as failure:
        extract_pdf(pdf(*[lines("Text.")] * 3), Limits(pages=2))
    assert failure.value.reason == "too_many_pages"


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.9])
def test_a_truncated_file_is_read_or_refused_with_a_reason(keep) -> None:
    content = pdf(columns, columns)
    try:
        found = read(content[: int(len(content) * keep)])
    except ExtractionFailed as failure:
        assert failure.reason in ("damaged", "no_text_layer")
    else:
        assert found.text
