"""Parts a stream of mail into messages: mbox in its dialects, pipermail text, MMDF, or one mail alone.

A line "From …" parts two messages where it bears a date, or stands after a blank line and before a header; where a
message says its length (mboxcl) and another one begins just there, lines within that length part nothing. The time is
linear in the archive: each byte is looked at a bounded number of times, and what is too large is counted, not kept.
"""

import re
from collections.abc import Iterator
from typing import Protocol

from mnemon.mail.archives.ranges import ArchiveDefect, ArchivedMessage, ArchiveRange, Escaping

BLOCK = 1 << 18
LARGEST_MESSAGE = 32 << 20
# How far a separator and the line after it are looked at.
LOOK = 2_000
LONGEST_HEADERS = 1 << 18
MMDF = b"\x01\x01\x01\x01\n"
MARK = b"\nFrom "

_MONTH = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
DATED = re.compile(
    _MONTH + rb"[ ,]{1,3}\d{1,2},? {1,3}\d{1,2}:\d\d(?::\d\d)?[^\n]{0,30}?\b(?:19|20)\d\d\b"
    rb"|\b\d{1,2} " + _MONTH + rb" (?:19|20)\d\d\b"
)
HEADER = re.compile(rb"[A-Za-z][!-9;-~]{0,99}[ \t]?:|>From ")
USUAL_HEADER = re.compile(
    rb"(?:From|Return-Path|Received|Date|Subject|Message-ID|To|X-[A-Za-z-]{1,50}|Delivered-To|MIME-Version|Sender)"
    rb"[ \t]?:",
    re.IGNORECASE,
)
NOT_BLANK = re.compile(rb"[^\0\x01 \t\r\n]")
CONTENT_LENGTH = re.compile(rb"^Content-Length:[ \t]*(\d{1,12})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


class ByteStream(Protocol):
    def read(self, size: int, /) -> bytes: ...


def split_archive(stream: ByteStream, start: int = 0, largest: int = LARGEST_MESSAGE) -> Iterator[ArchiveRange]:
    """The ranges of a stream whose first byte is at `start` of its archive."""
    yield from _Splitter(stream, start, largest).ranges()


class _Splitter:
    """Holds the bytes of the message that is being read, and no others but a block."""

    def __init__(self, stream: ByteStream, start: int, largest: int) -> None:
        self.stream, self.largest = stream, largest
        self.held = bytearray()
        # Where the message began, and how much of it was let go since it is too large.
        self.offset, self.dropped = start, 0
        self.claimed: int | None = None
        self.ended = False
        self.mark = MARK
        self.escaping: Escaping = "mboxo"

    def ranges(self) -> Iterator[ArchiveRange]:
        self._fill(LOOK)
        if self.held.startswith(MMDF):
            self.mark, self.escaping = MMDF, "none"
        elif b"From mboxrd@z " in self.held[:LOOK]:
            self.escaping = "mboxrd"
        scan = first = len(MMDF) if self.mark is MMDF else 0
        while True:
            at = self.held.find(self.mark, scan)
            if at < 0:
                scan = max(scan, len(self.held) - len(self.mark) + 1)
                if self.ended:
                    break
                scan -= self._let_go(scan)
                self._more()
                continue
            begin = at + (1 if self.mark is MARK else 0)
            self._fill(begin + LOOK)
            skipped = self._within_length(begin)
            if skipped > begin:
                scan = skipped - 1
            elif self.mark is MMDF or self._parts(begin):
                end = at + len(MMDF) if self.mark is MMDF else begin
                yield from self._take(end)
                scan = first
            else:
                scan = begin
        yield from self._take(len(self.held))

    def _more(self) -> None:
        block = self.stream.read(BLOCK)
        self.ended = not block
        self.held += block

    def _fill(self, size: int) -> None:
        while len(self.held) < size and not self.ended:
            self._more()

    def _let_go(self, scan: int) -> int:
        """Of what is larger than a message may be nothing is kept but what may hold the next mark."""
        if len(self.held) <= self.largest:
            return 0
        gone = max(scan - LOOK, 0)
        del self.held[:gone]
        self.dropped += gone
        return gone

    def _parts(self, at: int) -> bool:
        """Whether the line "From …" that begins here is the first of another message."""
        end = self.held.find(b"\n", at, at + LOOK)
        if end < 0:
            return False
        following = self.held[end + 1 : end + 200]
        after_blank = self.held[max(at - 3, 0) : at].endswith((b"\n\n", b"\n\r\n"))
        if DATED.search(self.held, at, end):
            return after_blank or HEADER.match(following) is not None
        return after_blank and USUAL_HEADER.match(following) is not None

    def _within_length(self, at: int) -> int:
        """The place up to which the message goes by its own word, if that holds; else `at`."""
        if self.claimed is None:
            self.claimed = self._claimed_end()
        return max(at, self.claimed)

    def _claimed_end(self) -> int:
        """Asked once for each message: where its `Content-Length` says that it ends and another one begins, or 0."""
        if self.dropped or self.mark is not MARK:
            return 0
        limit = min(LONGEST_HEADERS, len(self.held))
        plain = self.held.find(b"\n\n", 0, limit)
        ended = plain if plain >= 0 else limit
        # One letter is looked for in a fraction of the time that three take; most archives have none of these.
        other = self.held.find(b"\n\r\n", 0, ended) if self.held.find(b"\r", 0, ended) >= 0 else -1
        body = other + 3 if plain < 0 or 0 <= other < plain else plain + 2
        head = bytes(self.held[:body]) if max(plain, other) > 0 else b""
        said = CONTENT_LENGTH.search(head) if b"content-length" in head.lower() else None
        if said is None or (end := body + int(said[1])) > self.largest:
            return 0
        self._fill(end + LOOK)
        rest = bytes(self.held[end : end + 8]).lstrip(b"\r\n")
        ends_there = self.ended and not rest and len(self.held) >= end
        return end if ends_there or rest.startswith(b"From ") else 0

    def _take(self, end: int) -> Iterator[ArchiveRange]:
        """What stands before `end`: a message, or what is none."""
        with memoryview(self.held) as held:
            content = bytes(held[:end])
        offset, length = self.offset, self.dropped + end
        del self.held[:end]
        self.offset, self.dropped, self.claimed = offset + length, 0, None
        if not length:
            return
        if length > self.largest:
            yield ArchiveDefect(offset, length, f"too large: {length} bytes in one message, {self.largest} at most")
        elif NOT_BLANK.search(content) is None:
            yield ArchiveDefect(offset, length, "blank: no message stands here")
        else:
            yield self._message(offset, content)

    def _message(self, offset: int, content: bytes) -> ArchiveRange:
        if self.mark is MMDF:
            inner = content.removeprefix(MMDF).removesuffix(MMDF)
            return ArchivedMessage(offset, len(content), inner)
        if content.startswith(b"From "):
            line, _, rest = content.partition(b"\n")
            return ArchivedMessage(offset, len(content), rest, line.rstrip(b"\r"), self.escaping)
        if HEADER.match(content):
            return ArchivedMessage(offset, len(content), content)
        return ArchiveDefect(offset, len(content), "no message: neither a separator nor headers stand before it")
