"""Reads broken copies of sample files in a process of its own, and says how many were read and how many refused.

    python -m tests.attack.mutants pdf,docx 7 50

It ends with 1 where a parser did anything else: an error that is not ours, a result that breaks the rules of an
extraction. Seeds make it repeatable: the last line names the file that failed.
"""

import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from mnemon.documents.extraction.extract import extract
from mnemon.documents.extraction.kinds import KINDS, PICTURES, FileKind
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.ingest.structured import with_structure
from mnemon.errors import MnemonError
from tests.documents.format_samples import MADE
from tests.documents.invariants import check_pages, check_text

ROOT = Path(__file__).parents[2]
# Pictures are read by a program of its own, in a process of its own.
SAMPLES: dict[FileKind, str] = {kind: f"**/*.{kind}" for kind in KINDS if kind not in PICTURES}
LIMITS = Limits(pages=50, characters=500_000, expanded_bytes=16 << 20, blocks=20_000)
# What parsers stumble over: ends, sizes, encodings, nesting, directions, halves of characters.
MORSELS = (
    b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xf0\x9f\x98", b"\x80" * 8, b"\r", b"\r\n\r\n", b"\n" * 100,
    b"\t" * 50,
    b"<" * 200, b"<div>" * 300, b"</" * 50, b"<!--", b"<![CDATA[", b"&#x110000;", b"&" * 50, b"\"" * 50, b"\\" * 50,
    b"(" * 300, b"[" * 300, b"<<" * 100, b">>", b"endobj", b"stream\r\n", b"%%EOF", b"xref\n0 99999999\n",
    b"/Length 4294967295", b"/Kids [1 0 R]", b"PK\x05\x06" + b"\xff" * 18, b"#" * 300, b"> " * 300, b"- " * 300,
    b"|" * 300,
    b"```", b"---\n" * 50, b"=?utf-8?q?=FF?=", b"Content-Type: multipart/mixed; boundary=\"\"\r\n", b"Date: 99 Foo\r\n",
    b'"' * 3, b",;\t|" * 100, b'{"a":' * 400, b"-->", b"<v " * 50,
    b"2147483648", b"-1", b"1e309", "\u202e\u2066".encode(), "\ud7ff\uffff".encode(), "İ".encode() * 20,
    "ﷺ".encode() * 20,
)  # fmt: skip


def mutants(kind: FileKind, seed: int, count: int) -> Iterator[bytes]:
    """Copies of the samples of a kind, each broken in one to four ways."""
    samples = [file.read_bytes() for file in sorted((ROOT / "examples").glob(SAMPLES[kind]))]
    samples += [MADE[kind]()] if kind in MADE else []
    assert samples, f"no samples of {kind}"
    chance = random.Random(f"{kind} {seed}")
    for _ in range(count):
        broken = chance.choice(samples)
        for _ in range(chance.randint(1, 4)):
            broken = chance.choice(WAYS)(chance, broken)
        yield broken


def _cut(chance: random.Random, content: bytes) -> bytes:
    return content[: chance.randint(0, len(content))]


def _without_a_part(chance: random.Random, content: bytes) -> bytes:
    start = chance.randint(0, len(content))
    return content[:start] + content[start + chance.randint(1, 1 + len(content) // 4) :]


def _with_a_morsel(chance: random.Random, content: bytes) -> bytes:
    start = chance.randint(0, len(content))
    return content[:start] + chance.choice(MORSELS) + content[start:]


def _with_other_bits(chance: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.randint(1, 40) if changed else 0):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _with_a_part_twice(chance: random.Random, content: bytes) -> bytes:
    start = chance.randint(0, len(content))
    part = content[start : start + chance.randint(1, 2_000)]
    return content[:start] + part * chance.randint(2, 20) + content[start:]


WAYS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _cut, _without_a_part, _with_a_morsel, _with_other_bits, _with_a_part_twice,
)  # fmt: skip


def read(kind: FileKind, content: bytes, file: Path) -> bool:
    """Whether it was read. A refusal is one of ours; what is read obeys the rules of every extraction."""
    file.write_bytes(content)
    try:
        found = extract(file, kind, LIMITS)
    except MnemonError:
        return False
    check_text(found)
    check_pages(found)
    with_structure(found, "email" if kind == "eml" else None)
    return True


def main(kind: FileKind, seed: int, count: int) -> None:
    taken = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, content in enumerate(mutants(kind, seed, count)):
            try:
                taken += read(kind, content, Path(folder) / f"broken.{kind}")
            except BaseException:
                sys.stdout.write(f"{kind} seed {seed} number {number}: {content[:80]!r}\n")
                raise
    sys.stdout.write(f"{kind}: {taken} read, {count - taken} refused\n")


if __name__ == "__main__":
    for one in sys.argv[1].split(","):
        main(one, int(sys.argv[2]), int(sys.argv[3]))  # type: ignore[arg-type]
