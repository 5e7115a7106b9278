"""What a language model is asked and what it answers, whoever speaks behind it."""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from pydantic import BaseModel

from mnemon.models.failures import LanguageModelUnavailable

Schema = TypeVar("Schema", bound=BaseModel)


@dataclass(frozen=True)
class Prompt:
    """A rendered prompt. Its name and version say which template it came from."""

    name: str
    version: int
    system: str
    user: str

    @property
    def digest(self) -> bytes:
        """Tells two renderings apart in the audit without keeping their words."""
        return hashlib.sha256(f"{self.system}\0{self.user}".encode()).digest()


@dataclass(frozen=True)
class Usage:
    """What a call took. The cost is in US dollars, where the model's price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = None

    def __add__(self, other: "Usage") -> "Usage":
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            sum(known, Decimal(0)) if known else None,
        )


NOTHING_USED = Usage()


@dataclass(frozen=True)
class ValidatedAnswer(Generic[Schema]):
    """A validated answer, and where it came from."""

    value: Schema
    model: str
    call_id: UUID
    usage: Usage
    seconds: float


@dataclass(frozen=True)
class LanguageModelState:
    """Whether a language model is configured. Only a call can tell whether it answers."""

    available: bool
    model: str
    source: str | None
    error: str | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class LanguageModel(Protocol):
    """Asked by features; every call is recorded under its tenant."""

    @property
    def name(self) -> str: ...
    @property
    def available(self) -> bool: ...
    async def ask(self, prompt: Prompt, schema: type[Schema], tenant: UUID) -> ValidatedAnswer[Schema]: ...
    def stream(self, prompt: Prompt, tenant: UUID) -> AsyncIterator[str]: ...
    async def close(self) -> None: ...


class NoLanguageModel:
    """Stands where no language model is configured."""

    name = "none"
    available = False

    def __init__(self, reason: str | None = None) -> None:
        self.reason = reason or (
            "No language model is configured: set MNEMON_LANGUAGE_MODEL. Without one, rules extract events, "
            "search works, and answers and summaries are made of quotes."
        )

    async def ask(self, prompt: Prompt, schema: type[Schema], tenant: UUID) -> ValidatedAnswer[Schema]:
        raise LanguageModelUnavailable(self.reason, prompt=prompt.name)

    async def stream(self, prompt: Prompt, tenant: UUID) -> AsyncIterator[str]:
        raise LanguageModelUnavailable(self.reason, prompt=prompt.name)
        yield ""

    async def close(self) -> None:
        pass
