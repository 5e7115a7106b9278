"""Archives that were damaged in any way: every byte is accounted for, nothing hangs, and neighbours are not lost."""

import random
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from mnemon.mail.archives.mbox import split_archive
from mnemon.mail.archives.ranges import ArchivedMessage, ArchiveRange
from mnemon.mail.message.reading import read_archived

# Likes of what is malformed in real archives: no parts where parts are told, charsets and encodings that are none,
# headers without end, repeated or empty ids, a body that is no base64.
ODD = [
    b'Content-Type: multipart/mixed; boundary=""\n\n--\nnothing\n',
    b"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: multipart/mixed; boundary=x\n\n--x\n--x--\n",
    b"Content-Type: text/plain; charset=x-unknown-8bit\nContent-Transfer-Encoding: base64\n\n====\xff\xfe\n",
    b"Subject: =?utf-8?q?=E2=82?= =?nonsense?x?y?=\nMessage-ID: <>\nMessage-ID: <two@example.org>\n\nText\n",
    b"Content-Type: text/html\n\n<div><blockquote><p>open for ever\n",
    b"Content-Type: message/rfc822\n\nContent-Type: message/rfc822\n\nSubject: deep\n\nText\n",
    b"X-Long: " + b"y" * 70_000 + b"\n\nText\n",
    b"Date: Mon, 99 Foo 20000000000 25:61:61 +9999\nReferences: " + b"<a@b> " * 3_000 + b"\n\nText\n",
    b"\x00\x00\x00 \n\n\x00",
    b"Content-Disposition: attachment; filename*=utf-8''%ZZ%\nContent-Type: application/x\n\n\xff\xd8\n",
]


def mail(number: int, content: bytes = b"\nText\n") -> bytes:
    head = b"From p@example.org Mon Jan  1 10:00:00 2024\nFrom: p@example.org\nMessage-ID: <%d@example.org>\n" % number
    return head + content + b"\n"


def check(archive: bytes) -> list[ArchiveRange]:
    """Ranges without a gap, each of which is read."""
    ranges = list(split_archive(_Bytes(archive)))
    at = 0
    for one in ranges:
        assert one.offset == at
        at += one.length
        if isinstance(one, ArchivedMessage):
            assert read_archived(one).message_id
    assert at == len(archive)
    return ranges


class _Bytes:
    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def read(self, size: int, /) -> bytes:
        self.at += size
        return self.content[self.at - size : self.at]


def ids_in(ranges: list[ArchiveRange]) -> set[str]:
    return {read_archived(one).message_id for one in ranges if isinstance(one, ArchivedMessage)}


def test_odd_messages_are_stored_or_reported_and_their_neighbours_stay() -> None:
    archive = b"".join(mail(2 * n) + mail(2 * n + 1, odd) for n, odd in enumerate(ODD)) + mail(100)
    ranges = check(archive)
    assert len(ranges) == 2 * len(ODD) + 1
    assert {f"<{2 * n}@example.org>" for n in range(len(ODD))} | {"<100@example.org>"} <= ids_in(ranges)


def test_flipped_bytes_and_a_cut_end_cost_what_they_hit_alone() -> None:
    chance = random.Random(7)
    archive = b"".join(mail(n, ODD[n % len(ODD)] if n % 3 == 0 else b"\nText\n") for n in range(40))
    whole = check(archive)
    for _ in range(10):
        damaged, hit = bytearray(archive[: chance.randrange(len(archive) // 2, len(archive))]), set()
        for _ in range(chance.randrange(1, 30)):
            place = chance.randrange(len(damaged))
            damaged[place] = chance.randrange(256)
            hit.add(place)
        found = ids_in(check(bytes(damaged)))
        for one, after in pairwise(whole):
            # Neither in it, nor in the line that ends it.
            span = range(one.offset, after.offset + 100)
            if span.stop <= len(damaged) and hit.isdisjoint(span) and isinstance(one, ArchivedMessage):
                assert read_archived(one).message_id in found


def test_headers_and_lines_without_end() -> None:
    endless = mail(1, b"X-A: b\n" * 300_000 + b"\nText\n")
    line = mail(2, b"\n" + b"x" * 3_000_000 + b"\n")
    assert {"<1@example.org>", "<2@example.org>", "<3@example.org>"} == ids_in(check(endless + line + mail(3)))


@pytest.mark.slow
def test_a_line_of_a_gigabyte_is_told_and_takes_no_memory() -> None:
    """In a process of its own, so that its memory can be told."""
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=True)
    reasons, megabytes = done.stdout.split(";")
    assert reasons == "message too large message"
    assert float(megabytes) < 300


class _LongLine:
    """Two messages with one between them whose only line has a gigabyte."""

    def __init__(self) -> None:
        self.parts = self._parts()

    def _parts(self) -> Iterator[bytes]:
        yield mail(1) + mail(2, b"\n").rstrip(b"\n") + b"\n\n"
        for _ in range(1024):
            yield b"x" * (1 << 20)
        yield b"\n\n" + mail(3)

    def read(self, size: int, /) -> bytes:
        return next(self.parts, b"")


if __name__ == "__main__":
    told = ["message" if isinstance(one, ArchivedMessage) else one.reason.partition(":")[0]
            for one in split_archive(_LongLine())]  # fmt: skip
    # Not by `getrusage`, which also counts what the process had that this one was started from.
    [kilobytes] = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    sys.stdout.write(f"{' '.join(told)};{int(kilobytes) / 1024}")
