"""Lays a message out for the learned reader of stances: subject, what is answered, and its sentences in tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mnemon.mail.consensus.said import SaidSentence
from mnemon.models.tokens import ModelTokenizer
from mnemon.semantics.learned.gloss import is_german
from mnemon.semantics.learned.windows import END, START, encode_words

# With all of these a window stays below the model's 256.
MOST_JUDGED = 120
MOST_OF_SENTENCE = 72
MOST_BEFORE = 24
MOST_SUBJECT = 16
MOST_ANSWERED = 48
# Whoever opened the discussion concludes it more often than others.
OPENER, OTHER = "caller:", "member:"


@dataclass(frozen=True, slots=True)
class StanceWindow:
    """Token numbers, and for each sentence its number in the message and the tokens that are its own."""

    ids: tuple[int, ...]
    sentences: tuple[tuple[int, int, int], ...]


def stance_windows(
    said: Sequence[SaidSentence], subject: str, is_opener: bool, tokenizer: ModelTokenizer
) -> Iterator[StanceWindow]:
    """Every sentence is judged in one window; a new quotation, or too many words, begins another."""
    german = is_german(" ".join(one.words for one in said))
    lines = [tuple(encode_words(one.words, german, tokenizer)[0][:MOST_OF_SENTENCE]) for one in said]
    head = [*encode_words(subject, german, tokenizer)[0][:MOST_SUBJECT], END]
    who = tokenizer.ids(OPENER if is_opener else OTHER)
    first = 0
    while first < len(said):
        answered = said[first].answered
        quoted = encode_words(answered, german, tokenizer)[0][-MOST_ANSWERED:] if answered else []
        ids = [START, *head, *quoted, END]
        if first:
            ids += [*lines[first - 1][-MOST_BEFORE:], END]
        ids += who
        found, size, place = [], 0, first
        while place < len(said) and said[place].answered == answered:
            if place > first and size + len(lines[place]) > MOST_JUDGED:
                break
            if lines[place]:
                found.append((place, len(ids), len(ids) + len(lines[place])))
            ids += [*lines[place], END]
            size += len(lines[place])
            place += 1
        yield StanceWindow(tuple(ids), tuple(found))
        first = place
