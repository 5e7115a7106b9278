"""Which files of a source are wanted: by patterns, and by what can be read at all."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from mnemon.documents.extraction.kinds import EXTENSIONS

WILDCARDS = re.compile(r"((?:\*\*/)+|\*+|\?)")
# With two that stretch, an expression tries at most as many ways as a key has pairs of letters.
MOST_FOR_AN_EXPRESSION = 2


@dataclass(frozen=True)
class KeyFilter:
    """`*` stands for anything within a name, `**` across folders. Without `include`, whatever has a known ending."""

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def wants(self, key: str) -> bool:
        if any(one.fits(key) for one in self._excluded):
            return False
        if self._included:
            return any(one.fits(key) for one in self._included)
        return PurePosixPath(key).suffix.lower() in EXTENSIONS

    @cached_property
    def _included(self) -> list["KeyPattern"]:
        return [KeyPattern(one) for one in self.include]

    @cached_property
    def _excluded(self) -> list["KeyPattern"]:
        return [KeyPattern(one) for one in self.exclude]


class KeyPattern:
    """One pattern: with few wildcards that stretch a regular expression, which is faster; with more the walk."""

    def __init__(self, pattern: str) -> None:
        # Without a slash it is one of the last name, wherever it is.
        text = pattern if "/" in pattern else f"**/{pattern}"
        few = sum(one != "?" for one in WILDCARDS.findall(text)) <= MOST_FOR_AN_EXPRESSION
        self._fits = _expression(text).fullmatch if few else KeyWalk(text).fits

    def fits(self, key: str) -> bool:
        return bool(self._fits(key))


def _expression(text: str) -> re.Pattern[str]:
    pieces = enumerate(WILDCARDS.split(text))
    return re.compile("".join(_meant(one) if number % 2 else re.escape(one) for number, one in pieces), re.DOTALL)


def _meant(wildcard: str) -> str:
    if wildcard.endswith("/"):
        return "(?:.*/)?"
    return {"?": "[^/]", "*": "[^/]*"}.get(wildcard, ".*")


class KeyWalk:
    """A key is read once, letter by letter, with every place of the pattern that it may have come to as a bit of a
    number. A regular expression would try one way after the other: `*a*a*a*a*b` holds up a worker for hours.
    """

    def __init__(self, text: str) -> None:
        self._letters = defaultdict[str, int](int)
        # Places before `?`, `*`, `**` and `**/`; the last takes two, of which the second is within the folders.
        self._one = self._within = self._across = self._folders = 0
        place = 0
        for number, piece in enumerate(WILDCARDS.split(text)):
            if number % 2 == 0:
                for letter in piece:
                    self._letters[letter] |= 1 << place
                    place += 1
                continue
            if piece == "?":
                self._one |= 1 << place
            elif piece == "*":
                self._within |= 1 << place
            elif piece.endswith("/"):
                self._folders |= 1 << place
                place += 1
            else:
                self._across |= 1 << place
            place += 1
        self._end = 1 << place

    def fits(self, key: str) -> bool:
        in_folders = self._folders << 1
        stay = self._across | in_folders
        at = self._passed_over(1)
        for letter in key:
            there = at & self._letters.get(letter, 0)
            if letter == "/":
                ways = there | at & (self._folders | in_folders)
                at = ways << 1 | (at & self._folders) << 2 | at & stay
            else:
                ways = there | at & (self._one | self._folders)
                at = ways << 1 | at & (stay | self._within)
            if not at:
                return False
            at = self._passed_over(at)
        return bool(at & self._end)

    def _passed_over(self, at: int) -> int:
        """With the places behind wildcards that may stand for nothing."""
        while True:
            more = at | (at & (self._within | self._across)) << 1 | (at & self._folders) << 2
            if more == at:
                return at
            at = more
