"""What one rule of the engine is made of."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from mnemon.semantics.rules.agents import AgentKind
from mnemon.semantics.semantic_event import Category, CommitmentKind

# Where the subject of the event stands: after the cue, before it, after its verb where that moves something, or in it.
About = Literal["after", "before", "cue", "moved"]

PEOPLE: frozenset[AgentKind] = frozenset({"self", "we", "pronoun", "they", "person", "name", "group"})
# Who may only be a word that begins a sentence counts where the grammar wants somebody who acts.
ACTING: frozenset[AgentKind] = PEOPLE | {"opener"}
ANYONE: frozenset[AgentKind] = ACTING | {"you", "thing"}


@dataclass(frozen=True)
class Cue:
    """A pattern that speaks for a category, and what has to hold where it is found."""

    name: str
    category: Category
    pattern: re.Pattern[str]
    # Beside other cues in the same clause, the stronger one wins. 3 names the category outright, 1 only hints at it.
    strength: int = 2
    agents: frozenset[AgentKind] = ANYONE
    about: About = "after"
    kind: CommitmentKind | None = None
    # A cue is passed over in these moods unless it says that they do it no harm.
    in_question: bool = False
    in_condition: bool = False
    when_tentative: bool = False
    when_denied: bool = False
    when_general: bool = False
    when_quoted: bool = False
    # Not in transcripts, where "we'll do it like this" is said of the next minute.
    written: bool = False
    # Only in talk, notes and lists, where sentences lose their subject.
    clipped: bool = False
    # Small letters of which some must stand in the clause: a quick look before a slow pattern.
    needs: tuple[str, ...] = ()

    def may_be_in(self, small: str) -> bool:
        return not self.needs or any(letters in small for letters in self.needs)


def cue(name: str, category: Category, pattern: str, **options: Any) -> Cue:
    """A space in the pattern stands for any white space; an escaped one for itself."""
    spaced = re.sub(r"(?<!\\) ", r"\\s+", pattern)
    return Cue(name, category, re.compile(spaced, re.IGNORECASE), **options)
