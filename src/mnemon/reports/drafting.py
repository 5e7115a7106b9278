"""Puts what threads came to into lines of a report, each with its proof. A pure function."""

from collections.abc import Iterable, Sequence

from mnemon.mail.consensus.outputs import ConsensusShown, ObjectionShown, Said, VoteShown
from mnemon.reports.report import MailReport, ReportCitation, ReportKind, ReportLine, ReportSection

# Of those who said the same, so many are quoted.
MOST_QUOTED = 3
MOST_CITED = 5
URGENCY = ("mixed", "dissent", "agreement", "none")


def draft_report(kind: ReportKind, title: str, threads: Iterable[ConsensusShown]) -> MailReport:
    """What is disputed comes first, then what was concluded. Threads in which nobody took a stance are left out of
    reports about several."""
    told = [one for one in threads if kind == "thread" or one.statements or one.votes]
    told.sort(key=lambda one: (not one.unresolved, one.conclusion is None, URGENCY.index(one.consensus_type)))
    return MailReport(kind, title, tuple(_section(one, kind) for one in told))


def _section(thread: ConsensusShown, kind: ReportKind) -> ReportSection:
    lines = [_outcome(thread)]
    if thread.conclusion is not None:
        lines.append(_line("concluded", thread.conclusion, concluded=thread.conclusion.concluded))
    if votes := [vote for vote in thread.votes if not vote.changed and vote.value]:
        lines.append(_votes(votes))
    lines += [line for one in thread.objections for line in _objection(one)]
    if kind in ("thread", "draft-focused"):
        lines += _support(thread)
    return ReportSection(
        thread.subject, thread.thread_id, thread.thread_key, thread.consensus_type, tuple(lines)
    )  # fmt: skip


def _outcome(thread: ConsensusShown) -> ReportLine:
    proof: list[Said] = [thread.conclusion] if thread.conclusion else []
    proof += [vote for vote in thread.votes if not vote.changed]
    proof += [one for one in thread.statements if one.stance in ("support", "support_conditional", "object")]
    # A question that nobody answered with a stance: what was said is all that shows that nothing was settled.
    proof += thread.statements if not proof else []
    details = {
        "type": thread.consensus_type, "confidence": round(thread.confidence, 2), "unresolved": thread.unresolved,
        "concluded": thread.conclusion is not None,
    }  # fmt: skip
    return ReportLine("outcome", _cited(proof), details)


def _votes(votes: Sequence[VoteShown]) -> ReportLine:
    details = [{"value": one.value, "binding": one.binding, "kind": one.kind} for one in votes]
    return ReportLine("votes", tuple(_citation(vote) for vote in votes), {"votes": details})


def _objection(one: ObjectionShown) -> list[ReportLine]:
    lines = [_line("objection", one, state=one.state, found_by=one.found_by)]
    if one.settled_by is not None:
        lines.append(_line("settled", one.settled_by))
    return lines


def _support(thread: ConsensusShown) -> list[ReportLine]:
    spoken = [one for one in thread.statements if one.found_by != "vote" and one.stance.startswith("support")]
    best = sorted(spoken, key=lambda one: -one.confidence)[:MOST_QUOTED]
    return [_line("support", one, stance=one.stance) for one in best]


def _line(says: str, said: Said, **details: str) -> ReportLine:
    return ReportLine(says, (_citation(said),), details)  # type: ignore[arg-type]


def _cited(proof: Sequence[Said]) -> tuple[ReportCitation, ...]:
    return tuple(dict.fromkeys(_citation(one) for one in proof))[:MOST_CITED]


def _citation(said: Said) -> ReportCitation:
    return ReportCitation(
        said.message_id, said.message_key, said.doc_version_id, said.start, said.end, said.quote,
        said.name or said.email, said.date,
    )  # fmt: skip
