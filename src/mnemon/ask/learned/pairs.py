"""A question and what may answer it as one row of tokens, with what stands around it; as in training."""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

START, END = 101, 102
# Tokens of each part that are read.
MOST_QUESTION, MOST_PASSAGE, MOST_BEFORE = 40, 112, 36
# Of a statement: its own words, the last ones before it, and what stands over it.
MOST_ASKED, MOST_STATEMENT, MOST_LED, MOST_HEAD, MOST_AFTER = 48, 56, 40, 24, 16


class Heard(IntEnum):
    """Where a word of the question stands, seen from a statement; by the numbers of tokens that no text has."""

    SAID = 1
    AROUND = 2
    # Not there, but something else of its kind: another number, another day, another person.
    OTHER = 3
    ELSEWHERE = 4
    NOWHERE = 5


class ReadStatement(NamedTuple):
    """A statement as it is read with a question: its speaker and words, those before it, its day and headings, those
    after it; and of each word of the question where that stands (`Heard`)."""

    words: str
    before: str
    head: str
    after: str = ""
    heard: tuple[int, ...] = ()


def pair_of(question: Sequence[int], passage: Sequence[int], before: Sequence[int]) -> tuple[int, ...]:
    """The end of what stands before tells most: a reply follows the end of a question."""
    return (
        START, *question[:MOST_QUESTION], END, *passage[:MOST_PASSAGE], END, *before[-MOST_BEFORE:], END,
    )  # fmt: skip


def statement_pair(
    question: Sequence[int], words: Sequence[int], before: Sequence[int], head: Sequence[int], after: Sequence[int]
) -> tuple[int, ...]:
    """Short, so that twenty of them are read while somebody waits."""
    return (
        START, *question[:MOST_ASKED], END, *words[:MOST_STATEMENT], END, *before[-MOST_LED:], END,
        *head[:MOST_HEAD], END, *after[:MOST_AFTER], END,
    )  # fmt: skip


def marked(question: Sequence[int], places: Sequence[int], heard: Sequence[int]) -> list[int]:
    """The question's tokens with a mark before each word that it is about. Tokens that no text has are the marks."""
    mark_at = dict(zip(places, heard, strict=False))
    made: list[int] = []
    for place, token in enumerate(question):
        if place in mark_at:
            made.append(mark_at[place])
        made.append(token)
    return made
