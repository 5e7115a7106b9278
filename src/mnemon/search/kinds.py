"""What the rules of searching know of a kind of text. Each capability declares its own kinds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import LiteralString

# The parts of a score. "Nearby" parts are of a passage with its neighbours, which only some kinds have.
WORDS, WORDS_NEARBY, MEANING, MEANING_NEARBY, HEADINGS = (
    "words",
    "words_nearby",
    "meaning",
    "meaning_nearby",
    "headings",
)
# What else the learned ranking of passages looks at: how much of the question it covers, what stands right before and
# after it, whether it asks or follows a question, whether who speaks or the day is named in the question, its length.
COVERED, COVERED_NEARBY, WORDS_BEFORE, WORDS_AFTER, MEANING_BEFORE, MEANING_AFTER = (
    "covered",
    "covered_nearby",
    "words_before",
    "words_after",
    "meaning_before",
    "meaning_after",
)
ASKS, REPLIES, REPLY_WORDS, SPEAKER, DAY, LENGTH = "asks", "replies", "reply_words", "speaker", "day", "length"


@dataclass(frozen=True)
class Kind:
    """What the rules of searching need to know of one kind of text.

    `counted` is the name under which its words are counted (`mnemon.term_counts`); `vectors` is the relation of its
    vectors; `weights` says how much each part of a score counts. `hidden_terms` is the function of the database that
    tells which terms stand only in texts that the transaction's reader may not see, where a kind has such texts.
    """

    name: str
    counted: str
    vectors: str
    weights: Mapping[str, float] = field(hash=False)
    hidden_terms: LiteralString | None = None
