"""What a semantic event is once people have spoken: its reading, with what they said in turn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

from mnemon.semantics.semantic_event import Category

Verdict = Literal["confirm", "done", "reopen", "dismiss", "restore"]
StoodAs = Literal["open", "done", "dismissed"]
# What becomes of an event when this is said of it; `restore` leaves it to what was read.
STANDS_AS: dict[str, StoodAs | None] = {
    "done": "done", "reopen": "open", "dismiss": "dismissed", "restore": None, "merged": "dismissed",
    "split": "dismissed",
}  # fmt: skip
# What each of these is called where the event is shown; an edit is told by the fields that it changed.
TOLD = {
    "confirm": "confirmed", "done": "done", "reopen": "reopened", "dismiss": "dismissed", "merge": "merged",
    "merged": "merged", "split": "split", "part": "split", "link": "linked", "unlink": "unlinked",
}  # fmt: skip
EDITED = ("category", "owner", "due", "subject")


@dataclass(frozen=True)
class SaidCorrection:
    """One thing that a person said about an event."""

    action: str
    words: dict[str, Any]
    by: str
    at: datetime
    other_id: str | None = None


@dataclass
class CorrectedFields:
    """The fields of an event that a person can change."""

    category: str
    subject_type: str
    subject_ref: str
    actors: list[dict[str, str]]
    due: date | None
    kind: str | None
    confidence: float
    stood: StoodAs | None = None
    stood_since: datetime | None = None
    correction: list[str] = field(default_factory=list)
    merged_into: str | None = None


def corrected(as_read: dict[str, Any], said: Sequence[SaidCorrection]) -> CorrectedFields:
    """In the order in which it was said. Whoever changes or keeps an event vouches for it: it is a fact then."""
    due = as_read["due"]
    event = CorrectedFields(
        as_read["category"], as_read["subject_type"], as_read["subject_ref"], list(as_read["actors"]),
        date.fromisoformat(due) if due else None, as_read["kind"], as_read["confidence"],
    )  # fmt: skip
    for one in said:
        if one.action == "edit":
            _edit(event, one.words)
        if one.action in STANDS_AS:
            event.stood = STANDS_AS[one.action]
            event.stood_since = one.at if event.stood else None
            event.merged_into = one.other_id if one.action == "merged" else None
        if one.action not in ("dismiss", "restore", "merged", "split", "unlink"):
            event.confidence = 1.0
    if event.category != Category.COMMITMENT:
        event.due, event.kind = None, None
    event.correction = _told(event, said)
    return event


def _edit(event: CorrectedFields, words: dict[str, Any]) -> None:
    if "category" in words:
        event.category = words["category"]
    if "subject" in words:
        event.subject_ref, event.subject_type = words["subject"], "other"
    if "due" in words:
        event.due = date.fromisoformat(words["due"]) if words["due"] else None
    if "owner" in words:
        event.actors = _owned_by(words["owner"], event.actors)


def _owned_by(owner: str | None, actors: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """Who was said to own it before took no part in it, as far as anybody knows."""
    others = [one for one in actors if one["role"] != "owner" and one["ref"] != owner]
    return [{"ref": owner, "role": "owner"}, *others] if owner else others


def _told(event: CorrectedFields, said: Iterable[SaidCorrection]) -> list[str]:
    """Each thing once, in the order in which it was first said; of what became of the event only the last."""
    told: list[str] = []
    for one in said:
        names = [name for name in EDITED if name in one.words] if one.action == "edit" else [TOLD.get(one.action, "")]
        told += [name for name in names if name and name not in told]
    stale = {"done", "reopened", "dismissed"} - {_standing(said)}
    return [name for name in told if name not in stale]


def _standing(said: Iterable[SaidCorrection]) -> str:
    last = [one.action for one in said if one.action in STANDS_AS]
    return TOLD.get(last[-1], "") if last else ""
