"""Cues for what was one way and now is another."""

from mnemon.semantics.cues.cue import cue, one_of
from mnemon.semantics.semantic_event import Category

_C = Category.CHANGE
_MOVES = one_of(
    """changes changed moves moved raises raised lowers lowered reduces reduced increases increased went goes drops dropped cut shifts shifted rose
    fell grew bumped slips slipped switches switched renamed converts converted extends extended pushes pushed upgraded downgraded reschedules
    rescheduled migrates migrated"""
)

CHANGE_CUES = (
    cue("from_to", _C, rf"\b{_MOVES}\b(?:\s+[\w$€£,.'\"“”-]+){{0,6}}?\s+from\s+.{{1,60}}?\s+to\s+(?=[\w\"“$€£])", strength=5, about="before"),
    cue("changed", _C, r"(?<!\bbe )(?<!had to be )\b(?:renamed|rescheduled|postponed|pushed\s+(?:back|out)|(?:was|were|been|we|I|have|has)\s+(?:moved|switched|updated|changed)\s+(?:the\s+)?|changed\s+(?:to|the|our)|moved\s+to|switched\s+to|increased\s+(?:to|by)|raised\s+to"
        r"|reduced\s+(?:to|by)|cut\s+(?:to|by)|lowered\s+to|extended\s+(?:to|by|until)|shortened\s+to|pivoted|amended)(?!\w)", strength=3, about="before"),
    cue("replaces", _C, r"\b(?:replaces|supersedes|(?:is|was|were|are|been)\s+(?:replaced|superseded)\s+(?:by|with)|(?:are|were|was|is|been)\s+merged\s+(?:with|into)|(?:was|were|been)\s+(?:dropped|removed|cut|added|taken\s+out)\s+(?:from|of|to)"
        r"|no\s+longer\s+(?:part|in\s+scope|required|supported))\b", strength=3, about="before", when_denied=True),
    cue("now_instead", _C, r"\bnow\b.{1,50}\b(?:instead\s+of|rather\s+than)\b", strength=4, about="before"),
)  # fmt: skip
