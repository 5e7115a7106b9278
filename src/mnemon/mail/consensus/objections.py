"""Objections and what became of them, as RFC 7282 asks: each is followed until it is met or taken back."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mnemon.mail.consensus.discussion import Discussion
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
    settled = settled or next((one for one in other if one.stance in ("support", "support_conditional")), None)
    if settled is not None:
        return Objection(main, "withdrawn", settled)
    answers = [
        message
        for message in discussion.messages[order[last.message_id] + 1 :]
        if message.parent == last.message_id and message.speaker != last.speaker
    ]
    state: ObjectionState = (
        "met" if any(MEETS.search(message.own_words) for message in answers) else "answered" if answers else "open"
    )
    return Objection(main, state, None, tuple(message.message_id for message in answers))
