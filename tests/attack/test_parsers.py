"""Broken copies of real files make every parser read or refuse, and nothing else; and so do files made to harm."""

import io
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from mnemon.documents.extraction.extract import extract
from mnemon.documents.extraction.kinds import FileKind
from mnemon.documents.extraction.limits import Limits
from mnemon.errors import MnemonError
from tests.attack.mutants import ROOT, SAMPLES
from tests.documents.office_samples import opendocument, packed

# Of a machine ten times slower than ours.
PATIENCE = 1200


def broken_copies(kinds: Iterable[FileKind], seed: int, count: int) -> str:
    """In a process of their own: a parser that crashes takes nobody with it."""
    command = [sys.executable, "-m", "tests.attack.mutants", ",".join(kinds), str(seed), str(count)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, f"{done.returncode}\n{done.stdout[-500:]}\n{done.stderr[-3000:]}"
    return done.stdout


def test_a_few_broken_copies_are_read_or_refused() -> None:
    assert re.findall(r"(\w+): \d+ read", broken_copies(SAMPLES, 0, 25)) == list(SAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("kind", SAMPLES)
def test_many_broken_copies_are_read_or_refused(kind: FileKind, seed: int) -> None:
    assert f"{kind}: " in broken_copies([kind], seed, 1000)


def zipped(**parts: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts.items():
            package.writestr(name.replace("__", "/").replace("_", "."), content)
    return made.getvalue()


BILLION = b"<!DOCTYPE x [<!ENTITY a 'haha'>" + b"".join(
    b"<!ENTITY %c '%s'>" % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9)
)
OUTSIDE = b"<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>"
NESTED_LISTS = "<text:list><text:list-item>" * 100 + "</text:list-item></text:list>" * 100
# What takes a while to make is made by its test alone.
HOSTILE: dict[str, tuple[FileKind, bytes | Callable[[], bytes]]] = {
    "a zip bomb": ("docx", lambda: zipped(word__document_xml=b"<w>" + b"\0" * (64 << 20))),
    "entities within entities": ("docx", zipped(word__document_xml=BILLION + b"]><w>&j;</w>")),
    "an entity that names a file": ("docx", zipped(word__document_xml=OUTSIDE + b"<w>&a;</w>")),
    "a path out of the archive": ("docx", zipped(__etc__passwd=b"x", word__document_xml=b"<w/>")),
    "a workbook that is a bomb": ("xlsx", lambda: zipped(xl__workbook_xml=b"<w>" + b"\0" * (64 << 20))),
    "an entity in a presentation": ("pptx", zipped(ppt__presentation_xml=OUTSIDE + b"<p>&a;</p>")),
    "an entity in a book": ("epub", zipped(META__container_xml=OUTSIDE + b"<p>&a;</p>")),
    "cells that are repeated without end": (
        "ods", opendocument(
            "spreadsheet",
            "<table:table>" + '<table:table-row table:number-rows-repeated="999999999"><table:table-cell '
            'table:number-columns-repeated="999999999"><text:p>x</text:p></table:table-cell></table:table-row>' * 50
            + "</table:table>",
        ),
    ),
    "lists within lists": ("odt", opendocument("text", NESTED_LISTS)),
    "groups without end": ("rtf", b"{\\rtf1 " + b"{" * 200_000),
    "an archive in an archive": ("zip", packed({"a.zip": packed({"b.zip": packed({"c.txt": "x"})}), "d.txt": "y"})),
    "deep elements": ("html", b"<div>" * 200_000 + b"text"),
    "deep quotes": ("md", b"> " * 50_000 + b"text"),
    "deep lists": ("md", b"".join(b" " * n + b"- x\n" for n in range(2_000))),
    "deep arrays": ("json", b"[" * 500_000),
    "deep objects": ("json", b'{"a":' * 900 + b"1" + b"}" * 900),
    "a number without end": ("json", b"[" + b"9" * 100_000 + b"]"),
    "a quote that is never closed": ("csv", b'a,b\n"' + b"x,y\n" * 200_000),
    "columns without end": ("csv", b",".join(b"c%d" % n for n in range(50_000)) + b"\n" + b"1," * 50_000),
    "many names of fields": ("json", b"[" + b",".join(b'{"k%d":1}' % n for n in range(2_000)) + b"]"),
    "cues without end": ("vtt", b"WEBVTT\n\n" + b"00:00:01.000 --> 00:00:02.000\n<v A>x\n\n" * 40_000),
    "one endless line": ("txt", b"word " * 400_000),
    "a mail in a mail in a mail": ("eml", b"Content-Type: message/rfc822\r\n\r\n" * 500 + b"Subject: x\r\n\r\nbody"),
    "parts without end": (
        "eml", b'Content-Type: multipart/mixed; boundary="b"\r\n\r\n' + b"--b\r\n\r\nx\r\n" * 20_000,
    ),
    "pages that are their own parents": (
        "pdf", b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Kids[2 0 R]/Count 9>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF",
    ),
    "an xref that is larger than the file": ("pdf", b"%PDF-1.7\nxref\n0 99999999\ntrailer<</Size 99999999>>\n%%EOF"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_made_to_harm_is_read_within_its_limits_or_refused(name: str, tmp_path: Path) -> None:
    kind, content = HOSTILE[name]
    file = tmp_path / f"hostile.{kind}"
    file.write_bytes(content() if callable(content) else content)
    limits = Limits(characters=3_000_000, expanded_bytes=8 << 20)
    try:
        found = extract(file, kind, limits)
    except MnemonError:
        return
    assert "root:" not in found.text, "no file of the machine is read"
    assert len(found.text) <= limits.characters
