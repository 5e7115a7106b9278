"""The state of a discussion: agreement, dissent, mixed or none, with all that speaks for it. A pure function."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mnemon.mail.consensus.conclusions import Conclusion, conclusion_of
from mnemon.mail.consensus.discussion import DiscussedMessage, Discussion
from mnemon.mail.consensus.objections import Objection, objections_of
from mnemon.mail.consensus.reader import StanceReader
from mnemon.mail.consensus.said import sentences_of
from mnemon.mail.consensus.situation import situation_of
from mnemon.mail.consensus.stances import Stance, StanceStatement
from mnemon.mail.consensus.votes import Vote, standing_votes, votes_of

ConsensusType = Literal["agreement", "dissent", "mixed", "none"]
# A vote is plain; what a chair concludes is nearly as plain.
SURE_VOTE, SURE_CONCLUSION = 0.98, 0.95
TOOK_BACK_SUPPORT = re.compile(r"[+＋]\s?(?:0[.,]\d*[1-9]|1)")
# With fewer people nothing was agreed on; whoever opened the discussion is one of them.
FEWEST_PEOPLE = 2
# So many objectors to one supporter are no minority any more.
OVERRULED = 2


@dataclass(frozen=True, slots=True)
class Consensus:
    """What a discussion came to. `people` holds the stance that each speaker ended with."""

    type: ConsensusType
    confidence: float
    conclusion: Conclusion | None
    votes: tuple[Vote, ...]
    statements: tuple[StanceStatement, ...]
    objections: tuple[Objection, ...]
    people: dict[str, Stance]
    read_by: str

    @property
    def unresolved(self) -> tuple[Objection, ...]:
        return tuple(one for one in self.objections if one.is_unresolved)

    @property
    def supporters(self) -> list[str]:
        return [who for who, stance in self.people.items() if stance in ("support", "support_conditional", "withdraw")]

    def tally(self) -> dict[str, int]:
        """How many votes of each value stand."""
        counted: dict[str, int] = {}
        for vote in standing_votes(self.votes):
            counted[vote.value] = counted.get(vote.value, 0) + 1
        return dict(sorted(counted.items(), reverse=True))


def judge_discussion(discussion: Discussion, reader: StanceReader) -> Consensus:
    votes = votes_of(discussion)
    statements = statements_of(discussion, votes, reader)
    counted = [one for one in statements if one.counts and not _is_overruled(one, discussion, votes)]
    conclusion = conclusion_of(discussion, counted)
    objections = objections_of(discussion, counted)
    people = _people(counted, conclusion)
    kind, confidence = _judged(discussion.opener, people, objections, conclusion, votes)
    return Consensus(
        kind, confidence, conclusion, tuple(votes), tuple(statements), tuple(objections), people, reader.name
    )


def statements_of(discussion: Discussion, votes: Sequence[Vote], reader: StanceReader) -> list[StanceStatement]:
    """Votes as they are, and what the reader finds in all other sentences."""
    cast: dict[str, list[Vote]] = {}
    for vote in votes:
        cast.setdefault(vote.message_id, []).append(vote)
    found: list[StanceStatement] = []
    for message in discussion.messages:
        found += said_in(message, cast.get(message.message_id, []), discussion, reader)
    return found


def said_in(
    message: DiscussedMessage, own: Sequence[Vote], discussion: Discussion, reader: StanceReader
) -> list[StanceStatement]:
    """What one message says, its own votes first."""
    return [*map(_voted, own), *_read(message, own, discussion, reader)]


def _is_overruled(statement: StanceStatement, discussion: Discussion, votes: Sequence[Vote]) -> bool:
    """Whether it only sounds like an objection: beside a vote of its own that is not against, in answer to somebody who
    asks for help, where a correction is help, or by whoever made the proposal, who defends it."""
    if statement.stance != "object" or statement.found_by != "learned":
        return False
    return (
        discussion.asks_for_help
        or statement.speaker == discussion.opener
        or any(vote.message_id == statement.message_id and vote.value and not vote.against for vote in votes)
    )


def _voted(vote: Vote) -> StanceStatement:
    # Whoever takes back what was for it is against it.
    taken_back: Stance = "object" if TOOK_BACK_SUPPORT.search(vote.quote) else "withdraw"
    stance: Stance = taken_back if not vote.value else "object" if vote.against else "neutral"
    if vote.weight > 0:
        stance = "support"
    sure = SURE_VOTE if vote.kind != "implicit" else 0.7
    return StanceStatement(vote.message_id, vote.speaker, stance, vote.start, vote.end, vote.quote, sure, "vote")


def _read(
    message: DiscussedMessage, own: Sequence[Vote], discussion: Discussion, reader: StanceReader
) -> list[StanceStatement]:
    said = sentences_of(message.text, message.spans)
    voted = {(vote.start, vote.end) for vote in own}
    return [
        StanceStatement(
            message.message_id,
            message.speaker,
            one.stance,
            one.said.start,
            one.said.end,
            one.said.words,
            one.confidence,
            "formula" if one.by_formula else "learned",
        )
        for one in reader.judge(said, situation_of(message, discussion))
        if one.stance != "neutral" and (one.said.start, one.said.end) not in voted
    ]


def _people(statements: Sequence[StanceStatement], conclusion: Conclusion | None) -> dict[str, Stance]:
    """What each speaker ended with: their last vote, else the surest of what they said last for or against."""
    ended: dict[str, Stance] = {}
    voted: set[str] = set()
    for one in statements:
        if conclusion is not None and one.message_id == conclusion.message_id and one.found_by != "vote":
            continue
        if one.found_by == "vote":
            voted.add(one.speaker)
        elif one.speaker in voted and one.stance != "withdraw":
            continue
        if one.stance in ("support", "support_conditional", "object", "withdraw"):
            ended[one.speaker] = one.stance
    return ended


def _judged(
    opener: str | None,
    people: dict[str, Stance],
    objections: Sequence[Objection],
    conclusion: Conclusion | None,
    votes: Sequence[Vote],
) -> tuple[ConsensusType, float]:
    for_it = [who for who, stance in people.items() if stance != "object"]
    opposed = [one for one in objections if _is_opposed(one, people, votes)]
    if conclusion is not None:
        return _concluded(conclusion, len(for_it), len(opposed)), SURE_CONCLUSION
    if len({*people, opener}) < FEWEST_PEOPLE:
        return "none", 0.5
    standing = standing_votes(votes)
    sure = (
        0.9 if len(standing) >= FEWEST_PEOPLE and len(standing) * 2 >= len(people) else 0.5 + 0.05 * min(len(people), 4)
    )
    if not opposed:
        return ("agreement", sure) if for_it else ("none", 0.5)
    if not for_it or len(opposed) >= OVERRULED * len(for_it):
        return "dissent", sure
    return "mixed", sure


def _is_opposed(objection: Objection, people: dict[str, Stance], votes: Sequence[Vote]) -> bool:
    """Whether an objection stands in the way at the end: not beside a vote of its own that is not against. Where it
    only reads as one, what its speaker ended with says more."""
    who = objection.statement.speaker
    cast = [vote.against for vote in standing_votes(votes) if vote.speaker == who]
    if cast:
        # A vote against stands until its voter changes it, whatever was done to meet it.
        return any(cast)
    if not objection.is_unresolved:
        return False
    return people.get(who) == "object" or objection.statement.found_by != "learned"


def _concluded(conclusion: Conclusion, for_it: int, opposed: int) -> ConsensusType:
    """A chair may carry a matter over an objection; the objection still stands, so that is mixed, never dissent."""
    if conclusion.concluded == "passed":
        return "mixed" if opposed else "agreement"
    if conclusion.concluded == "no_consensus":
        return "mixed" if for_it >= FEWEST_PEOPLE else "dissent"
    return "dissent"
