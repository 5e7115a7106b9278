"""A question and a passage as one row of tokens, with the words right before the passage; as in training."""

from collections.abc import Sequence

START, END = 101, 102
# Tokens of each part that are read.
MOST_QUESTION, MOST_PASSAGE, MOST_BEFORE = 40, 112, 36


def pair_of(question: Sequence[int], passage: Sequence[int], before: Sequence[int]) -> tuple[int, ...]:
    """The end of what stands before tells most: a reply follows the end of a question."""
    return (
        START, *question[:MOST_QUESTION], END, *passage[:MOST_PASSAGE], END, *before[-MOST_BEFORE:], END,
    )  # fmt: skip
