"""Splits sentences into facts, and facts into clauses that can each state one of their own.

Sentences end as `mnemon.documents.structure.sentences` has it, where a doubtful stop ends nothing: it would sooner cite
too much than half a sentence. Rules read one fact at a time, so a stop before a small letter, as in a chat, or before a
footnote's mark parts two facts.
"""

import re
from collections.abc import Iterator, Sequence

from mnemon.documents.structure.sentences import Span, is_abbreviated, trimmed

_DOUBTFUL = re.compile(r"[.!?…]+[\"'”’)\]]*(?:(?P<note>\[\^?\w{1,3}\])|(?=\s+[\"'“‘(]?[^\W\d_A-Z]))(?=\s)")
# "Now 21 Nov." at the end of a line: the next one begins another sentence, though a month is often cut short.
_CUT_MONTH = re.compile(
    r"\b(?i:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|okt|dez|mär)\.(?=[ \t]*\n[ \t]*[^\W\d_a-zäöü])"
)
_CLAUSE_SUBJECT = (
    r"(?:I|we|you|he|she|they|it|there|this|that|please|each|the|our|my|your|his|her|their|nobody|someone"
    r"|[A-Z][\w’'-]+(?:\s+[A-Z][\w’'-]+)?\s+(?:will|shall|is|has|was|to|can)|[a-z]+\s+(?:will|shall))\b"
)
_CLAUSE_BORDER = re.compile(
    rf";\s+|,?\s+(?:—|–|--)\s+(?=\w)|,\s+(?:and|but|so|while|though|although|yet)\s+(?={_CLAUSE_SUBJECT})"
    r"|\s+(?:and|but)\s+(?=(?:I|we|he|she|they)(?:\s|'|’))|(?P<splice>,)\s+(?=(?:I|we|he|she|they)(?:\s|'|’))"
)
# "I opened a case, they promised an answer": a comma parts two statements where the first has a subject of its own.
_OWN_SUBJECT = re.compile(
    r"(?:(?:and|but|so|yes|ok|okay|well)\W+)*(?:I|we|he|she|they)(?:'ve|’ve)?\s+"
    r"(?!(?:think|guess|believe|know|hope|said|say|mean|suppose|see|am|are|is)\b)",
    re.IGNORECASE,
)
_FEWEST_CLAUSE_WORDS = 3
# Nobody writes one this long: what has no full stop for so many characters is a table, a log or an attack.
LONGEST_SENTENCE = 2000


def split_facts(text: str, start: int, end: int, sentences: Sequence[Span]) -> list[Span]:
    """The part of these sentences within the span, parted at doubtful stops; no white space at the edges."""
    spans = [(max(first, start), min(last, end)) for first, last in sentences if last > start and first < end]
    facts = [fact for span in spans for fact in _at_doubtful_stops(text, *span)]
    return [kept for fact in facts for part in _parts(text, *fact) if (kept := trimmed(text, *part))]


def _at_doubtful_stops(text: str, start: int, end: int) -> Iterator[Span]:
    for match in sorted((*_DOUBTFUL.finditer(text, start, end), *_CUT_MONTH.finditer(text, start, end)), key=_at):
        if match.re is _CUT_MONTH or match["note"] or match[0] != "." or not is_abbreviated(text, start, match.start()):
            yield start, match.end()
            start = match.end()
    yield start, end


def _at(match: re.Match[str]) -> int:
    return match.start()


def _parts(text: str, start: int, end: int) -> Iterator[Span]:
    """A run without an end is read in parts, or the time to read it would grow with its square."""
    while end - start > LONGEST_SENTENCE:
        space = max(text.rfind(white, start + 1, start + LONGEST_SENTENCE) for white in " \n\t")
        border = space if space > start else start + LONGEST_SENTENCE
        yield start, border
        start = border
    yield start, end


def split_clauses(text: str, start: int, end: int) -> list[Span]:
    """The sentence itself where its parts are too short to stand alone."""
    begin, spans = start, []
    for match in _CLAUSE_BORDER.finditer(text, start, end):
        if match["splice"] and not _OWN_SUBJECT.match(text, begin, match.start()):
            continue
        if _long_enough(text, begin, match.start()) and _long_enough(text, match.end(), end):
            spans.append((begin, match.start()))
            begin = match.end()
    return [*spans, (begin, end)]


def _long_enough(text: str, start: int, end: int) -> bool:
    return len(text[start:end].split()) >= _FEWEST_CLAUSE_WORDS
