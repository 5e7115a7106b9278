"""Job kinds: what a job of each kind carries, how often and how long it may try, and the code that runs it."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from mnemon.errors import NotFound

if TYPE_CHECKING:
    from mnemon.work.job import Job

Payload = TypeVar("Payload", bound=BaseModel)
Result = BaseModel | dict[str, Any] | None
JobHandler = Callable[["Job[Payload]"], Awaitable[Result]]


@dataclass(frozen=True)
class Backoff:
    """The wait before attempt n + 1: `first * 2 ** (n - 1)` seconds, at most `cap`, and up to a tenth more."""

    first: float = 30.0
    cap: float = 600.0


@dataclass(frozen=True)
class Isolation:
    """Limits of the subprocess that a kind's jobs run in; its time limit is the kind's."""

    memory_mb: int = 1024


class NoPayload(BaseModel):
    """For kinds that need to be told nothing."""


@dataclass(eq=False)
class JobKind(Generic[Payload]):
    """One kind of job. Declare it at module level; its name is what the database and the logs show.

    `at_once` limits how many jobs of the kind run in all workers together. Without `attempts` the setting holds. Kinds
    of one `group` are named together by it, for workers that do nothing else.
    """

    name: str
    payload: type[Payload]
    attempts: int | None = None
    time_limit: float = 300.0
    backoff: Backoff = field(default_factory=Backoff)
    at_once: int | None = None
    isolation: Isolation | None = None
    group: str | None = None
    run: JobHandler[Payload] | None = None

    def __post_init__(self) -> None:
        known = _declared.setdefault(self.name, self)
        if known is not self and known.payload.__qualname__ != self.payload.__qualname__:
            raise ValueError(f"The job kind {self.name} is declared twice, with {known.payload} and {self.payload}.")
        _declared[self.name] = self

    @property
    def max_attempts(self) -> int:
        return self.attempts or _defaults["attempts"]

    def handler(self, run: JobHandler[Payload]) -> JobHandler[Payload]:
        """Decorator for the function that runs the jobs of this kind."""
        self.run = run
        return run


_declared: dict[str, JobKind[Any]] = {}
_defaults = {"attempts": 5}


def use_default_attempts(count: int) -> None:
    """For kinds that set no number of their own, in this process."""
    _defaults["attempts"] = count


def declared_kinds() -> list[JobKind[Any]]:
    """Every kind that the imported modules declare."""
    return sorted(_declared.values(), key=lambda kind: kind.name)


def kinds_named(names: Iterable[str]) -> list[JobKind[Any]]:
    """The kinds of these names, or of the groups so named; or an error that lists the known ones."""
    found = {name: [kind for kind in declared_kinds() if name in (kind.name, kind.group)] for name in names}
    if unknown := sorted(name for name, kinds in found.items() if not kinds):
        known = sorted(_declared.keys() | {kind.group for kind in declared_kinds() if kind.group})
        raise NotFound(f"No job kind is named {', '.join(unknown)}; known are: {', '.join(known)}.")
    return list({kind.name: kind for kinds in found.values() for kind in kinds}.values())


def kind_in(module: str, name: str) -> JobKind[Any]:
    """The kind that a module declares; for the subprocess, which starts with nothing imported."""
    importlib.import_module(module)
    return kinds_named([name])[0]
