"""Cues for meetings, discussions, hand-overs and joint work that took place."""

from mnemon.semantics.rules.agents import AgentKind
from mnemon.semantics.rules.cues.cue import cue
from mnemon.semantics.rules.word_lists import one_of
from mnemon.semantics.semantic_event import Category

_C = Category.COLLABORATION
_OCCASION = one_of(
    """call meeting session chat workshop lunch review discussion sync conversation interview kick-off kickoff
    stand-up retrospective visit"""
)
_ACTIVE: frozenset[AgentKind] = frozenset({"self", "we", "pronoun", "they", "person", "name", "opener", "group"})

COLLABORATION_CUES = (
    cue(
        "met",
        _C,
        r"(?<!can\ be\ )(?<!be\ )\b(?:met (?:with|up|the|in|on|to|(?-i:[A-Z]))|talked (?:to|with|it over"
        r"|about)|spoke (?:to|with|about)|discussed|sat down with|caught up with|synced|paired (?:with|on|up)"
        r"|brainstormed|went through (?:the|an?|our|all|your|my) .{2,40} with"
        r"|worked (?:together|with|alongside)|collaborated|teamed up|co-wrote|consulted|walked (?:me|us|him"
        r"|her|them|(?-i:[A-Z])\w+) through|visited|hosted|handed over|handed off"
        r"|interviewed)\b(?<!as\ we\ discussed)",
        agents=_ACTIVE,
    ),
    cue(
        "held",
        _C,
        r"\b(?:had|held|attended|joined|hosted|ran) (?:an?|our|the|my"
        rf"|another) (?:[\w-]+ ){{0,3}}?{_OCCASION}\b",
    ),
    cue("took_place", _C, rf"\b{_OCCASION} (?:took place|was held|happened)\b", strength=3, about="before"),
    cue(
        "talked_clipped",
        _C,
        r"^\W*(?:(?:[\d.]+ \w+|\w+day)\s*:\s*)?(?:met|talked|spoke|sat down|synced|caught up)\b.*\bwith\b"
        rf"|^\W*(?:(?:[\d.]+ \w+|\w+day)\s*:\s*)?(?:[\w-]+ )?{_OCCASION} with\b",
        clipped=True,
    ),
    cue("occasion_with", _C, rf"^\W*(?:(?:[\d.]+ \w+|\w+day|[\d-]+)\s*:\s*)(?:[\w-]+ )?{_OCCASION} with\b"),
    cue(
        "did_with",
        _C,
        r"\b(?:reviewed|checked|tested|inspected|looked (?:at|over|on)|walked(?: through)?|visited|planned|prepared"
        r"|worked on|went over|wrote|drafted) (?:the |an? |all |our )?(?:[\w-]+ ){1,4}(?:together )?with "
        r"(?=(?:the |our )?(?:[\w-]+ ){0,2}(?:team|group|board"
        r"|people|customer|client|supplier|vendor|department|inspector|engineers?)\b|him\b|her\b|them\b|(?-i:[A-Z])\w)",
        strength=3,
        agents=_ACTIVE,
    ),
    cue("pairing", _C, r"\bpairing (?:between|with)\b|\bjoint (?:session|review|workshop) (?:with|of)\b"),
)
