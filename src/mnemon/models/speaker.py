"""One exchange with a language model, before anyone validates, retries or records it."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel

from mnemon.models.language import NOTHING_USED, Prompt, Usage


@dataclass(frozen=True)
class Spoken:
    """The words of an answer; `cut` when it reached the limit on its length."""

    text: str
    usage: Usage = NOTHING_USED
    cut: bool = False


@dataclass(frozen=True)
class Correction:
    """An answer that did not fit, and what is wrong with it."""

    answer: str
    complaint: str


class Speaker(Protocol):
    """Talks to one model of one service. Raises errors of `mnemon.models.failures` only."""

    @property
    def name(self) -> str: ...
    async def say(self, prompt: Prompt, schema: type[BaseModel], corrections: Sequence[Correction] = ()) -> Spoken: ...
    def say_in_pieces(self, prompt: Prompt) -> AsyncGenerator[str | Spoken]:
        """Pieces of text as they come, and at the end the whole as `Spoken`."""
        ...

    async def close(self) -> None: ...
