"""Reads rows of a table into cells that know what they are about: task, owner, due, state, risk."""

import re
from dataclasses import dataclass

# Column headings, by what the column holds.
_COLUMNS: dict[str, str] = {
    "task": r"(?:next )?actions?(?: items?| taken| required)?|mitigation|tasks?|to ?-?do"
    r"|deliverables?|activity|work(?: item)?|milestones?|what"
    r"|aufgaben?|maßnahmen?|massnahmen?|was|tätigkeit|pendenz(?:en)?|auftrag|schritt",
    "owner": r"owners?|responsible|assignee|assigned(?: to)?|who|lead|person(?: responsible)?|by whom|in charge|pic"
    r"|wer|verantwort(?:lich(?:e[rn]?)?|ung)|zuständig(?:keit|e[rn]?)?|zust\.|verantw\.|bearbeiter(?:in)?",
    "due": r"due(?: date| on| by)?|date due|deadline|by(?: when)?|when|target(?: date)?|until|needed by|ready by"
    r"|bis(?: wann)?|frist|(?:ziel|end)?termin|fällig(?: am| bis)?|fälligkeit|wann|(?:zu )?erledig(?:t|en) bis|abgabe",
    "state": r"stat(?:us|e)|done\??|progress|stand|erledigt\??",
    "risk": r"risks?|issues?|problems?|blockers?|concerns?|bugs?|defects?"
    r"|risik(?:o|en)|probleme?|mangel|mängel|gefahr",
    "decision": r"decisions?|resolution|agreed|beschl(?:uss|üsse)|entscheidung(?:en)?",
    "feedback": r"feedback|comments?|complaints?|rückmeldung(?:en)?|beschwerden?",
    "change": r"changes?|änderung(?:en)?",
    "role": r"roles?|function|responsibilit(?:y|ies)|rolle|funktion",
    "name": r"names?|people|contact|personen?|kontakt",
}
_PATTERNS = {kind: re.compile(words, re.IGNORECASE) for kind, words in _COLUMNS.items()}
# "14.1", "R3", "#7": it counts rows and says nothing.
_NUMBERING = re.compile(r"#?[A-Za-z]{0,3}[-.]?[\d.]*")
# Over such a column stands no word for what it holds.
_COUNTS = re.compile(r"\W*|#|n[or]\.?|id|pos\.?|lfd\.?(?: nr\.?)?", re.IGNORECASE)
# A plan of who is where, as likely as a day that something is due.
_SCHEDULED = re.compile(r"\W*(?:when|wann|termin)\W*", re.IGNORECASE)
# What a row is about, where no person owes it by a day.
_MATTERS = frozenset({"task", "risk", "decision", "feedback", "change"})
_RULER = re.compile(r"\s*\|?[\s:|-]+\|?\s*$")
_CELL = {"|": re.compile(r"[^|]+"), ";": re.compile(r"[^;]*"), "\t": re.compile(r"[^\t]*")}


@dataclass(frozen=True)
class Table:
    """The separator, and what each column holds; None where the heading says nothing we know."""

    separator: str
    columns: tuple[str | None, ...]


@dataclass(frozen=True)
class TableRow:
    """Cells by kind, and the span from the first filled cell, a row's number left out, to the last one."""

    cells: dict[str, str]
    start: int
    end: int


def table_opening(line: str) -> Table | None:
    """A heading row: several cells, and at least one column that we know, or bars on both sides."""
    for separator in ("|", "\t", ";"):
        if line.count(separator) < 2 and not (separator != "|" and line.count(separator) == 1):
            continue
        columns = _columns(line, separator)
        known = [kind for kind in columns if kind]
        if len(columns) >= 2 and len(set(known)) >= (1 if separator == "|" else 2):
            return Table(separator, columns)
    framed = line.strip()
    if len(framed) > 2 and framed[0] == framed[-1] == "|" and framed.count("|") > 2:
        return Table("|", _columns(line, "|"))
    return None


def _columns(line: str, separator: str) -> tuple[str | None, ...]:
    """What each holds. Where a person and a day stand beside it, the first that we do not know is what is to be done,
    whatever it is called."""
    headings = [cell for _, _, cell in _cells(line, separator)]
    kinds = [_kind(cell) for cell in headings]
    due = [kind == "due" and not _SCHEDULED.fullmatch(cell) for kind, cell in zip(kinds, headings, strict=True)]
    if any(due) and "owner" in kinds and not _MATTERS & set(kinds):
        unnamed = (place for place, kind in enumerate(kinds) if kind is None and not _COUNTS.fullmatch(headings[place]))
        if (task := next(unnamed, None)) is not None:
            kinds[task] = "task"
    return tuple(kinds)


def is_ruler(line: str) -> bool:
    return "-" in line and _RULER.match(line) is not None


def read_row(line: str, offset: int, table: Table) -> TableRow | None:
    """None for a ruler, and for a line that is no row of this table."""
    if table.separator not in line or is_ruler(line):
        return None
    cells: dict[str, str] = {}
    begin = end = None
    for kind, (start, stop, cell) in zip(table.columns, _cells(line, table.separator), strict=False):
        if not cell:
            continue
        if kind:
            cells.setdefault(kind, cell)
        if begin is None and (kind or not _NUMBERING.fullmatch(cell)):
            begin = start
        if begin is not None:
            end = stop
    if begin is None or end is None:
        return None
    return TableRow(_with_task(cells), offset + begin, offset + end)


def _with_task(cells: dict[str, str]) -> dict[str, str]:
    """ "Mira: book the hall" under "Responsible", and no column for what is to be done."""
    who, colon, what = cells.get("owner", "").partition(": ")
    if not colon or not what.strip() or _MATTERS & set(cells):
        return cells
    return cells | {"owner": who.strip(), "task": what.strip()}


def read_record(line: str, offset: int) -> TableRow:
    """A row that names its values itself: "Task: report | Owner: Anna"."""
    cells: dict[str, str] = {}
    for _, _, cell in _cells(line, "|"):
        name, colon, value = cell.partition(":")
        if colon and (kind := _kind(name)) and value.strip():
            cells.setdefault(kind, value.strip())
    return TableRow(cells, offset, offset + len(line.rstrip()))


def _cells(line: str, separator: str) -> list[tuple[int, int, str]]:
    """Start, end and text of each cell, white space left out."""
    begin, stop = 0, len(line)
    if separator == "|":
        begin = line.find("|") + 1 if line.lstrip().startswith("|") else 0
        stop = line.rstrip().rfind("|") if line.rstrip().endswith("|") else len(line)
    cells, at = [], begin
    for piece in line[begin:stop].split(separator):
        text = piece.strip()
        start = at + len(piece) - len(piece.lstrip())
        cells.append((start, start + len(text), text))
        at += len(piece) + 1
    return cells


def _kind(heading: str) -> str | None:
    plain = heading.strip(" *_#:?")
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.fullmatch(plain)), None)
