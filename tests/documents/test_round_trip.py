"""Every sample of every kind round-trips: blocks, sentences, pages and chunks are exact spans of one clean text."""

from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.extract import extract
from mnemon.documents.ingest.content import Extraction
from mnemon.documents.ingest.places import rectangles
from tests.documents.docx_samples import docx, paragraph, part, run, table
from tests.documents.extraction.test_eml import mail
from tests.documents.extraction.test_html import PAGE
from tests.documents.extraction.test_markdown import NOTES
from tests.documents.extraction.test_plain import MINUTES
from tests.documents.invariants import check
from tests.documents.pdf_samples import columns, heading, interleaved_columns, lines, pdf, picture, together

CONTRACT = docx(
    paragraph("Contract", "Title")
    + "".join(paragraph(f"Clause {n}", "Heading1") + paragraph("The seller delivers goods. " * 40) for n in range(6))
    + paragraph(run("It holds") + '<w:r><w:footnoteReference w:id="2"/></w:r>')
    + "".join(paragraph(f"item {n}", numbered=(2, n % 2)) for n in range(200))
    + table(*((f"name {n}", f"task {n}", "e\u0301" * 9) for n in range(300))),
    footnotes=part("footnotes", f'<w:footnote w:id="2">{paragraph("See the annex.")}</w:footnote>'),
)
REPORT = pdf(
    together(heading("Minutes"), columns),
    interleaved_columns,
    picture,
    *(together(heading(f"Part {n}"), lines(*["A line of the long report, one of many."] * 45)) for n in range(8)),
)
CHAT = "\n".join(f"10:{n % 60:02} {'Anna' if n % 3 else 'Ben'}: We could do it {n} times. " for n in range(400))
SAMPLES = {
    "pdf": [REPORT],
    "docx": [CONTRACT],
    "html": [PAGE.encode(), PAGE.replace("<p>", "<p>" + "Long words everywhere. " * 300).encode("utf-16")],
    "md": [NOTES.encode(), (NOTES * 50).encode()],
    "txt": [MINUTES.encode(), CHAT.encode(), ("議事録。" * 3000).encode("shift_jis"), b"x" * 50_000],
    "eml": [mail().as_bytes(), mail("Hello. " * 2000).as_bytes()],
}

WORD_TAGS = ["p", "r", "t", "tbl", "tr", "tc", "ins", "del", "sdt", "sdtContent", "txbxContent", "br", "pPr", "numPr"]


def extracted(tmp_path, kind: str, content: bytes) -> Extraction:
    path = tmp_path / "file"
    path.write_bytes(content)
    return extract(path, kind)


@pytest.mark.parametrize(("kind", "number"), [(kind, n) for kind, all_ in SAMPLES.items() for n in range(len(all_))])
def test_samples_round_trip(tmp_path, kind, number) -> None:
    found = extracted(tmp_path, kind, SAMPLES[kind][number])
    chunks = check(found)
    assert chunks
    assert extracted(tmp_path, kind, SAMPLES[kind][number]) == found
    if found.pages:
        assert all(one.first_page and one.last_page and rectangles(found.pages, one.start, one.end) for one in chunks)


def test_each_turn_of_a_talk_is_a_chunk_with_its_speaker(tmp_path) -> None:
    chunks = check(extracted(tmp_path, "txt", CHAT.encode()))
    assert all("\n" not in one.text and one.speaker for one in chunks)
    assert all(one.text.startswith("10:") for one in chunks)


@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("kind", list(SAMPLES))
@given(data=st.data())
def test_mutilated_files_are_read_exactly_or_refused_with_a_reason(tmp_path_factory, kind, data) -> None:
    content = bytearray(data.draw(st.sampled_from([one for one in SAMPLES[kind] if len(one) < 100_000])))
    for _ in range(data.draw(st.integers(0, 20))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=8))
    content = content[: data.draw(st.integers(1, len(content)))]
    read_or_refused(tmp_path_factory, kind, bytes(content))


@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("kind", list(SAMPLES))
@given(content=st.binary(max_size=400) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_random_bytes_are_read_exactly_or_refused_with_a_reason(tmp_path_factory, kind, content) -> None:
    read_or_refused(tmp_path_factory, kind, content)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_word_files_with_mutilated_parts_are_read_exactly_or_refused_with_a_reason(tmp_path_factory, data) -> None:
    inside = ""
    for tag in data.draw(st.lists(st.sampled_from(WORD_TAGS), max_size=40)):
        words = data.draw(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cn"]), max_size=10))
        inside = f"<w:{tag}>{inside}{escape(words)}</w:{tag}>"
    content = docx("" if data.draw(st.booleans()) else inside, comments=part("comments", inside))
    read_or_refused(tmp_path_factory, "docx", content)


def read_or_refused(tmp_path_factory, kind: str, content: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    try:
        found = extracted(folder, kind, content)
    except ExtractionFailed as failure:
        assert failure.reason
        assert failure.message
    else:
        check(found)
