"""The questions of `train` and `tune` with the statements that may answer each, found in the texts alone.

No store is needed, and it is quick: the statements of the question's own text and of the two others that share most
with it, weighed by their words as the product weighs them, and each as it would be read with the question.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid5

from asked_library import GoldQuestion, document_of, load_questions

from mnemon.ask.learned.pairs import ReadStatement
from mnemon.ask.quoting import things
from mnemon.ask.quoting.features import CandidateStatement, Weighing
from mnemon.ask.quoting.hearing import stem_of, words_in
from mnemon.ask.quoting.judgement import shipped
from mnemon.ask.quoting.needs import Need, need_of, with_people
from mnemon.ask.quoting.statements import Statement, statements_in
from mnemon.ask.quoting.surroundings import OPENING, StatementSource, Stretch, opening_of
from mnemon.ask.quoting.told import NOTHING_TOLD
from mnemon.ask.quoting.weighed import as_read
from mnemon.documents.extraction.limits import DEFAULT_LIMITS
from mnemon.documents.extraction.plain import extract_plain
from mnemon.documents.ingest.chunking import chunk
from mnemon.documents.ingest.dating import written_at
from mnemon.documents.ingest.structured import with_structure
from mnemon.models.tokens import ModelTokenizer, count_tokens
from mnemon.search.terms import Term

# Statements that are measured, of the question's own text and of each other; those of each that are read.
MEASURED, MEASURED_ELSEWHERE = 60, 12
OWN, ELSEWHERE = 20, 6
OTHERS = 2
# Of a passage that was found, and of one of another text.
FOUND, FOUND_ELSEWHERE = 0.5, 0.35


@dataclass(frozen=True)
class AskedText:
    """A text with its statements, and the stems of what each says or stands below."""

    name: str
    text: str
    stretch: Stretch
    stems: Sequence[frozenset[str]]
    people: frozenset[str]

    def near(self, stems: frozenset[str], weight: dict[str, float], most: int) -> list[Statement]:
        """Those that say most of these words, and their neighbours, in the order of the text."""
        said = [sum(weight[stem] for stem in stems & own) for own in self.stems]
        beside = [
            max(one, 0.7 * (said[at - 1] if at else 0.0), 0.5 * (said[at + 1] if at + 1 < len(said) else 0.0))
            for at, one in enumerate(said)
        ]
        best = sorted(range(len(said)), key=lambda at: (-beside[at], at))[:most]
        return [self.stretch.statements[at] for at in sorted(best)]


@dataclass(frozen=True)
class AskedStatements:
    """A question, what it needs, and of each statement how it is read and whether it is gold."""

    question: GoldQuestion
    need: Need
    statements: list[tuple[ReadStatement, bool]]


def text_of(name: str, tokenizer: ModelTokenizer) -> AskedText:
    path = document_of(name)
    extraction = with_structure(extract_plain(path.read_bytes(), DEFAULT_LIMITS))
    text, number = extraction.text, uuid5(NAMESPACE_URL, name)
    statements = [
        one for one in statements_in(text, 0, from_start=True)
        if one.text.strip() and not things.GREETING.fullmatch(one.text)
    ]  # fmt: skip
    days = [(one.start, one.said_on) for one in chunk(extraction, lambda words: count_tokens(tokenizer, words))]
    origin = StatementSource(
        number, number, 1, True, path.name, "", "text/plain", written_at(extraction, path.name),
        opening=opening_of(text[:OPENING]),
    )  # fmt: skip
    people = {one.speaker for one in statements if one.speaker}
    people |= {name for one in statements for name in things.PERSON.findall(one.text)}
    stems = [
        frozenset(map(stem_of, words_in(" ".join((one.text, one.speaker or "", *one.headings, one.lead)))))
        for one in statements
    ]
    return AskedText(name, text, Stretch(origin, (), 0, len(text), statements, FOUND, days), stems, frozenset(people))


def asked_of_texts(tokenizer: ModelTokenizer) -> Iterator[AskedStatements]:
    questions = load_questions(("train", "tune"))
    texts = {name: text_of(name, tokenizer) for name in sorted({one.document for one in questions})}
    having: dict[str, set[str]] = defaultdict(set)
    for one in texts.values():
        for stem in frozenset().union(*one.stems):
            having[stem].add(one.name)
    for question in questions:
        yield _asked(question, texts, having)


def _asked(question: GoldQuestion, texts: dict[str, AskedText], having: dict[str, set[str]]) -> AskedStatements:
    own, need = texts[question.document], need_of(question.text)
    stems = frozenset(map(stem_of, need.words))
    weight = {stem: math.log((len(texts) + 1) / (len(having.get(stem, ())) + 0.5)) for stem in stems}
    near: dict[str, float] = defaultdict(float)
    for stem in sorted(stems):
        for name in having.get(stem, ()):
            near[name] += weight[stem]
    order = sorted(near, key=lambda name: (-near[name], name))
    others = [texts[name] for name in order if name != own.name][:OTHERS]
    people = sorted(own.people.union(*(one.people for one in others)))
    need = with_people(need, people)
    terms = [Term(word.lower(), "", 0, len(having.get(stem_of(word), ())), 0.0) for word in need.words]
    weighing = Weighing(need, terms, len(texts), people)
    stretches = [_near(own, stems, weight, MEASURED, FOUND)]
    stretches += [_near(one, stems, weight, MEASURED_ELSEWHERE, FOUND_ELSEWHERE) for one in others]
    found = shipped()["words"].ranked(weighing.candidates(stretches, NOTHING_TOLD))
    here = [one for one in found if one.origin is own.stretch.origin][:OWN]
    there = [one for one in found if one.origin is not own.stretch.origin][:ELSEWHERE]
    kept = sorted((*here, *there), key=lambda one: -one.score)
    gold = [_is_gold(one, question, own) for one in kept]
    return AskedStatements(question, need, list(zip(as_read(kept, weighing), gold, strict=True)))


def _near(
    one: AskedText, stems: frozenset[str], weight: dict[str, float], most: int, score: float
) -> Stretch:  # fmt: skip
    stretch = one.stretch
    return Stretch(stretch.origin, (), 0, stretch.end, one.near(stems, weight, most), score, stretch.days)


def _is_gold(one: CandidateStatement, question: GoldQuestion, own: AskedText) -> bool:
    """It holds half of a quote."""
    if one.origin is not own.stretch.origin or question.unanswerable:
        return False
    return any(_holds(one.statement, own.text, quote) for quote in (*question.quotes, *question.alternatives))


def _holds(one: Statement, text: str, quote: str) -> bool:
    at = text.find(quote)
    while at >= 0:
        if 2 * (min(at + len(quote), one.end) - max(at, one.start)) >= len(quote):
            return True
        at = text.find(quote, at + 1)
    return False
