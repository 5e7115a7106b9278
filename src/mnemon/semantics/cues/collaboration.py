"""Cues for meetings, discussions, hand-overs and joint work that took place."""

from mnemon.semantics.agents import AgentKind
from mnemon.semantics.cues.cue import cue, one_of
from mnemon.semantics.semantic_event import Category

_C = Category.COLLABORATION
_OCCASION = one_of(
    "call meeting session chat workshop lunch review discussion sync conversation interview kick-off kickoff stand-up retrospective visit"
)
_ACTIVE: frozenset[AgentKind] = frozenset({"self", "we", "pronoun", "they", "person", "name", "group"})

COLLABORATION_CUES = (
    cue("met", _C, r"(?<!can be )(?<!be )\b(?:met\s+(?:with|up|the|in|on|to|(?-i:[A-Z]))|talked\s+(?:to|with|it\s+over|about)|spoke\s+(?:to|with|about)|discussed|sat\s+down\s+with|caught\s+up\s+with|synced|paired\s+(?:with|on|up)|brainstormed|went\s+through\s+.{2,40}\s+with"
        r"|worked\s+(?:together|with|alongside)|collaborated|teamed\s+up|co-wrote|consulted|walked\s+(?:me|us|him|her|them|(?-i:[A-Z])\w+)\s+through|visited|hosted|handed\s+over|handed\s+off|interviewed)\b(?<!as we discussed)", agents=_ACTIVE),
    cue("held", _C, rf"\b(?:had|held|attended|joined|hosted|ran)\s+(?:an?|our|the|my|another)\s+(?:[\w-]+\s+){{0,3}}?{_OCCASION}\b"),
    cue("took_place", _C, rf"\b{_OCCASION}\s+(?:took\s+place|was\s+held|happened)\b", strength=3, about="before"),
    cue("talked_clipped", _C, rf"^\W*(?:(?:[\d.]+\s+\w+|\w+day)\s*:\s*)?(?:met|talked|spoke|sat\s+down|synced|caught\s+up)\b.*\bwith\b|^\W*(?:(?:[\d.]+\s+\w+|\w+day)\s*:\s*)?(?:[\w-]+\s+)?{_OCCASION}\s+with\b", clipped=True),
    cue("occasion_with", _C, rf"^\W*(?:(?:[\d.]+\s+\w+|\w+day|[\d-]+)\s*:\s*)(?:[\w-]+\s+)?{_OCCASION}\s+with\b"),
    cue("pairing", _C, r"\bpairing\s+(?:between|with)\b|\bjoint\s+(?:session|review|workshop)\s+(?:with|of)\b"),
)  # fmt: skip
