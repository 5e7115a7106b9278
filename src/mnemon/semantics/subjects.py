"""Names what a clause is about: the noun phrase after or before its cue."""

import re

from mnemon.semantics.people import People
from mnemon.semantics.semantic_event import Subject, SubjectType

_DETERMINERS = r"(?:the|a|an|our|my|your|his|her|its|their|this|that|these|those|some|any|all|each|every|both|another)"
_STOP = (
    r"by|before|until|till|within|on|at|after|since|because|that|which|who|when|while|where|if|so|than|and|but|or|as|is|are|was|were"
    r"|has|have|had|will|shall|would|could|can|to|with|from|into|instead|rather|for|about|via|during|today|tomorrow|yesterday|not|now"
    r"|next|last|this|still|again|early|late|too|only|again"
)
_PHRASE = re.compile(
    rf"(?:{_DETERMINERS}\s+)?(?P<phrase>(?!(?:{_STOP})\b)[\w$€£#&/'’.+-]*\w(?:\s+(?!(?:{_STOP})\b)[\w$€£#&/'’.+-]*\w){{0,4}}"
    rf"(?:\s+(?:of|in|for)\s+(?:{_DETERMINERS}\s+)?(?!(?:{_STOP})\b)\w[\w-]*(?:\s+(?!(?:{_STOP})\b)\w[\w-]*){{0,1}})?)",
    re.IGNORECASE,
)
_LEADING = re.compile(
    rf"^(?:\W|(?:{_DETERMINERS}|to|for|with|about|on|of|in|that|at|you|me|us|him|them|there|is|are|was|were|it|up|down|out|through|over|forward"
    r"|also|just|still|already|and|we|i|please|not)\b)*",
    re.IGNORECASE,
)
_PROJECT = re.compile(r"\b(?:project|programme|program|initiative|release|launch|migration|roadmap|phase|sprint|plan)\b", re.IGNORECASE)
_MOST_WORDS = 8


def subject_of(clause: str, start: int, end: int, people: People, fallback: str) -> Subject:
    """What follows the cue; where nothing does, what stands before it; else the heading or title."""
    after = _phrase(clause[end:])
    ref = after or _last_phrase(clause[:start]) or fallback or " ".join(clause.split()[:_MOST_WORDS])
    return Subject(ref, _type(ref, people))


def subject_before(clause: str, start: int, people: People, fallback: str) -> Subject:
    """For clauses whose grammatical subject is what they are about: "the budget was raised"."""
    ref = _last_phrase(clause[:start]) or _phrase(clause[start:]) or fallback
    return Subject(ref, _type(ref, people))


def _phrase(words: str) -> str:
    begin = _LEADING.match(words)
    match = _PHRASE.match(words, begin.end() if begin else 0)
    return _tidy(match["phrase"]) if match else ""


def _last_phrase(words: str) -> str:
    found = [_tidy(match["phrase"]) for match in _PHRASE.finditer(words)]
    return next((phrase for phrase in reversed(found) if len(phrase) > 2), "")


def _tidy(phrase: str) -> str:
    return " ".join(phrase.split()[:_MOST_WORDS]).strip(" .,:;'\"")


def _type(ref: str, people: People) -> SubjectType:
    if people.is_known(ref):
        return "person"
    return "project" if _PROJECT.search(ref) else "object"
