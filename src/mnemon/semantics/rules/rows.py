"""Reads events from table rows: actions with owner and date, risks, decisions, roles."""

import re
from datetime import date

from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.extract.verify import evidence_at
from mnemon.semantics.rules.agents import split_names
from mnemon.semantics.rules.layout import Unit
from mnemon.semantics.rules.subjects import subject_of_cell
from mnemon.semantics.rules.times import dates_in, said_on
from mnemon.semantics.semantic_event import Candidate, Category, InvolvedActor

_DONE = re.compile(
    r"\b(?:done|completed?|closed|finished|shipped|delivered|yes|erledigt|fertig|gemacht|abgeschlossen|geliefert|ja)\b"
    r"|[✓✔☑]|\[x\]",
    re.IGNORECASE,
)
_NOT_DONE = re.compile(r"\b(?:not|nicht|noch|teilweise|fast)\b|\bin\s|\b(?:open|offen)\b|%", re.IGNORECASE)
_DROPPED = re.compile(
    r"\b(?:cancelled|canceled|dropped|obsolete|rejected|n/a|gestrichen|entfällt|abgesagt|verworfen)\b", re.IGNORECASE
)
_EMPTY = re.compile(
    r"[-–—.?]*|n/?a|none|tb[dca]\.?|nobody|unassigned|not assigned|open|(?:noch )?offen|unklar|niemand|keiner",
    re.IGNORECASE,
)


def read_table_row(revision: Revision, unit: Unit, chunk_id: str | None) -> Candidate | None:
    cells = {kind: cell for kind, cell in unit.cells.items() if not _EMPTY.fullmatch(cell)}
    due = _due(cells.get("due"), unit.day or revision.today)
    category, words = _category(cells, dated=due is not None)
    evidence = evidence_at(revision.text, unit.start, unit.end, chunk_id)
    if category is None or evidence is None:
        return None
    people = revision.people
    owners = tuple(
        InvolvedActor(people.called(name), "owner") for name in split_names(cells.get("owner", cells.get("name", "")))
    )
    commitment = category is Category.COMMITMENT
    return Candidate(
        category,
        _narrative(words, owners, cells),
        subject_of_cell(words, people, is_task="task" in cells),
        owners,
        evidence,
        confidence=0.0,
        event_time=said_on(unit, revision),
        due=due if commitment else None,
        kind="assignment" if commitment else None,
        rule=f"row_{category.value.lower()}",
    )


def _category(cells: dict[str, str], dated: bool) -> tuple[Category | None, str]:
    if task := cells.get("task"):
        state = cells.get("state", "")
        if _DROPPED.search(state):
            return None, ""
        done = _DONE.search(state) and not _NOT_DONE.search(state)
        if done or dated or "owner" in cells:
            return (Category.EXECUTION if done else Category.COMMITMENT), task
        return None, ""
    for kind, category in _BY_COLUMN.items():
        if words := cells.get(kind):
            return category, words
    if "role" in cells and "name" in cells:
        return Category.STAKEHOLDER, cells["role"]
    return None, ""


_BY_COLUMN = {
    "risk": Category.QUALITY_RISK,
    "decision": Category.DECISION,
    "feedback": Category.FEEDBACK,
    "change": Category.CHANGE,
}


def _narrative(words: str, owners: tuple[InvolvedActor, ...], cells: dict[str, str]) -> str:
    who = f"{', '.join(owner.ref for owner in owners)}: " if owners else ""
    until = f" (due {cells['due']})" if "due" in cells else ""
    return f"{who}{words}{until}"


def _due(cell: str | None, today: date | None) -> date | None:
    if not cell:
        return None
    mentions = dates_in(cell, today, "nearest")
    return mentions[0].period.last if mentions else None
