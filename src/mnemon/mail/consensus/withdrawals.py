"""Objections that are taken back in fixed words, and the same words where nothing is taken back: denied, or bound to
what has still to come."""

import re

from mnemon.mail.consensus.stances import Stance

_CONCERNS = r"(?:objections?|concerns?|comments?|issues?|questions?|points?|worry|worries)"
_DEALT_WITH = r"(?:addressed|resolved|withdrawn|met|settled|answered|dealt|cleared)"
WITHDRAWN = re.compile(
    r"\bwithdraw(?:ing)? (?:my|the|our|that|this)\b|\b(?:retract|take back|taking back|scratch|drop|dropping|lift) "
    r"(?:my|our|the) (?:\S+ )?(?:objections?|concerns?|comments?|vote|[-+][01]|discuss|veto|nak|point)|"
    rf"\bclear(?:ed|ing)? my discuss|\b{_CONCERNS} (?:is|are|was|were|has been|have been) (?:now |all )?{_DEALT_WITH}|"
    r"\b(?:addresses|resolves|answers|settles|covers|meets|addressed|resolved|answered) (?:all (?:of )?)?(?:my|our) "
    rf"(?:\S+ )?{_CONCERNS}|"
    r"\b(?:objection|concern|-1|veto) (?:is |stands )?withdrawn|\bi stand corrected|"
    r"\b(?:nehme|ziehe)(?: ich)?(?: hiermit| damit| also)? (?:mein\w*|den|die|das) \S+ (?:hiermit |damit |also )?"
    r"zurück|"
    r"\b(?:einw[aä]nde?|bedenken) (?:ist|sind|wurden?|haben sich|hat sich) (?:damit |jetzt |nun |alle )?"
    r"(?:ausgeräumt|erledigt|behoben|vom tisch|hinfällig)|"
    r"\b(?:ist|sind|hat sich|haben sich) (?:mein\w*|unsere?|alle) (?:einw[aä]nde?|bedenken) (?:\w+ )?"
    r"(?:ausgeräumt|erledigt|behoben|vom tisch|hinfällig)",
    re.IGNORECASE,
)
# The denial is a part of these words.
NONE_LEFT = re.compile(
    r"\bno (?:further|more|longer (?:any|an|have)?)\s*(?:objections?|concerns?)|\b(?:i|we) no longer (?:object|"
    rf"oppose|insist)|\b(?:no|none of (?:my|our|the|these)) "
    rf"(?:\w+ )?{_CONCERNS} (?:still )?(?:remains?|stands?|left)\b|"
    r"\bnichts mehr dagegen|\bkeine? (?:\S+ )?(?:einw\w+|bedenken) (?:\w+ )?mehr",
    re.IGNORECASE,
)
DENIED = re.compile(
    r"\b(?:not(?! only)|never|cannot|none|nothing|neither|nor|hardly|unable|refuse|few|nicht(?! nur)|kein\w*)\b|"
    r"n['’]t\b",
    re.IGNORECASE,
)
_BOUND = r"if|unless|until|till|once|whether|provided|providing|subject to|as (?:soon|long) as|sobald|falls|sofern|bis"
BEFORE = re.compile(rf"\b(?:{_BOUND}|when|before|wenn|bevor|solange)\b", re.IGNORECASE)
AFTER = re.compile(rf"\b(?:{_BOUND})\b", re.IGNORECASE)
# "They were addressed when -04 came" has happened; "I will withdraw it when -05 comes" has not.
TO_COME = re.compile(
    r"(?:\b(?:will|would|can|could|may|might|shall|(?:happy|ready|willing|going) to|werde|würde|kann|könnte)|"
    r"['’](?:ll|d))\b",
    re.IGNORECASE,
)
WHEN = re.compile(r"\b(?:when|after|wenn|nachdem)\b", re.IGNORECASE)
CLAUSE = re.compile(r"[,;:.!?()–—]")


def withdrawal_in(words: str) -> Stance | None:
    """`withdraw` where something is taken back, `object` where that is refused, `support_conditional` where it would be
    done; None where the words speak of none of this, or of what is asked or supposed."""
    left = NONE_LEFT.search(words)
    if left is not None:
        return None if BEFORE.search(_before(words, left.start())) else "withdraw"
    found = WITHDRAWN.search(words)
    if found is None:
        return None
    before, after = _before(words, found.start()), words[found.end() :]
    if DENIED.search(before):
        return "object"
    if BEFORE.search(before):
        return None
    to_come = TO_COME.search(before) is not None
    bound = AFTER.search(after) or (to_come and WHEN.search(after))
    return "support_conditional" if bound else "withdraw"


def _before(words: str, start: int) -> str:
    """What stands before this place in the same clause."""
    return CLAUSE.split(words[:start])[-1]
