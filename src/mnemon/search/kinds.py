"""The kinds of text that can be found, each with the weights of its ranking."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

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
    vectors; `weights` says how much each part of a score counts. A capability declares its kinds, and mail will bring
    its own.
    """

    name: str
    counted: str
    vectors: str
    weights: Mapping[str, float] = field(hash=False)


# Chosen by cross-validation over conversations: docs/decisions/0018 has the measurements.
PASSAGE = Kind(
    "passage", "passage", "mnemon.chunk_vectors",
    MappingProxyType({WORDS: 0.5, WORDS_NEARBY: 1.0, MEANING: 1.0, MEANING_NEARBY: 0.5, HEADINGS: 0.5}),
)  # fmt: skip
MEMORY = Kind("memory", "memory", "mnemon.memory_vectors", MappingProxyType({WORDS: 1.0, MEANING: 1.0}))
# Their words are weighed as among the passages that they were read from.
SEMANTIC_EVENT = Kind(
    "semantic event", "passage", "mnemon.semantic_event_vectors", MappingProxyType({WORDS: 1.0, MEANING: 0.6})
)
