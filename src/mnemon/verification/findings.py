"""What a check found, and how much it looked at."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from mnemon.documents.intake.files import Files
from mnemon.log.proof.witnesses import Witnesses
from mnemon.log_operations.fields import Parts
from mnemon.settings import Settings
from mnemon.work.schedule import Schedule

# Something that is wrong throughout would fill the report; the first places are what matters.
MOST_FINDINGS = 200
# Into how many parts the old is cut: each night looks at one of them.
NIGHTS = 7


class Verifiable(Parts, Protocol):
    """What the checks need of Mnemon."""

    @property
    def witnesses(self) -> Witnesses: ...
    @property
    def files(self) -> Files: ...
    @property
    def schedules(self) -> Sequence[Schedule]: ...
    @property
    def settings(self) -> Settings: ...


@dataclass(frozen=True, slots=True)
class VerifyFinding:
    """Something that is not as it was recorded, and where. Ids only: the log records it."""

    part: str
    where: str
    message: str

    def as_json(self) -> dict[str, str]:
        return {"part": self.part, "where": self.where, "message": self.message}


@dataclass(frozen=True, slots=True)
class Portion:
    """Which part of the old is looked at tonight, and since when all is new. Without one: everything."""

    number: int
    since: datetime


@dataclass(frozen=True)
class VerifyTask:
    """Whose data, how much of it, and what the last verification recorded."""

    parts: Verifiable
    tenant: UUID
    portion: Portion | None = None
    before: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class CheckReport:
    """One check: how many things it looked at, what it found, and what the next one should know."""

    part: str
    checked: int = 0
    findings: list[VerifyFinding] = field(default_factory=list)
    seconds: float = 0.0
    remembered: dict[str, Any] = field(default_factory=dict)
    _begun: float = field(default_factory=time.monotonic)

    def find(self, where: str, message: str) -> None:
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(VerifyFinding(self.part, where, message))

    def done(self) -> "CheckReport":
        self.seconds = time.monotonic() - self._begun
        return self
