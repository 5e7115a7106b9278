"""The header lines of a message, unfolded and decoded, however broken they are."""

import re
from collections.abc import Iterator

from mnemon.documents.extraction.decoding import decode
from mnemon.documents.extraction.eml.headers import decoded
from mnemon.documents.extraction.hygiene import one_line

MOST_LINES = 2_000
LONGEST_VALUE = 20_000
LONGEST_HEADERS = 1 << 20
FOLD = re.compile(rb"\n[ \t]+")
# A header with the lines that go on with it. All of them are found in one go; few are ever looked at. It begins with
# the line end before it: one letter is looked for sooner than the beginning of a line.
WHOLE = re.compile(rb"\n([!-9;-~]{1,100}+)[ \t]*+:[ \t]*+([^\n]*+(?:\n[ \t][^\n]*+)*+)")
# A pattern finds this in half the time that `bytes.find` takes.
BLANK_LINE = re.compile(rb"\n\n")
NAME = re.compile(rb"([!-9;-~]{1,100})[ \t]*:[ \t]*")


class MailHeaders:
    """Values by name in small letters, in their order. Raw until asked for."""

    def __init__(self, lines: list[tuple[bytes, bytes]], defects: list[str]) -> None:
        self._names = [name.lower() for name, _ in lines]
        self._lines = lines
        # Of those that come more than once the first.
        self._places = dict(zip(reversed(self._names), range(len(lines) - 1, -1, -1), strict=True))
        self.defects = defects

    def __contains__(self, name: str) -> bool:
        return name.encode() in self._places

    def raw(self, name: str) -> str:
        """The first value with bytes as they are, as Latin-1; empty where there is none."""
        place = self._places.get(name.encode())
        return _unfolded(self._lines[place][1]).decode("latin-1") if place is not None else ""

    def every(self, name: str) -> list[str]:
        return [_unfolded(one).decode("latin-1") for one in self._all(name.encode())]

    def text(self, name: str, longest: int = 1_000) -> str:
        """One clean line, decoded from whatever encoding it is in."""
        place = self._places.get(name.encode())
        return _clean(_unfolded(self._lines[place][1]), longest) if place is not None else ""

    def texts(self, name: str) -> Iterator[str]:
        for value in self._all(name.encode()):
            yield _clean(_unfolded(value), LONGEST_VALUE)

    def _all(self, name: bytes) -> list[bytes]:
        place = self._places.get(name)
        if place is None:
            return []
        if self._names.count(name) == 1:
            return [self._lines[place][1]]
        return [line[1] for known, line in zip(self._names, self._lines, strict=True) if known == name]


def _unfolded(value: bytes) -> bytes:
    unfolded = FOLD.sub(b" ", value).lstrip(b" \t") if b"\n" in value else value
    # No database takes a null byte.
    return (unfolded.replace(b"\0", b"") if b"\0" in unfolded else unfolded)[:LONGEST_VALUE].rstrip(b"\r")


def _clean(value: bytes, longest: int) -> str:
    if value.isascii() and b"=?" not in value:
        text = value.decode("ascii")
        return text[:longest] if text.isprintable() and "  " not in text else one_line(text, longest) or ""
    text = value.decode("ascii", "surrogateescape")
    return one_line(decoded(text) if "=?" in text else decode(value), longest) or ""


def read_headers(content: bytes, start: int = 0) -> tuple[MailHeaders, int]:
    """The headers that stand from `start` on, and where the body begins."""
    head_end, body = _end_of_headers(content, start)
    head = content[start:head_end]
    defects = [] if body <= len(content) else [f"headers longer than {LONGEST_HEADERS} bytes"]
    plain = head.replace(b"\r\n", b"\n") if b"\r" in head else head
    breaks = plain.count(b"\n")
    lines = WHOLE.findall(b"\n" + plain) if head and breaks < MOST_LINES else []
    going_on = sum([value.count(b"\n") for _, value in lines])
    if lines and len(lines) + going_on == 1 + breaks:
        # Each line begins a header, or goes on with one.
        return MailHeaders(lines, defects), min(body, len(content))
    return _read_damaged(content, start, head, min(body, len(content)), defects)


def _end_of_headers(content: bytes, start: int) -> tuple[int, int]:
    """Where the headers end, and where the body begins; past the end of the content where neither can be told."""
    if content.startswith((b"\n", b"\r\n"), start):
        return start, start + (1 if content[start : start + 1] == b"\n" else 2)
    limit = start + LONGEST_HEADERS
    found = BLANK_LINE.search(content, start, limit)
    plain = found.start() if found else -1
    ended = plain if plain >= 0 else limit
    # One letter is looked for in a fraction of the time that three take; most archives have none of these.
    other = content.find(b"\n\r\n", start, ended) if content.find(b"\r", start, ended) >= 0 else -1
    if plain < 0 and other < 0:
        return min(limit, len(content)), len(content) if len(content) <= limit else len(content) + 1
    if other < 0 or 0 <= plain < other:
        return plain, plain + 2
    return other, other + 3


def _read_damaged(content: bytes, start: int, head: bytes, body: int, defects: list[str]) -> tuple[MailHeaders, int]:
    """Line by line: what is no header is passed over, or is where the text begins."""
    lines: list[tuple[bytes, bytes]] = []
    place = start
    for line in head.split(b"\n", MOST_LINES)[:MOST_LINES]:
        begin, place = place, place + len(line) + 1
        line = line.rstrip(b"\r")
        if line[:1] in (b" ", b"\t"):
            if lines and len(lines[-1][1]) < LONGEST_VALUE:
                lines[-1] = lines[-1][0], lines[-1][1] + b" " + line.strip()
        elif found := NAME.match(line):
            lines.append((found[1], line[found.end() :][:LONGEST_VALUE]))
        elif line.strip() and not line.startswith((b"From ", b">From ")):
            if not lines:
                defects.append("no headers")
                return MailHeaders([], defects), start
            if not _goes_on(head, place - start):
                defects.append("no blank line before the body")
                return MailHeaders(lines, defects), begin
            defects.append("a header line without a name")
    if not lines:
        defects.append("no headers")
    return MailHeaders(lines, defects), body


def _goes_on(head: bytes, place: int) -> bool:
    """Whether the next line is a header again, so that the one before was only damaged."""
    return NAME.match(head, place) is not None or head[place : place + 1] in (b" ", b"\t")
