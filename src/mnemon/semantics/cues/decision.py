"""Cues for choices that were made, approvals and refusals."""

from mnemon.semantics.cues.cue import PEOPLE, cue
from mnemon.semantics.cues.verbs import DIRECTION, TASK
from mnemon.semantics.semantic_event import Category

_D = Category.DECISION
# "Exceptions are decided case by case" tells of a custom, not of a decision.
_NO_CUSTOM = r"(?<!\bbe\ )(?<!\bare\ )(?<!\bis\ )(?<!being\ )(?<!\bget\ )(?<!\bto\ )"
_APPROVED = (
    r"(?:approved|authori[sz]ed|signed off|green-?lit|ratified|endorsed|adopted|vetoed|rejected|declined"
    r"|accepted)"
)

DECISION_CUES = (
    cue(
        "decision_label",
        _D,
        r"^\W*(?:decision(?: #?\d+)?|decided|agreed|resolved|resolution)\s*[:–—-]\s*",
        strength=5,
        in_condition=True,
        when_tentative=True,
        when_denied=True,
    ),
    cue(
        "decided",
        _D,
        rf"\b{_NO_CUSTOM}(?:decided|resolved (?:to|that)|opted|made (?:the|a) decision|made up our mind|chose"
        r"|chosen|settled on|landed on|concluded that we|ruled (?:out|that))\b",
        strength=3,
    ),
    cue("decided_impersonal", _D, r"\bit(?: is|'s| was) (?:now )?(?:decided|agreed|settled)\b", strength=3),
    cue(
        "agreed",
        _D,
        rf"\b{_NO_CUSTOM}agreed\b(?!-?\s*upon| with\b)",
        strength=3,
        agents=frozenset({"we", "they", "group"}),
    ),
    cue(
        "one_agreed",
        _D,
        rf"\b{_NO_CUSTOM}agreed\b(?! to (?:{TASK}|take)\b|-?\s*upon| with\b)",
        strength=3,
        agents=PEOPLE,
    ),
    cue("agreed_clipped", _D, r"^\W*(?:ok(?:ay)?,? |yes,? |fine,? )?agreed, \w+", strength=3, clipped=True),
    cue(
        "consensus",
        _D,
        r"\b(?:consensus|agreement) (?:is (?:to|that)|was (?:to|that|reached)|reached)\b|\ball in favou?r of\b"
        r"|\bunanimously\b",
        strength=3,
    ),
    cue(
        "approved",
        _D,
        rf"\b{_NO_CUSTOM}(?:{_APPROVED}|gave (?:the )?(?:green light|go-ahead|approval)|voted (?:for|against|to"
        r"|\w+ to \w+)|turned down)\b",
        strength=3,
        agents=PEOPLE,
    ),
    cue("approved_by", _D, rf"\b{_APPROVED} by (?:the |our )?\w+", strength=3, about="before"),
    cue(
        "was_approved",
        _D,
        rf"\b(?:was|were|has been|have been) (?:\w+ly )?(?:{_APPROVED}|defeated|voted down|turned down)\b"
        r"|\b(?:motion|proposal|resolution) (?:was )?(?:carried|passed|failed|defeated)\b",
        strength=3,
    ),
    cue("we_accept", _D, r"\bwe (?:accept|reject|approve|choose|decline|refuse)\b", strength=3),
    cue(
        "accepts",
        _D,
        r"\b(?:accepts|rejects|approves|declines|vetoes) (?:the|our|your|this|that|both)\b",
        strength=3,
        agents=PEOPLE,
    ),
    cue(
        "going_with",
        _D,
        r"\b(?:we(?:'re| are)|team is|board is|they're) (?:now )?(?:going|sticking"
        r"|staying) (?:ahead )?with\b(?! (?:me|you|him|her|us|them)\b)|\bwe(?:'ll| will) (?:go|stick"
        r"|stay) (?:ahead )?with\b",
        strength=3,
    ),
    cue(
        "direction",
        _D,
        r"(?:\bwe(?:'re| are) (?:not )?going to|\bwe(?:'ll| will)|\bwe (?:won't|will not"
        rf"|will no longer)) (?:now |not )?{DIRECTION}\b",
        strength=3,
        when_denied=True,
    ),
    cue(
        "willing",
        _D,
        r"\bwe(?:'re| are) (?:happy|willing|ready|prepared) to (?:extend|offer|pay|reduce|accept|give|grant"
        r"|waive|provide|cover|share|take on)\b",
    ),
    cue("lets", _D, rf"\blet's {DIRECTION}\b(?! (?:here|there|now)\b)", strength=3),
    cue(
        "decision_is",
        _D,
        r"\b(?:it's a deal|the (?:final )?decision (?:is|was) (?:to|that|not)|decision made)\b",
        strength=3,
    ),
)
