"""Two texts beside each other, line by line, for a page that shows what changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal

# Beyond this many lines the lines are compared in order only: matching takes the square of their number.
MOST_LINES = 3000


@dataclass(frozen=True)
class LinePair:
    """A line of the earlier text beside one of the later; none where one of them has no such line."""

    kind: Literal["same", "changed", "added", "removed"]
    left: str | None
    right: str | None


def side_by_side(before: str, after: str) -> list[LinePair]:
    left, right = before.splitlines(), after.splitlines()
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
