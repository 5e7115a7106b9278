"""Every byte of an archive is a message or a reported defect, whatever dialect it is written in."""

import bz2
import gzip
import io
import lzma
import random
from pathlib import Path
from typing import Any

import pytest

from mnemon.mail.archives.mbox import split_archive
from mnemon.mail.archives.opening import ArchiveStream
from mnemon.mail.archives.ranges import ArchiveDefect, ArchivedMessage, ArchiveRange
from tests.mail.eval_data import FOLDER, needs_mail

ONE = b"From: anna@example.org\nSubject: One\n\nHello.\n"
TWO = b"From: ben@example.org\nSubject: Two\n\nHello to you.\n"
STAMP = b"From anna@example.org Wed Nov  1 06:04:52 2017\n"


def split(content: bytes, **options: int) -> list[ArchiveRange]:
    found = list(split_archive(io.BytesIO(content), **options))
    at = options.get("start", 0)
    for one in found:
        assert one.offset == at, "ranges follow each other without gaps"
        at += one.length
    assert at == options.get("start", 0) + len(content)
    return found


def messages(content: bytes) -> list[bytes]:
    return [one.content for one in split(content) if isinstance(one, ArchivedMessage)]


@pytest.mark.parametrize(
    "separator",
    [
        b"From anna@example.org Wed Nov  1 06:04:52 2017\n",
        b"From anna at example.org  Sat Jul 19 02:18:24 2008\n",
        b"From mboxrd@z Thu Jan  1 00:00:00 1970\n",
        b"From - Tue Jan 02 11:00:00 2001\n",
        b"From ???@??? Tue Jan 02 11:00:00 2001\n",
        b"From anna@example.org Wed Nov  1 06:04:52 2017 +0100\n",
        b"From nobody\n",
        b"From anna@example.org Wed, 1 Nov 2017 06:04:52 +0000\r\n",
    ],
)
def test_two_messages_are_parted_by_whatever_line_programs_write(separator: bytes) -> None:
    assert messages(separator + ONE + b"\n" + separator + TWO) == [ONE + b"\n", TWO]


def test_a_separator_without_a_blank_line_before_it_parts_too() -> None:
    assert messages(STAMP + ONE + STAMP + TWO) == [ONE, TWO]


def test_a_line_of_text_that_begins_with_from_parts_nothing() -> None:
    text = ONE + b"\nFrom here on it is easy.\n\nFrom: me to you\n"
    assert messages(STAMP + text + b"\n" + STAMP + TWO) == [text + b"\n", TWO]


def test_a_message_that_says_its_length_may_hold_separators() -> None:
    body = b"See this:\n\n" + STAMP + TWO
    long = b"From: a@b.example\nContent-Length: %d\n\n" % len(body) + body
    assert messages(STAMP + long + b"\n" + STAMP + ONE) == [long + b"\n", ONE]
    lying = long.replace(b"Content-Length: %d" % len(body), b"Content-Length: 7777")
    assert len(messages(STAMP + lying + b"\n" + STAMP + ONE)) == 3


def test_mmdf_and_a_mail_alone() -> None:
    mark = b"\x01\x01\x01\x01\n"
    assert messages(mark + ONE + mark + mark + TWO + mark) == [ONE, TWO]
    assert messages(ONE) == [ONE]


def test_what_is_no_message_is_told() -> None:
    defect, message = split(b"junk\n\n" + STAMP + ONE)
    assert isinstance(defect, ArchiveDefect)
    assert isinstance(message, ArchivedMessage)
    assert (defect.length, message.offset) == (6, 6)
    [nothing] = split(b"\0" * 5000)
    assert isinstance(nothing, ArchiveDefect)


def test_what_is_too_large_is_told_and_its_neighbours_stay() -> None:
    huge = STAMP + b"Subject: huge\n\n" + b"x" * 3_000_000 + b"\n\n"
    first, second, third = split(STAMP + ONE + b"\n" + huge + STAMP + TWO, largest=1_000_000)
    assert isinstance(first, ArchivedMessage)
    assert isinstance(third, ArchivedMessage)
    assert isinstance(second, ArchiveDefect)
    assert third.content == TWO
    assert second.length == len(huge)


def test_a_stream_that_begins_in_the_middle_counts_from_there() -> None:
    whole = STAMP + ONE + b"\n" + STAMP + TWO
    [_, second] = split(whole)
    assert [one.offset for one in split(whole[second.offset :], start=second.offset)] == [second.offset]


def test_damage_never_loses_a_byte_or_hangs() -> None:
    whole = b"".join(STAMP + one + b"\n" for one in (ONE, TWO, ONE, TWO))
    chance = random.Random(7)
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(chance.randrange(1, 12)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        split(bytes(damaged[: chance.randrange(1, len(damaged))]))


def test_a_damaged_gzip_ends_where_the_damage_is(tmp_path: Path) -> None:
    packed = gzip.compress(b"".join(STAMP + ONE + b"%d\n\n" % n for n in range(8_000)))
    file = tmp_path / "list.mbox.gz"
    file.write_bytes(packed[: len(packed) // 2])
    with ArchiveStream(file) as stream:
        found = list(split_archive(stream))
        assert stream.damage
    assert len(found) > 100


@pytest.mark.parametrize("module", [gzip, bz2, lzma])
def test_all_that_stands_before_the_damage_is_read(tmp_path: Path, module: Any) -> None:
    """Of few messages as of many: what is damaged loses no more than what was unpacked together with it."""
    texts = [random.Random(n).randbytes(300).hex().encode() for n in range(20)]
    packed = module.compress(b"".join(STAMP + ONE + text + b"\n\n" for text in texts))
    file = tmp_path / "list.mbox.packed"
    file.write_bytes(packed[:-20])
    with ArchiveStream(file) as stream:
        found = list(split_archive(stream))
        assert stream.damage
    # bzip2 unpacks its blocks as a whole.
    assert len(found) >= (0 if module is bz2 else 19)


@needs_mail
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("ksummit.mboxrd.gz", 3115),
        ("python-committers.mbox.gz", 2876),
        ("maven-dev/maven-dev-2017-11-listsao.mbox", 320),
    ],
)
def test_no_message_of_a_real_archive_is_lost(name: str, count: int) -> None:
    with ArchiveStream(FOLDER / name) as stream:
        found = list(split_archive(stream))
    assert sum(isinstance(one, ArchivedMessage) for one in found) == len(found) == count
