"""Puts what threads came to into lines of a report, each with its proof. A pure function."""

from collections.abc import Iterable, Sequence

from mnemon.mail.consensus.outputs import ConsensusShown, ObjectionShown, Said
from mnemon.reports.report import MailReport, ReportCitation, ReportKind, ReportLine, ReportSection

OUTCOMES = {
    "agreement": "Agreement",
    "dissent": "No agreement: the objections prevailed",
    "mixed": "Mixed: views stand against each other",
    "none": "Nothing was settled",
}
CONCLUDED = {"passed": "passed", "failed": "failed", "cancelled": "cancelled", "no_consensus": "no consensus"}
STATES = {
    "open": "Unresolved objection", "answered": "Objection, answered and not withdrawn", "met": "Objection, met",
    "withdrawn": "Objection, withdrawn",
}  # fmt: skip
# Of those who said the same, so many are quoted.
MOST_QUOTED = 3
MOST_CITED = 5


def draft_report(kind: ReportKind, title: str, threads: Iterable[ConsensusShown]) -> MailReport:
    """Threads in which nobody took a stance are left out of reports about several."""
    told = [one for one in threads if kind == "thread" or one.statements or one.votes]
    return MailReport(kind, title, tuple(_section(one, kind) for one in told))


def _section(thread: ConsensusShown, kind: ReportKind) -> ReportSection:
    lines = [_outcome(thread)]
    if thread.conclusion is not None:
        what = CONCLUDED[thread.conclusion.concluded]
        lines.append(_quoted(f"Concluded by {_who(thread.conclusion)}: {what}.", thread.conclusion))
    if thread.votes:
        lines.append(_votes(thread))
    lines += [line for one in thread.objections for line in _objection(one)]
    if kind in ("thread", "draft-focused"):
        lines += _support(thread)
    return ReportSection(thread.subject, thread.thread_id, thread.consensus_type, tuple(lines))


def _outcome(thread: ConsensusShown) -> ReportLine:
    proof: list[Said] = [thread.conclusion] if thread.conclusion else []
    proof += [vote for vote in thread.votes if not vote.changed]
    proof += [one for one in thread.statements if one.stance in ("support", "support_conditional", "object")]
    open_ones = f" {thread.unresolved} unresolved." if thread.unresolved else ""
    told = f"{OUTCOMES[thread.consensus_type]} (confidence {thread.confidence:.2f}).{open_ones}"
    return ReportLine(told, _cited(proof))


def _votes(thread: ConsensusShown) -> ReportLine:
    standing = [vote for vote in thread.votes if not vote.changed and vote.value]
    parts = []
    for value in thread.tally:
        names = [_voter(vote.name or vote.email, vote.binding, vote.kind) for vote in standing if vote.value == value]
        parts.append(f"{value}: {', '.join(names)}")
    return ReportLine(f"Votes. {'; '.join(parts)}.", tuple(_citation(vote) for vote in standing))


def _voter(name: str, binding: bool | None, kind: str) -> str:
    marks = [{True: "binding", False: "non-binding", None: ""}[binding], "implicit" if kind == "implicit" else ""]
    told = ", ".join(mark for mark in marks if mark)
    return f"{name} ({told})" if told else name


def _objection(one: ObjectionShown) -> list[ReportLine]:
    lines = [_quoted(f"{STATES[one.state]}, by {_who(one)}:", one)]
    if one.settled_by is not None:
        lines.append(_quoted(f"Settled by {_who(one.settled_by)}:", one.settled_by))
    return lines


def _support(thread: ConsensusShown) -> list[ReportLine]:
    spoken = [one for one in thread.statements if one.found_by != "vote" and one.stance.startswith("support")]
    best = sorted(spoken, key=lambda one: -one.confidence)[:MOST_QUOTED]
    return [_quoted(f"In favour, {_who(one)}:", one) for one in best]


def _quoted(told: str, said: Said) -> ReportLine:
    return ReportLine(told, (_citation(said),), said.quote)


def _who(said: Said) -> str:
    name = said.name or said.email
    return f"{name}, {said.date.date().isoformat()}" if said.date else name


def _cited(proof: Sequence[Said]) -> tuple[ReportCitation, ...]:
    return tuple(dict.fromkeys(_citation(one) for one in proof))[:MOST_CITED]


def _citation(said: Said) -> ReportCitation:
    return ReportCitation(
        said.message_id, said.doc_version_id, said.start, said.end, said.quote, said.name or said.email, said.date
    )
