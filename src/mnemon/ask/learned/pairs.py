"""A question and what may answer it as one row of tokens, with what stands around it; as in training."""

from collections.abc import Sequence
from typing import NamedTuple

START, END = 101, 102
# Tokens of each part that are read.
MOST_QUESTION, MOST_PASSAGE, MOST_BEFORE = 40, 112, 36
# Of a statement: its own words, the last ones before it, and what stands over it.
MOST_ASKED, MOST_STATEMENT, MOST_LED, MOST_HEAD = 36, 56, 24, 20


class ReadStatement(NamedTuple):
    """A statement as it is read with a question: its speaker and words, those before it, its day and headings."""

    words: str
    before: str
    head: str


def pair_of(question: Sequence[int], passage: Sequence[int], before: Sequence[int]) -> tuple[int, ...]:
    """The end of what stands before tells most: a reply follows the end of a question."""
    return (
        START, *question[:MOST_QUESTION], END, *passage[:MOST_PASSAGE], END, *before[-MOST_BEFORE:], END,
    )  # fmt: skip


def statement_pair(
    question: Sequence[int], words: Sequence[int], before: Sequence[int], head: Sequence[int]
) -> tuple[int, ...]:
    """Short, so that twenty of them are read while somebody waits."""
    return (
        START, *question[:MOST_ASKED], END, *words[:MOST_STATEMENT], END, *before[-MOST_LED:], END,
        *head[:MOST_HEAD], END,
    )  # fmt: skip
