"""A Word document becomes its text as a reader sees it: changes accepted, numbers printed, comments beside it."""

from datetime import UTC, datetime

import pytest

from mnemon.documents.extraction.docx.extract import extract_docx
from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.limits import DEFAULT_LIMITS, Limits
from mnemon.documents.ingest.content import Extraction
from tests.documents.docx_samples import docx, paragraph, part, run, table, zipped


def read(content: bytes, limits: Limits = DEFAULT_LIMITS) -> Extraction:
    return extract_docx(content, limits)


def blocks(extraction: Extraction) -> list[tuple[str, int, str]]:
    return [(block.kind, block.level, extraction.text[block.start : block.end]) for block in extraction.blocks]


def test_titles_headings_and_styles_based_on_them_keep_their_levels() -> None:
    body = (
        paragraph("Supply contract", "Title")
        + paragraph("Scope", "Heading1")
        + paragraph("Goods", "Clause")
        + paragraph("The seller delivers.")
        + paragraph("As he said.", "Quote")
    )
    assert blocks(read(docx(body))) == [
        ("heading", 1, "Supply contract"),
        ("heading", 2, "Scope"),
        ("heading", 3, "Goods"),
        ("paragraph", 0, "The seller delivers."),
        ("quote", 0, "As he said."),
    ]


def test_lists_carry_the_marks_that_word_prints() -> None:
    body = (
        paragraph("first", numbered=(2, 0))
        + paragraph("inner", numbered=(2, 1))
        + paragraph("other", numbered=(2, 1))
        + paragraph("second", numbered=(2, 0))
        + paragraph("again", numbered=(2, 1))
        + paragraph("A paragraph.")
        + paragraph("dot", "ListBullet")
        + paragraph("third", numbered=(2, 0))
    )
    assert blocks(read(docx(body))) == [
        ("list", 0, "1. first\n  1.a) inner\n  1.b) other\n2. second\n  2.a) again"),
        ("paragraph", 0, "A paragraph."),
        ("list", 0, "• dot\n3. third"),
    ]


def test_a_table_is_rows_of_cells() -> None:
    found = read(docx(table(("Name", "Task"), ("Anna", "writes"), ("", "")) + paragraph("End.")))
    assert blocks(found) == [("table", 0, "Name | Task\nAnna | writes"), ("paragraph", 0, "End.")]


def test_a_box_made_of_one_cell_is_read_as_what_is_in_it() -> None:
    box = f"<w:tbl><w:tr><w:tc>{paragraph('Boxed', 'Heading1')}{paragraph('Text.')}</w:tc></w:tr></w:tbl>"
    assert blocks(read(docx(box))) == [("heading", 1, "Boxed"), ("paragraph", 0, "Text.")]


def test_tracked_changes_are_accepted() -> None:
    body = (
        paragraph(
            run("We pay ")
            + f"<w:del><w:r><w:delText>100</w:delText></w:r></w:del><w:ins>{run('200')}</w:ins>"
            + f"<w:moveFrom>{run(' gone')}</w:moveFrom>"
            + run(" euros.")
        )
        + paragraph("This sentence was ", extra="<w:rPr><w:del/></w:rPr>")
        + paragraph("two paragraphs.")
        + "<w:tbl>"
        + f"<w:tr><w:tc>{paragraph('a')}</w:tc><w:tc>{paragraph('b')}</w:tc></w:tr>"
        + f"<w:tr><w:trPr><w:del/></w:trPr><w:tc>{paragraph('gone')}</w:tc></w:tr></w:tbl>"
    )
    assert read(docx(body)).text == "We pay 200 euros.\n\nThis sentence was two paragraphs.\n\na | b"


def test_comments_stand_beside_the_text_with_their_place_and_author() -> None:
    body = paragraph("Before.") + paragraph(
        run("  We pay ")
        + '<w:commentRangeStart w:id="7"/>'
        + run("200 euros")
        + '<w:commentRangeEnd w:id="7"/><w:r><w:commentReference w:id="7"/></w:r>'
        + run(" at once.")
    )
    comments = part("comments", f'<w:comment w:id="7" w:author="Ben Ito">{paragraph("Too much?")}</w:comment>')
    found = read(docx(body, comments=comments))
    assert found.text == "Before.\n\nWe pay 200 euros at once."
    (remark,) = found.remarks
    assert (remark.author, remark.text) == ("Ben Ito", "Too much?")
    assert found.text[remark.start : remark.end] == "200 euros"


def test_footnotes_follow_the_paragraph_that_refers_to_them_and_endnotes_the_text() -> None:
    body = (
        paragraph(run("It holds") + '<w:r><w:footnoteReference w:id="2"/></w:r>' + run(" always."))
        + paragraph(run("And so on") + '<w:r><w:endnoteReference w:id="5"/></w:r>')
        + paragraph("Last.")
    )
    footnotes = part(
        "footnotes",
        f'<w:footnote w:type="separator" w:id="0">{paragraph("---")}</w:footnote>'
        f'<w:footnote w:id="2">{paragraph("See the annex.")}</w:footnote>',
    )
    endnotes = part("endnotes", f'<w:endnote w:id="5">{paragraph("The end.")}</w:endnote>')
    assert read(docx(body, footnotes=footnotes, endnotes=endnotes)).text == (
        "It holds[1] always.\n\n[1] See the annex.\n\nAnd so on[2]\n\nLast.\n\n[2] The end."
    )


def test_headers_and_footers_are_said_once() -> None:
    header, footer = part("hdr", paragraph("Acme, internal")), part("ftr", paragraph("Page 1"))
    found = read(docx(paragraph("Text."), header1=header, header2=header, footer1=footer))
    assert [(kind, words) for kind, _, words in blocks(found)] == [
        ("header", "Acme, internal"),
        ("paragraph", "Text."),
        ("header", "Page 1"),
    ]


def test_text_boxes_are_read_once_although_the_file_holds_them_twice() -> None:
    box = f"<w:txbxContent>{paragraph('In the box.')}</w:txbxContent>"
    alternatives = (
        '<w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>"
    )
    assert read(docx(paragraph(run("Beside.") + alternatives))).text == "Beside.\n\nIn the box."


def test_field_codes_are_left_out_and_their_results_kept() -> None:
    field = "<w:r><w:instrText>PAGEREF x</w:instrText></w:r><w:r><w:t>12</w:t></w:r><w:r><w:tab/><w:br/></w:r>"
    assert read(docx(paragraph(run("See page ") + field + run("end")))).text == "See page 12\t\nend"


def test_what_the_file_says_of_itself_is_kept() -> None:
    details = read(docx(paragraph("Text."))).details
    assert details.title == "Supply contract"
    assert details.authors == ["Anna Berg", "Ben Ito"]
    assert details.written_at == datetime(2026, 3, 2, 10, 32, tzinfo=UTC)


def refusal(content: bytes, limits: Limits = DEFAULT_LIMITS) -> str:
    with pytest.raises(ExtractionFailed) as failure:
        read(content, limits)
    return failure.value.reason


ENTITIES = """<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "{first}">{more}]>
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>&{name};</w:t></w:r></w:p>
</w:body></w:document>"""


def test_entities_of_any_kind_are_refused(tmp_path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    external = ENTITIES.replace('"{first}"', f'SYSTEM "file://{secret}"').format(more="", name="a")
    laughs = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    billion = ENTITIES.format(first="", more='<!ENTITY a0 "ha">' + laughs, name="a9")
    assert refusal(docx("", document=external)) in ("hostile", "damaged")
    assert refusal(docx("", document=billion)) in ("hostile", "damaged")


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = part("document", "<w:body>" + " " * 50_000_000 + "</w:body>")
    assert refusal(docx("", document=bomb)) == "zip_bomb"
    assert refusal(docx(paragraph("a" * 3_000_000)), Limits(expanded_bytes=1 << 20)) == "too_large_unpacked"
    assert refusal(zipped({f"word/{n}.xml": "" for n in range(10_001)})) == "too_large_unpacked"


def test_damaged_files_are_refused_with_a_reason() -> None:
    whole = docx(paragraph("Text."))
    assert refusal(whole[: len(whole) // 2]) == "damaged"
    assert refusal(docx("", document="<not xml")) == "damaged"
    assert refusal(zipped({"word/other.xml": "<a/>"})) == "damaged"
    assert refusal(docx("<w:p>" * 300 + "</w:p>" * 300)) == "damaged"
