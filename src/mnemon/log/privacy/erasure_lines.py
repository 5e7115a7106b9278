"""Where the lines of the erasure list are: a file that grows, or encrypted objects in the bucket of a shared home."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from mnemon.keyfile import key_folder, write_once
from mnemon.shared_home import Home, KeyBucket, SharedHome

NAME, FOLDER = "erasures.jsonl", "erasures/"
NUMBERED = re.compile(r"\d{8}\.jsonl")
# A line that tells of nobody.
EMPTY = "{}\n"


class LinePlace(Protocol):
    """Lines that are only ever added. Places in it are numbers that grow."""

    @property
    def where(self) -> str: ...

    def first(self) -> str | None: ...

    def begin(self, line: str) -> None:
        """Write the first line, unless another process was first."""
        ...

    def append(self, lines: str) -> None:
        """Durable when it returns."""
        ...

    def size(self) -> int: ...

    def close_holes(self) -> int:
        """How many lines were taken out of the middle, where that can be told; their places are no holes then."""
        ...

    def after(self, place: int) -> Iterator[str | bytes]: ...


class LineFile:
    """A file in the folder `keys` of a home; a place is a count of bytes."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._file = home / "keys" / NAME

    @property
    def where(self) -> str:
        return str(self._file)

    def first(self) -> str | None:
        try:
            with self._file.open() as source:
                return source.readline()
        except FileNotFoundError:
            return None

    def begin(self, line: str) -> None:
        key_folder(self._home)
        write_once(self._file, line)

    def append(self, lines: str) -> None:
        handle = os.open(self._file, os.O_RDWR | os.O_APPEND)
        try:
            # Whoever was killed while writing left half a line, and its erasure was not committed.
            torn = os.pread(handle, 1, os.fstat(handle).st_size - 1) != b"\n"
            os.write(handle, (b"\n" if torn else b"") + lines.encode())
            os.fsync(handle)
        finally:
            os.close(handle)

    def size(self) -> int:
        return self._file.stat().st_size

    def close_holes(self) -> int:
        """A file that lost lines is shorter."""
        return 0

    def after(self, place: int) -> Iterator[bytes]:
        with self._file.open("rb") as source:
            source.seek(place)
            yield from source


class LineBucket:
    """Numbered objects, each written once; a place is a number. Number 0 is the first line.

    They are encrypted and bound to their numbers: who can write to the bucket and lacks the secret can have nobody
    erased by a line of their own.
    """

    def __init__(self, objects: KeyBucket) -> None:
        self._objects = objects
        self._last = 0

    @property
    def where(self) -> str:
        return self._objects.where()

    def first(self) -> str | None:
        return self._objects.read(_name(0))

    def begin(self, line: str) -> None:
        self._objects.write_once(_name(0), line)

    def append(self, lines: str) -> None:
        number = self.size() + 1
        while not self._objects.write_once(_name(number), lines):
            number += 1

    def size(self) -> int:
        """Looks on from where it ended before: objects are added only. If that one is gone, from the beginning."""
        if self._last and not self._objects.has(_name(self._last)):
            self._last = 0
        for name in self._names_after(self._last):
            self._last = int(name[:8])
        return self._last

    def close_holes(self) -> int:
        """Each number was given where the one before it was there."""
        there = {int(name[:8]) for name in self._names_after(0)}
        missing = set(range(1, max(there, default=0) + 1)) - there
        for number in missing:
            self._objects.write_once(_name(number), EMPTY)
        return len(missing)

    def after(self, place: int) -> Iterator[str]:
        for text in self._objects.read_all(self._names_after(place)):
            yield from text.splitlines()

    def _names_after(self, number: int) -> list[str]:
        """What somebody else laid there has no number, and is nothing to us."""
        return [name for name in self._objects.names_after(_name(number)) if NUMBERED.fullmatch(name)]


def line_place(home: Home) -> LinePlace:
    return LineBucket(home.sealed(FOLDER)) if isinstance(home, SharedHome) else LineFile(home)


def _name(number: int) -> str:
    return f"{number:08}.jsonl"
