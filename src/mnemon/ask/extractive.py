"""Answers without a language model: the fewest sentences of the sources that answer, word for word."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mnemon.ask.hits import Hit
from mnemon.ask.search import Ranked
from mnemon.ask.terms import Term
from mnemon.ask.wording import Listener, words_of
from mnemon.documents.sentences import sentences
from mnemon.models.embedder import Embedder

# Passages whose sentences are weighed, sentences whose meaning is compared, and the most that an answer has.
PASSAGES, COMPARED, MOST_SENTENCES = 8, 8, 4
# Another sentence must say this share of the question anew, and be nearly as good as the best.
NEW_SHARE, NEARLY = 0.15, 0.55

_TIME = re.compile(
    r"\d{1,4}[./:-]\d|\b(19|20)\d\d\b|\b(monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|"
    r"april|may|june|july|august|september|october|november|december|yesterday|today|tomorrow|tonight|"
    r"(last|next|this) (week|weekend|month|year|night|summer|winter|spring|fall)|ago)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million)\b", re.IGNORECASE
)
# Who wrote to whom and when: it answers no question, though its subject says the words of many.
_MAIL_HEADER = re.compile(r"(?:From|To|Cc|Date|Subject): [^\n]*\n(?:From|To|Cc|Date|Subject): ")
_BULLET = re.compile(r"[-*•‣◦▪–—·]\s+(?=\S)")
_HOW = re.compile(r"\bhow (many|much|long|often|old|far|big|large)\b", re.IGNORECASE)
_EXPECTED = (
    (re.compile(r"^\W*(when|what (time|date|day|month|year)|since when|until when)\b", re.IGNORECASE), _TIME),
    (_HOW, _NUMBER),
)


@dataclass(frozen=True)
class Sentence:
    """A sentence of a hit: `start` and `end` are offsets of the revision's text."""

    hit: Hit
    start: int
    end: int
    said: frozenset[str]
    score: float

    @property
    def text(self) -> str:
        return self.hit.text[self.start - self.hit.start : self.end - self.hit.start]


async def choose_sentences(ranked: Ranked, hits: Sequence[Hit], embedder: Embedder | None) -> list[Sentence]:
    """The sentences that answer, in reading order."""
    weights = {term.lexeme: term.weight for term in _told(ranked)}
    found = _weighed(ranked, hits[:PASSAGES], weights)
    if embedder is not None and ranked.asked.vector is not None:
        found = await _compared(found, ranked, embedder)
    chosen: list[Sentence] = []
    total = sum(weights.values()) or 1.0
    for sentence in found:
        if len(chosen) == MOST_SENTENCES or (chosen and sentence.score < NEARLY * chosen[0].score):
            break
        before = frozenset[str]().union(*(one.said for one in chosen))
        if not chosen or sum(weights[lexeme] for lexeme in sentence.said - before) / total >= NEW_SHARE:
            chosen.append(sentence)
    return in_reading_order(chosen)


def in_reading_order(chosen: Sequence[Sentence]) -> list[Sentence]:
    """Older documents first, and within each from its beginning."""

    def place(one: Sentence) -> tuple[str, str, int]:
        written = one.hit.written_at.isoformat() if one.hit.written_at else ""
        return written, f"{one.hit.title} {one.hit.doc_version_id}", one.start

    return sorted(chosen, key=place)


def _weighed(ranked: Ranked, hits: Sequence[Hit], weights: dict[str, float]) -> list[Sentence]:
    """Every sentence by the words it says and the passage it stands in, best first."""
    total = sum(weights.values()) or 1.0
    scores = np.array([hit.score for hit in hits])
    spread = float(np.ptp(scores)) if len(scores) else 0.0
    listener = Listener(weights)
    found = []
    for hit in hits:
        standing = (hit.score - float(scores.min())) / spread if spread else 1.0
        for start, end in sentences(hit.text):
            if _is_heading(hit, hit.text[start:end]) or _MAIL_HEADER.match(hit.text[start:end]):
                continue
            start += _bullet(hit.text[start:end])
            said = listener.heard_in(f"{hit.text[start:end]} {hit.speaker or ''}")
            share = sum(weights[lexeme] for lexeme in said) / total
            bonus = 0.15 if _as_expected(ranked.asked.question, hit.text[start:end]) else 0.0
            found.append(Sentence(hit, hit.start + start, hit.start + end, said, 0.5 * share + 0.35 * standing + bonus))
    return sorted(found, key=lambda one: (-one.score, one.start))


async def _compared(found: Sequence[Sentence], ranked: Ranked, embedder: Embedder) -> list[Sentence]:
    """The best ones once more, by their meaning too."""
    best = list(found[:COMPARED])
    if not best:
        return best
    vectors = await embedder.embed([one.text for one in best], purpose="query")
    near = vectors @ np.asarray(ranked.asked.vector)
    again = [
        Sentence(one.hit, one.start, one.end, one.said, one.score + 0.5 * float(value))
        for one, value in zip(best, near, strict=True)
    ]
    return sorted(again, key=lambda one: (-one.score, one.start))


def _told(ranked: Ranked) -> Sequence[Term]:
    """The words that an answer may say again. Of "how long" the answer is a time, not the word long."""
    asks = Listener(term.lexeme for term in ranked.terms).heard_in(" ".join(_HOW.findall(ranked.asked.question)))
    return [term for term in ranked.terms if term.lexeme not in asks] or ranked.terms


def _bullet(text: str) -> int:
    """How much of an item is the mark before it."""
    mark = _BULLET.match(text)
    return mark.end() if mark else 0


def _is_heading(hit: Hit, text: str) -> bool:
    """A heading names what is answered below it, and answers nothing. Its number may have been cut off."""
    words = words_of(text)
    return any(words == words_of(heading)[-len(words) :] for heading in hit.headings if words)


def _as_expected(question: str, text: str) -> bool:
    """Whether a question for a time or a number meets one."""
    return any(asks.search(question) and meets.search(text) for asks, meets in _EXPECTED)
