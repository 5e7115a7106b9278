"""Hostile files end within their limits, with a reason, and harm nothing else."""

import asyncio
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from mnemon.documents.extraction import isolated
from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.isolated import extract_isolated
from mnemon.documents.ingest.reader import read_isolated
from mnemon.settings import Settings
from tests.documents.docx_samples import docx, paragraph, part, run, table
from tests.documents.pdf_samples import columns, lines, pdf

# Of the processor's time: more than any of these files takes on the slowest machine.
SECONDS = 300


def limits(**changes: Any) -> Settings:
    return Settings(**({"extract_seconds": SECONDS, "extract_memory_mb": 1_024, "ocr": "off"} | changes))


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "file"
    path.write_bytes(content)
    return path


async def reason(tmp_path: Path, kind: str, content: bytes, **changes: Any) -> str:
    with pytest.raises(ExtractionFailed) as failure:
        await extract_isolated(written(tmp_path, content), kind, limits(**changes))
    return failure.value.reason


def pdf_of(*objects: str) -> bytes:
    """A PDF of raw objects, numbered from 1; the first is its catalogue."""
    file = io.BytesIO()
    file.write(b"%PDF-1.4\n")
    places = []
    for number, one in enumerate(objects, 1):
        places.append(file.tell())
        file.write(f"{number} 0 obj\n{one}\nendobj\n".encode())
    start = file.tell()
    file.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    file.write("".join(f"{place:010} 00000 n \n" for place in places).encode())
    file.write(f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF".encode())
    return file.getvalue()


def zip_bomb() -> bytes:
    file = io.BytesIO(docx(""))
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("word/comments.xml", "w") as member:
        for _ in range(300):
            member.write(bytes(1 << 20))
    return file.getvalue()


async def test_a_file_comes_back_from_the_subprocess_as_it_is_read_here(tmp_path) -> None:
    found = await extract_isolated(written(tmp_path, pdf(columns)), "pdf", limits())
    assert found.text.startswith("The committee met")
    assert found.pages[0].glyphs[0].widths
    assert found.blocks[0].kind == "paragraph"


async def test_endless_pages_are_refused(tmp_path) -> None:
    catalogue = "<</Type/Catalog/Pages 2 0 R>>"
    page = "<</Type/Page/Parent 11 0 R/MediaBox[0 0 9 9]>>"
    trees = (f"<</Type/Pages/Count {10 ** (11 - n)}/Kids[{f'{n + 1} 0 R ' * 10}]>>" for n in range(2, 11))
    many = pdf_of(catalogue, *trees, page)
    circle = pdf_of(catalogue, "<</Type/Pages/Count 2/Kids[2 0 R 2 0 R]>>")
    assert await reason(tmp_path, "pdf", many) in ("too_many_pages", "damaged", "no_text_layer")
    assert await reason(tmp_path, "pdf", circle) in ("damaged", "no_text_layer")
    assert await reason(tmp_path, "pdf", pdf(*[lines("x")] * 30), extract_pages=20) == "too_many_pages"


async def test_bombs_in_a_word_file_are_refused(tmp_path) -> None:
    body = part("document", "<w:body>" + " " * 60_000_000 + "</w:body>")
    assert await reason(tmp_path, "docx", docx("", document=body)) == "zip_bomb"
    laughs = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    document = f'<!DOCTYPE d [<!ENTITY a0 "ha">{laughs}]><d>&a11;</d>'
    assert await reason(tmp_path, "docx", docx("", document=document)) in ("hostile", "damaged")
    deep = "<w:sdt><w:sdtContent>" * 100_000
    assert await reason(tmp_path, "docx", docx(deep)) == "damaged"


async def test_a_bomb_in_a_part_that_nobody_reads_stays_unread(tmp_path) -> None:
    found = await extract_isolated(written(tmp_path, docx(paragraph("Text."))), "docx", limits())
    assert found.text == "Text."
    with pytest.raises(ExtractionFailed):
        await extract_isolated(written(tmp_path, zip_bomb()), "docx", limits())


@pytest.mark.slow
async def test_ten_thousand_tables_are_read_within_the_limits(tmp_path) -> None:
    word = docx("".join(table(("a", str(n)), ("b", "c")) for n in range(10_000)))
    found = await extract_isolated(written(tmp_path, word), "docx", limits())
    assert sum(block.kind == "table" for block in found.blocks) == 10_000
    page = "".join(f"<table><tr><td>{n}</td><td>b</td></tr></table>" for n in range(10_000))
    found = await extract_isolated(written(tmp_path, page.encode()), "html", limits())
    assert sum(block.kind == "table" for block in found.blocks) == 10_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "part", "times"),
    [
        ("txt", "x", 1_000_000),
        ("txt", ".", 1_000_000),
        ("txt", "a ", 250_000),
        ("txt", "\n", 500_000),
        ("txt", "> \n\n", 25_000),
        ("txt", "1 a\n\n\n\n", 25_000),
        ("txt", "Anna: a\n", 25_000),
        ("md", "# " + "[" * 500_000 + "\n", 1),
        ("md", "a|b\n|-" + " " * 500_000 + "x\n", 1),
        ("md", "- a\n\n", 25_000),
        ("html", "<div>", 300_000),
        ("html", "<b><i><table><tr><td>", 20_000),
        ("html", "<a class='cookie'>", 20_000),
        ("eml", "From: " + "a" * 50_000 + "\n", 50),
        ("eml", "To: " + "a@b, " * 10_000 + "\n", 10),
        ("eml", "On a, b wrote:\n", 20_000),
    ],
)
async def test_monotonous_text_takes_linear_time(tmp_path, kind, part, times) -> None:
    content = ("From: a@example.org\n\n" if kind == "eml" and part.startswith("On") else "") + part * times
    try:
        await extract_isolated(written(tmp_path, content.encode()), kind, limits(extract_seconds=30))
    except ExtractionFailed as failure:
        assert failure.reason != "time"


async def test_too_long_a_text_is_refused_with_the_figure(tmp_path) -> None:
    assert await reason(tmp_path, "txt", b"word " * 1_000, extract_characters=4_000) == "too_long"
    assert await reason(tmp_path, "txt", b"a\n\n" * 300_000) == "too_long"


@pytest.mark.slow
async def test_a_greedy_file_ends_at_the_memory_limit(tmp_path) -> None:
    assert await reason(tmp_path, "html", b"<b>x</b>" * 2_000_000, extract_memory_mb=400) == "memory"


async def test_a_slow_file_ends_at_its_processor_time(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "WAITING_TOO", 600)
    with pytest.raises(ExtractionFailed, match="1 s of processor time") as failed:
        await extract_isolated(written(tmp_path, b"<b>x</b>" * 3_000_000), "html", limits(extract_seconds=1))
    assert failed.value.reason == "time"


async def test_many_passages_are_refused_with_the_figure(tmp_path) -> None:
    path = written(tmp_path, b"".join(b"# Heading %d\n\nA line.\n\n" % number for number in range(150)))
    with pytest.raises(ExtractionFailed, match=r"150 passages, the limit is 120.*MNEMON_EXTRACT_CHUNKS") as failed:
        await read_isolated(path, "md", limits(extract_chunks=120))
    assert failed.value.reason == "too_many_chunks"
    assert len((await read_isolated(path, "md", limits(extract_chunks=150))).chunks) == 150


async def test_deeply_nested_mails_are_read_or_refused(tmp_path) -> None:
    nested = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(3_000))
    try:
        await extract_isolated(written(tmp_path, nested + b"\ntext"), "eml", limits())
    except ExtractionFailed as failure:
        assert failure.reason == "damaged"


@pytest.mark.slow
async def test_other_files_are_read_meanwhile(tmp_path) -> None:
    hostile = tmp_path / "hostile"
    hostile.write_bytes(b"<b>x</b>" * 2_000_000)
    slow = asyncio.create_task(extract_isolated(hostile, "html", limits(extract_memory_mb=400)))
    found = await extract_isolated(written(tmp_path, run("Text.").encode()), "html", limits())
    assert found.text == "Text."
    with pytest.raises(ExtractionFailed):
        await slow
