"""A file is what both its name and its content say; where they disagree, the error names both."""

import pytest

from mnemon.documents.extraction.errors import UnsupportedFile
from mnemon.documents.extraction.sniff import sniff
from tests.documents.docx_samples import docx, paragraph, zipped
from tests.documents.pdf_samples import lines, pdf

PDF = pdf(lines("Text."))
DOCX = docx(paragraph("Text."))
MAIL = b"Received: from here\n\tby there\nFrom: a@example.org\nSubject: b\n\nText."


def sniffed(tmp_path, name: str, content: bytes) -> str:
    path = tmp_path / "upload"
    path.write_bytes(content)
    return sniff(path, name)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.pdf", PDF, "pdf"),
        ("a.PDF", b"\n\n" + PDF, "pdf"),
        ("a.docx", DOCX, "docx"),
        ("a.html", b"<!doctype html><p>a", "html"),
        ("a.htm", b"just words", "html"),
        ("notes.final.md", b"# a", "md"),
        ("a.txt", "Grüße".encode("cp1252"), "txt"),
        ("a.txt", "Grüße".encode("utf-16"), "txt"),
        ("a.txt", "plain words without a mark".encode("utf-16-le"), "txt"),
        ("a.txt", "会議の決定".encode("shift_jis"), "txt"),
        ("a.txt", b"MZ is how this note begins", "txt"),
        ("a.eml", MAIL, "eml"),
        ("a.eml", b"From anna Mon Mar 2\nSubject: b\n\nText.", "eml"),
    ],
)
def test_name_and_content_that_agree_give_the_kind(tmp_path, name, content, kind) -> None:
    assert sniffed(tmp_path, name, content) == kind


@pytest.mark.parametrize(
    ("name", "content", "said", "found"),
    [
        ("a.pdf", DOCX, "a PDF", "a Word document"),
        ("a.docx", PDF, "a Word document", "a PDF"),
        ("a.docx", zipped({"xl/workbook.xml": "", "[Content_Types].xml": ""}), "a Word document", "an Excel workbook"),
        ("a.docx", zipped({"a.txt": "b"}), "a Word document", "a zip archive"),
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "a Word document", "password-protected"),
        ("a.pdf", b"<html>", "a PDF", "plain text"),
        ("a.txt", b"\x89PNG\r\n\x1a\n" + bytes(100), "plain text", "a PNG picture"),
        ("a.html", PDF, "an HTML page", "a PDF"),
        ("a.md", bytes(range(256)) * 4, "Markdown text", "binary data"),
        ("a.eml", b"Dear all, this is no mail.", "a mail", "plain text"),
        ("a.txt", b"", "plain text", "empty"),
    ],
)
def test_disagreement_is_refused_naming_both(tmp_path, name, content, said, found) -> None:
    with pytest.raises(UnsupportedFile) as failure:
        sniffed(tmp_path, name, content)
    assert said in failure.value.message
    assert found in failure.value.message


@pytest.mark.parametrize("name", ["a.exe", "a", "a.pdf.rar", ".pdf"])
def test_other_names_are_refused_with_the_ones_that_are_read(tmp_path, name) -> None:
    with pytest.raises(UnsupportedFile, match=r"\.pdf, \.docx, \.html"):
        sniffed(tmp_path, name, PDF)
