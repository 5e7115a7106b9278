"""Cues for what was one way and now is another."""

from mnemon.semantics.rules.cues.cue import cue
from mnemon.semantics.rules.word_lists import one_of
from mnemon.semantics.semantic_event import Category

_C = Category.CHANGE
_MOVES = one_of(
    """changes changed moves moved raises raised lowers lowered reduces reduced increases increased went goes drops
    dropped cut shifts shifted rose fell grew bumped slips slipped switches switched renamed converts converted
    extends extended shortens shortened lengthened narrowed widened pushes pushed
    upgraded downgraded reschedules rescheduled migrates migrated"""
)

CHANGE_CUES = (
    cue(
        "from_to",
        _C,
        rf"\b{_MOVES}\b(?: [\w$€£,.'\"“”-]+){{0,6}}? from .{{1,60}}? to (?=[\w\"“$€£])",
        strength=5,
        needs=("from",),
        about="moved",
    ),
    cue(
        "changed",
        _C,
        r"(?<!\bbe\ )(?<!had\ to\ be\ )\b(?:renamed|rescheduled|postponed|pushed (?:back|out)|(?:was|were|been"
        r"|we|I|have|has) (?:moved|switched|updated|changed) (?:the )?|changed (?:to|the|our)|moved to"
        r"|switched to|increased (?:to|by)|raised to"
        r"|reduced (?:to|by)|cut (?:to|by)|lowered to|extended (?:to|by|until)|shortened to|pivoted"
        r"|(?<!as\ )amended)(?!\w)",
        strength=3,
        about="before",
    ),
    cue(
        "replaces",
        _C,
        r"\b(?:replaces|supersedes|(?:is|was|were|are|been) (?:replaced|superseded) (?:by|with)|(?:are|were"
        r"|was|is|been) merged (?:with|into)|(?:was|were|been) (?:dropped|removed|cut|added|taken out) (?:from"
        r"|of|to)"
        r"|no longer (?:part|in scope|required|supported))\b",
        strength=3,
        about="before",
        when_denied=True,
    ),
    cue(
        "set_to",
        _C,
        r"\b(?:raised|lowered|increased|reduced|cut|shortened|extended|bumped|dropped|changed) (?:the|our|its|their"
        r"|all) (?:[\w-]+ ){1,4}(?:to|by|from) (?=[$€£]?\d|[a-z]+ (?:percent|days|weeks|months|hours))",
        strength=4,
        about="moved",
    ),
    cue(
        "was_now",
        _C,
        r"\bwas\b.{1,50}(?:, (?:and |but )?|; )now (?:it is|it's|is|it will be)\b"
        r"|^\W*it(?: is|'s) now (?=[$€£\d]|\w+ (?:seconds|minutes|hours|days|weeks|euros|dollars|percent))",
        strength=4,
        about="before",
    ),
    cue("now_instead", _C, r"\bnow\b.{1,50}\b(?:instead of|rather than)\b", strength=4, about="before"),
)
