"""Which files of a source are wanted: by patterns, and by what can be read at all."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from mnemon.documents.extraction.kinds import EXTENSIONS


@dataclass(frozen=True)
class KeyFilter:
    """`*` stands for anything within a name, `**` across folders. Without `include`, whatever has a known ending."""

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def wants(self, key: str) -> bool:
        if any(one.fullmatch(key) for one in self._excluded):
            return False
        if self._included:
            return any(one.fullmatch(key) for one in self._included)
        return PurePosixPath(key).suffix.lower() in EXTENSIONS

    @cached_property
    def _included(self) -> list[re.Pattern[str]]:
        return [_pattern(one) for one in self.include]

    @cached_property
    def _excluded(self) -> list[re.Pattern[str]]:
        return [_pattern(one) for one in self.exclude]


def _pattern(glob: str) -> re.Pattern[str]:
    """A pattern without a slash is one of the last name, wherever it is."""
    text = glob if "/" in glob else f"**/{glob}"
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", text)
    meant = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meant.get(part, re.escape(part)) for part in parts), re.DOTALL)
