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
