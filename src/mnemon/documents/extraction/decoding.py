"""Bytes to text, whatever the encoding."""

import codecs
import re

from mnemon.documents.extraction.encodings import guessed_encoding
from mnemon.documents.extraction.hygiene import clean

MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
ESCAPED_JAPANESE = re.compile(rb"\x1b\$[@B]|\x1b\([BJ]")


def decode(content: bytes, declared: str | None = None) -> str:
    """The clean text. A declared encoding is used where it fits the bytes; undecodable bytes become U+FFFD."""
    return clean(_decoded(content, declared))


def _decoded(content: bytes, declared: str | None) -> str:
    for mark, encoding in MARKS:
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    for candidate in (_without_mark(content), _known(declared), "utf-8"):
        if candidate and (text := _strictly(content, candidate)) is not None:
            return text
    return content.decode(guessed_encoding(content), "replace")


def _strictly(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _known(declared: str | None) -> str | None:
    """The codec that a declaration means. As browsers do, Latin-1 is read as the Windows code page it grew into."""
    if not declared:
        return None
    try:
        name = codecs.lookup(declared.strip("\"' \t")).name
    except (LookupError, ValueError):
        return None
    return {"iso8859-1": "cp1252", "ascii": "utf-8", "shift_jis": "cp932"}.get(name, name)


def _without_mark(content: bytes) -> str | None:
    sample = content[:4096]
    if b"\x1b" in sample and ESCAPED_JAPANESE.search(sample):
        return "iso2022_jp"
    if 0 not in sample:
        return None
    even, uneven = sample[::2].count(0), sample[1::2].count(0)
    if max(even, uneven) <= len(sample) // 5:
        return None
    return "utf-16-le" if uneven > even else "utf-16-be"
