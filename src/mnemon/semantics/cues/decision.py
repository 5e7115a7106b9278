"""Cues for choices that were made, approvals and refusals."""

from mnemon.semantics.cues.cue import PEOPLE, cue
from mnemon.semantics.cues.verbs import DIRECTION, TASK
from mnemon.semantics.semantic_event import Category

_D = Category.DECISION
# "Exceptions are decided case by case" tells of a custom, not of a decision.
_NO_CUSTOM = r"(?<!\bbe )(?<!\bare )(?<!\bis )(?<!being )(?<!\bget )(?<!\bto )"
_APPROVED = (
    r"(?:approved|authori[sz]ed|signed\s+off|green-?lit|ratified|endorsed|adopted|vetoed|rejected|declined|accepted)"
)

DECISION_CUES = (
    cue("decision_label", _D, r"^\W*(?:decision(?:\s+#?\d+)?|decided|agreed|resolved|resolution)\s*[:–—-]\s*", strength=5, in_condition=True, when_tentative=True, when_denied=True),
    cue("decided", _D, rf"\b{_NO_CUSTOM}(?:decided|resolved\s+(?:to|that)|opted|made\s+(?:the|a)\s+decision|made\s+up\s+our\s+mind|chose|chosen|settled\s+on|landed\s+on|concluded\s+that\s+we|ruled\s+(?:out|that))\b", strength=3),
    cue("decided_impersonal", _D, r"\bit(?:\s+is|'s|\s+was)\s+(?:now\s+)?(?:decided|agreed|settled)\b", strength=3),
    cue("agreed", _D, rf"\b{_NO_CUSTOM}agreed\b(?!\s+to\s+(?:{TASK}|take)\b|-?\s*upon|\s+with\b)", strength=3, agents=PEOPLE),
    cue("agreed_clipped", _D, r"^\W*(?:ok(?:ay)?,?\s+|yes,?\s+|fine,?\s+)?agreed,\s+\w+", strength=3, clipped=True),
    cue("consensus", _D, r"\b(?:consensus|agreement)\s+(?:is\s+(?:to|that)|was\s+(?:to|that|reached)|reached)\b|\ball\s+in\s+favou?r\s+of\b|\bunanimously\b", strength=3),
    cue("approved", _D, rf"\b{_NO_CUSTOM}(?:{_APPROVED}|gave\s+(?:the\s+)?(?:green\s+light|go-ahead|approval)|voted\s+(?:for|against|to|\w+\s+to\s+\w+)|turned\s+down)\b", strength=3, agents=PEOPLE),
    cue("approved_by", _D, rf"\b{_APPROVED}\s+by\s+(?:the\s+|our\s+)?\w+", strength=3, about="before"),
    cue("was_approved", _D, rf"\b(?:was|were|has\s+been|have\s+been)\s+(?:\w+ly\s+)?(?:{_APPROVED}|defeated|voted\s+down|turned\s+down)\b|\b(?:motion|proposal|resolution)\s+(?:was\s+)?(?:carried|passed|failed|defeated)\b", strength=3),
    cue("we_accept", _D, r"\bwe\s+(?:accept|reject|approve|choose|decline|refuse)\b", strength=3),
    cue("going_with", _D, r"\b(?:we(?:'re|\s+are)|team\s+is|board\s+is|they're)\s+(?:now\s+)?(?:going|sticking|staying)\s+(?:ahead\s+)?with\b(?!\s+(?:me|you|him|her|us|them)\b)|\bwe(?:'ll|\s+will)\s+(?:go|stick|stay)\s+(?:ahead\s+)?with\b", strength=3),
    cue("direction", _D, rf"(?:\bwe(?:'re|\s+are)\s+(?:not\s+)?going\s+to|\bwe(?:'ll|\s+will)|\bwe\s+(?:won't|will\s+not|will\s+no\s+longer))\s+(?:now\s+|not\s+)?{DIRECTION}\b", strength=3, when_denied=True),
    cue("willing", _D, r"\bwe(?:'re|\s+are)\s+(?:happy|willing|ready|prepared)\s+to\s+(?:extend|offer|pay|reduce|accept|give|grant|waive|provide|cover|share|take\s+on)\b"),
    cue("lets", _D, rf"\blet's\s+{DIRECTION}\b(?!\s+(?:here|there|now)\b)", strength=3),
    cue("decision_is", _D, r"\b(?:it's\s+a\s+deal|the\s+(?:final\s+)?decision\s+(?:is|was)\s+(?:to|that|not)|decision\s+made)\b", strength=3),
)  # fmt: skip
