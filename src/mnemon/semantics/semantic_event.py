"""The shapes of extraction: a candidate found in one chunk, and the semantic event that a revision keeps."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Literal


class Category(StrEnum):
    COMMITMENT = "Commitment"
    EXECUTION = "Execution"
    DECISION = "Decision"
    COLLABORATION = "Collaboration"
    QUALITY_RISK = "QualityRisk"
    FEEDBACK = "Feedback"
    CHANGE = "Change"
    STAKEHOLDER = "Stakeholder"


# Less likely right than wrong: a suggestion, which neither answers nor lists of commitments present as a fact.
FACT_CONFIDENCE = 0.5

ActorRole = Literal["owner", "contributor", "reviewer", "stakeholder", "other"]
SubjectType = Literal["person", "project", "object", "other"]
# A commitment is promised by its owner, given to its owner, or asked of its owner.
CommitmentKind = Literal["promise", "assignment", "request"]
# "stated": the quote itself says it. "inferred": a model put it in words that the quote does not hold.
StatementOrigin = Literal["stated", "inferred"]


@dataclass(frozen=True)
class InvolvedActor:
    ref: str
    role: ActorRole = "contributor"

    def as_json(self) -> dict[str, str]:
        return {"ref": self.ref, "role": self.role}


@dataclass(frozen=True)
class Subject:
    ref: str
    type: SubjectType = "other"

    def as_json(self) -> dict[str, str]:
        return {"type": self.type, "ref": self.ref}


@dataclass(frozen=True, order=True)
class Evidence:
    """`text[start:end] == quote` in the revision's text, counted in code points."""

    start: int
    end: int
    quote: str
    chunk_id: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {"quote": self.quote, "start_char": self.start, "end_char": self.end, "chunk_id": self.chunk_id}


@dataclass(frozen=True)
class Candidate:
    """What one chunk says, with the one quote that says it."""

    category: Category
    narrative: str
    subject: Subject
    actors: tuple[InvolvedActor, ...]
    evidence: Evidence
    confidence: float
    event_time: datetime | None = None
    due: date | None = None
    kind: CommitmentKind | None = None
    origin: StatementOrigin = "stated"
    rule: str = ""


@dataclass(frozen=True)
class SemanticEvent:
    """What a revision says, with every quote that says it. The same findings give the same id."""

    event_id: str
    category: Category
    narrative: str
    subject: Subject
    actors: tuple[InvolvedActor, ...]
    evidence: tuple[Evidence, ...]
    confidence: float
    event_time: datetime | None = None
    due: date | None = None
    kind: CommitmentKind | None = None
    origin: StatementOrigin = "stated"
    rules: tuple[str, ...] = field(default=())

    def as_json(self) -> dict[str, Any]:
        return {
            "event_id": self.event_id,
            "category": self.category.value,
            "narrative": self.narrative,
            "subject": self.subject.as_json(),
            "actors": [actor.as_json() for actor in self.actors],
            "event_time": self.event_time.isoformat() if self.event_time else None,
            "due": self.due.isoformat() if self.due else None,
            "kind": self.kind,
            "origin": self.origin,
            "confidence": self.confidence,
            "evidence": [{"evidence_id": evidence_id(self.event_id, each), **each.as_json()} for each in self.evidence],
        }


def event_id(revision_id: str, category: Category, evidence: Iterable[Evidence]) -> str:
    spans = ";".join(f"{each.start}-{each.end}" for each in sorted(evidence))
    return "evt_" + _digest(revision_id, category.value, spans)


def evidence_id(event: str, evidence: Evidence) -> str:
    return "evi_" + _digest(event, str(evidence.start), str(evidence.end))


def _digest(*parts: str) -> str:
    """32 hexadecimal digits, so that the id also fits a UUID column."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
