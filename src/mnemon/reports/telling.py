"""What a line of a report says, in a sentence, and what is quoted below it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mnemon.reports.report import LineKind, ReportCitation, ReportLine

SETTLED = {
    "agreement": "Agreement.",
    "dissent": "No agreement: the objections prevailed.",
    "mixed": "No consensus: views stand against each other.",
    "none": "Nothing was settled.",
}
# Nobody has concluded it: this is what was read in the words of all.
LEANING = {
    "agreement": "Leans to agreement",
    "dissent": "Leans to disagreement",
    "mixed": "Views stand against each other",
    "none": "Nothing was settled",
}
CONCLUDED = {"passed": "passed", "failed": "failed", "cancelled": "cancelled", "no_consensus": "no consensus"}
STATES = {
    "open": "unresolved", "answered": "answered, and not withdrawn", "met": "met by a change", "withdrawn": "withdrawn",
}  # fmt: skip
QUOTED: frozenset[LineKind] = frozenset({"concluded", "objection", "settled", "support"})
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip


def told(line: ReportLine) -> str:
    """One line of plain text. Names are those of the messages that it cites."""
    details = line.details
    match line.says:
        case "outcome":
            return _outcome(details)
        case "votes":
            return f"Votes. {_votes(line)}."
        case "concluded":
            return f"Concluded by {_who(line.citations[0])}: {CONCLUDED[details['concluded']]}."
        case "objection":
            # What no fixed words say is told as what it is: a reading.
            what = "What reads as an objection by" if details.get("found_by") == "learned" else "Objection by"
            return f"{what} {_who(line.citations[0])}, {STATES[details['state']]}:"
        case "settled":
            return f"Settled by {_who(line.citations[0])}:"
        case "support":
            how = ", with conditions" if details["stance"] == "support_conditional" else ""
            return f"In favour{how}: {_who(line.citations[0])}:"
    return line.sentence


def quoted(line: ReportLine) -> str:
    return line.citations[0].quote if line.says in QUOTED and line.citations else ""


def day_of(moment: datetime) -> str:
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


def _who(one: ReportCitation) -> str:
    return f"{one.name}, {day_of(one.date)}" if one.date else one.name


def _outcome(details: Mapping[str, Any]) -> str:
    kind, count = details["type"], details["unresolved"]
    still = {0: "", 1: " One objection is unresolved."}.get(count, f" {count} objections are unresolved.")
    if details["concluded"]:
        return SETTLED[kind] + still
    return f"{LEANING[kind]}; nobody has concluded it (confidence {details['confidence']:.2f}).{still}"


def _votes(line: ReportLine) -> str:
    groups: dict[str, list[str]] = {}
    for vote, citation in zip(line.details["votes"], line.citations, strict=True):
        groups.setdefault(vote["value"], []).append(_voter(citation.name, vote))
    return "; ".join(f"{value}: {', '.join(groups[value])}" for value in sorted(groups, key=_rank))


def _rank(value: str) -> tuple[float, str]:
    """What is for comes first: +1, +0, 0, -0, -1; words of another kind come last."""
    try:
        return -float(value), value
    except ValueError:
        return 1_000.0, value


def _voter(name: str, vote: Mapping[str, Any]) -> str:
    marks = [
        {True: "binding", False: "non-binding", None: ""}[vote["binding"]],
        "implicit" if vote["kind"] == "implicit" else "",
    ]
    said = ", ".join(mark for mark in marks if mark)
    return f"{name} ({said})" if said else name
