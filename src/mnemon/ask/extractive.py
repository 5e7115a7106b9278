"""Answers without a language model: the fewest sentences of the sources that answer, word for word."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from mnemon.ask.hits import PassageHit
from mnemon.ask.occasions import Occasions
from mnemon.ask.search import Ranked
from mnemon.ask.units import PassageUnit, subject_of, units_of
from mnemon.ask.wording import TIME, Listener, is_one_of, names_in, words_of
from mnemon.models.embedder import Embedder

# Passages whose sentences are weighed, sentences whose meaning is compared, and the most that an answer has.
PASSAGES, COMPARED, MOST_SENTENCES = 8, 8, 4
# Another sentence must say this share of the question anew, and be nearly as good as the best.
NEW_SHARE, NEARLY = 0.15, 0.55
# What a newer document says of the same matter stands beside the best sentence if it is this good and says as much.
AS_GOOD, AS_MUCH = 0.8, 0.9
# What a sentence is worth: the question's words in it and in its headings, its passage's standing, a time or a number
# where one is asked for, an event of the kind that is asked for, and how new it is; less for what only repeats or asks
# itself, and for what somebody else says where the question names a speaker.
WORDS, CONTEXT, STANDING, EXPECTED, TOLD, NEWER, NO_ANSWER, ANOTHERS = 0.5, 0.25, 0.35, 0.15, 0.3, 0.1, 0.15, 0.15

_NUMBER = re.compile(
    r"\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million)\b", re.IGNORECASE
)
_EXPECTED = (
    (re.compile(r"^\W*(when|what (time|date|day|month|year)|since when|until when)\b", re.IGNORECASE), TIME),
    (re.compile(r"\bhow (many|much|long|often|old|far|big|large)\b", re.IGNORECASE), _NUMBER),
    (re.compile(r"\bhours\b", re.IGNORECASE), re.compile(r"\b\d{1,2}[:.]\d\d\b")),
    (re.compile(r"^\W*why\b", re.IGNORECASE), re.compile(r"\b(because|since|due to|so that|reason)\b", re.IGNORECASE)),
)
_BULLET = re.compile(r"[-*•‣◦▪–—·]\s+(?=\S)")
# They ask, and are not what is asked about.
_ASKING = re.compile(r"\bhow (many|much|long|often|old|far|big|large)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Sentence:
    """A sentence of a hit: `start` and `end` are offsets of the revision's text."""

    hit: PassageHit
    start: int
    end: int
    # The question's words in it, and with those in its headings.
    said: frozenset[str]
    covers: frozenset[str]
    score: float
    # The part of the score that is its passage's.
    standing: float
    # Whether it tells of an event of the kind that is asked for.
    told: bool = False

    @property
    def own_score(self) -> float:
        return self.score - self.standing

    @property
    def text(self) -> str:
        return self.hit.text[self.start - self.hit.start : self.end - self.hit.start]


async def choose_sentences(
    ranked: Ranked, hits: Sequence[PassageHit], embedder: Embedder | None, occasions: Occasions | None = None
) -> list[Sentence]:
    """The sentences that answer, in reading order."""
    weights = _weights(ranked)
    found = _weighed(ranked, hits[:PASSAGES], weights, occasions)
    if embedder is not None and ranked.asked.vector is not None:
        found = await _compared(found, ranked, embedder)
    chosen: list[Sentence] = []
    total = sum(weights.values()) or 1.0
    for sentence in found:
        if len(chosen) == MOST_SENTENCES or (chosen and sentence.score < NEARLY * chosen[0].score):
            break
        before = frozenset[str]().union(*(one.covers for one in chosen))
        news = sum(weights[lexeme] for lexeme in sentence.said - before) / total
        # Of promises, decisions and the like each is an answer of its own.
        one_more = chosen and sentence.told and chosen[0].told and sentence.covers >= chosen[0].covers
        if not chosen or one_more or news >= NEW_SHARE:
            chosen.append(sentence)
    if chosen and len(chosen) < MOST_SENTENCES and not TIME.search(ranked.asked.question):
        chosen += _later(chosen, found, weights)
    return in_reading_order(chosen)


def _later(chosen: Sequence[Sentence], found: Sequence[Sentence], weights: dict[str, float]) -> list[Sentence]:
    """The newest sentence that may replace the best one, where no newer document was chosen: a decision may have been
    revised, and who reads both in their order sees it."""

    def weight(lexemes: frozenset[str]) -> float:
        return sum(weights[lexeme] for lexeme in lexemes)

    def day(one: Sentence) -> date:
        return one.hit.written_at.date() if one.hit.written_at else date.min

    best, last = chosen[0], max(day(one) for one in chosen)
    rivals = [
        one
        for one in found
        if day(one) > last
        and one.own_score >= AS_GOOD * best.own_score
        and weight(one.said & best.said) >= AS_MUCH * weight(best.said)
        and weight(one.covers & best.covers) >= AS_MUCH * weight(best.covers)
    ]
    return [max(rivals, key=lambda one: (day(one), one.own_score))] if rivals else []


def in_reading_order(chosen: Sequence[Sentence]) -> list[Sentence]:
    """Older documents first, and within each from its beginning."""

    def place(one: Sentence) -> tuple[str, str, int]:
        written = one.hit.written_at.isoformat() if one.hit.written_at else ""
        return written, f"{one.hit.title} {one.hit.doc_version_id}", one.start

    return sorted(chosen, key=place)


def _weights(ranked: Ranked) -> dict[str, float]:
    """What each word of the question counts, without those that only ask."""
    weights = {term.lexeme: term.weight for term in ranked.terms}
    asking = " ".join(found[1] for found in _ASKING.finditer(ranked.asked.question))
    only_ask = Listener(weights).heard_in(asking)
    return {lexeme: weight for lexeme, weight in weights.items() if lexeme not in only_ask} or weights


def _weighed(
    ranked: Ranked, hits: Sequence[PassageHit], weights: dict[str, float], occasions: Occasions | None
) -> list[Sentence]:
    """Every sentence by the words it says and the passage it stands in, best first."""
    question, total = ranked.asked.question, sum(weights.values()) or 1.0
    standing, newness = _spread([hit.score for hit in hits], 1.0), _newness(question, hits)
    listener = Listener(weights)
    units = [units_of(hit.text, hit.media_type) for hit in hits]
    named = names_in(
        question, (one.speaker or hit.speaker for hit, own in zip(hits, units, strict=True) for one in own)
    )
    found = []
    for hit, own, stands, newer in zip(hits, units, standing, newness, strict=True):
        context = listener.heard_in(" ".join([*hit.headings, subject_of(hit.text)]))
        for unit in own:
            text = hit.text[unit.start : unit.end]
            if _is_heading(hit, text):
                continue
            start, end = hit.start + unit.start + _bullet(text), hit.start + unit.end
            told = occasions.told_in(hit, start, end) if occasions else None
            speaker = unit.speaker or hit.speaker
            said = listener.heard_in(f"{text} {speaker or ''} {told or ''}")
            score = TOLD * bool(told) + WORDS * sum(weights[lexeme] for lexeme in said) / total
            score += CONTEXT * sum(weights[lexeme] for lexeme in context - said) / total
            score += STANDING * stands + NEWER * newer + _bonus(question, text, unit)
            score -= ANOTHERS if named and speaker and not is_one_of(speaker, named) else 0.0
            found.append(Sentence(hit, start, end, said, said | context, score, STANDING * stands, bool(told)))
    return sorted(found, key=lambda one: (-one.score, one.start))


def _newness(question: str, hits: Sequence[PassageHit]) -> list[float]:
    """From the oldest passage to the newest: what was said last holds, unless the question is about a time."""
    if TIME.search(question):
        return [0.0] * len(hits)
    dated = [hit.written_at.timestamp() for hit in hits if hit.written_at]
    oldest = min(dated, default=0.0)
    return _spread([hit.written_at.timestamp() if hit.written_at else oldest for hit in hits], 0.0)


def _spread(values: Sequence[float], alike: float) -> list[float]:
    """From 0 for the least to 1 for the greatest; `alike` where all are the same."""
    least, span = min(values, default=0.0), float(np.ptp(values)) if values else 0.0
    return [(value - least) / span if span else alike for value in values]


def _bonus(question: str, text: str, unit: PassageUnit) -> float:
    expected = EXPECTED if _as_expected(question, text) else 0.0
    return expected - (NO_ANSWER if unit.quoted or text.rstrip().endswith("?") else 0.0)


async def _compared(found: Sequence[Sentence], ranked: Ranked, embedder: Embedder) -> list[Sentence]:
    """The best ones once more, by their meaning too."""
    best = list(found[:COMPARED])
    if not best:
        return best
    # Mails quote each other, and versions of a document repeat each other.
    texts = list(dict.fromkeys(one.text for one in best))
    vectors = await embedder.embed(texts, purpose="query")
    near = dict(zip(texts, (vectors @ np.asarray(ranked.asked.vector)).tolist(), strict=True))
    again = [replace(one, score=one.score + 0.5 * near[one.text]) for one in best]
    return sorted(again, key=lambda one: (-one.score, one.start))


def _bullet(text: str) -> int:
    """How much of an item is the mark before it."""
    mark = _BULLET.match(text)
    return mark.end() if mark else 0


def _is_heading(hit: PassageHit, text: str) -> bool:
    """A heading names what is answered below it, and answers nothing. Its number may have been cut off."""
    words = words_of(text)
    return any(words == words_of(heading)[-len(words) :] for heading in hit.headings if words)


def _as_expected(question: str, text: str) -> bool:
    """Whether a question for a time or a number meets one."""
    return any(asks.search(question) and meets.search(text) for asks, meets in _EXPECTED)
