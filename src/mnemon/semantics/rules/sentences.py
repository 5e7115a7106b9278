"""Splits running text into sentences, and sentences into clauses that can each state a fact of their own.

For rules, which read one fact at a time: a stop before a small letter, as in a chat, or before a footnote's mark ends
a sentence. `mnemon.documents.ingest.sentences` leans the other way: it would sooner cite too much than half a sentence.
"""

import re
from collections.abc import Iterator

from mnemon.documents.ingest.sentences import Span, trimmed
from mnemon.semantics.rules.word_lists import words

_ABBREVIATIONS = words(
    """dr mr mrs ms prof st jr sr inc ltd corp co no nos vs etc approx dept est fig vol art sec cf al resp incl e.g i.e
    a.m p.m jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun u.s u.k"""
)
_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?:\[\^?\w{1,3}\])?(?=\s|$)|(?<=[。！？؟])|\n[ \t]*\n")
_LAST_WORD = re.compile(r"([\w.]+)\.$")
_LIST_NUMBER = re.compile(r"\d{1,2}\.")
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


def split_sentences(text: str, start: int, end: int) -> list[Span]:
    """Spans without white space at their edges."""
    spans: list[Span] = []
    begin = start
    for match in _END.finditer(text, start, end):
        if _ends_sentence(text, begin, match):
            spans.append((begin, match.end()))
            begin = match.end()
    spans.append((begin, end))
    return [kept for span in spans for part in _parts(text, *span) if (kept := trimmed(text, *part))]


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


def _ends_sentence(text: str, begin: int, match: re.Match[str]) -> bool:
    if match[0] != ".":
        return True
    if _LIST_NUMBER.fullmatch(text[begin : match.end()].strip()):
        return False
    before = text[max(begin, match.end() - 24) : match.end()]
    word = _LAST_WORD.search(before)
    if not word:
        return True
    last = word[1]
    initial = len(last) == 1 and last.isupper() and last != "I"
    if last.lower() in _ABBREVIATIONS:
        following = text[match.end() : match.end() + 2].strip()
        return last.lower() in ("etc", "a.m", "p.m", "inc", "ltd", "co") and following.isupper()
    return not initial


def _long_enough(text: str, start: int, end: int) -> bool:
    return len(text[start:end].split()) >= _FEWEST_CLAUSE_WORDS
