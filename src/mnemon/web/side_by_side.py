"""Two texts beside each other, line by line, for a page that shows what changed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from itertools import zip_longest
from typing import Any, Literal

from markupsafe import Markup, escape

# Beyond this many lines the lines are compared in order only: matching takes the square of their number.
MOST_LINES = 3000
# A longer line is marked as a whole, and so is one of which less than this is the same.
MOST_WORDS, LEAST_ALIKE = 300, 0.4
# So many letters are held against each other word by word; where more changed, lines are marked as wholes.
MOST_LETTERS = 20_000_000
WORDS = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")
# A part of a line, and whether the other line has it too.
Run = tuple[bool, str]


@dataclass(frozen=True)
class LinePair:
    """A line of the earlier text beside one of the later; none where one of them has no such line."""

    kind: Literal["same", "changed", "added", "removed"]
    left: str | None
    right: str | None

    # Whether words are marked, and not the whole line.
    in_words: bool = True

    @property
    def before(self) -> Markup:
        """The earlier line, with the words marked that the later one does not have."""
        return _marked(self._runs[0], Markup("<del>%s</del>"))

    @property
    def after(self) -> Markup:
        return _marked(self._runs[1], Markup("<ins>%s</ins>"))

    @cached_property
    def _runs(self) -> tuple[Sequence[Run], Sequence[Run]]:
        left, right = self.left or "", self.right or ""
        if self.kind == "changed" and self.in_words:
            return _word_runs(left, right)
        same = self.kind == "same"
        return [(same, left)], [(same, right)]


def _marked(runs: Sequence[Run], mark: Markup) -> Markup:
    """White space at the end of what is marked stands behind the mark."""
    shown = (
        escape(text) if kept or not text else mark % text.rstrip() + text[len(text.rstrip()) :] for kept, text in runs
    )
    return Markup("").join(shown)


def _word_runs(left: str, right: str) -> tuple[Sequence[Run], Sequence[Run]]:
    """Both lines cut where they begin and end to differ; whole where little is alike, or all but spaces."""
    whole = [(False, left)], [(False, right)]
    words, others = WORDS.findall(left), WORDS.findall(right)
    if max(len(words), len(others)) > MOST_WORDS:
        return whole
    matcher = SequenceMatcher(None, [*map(str.strip, words)], [*map(str.strip, others)], autojunk=False)
    if matcher.quick_ratio() < LEAST_ALIKE or not LEAST_ALIKE <= matcher.ratio() < 1:
        return whole
    codes = matcher.get_opcodes()
    return (
        [(tag == "equal", "".join(words[i:j])) for tag, i, j, _, _ in codes],
        [(tag == "equal", "".join(others[k:m])) for tag, _, _, k, m in codes],
    )


def side_by_side(before: str, after: str) -> list[LinePair]:
    found = _aligned(before.splitlines(), after.splitlines())
    letters = sum(len(one.left or "") * len(one.right or "") for one in found if one.kind == "changed")
    return found if letters <= MOST_LETTERS else [replace(one, in_words=False) for one in found]


def of_hunks(hunks: Iterable[Mapping[str, Any]]) -> list[LinePair]:
    """What differs, where only that was stored: the lines that were taken out beside those that came."""
    return [pair for one in hunks for pair in _paired(one["removed"], one["added"])]


def _aligned(left: Sequence[str], right: Sequence[str]) -> list[LinePair]:
    if max(len(left), len(right)) > MOST_LINES:
        return _paired(left, right)
    found: list[LinePair] = []
    for tag, i, j, k, m in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            found += [LinePair("same", one, one) for one in left[i:j]]
        else:
            found += _paired(left[i:j], right[k:m])
    return found


def _paired(left: Sequence[str], right: Sequence[str]) -> list[LinePair]:
    pairs = []
    for one, other in zip_longest(left, right):
        same = one == other
        kind: Literal["same", "changed", "added", "removed"] = (
            "same" if same else "added" if one is None else "removed" if other is None else "changed"
        )
        pairs.append(LinePair(kind, one, other))
    return pairs
