"""Lays a message out for the learned reader of stances: subject, what is answered, what its sender wrote before, and
its sentences in tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mnemon.mail.consensus.said import SaidSentence
from mnemon.mail.consensus.situation import Situation
from mnemon.models.tokens import ModelTokenizer
from mnemon.semantics.learned.gloss import is_german
from mnemon.semantics.learned.windows import END, START, encode_words

MOST_OF_SENTENCE = 72
MOST_BEFORE = 24
MOST_SUBJECT = 16
MOST_EARLIER = 24
# Whoever opened the discussion concludes it more often than others.
OPENER, OTHER = "caller:", "member:"
# So long are texts of which only a few tokens are kept; a token has more than two letters.
LONG = 8


class WindowLayout(NamedTuple):
    """How many tokens of what a window has, below the model's 256 together; of what is answered so many of its
    beginning, the rest of its end. `is_situated`: with what the message answers and what its sender wrote before."""

    most_judged: int
    most_answered: int
    beginning: int
    is_situated: bool


ALONE = WindowLayout(120, 48, 0, False)
SITUATED = WindowLayout(112, 56, 18, True)


@dataclass(frozen=True, slots=True)
class StanceWindow:
    """Token numbers, and for each sentence its number in the message and the tokens that are its own."""

    ids: tuple[int, ...]
    sentences: tuple[tuple[int, int, int], ...]


def stance_windows(
    said: Sequence[SaidSentence], situation: Situation, tokenizer: ModelTokenizer, layout: WindowLayout
) -> Iterator[StanceWindow]:
    """Every sentence is judged in one window; a new quotation, or too many words, begins another."""
    german = is_german(" ".join(one.words for one in said))
    lines = [tuple(encode_words(one.words, german, tokenizer)[0][:MOST_OF_SENTENCE]) for one in said]
    head = [START, *encode_words(situation.subject, german, tokenizer)[0][:MOST_SUBJECT], END]
    who = tokenizer.ids(OPENER if situation.is_opener else OTHER)
    earlier = [*_ends(situation.earlier, MOST_EARLIER, MOST_EARLIER // 3, german, tokenizer), END]
    first = 0
    while first < len(said):
        answered = said[first].answered
        ids = [*head, *_answered(answered, situation, german, tokenizer, layout), END]
        ids += earlier if layout.is_situated else []
        if first:
            ids += [*lines[first - 1][-MOST_BEFORE:], END]
        ids += who
        found, size, place = [], 0, first
        while place < len(said) and said[place].answered == answered:
            if place > first and size + len(lines[place]) > layout.most_judged:
                break
            if lines[place]:
                found.append((place, len(ids), len(ids) + len(lines[place])))
            ids += [*lines[place], END]
            size += len(lines[place])
            place += 1
        yield StanceWindow(tuple(ids), tuple(found))
        first = place


def _answered(
    quoted: str, situation: Situation, german: bool, tokenizer: ModelTokenizer, layout: WindowLayout
) -> list[int]:
    """The quotation above; where nothing is quoted, the words of the message that is answered and who wrote them."""
    if quoted:
        return _ends(quoted, layout.most_answered, layout.beginning, german, tokenizer)
    if not layout.is_situated or not situation.answered:
        return []
    words = _ends(situation.answered, layout.most_answered, layout.beginning, german, tokenizer)
    return [*tokenizer.ids(f"{situation.answered_by}:"), *words]


def _ends(text: str, most: int, beginning: int, german: bool, tokenizer: ModelTokenizer) -> list[int]:
    """A text's tokens; of a longer one so many of its beginning, and the rest of its end."""
    if len(text) > 2 * LONG * most:
        text = f"{text[: LONG * most]} {text[-LONG * most :]}"
    ids = encode_words(text, german, tokenizer)[0]
    return ids if len(ids) <= most else [*ids[:beginning], *ids[beginning - most :]]
