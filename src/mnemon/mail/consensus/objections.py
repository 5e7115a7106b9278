"""Objections and what became of them, as RFC 7282 asks: each is followed until it is met or taken back."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mnemon.mail.consensus.discussion import DiscussedMessage, Discussion
from mnemon.mail.consensus.formulas import ASKS
from mnemon.mail.consensus.said import sentences_of
from mnemon.mail.consensus.stances import StanceStatement

# Open: nobody answered. Answered: somebody did, the objector said no more. Met: a change was made or promised and the
# objector said no more. Withdrawn: by the objector.
ObjectionState = Literal["open", "answered", "met", "withdrawn"]
UNRESOLVED: tuple[ObjectionState, ...] = ("open", "answered")

MEETS = re.compile(
    r"\b(?:fixed|done|added|changed|removed|updated|corrected|dropped|reworded|renamed|reverted|rebuilt|moved)\b|"
    r"\b(?:i|we)(?:'ll|’ll| will| have|'ve|’ve) (?:now |just )?(?:fix|add|change|remove|update|correct|drop|"
    r"reword|rename|revert|take|split|"
    r"make|move|put|include|clarify)\w*|\bnew (?:text|version|revision|candidate|patch)\b|\bin -\d\d\b|"
    r"\bv\d+ (?:follows|attached|is)|"
    r"\b(?:geändert|ergänzt|gestrichen|behoben|erledigt)\b",
    re.IGNORECASE,
)
# A change that is denied, wished for or supposed meets nothing.
NOT_MET = re.compile(
    r"\b(?:not|never|cannot|nothing|none|nobody|without|refuse|nicht|nichts|kein\w*|ohne|should|would|could|must|"
    r"have to be|has to be|needs?|wants?|like|wish|hope|wait\w*|if|unless|until|till|whether|before|why|sollte\w*|"
    r"müsste\w*|muss|wenn|falls|bis|bevor)\b|n['’]t\b|['’]d\b",
    re.IGNORECASE,
)
# As an answer: "Should be fixed in -03".
DONE_NOW = re.compile(r"\bshould be (?:now )?\w+ (?:now|in (?:-\d|v\d|rc|the (?:new|latest|current)))", re.IGNORECASE)
CLAUSE = re.compile(r"[,;:.!?()–—]")


@dataclass(frozen=True, slots=True)
class Objection:
    """The words that object, and those that answered or settled it."""

    statement: StanceStatement
    state: ObjectionState
    settled_by: StanceStatement | None = None
    answered_in: tuple[str, ...] = ()

    @property
    def is_unresolved(self) -> bool:
        return self.state in UNRESOLVED


def objections_of(discussion: Discussion, statements: Sequence[StanceStatement]) -> list[Objection]:
    """One for each objector: their surest words, judged by what they and others said after them."""
    order = {message.message_id: place for place, message in enumerate(discussion.messages)}
    by_speaker: dict[str, list[StanceStatement]] = {}
    for one in sorted(statements, key=lambda each: (order[each.message_id], each.start)):
        by_speaker.setdefault(one.speaker, []).append(one)
    found = []
    for own in by_speaker.values():
        objecting = [one for one in own if one.stance == "object"]
        if objecting:
            found.append(_followed(discussion, own, objecting, order))
    return found


def _followed(
    discussion: Discussion, own: Sequence[StanceStatement], objecting: Sequence[StanceStatement], order: dict[str, int]
) -> Objection:
    main = max(objecting, key=lambda one: (one.confidence, -order[one.message_id]))
    last = objecting[-1]
    later = own[own.index(last) + 1 :]
    settled = next((one for one in later if one.stance == "withdraw"), None)
    other = [one for one in later if one.message_id != last.message_id]
    settled = settled or next((one for one in other if one.stance == "support" and _settles(one, discussion)), None)
    if settled is not None:
        return Objection(main, "withdrawn", settled)
    # Who would agree on a condition still objects: what answers that is what counts.
    last = next((one for one in reversed(other) if one.stance == "support_conditional"), last)
    answers = [
        message
        for message in discussion.messages[order[last.message_id] + 1 :]
        if message.parent == last.message_id and message.speaker != last.speaker
    ]
    state: ObjectionState = "met" if any(map(_meets, answers)) else "answered" if answers else "open"
    return Objection(main, state, None, tuple(message.message_id for message in answers))


def _settles(support: StanceStatement, discussion: Discussion) -> bool:
    """Whether support takes back what its speaker objected: a vote does, and what is said to whoever answered them.
    Agreement with others may be about anything; what only reads as support has to be said to whoever proposed it."""
    if support.found_by == "vote":
        return True
    said_to = discussion.by_id.get(discussion.by_id[support.message_id].parent or "")
    if said_to is None:
        return False
    objected = discussion.by_id.get(said_to.parent or "")
    was_answered = objected is not None and objected.speaker == support.speaker
    is_opener = said_to.speaker == discussion.opener
    return was_answered and is_opener if support.found_by == "learned" else was_answered or is_opener


def _meets(answer: DiscussedMessage) -> bool:
    """Whether an answer says that something was changed, or will be."""
    for said in sentences_of(answer.text, answer.spans):
        if ASKS.search(said.words):
            continue
        for found in MEETS.finditer(said.words):
            before = CLAUSE.split(said.words[: found.start()])[-1]
            if not NOT_MET.search(before) or DONE_NOW.search(said.words):
                return True
    return False
