"""What a person may say to a matter, and the words that say it."""

from dataclasses import dataclass
from typing import Literal

Stance = Literal["support", "support_conditional", "object", "withdraw", "neutral", "question", "conclude"]
# What the learned reader judges, in the order of its outputs. Nothing of all this is neutral.
JUDGED: list[Stance] = ["support", "support_conditional", "object", "withdraw", "question", "conclude"]
# Less sure than this a statement is shown, but tips no scale.
SURE_ENOUGH = 0.5
# Who found it: a vote, a fixed formula, or the learned reader.
FoundBy = Literal["vote", "formula", "learned"]


@dataclass(frozen=True, slots=True)
class StanceStatement:
    """A stance and its proof: `text[start:end] == quote` of the message's text."""

    message_id: str
    speaker: str
    stance: Stance
    start: int
    end: int
    quote: str
    confidence: float
    found_by: FoundBy

    @property
    def counts(self) -> bool:
        return self.confidence >= SURE_ENOUGH
