"""The rules engine: reads events from a text with no model, no network and no guess."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from mnemon.documents.structure.sections import Section
from mnemon.semantics.extract.extractor import ChunkExtraction, MergedEvents
from mnemon.semantics.extract.revision import Revision, RevisionChunk
from mnemon.semantics.extract.verify import MOST_WORDS, evidence_at
from mnemon.semantics.learned.fields import actors_of
from mnemon.semantics.learned.gloss import is_german
from mnemon.semantics.link.kept import answers, bare_report, promised_verb
from mnemon.semantics.link.merge import merge_candidates
from mnemon.semantics.rules.actors import Cast
from mnemon.semantics.rules.agents import NOBODY
from mnemon.semantics.rules.clauses import split_clauses
from mnemon.semantics.rules.confidence import confidence_of
from mnemon.semantics.rules.intent import actionable
from mnemon.semantics.rules.layout import Unit
from mnemon.semantics.rules.match import FoundCategory, best_match
from mnemon.semantics.rules.mood import plain
from mnemon.semantics.rules.rows import read_table_row
from mnemon.semantics.rules.subjects import subject_of
from mnemon.semantics.rules.times import due_of, event_time_of, said_on
from mnemon.semantics.semantic_event import Candidate, Category, InvolvedActor

# Of the requests in mail that the sentence model scores below this, 3 in 100 ask for anything; of the promises, 16.
LEAST_INTENT = 0.3
_LOOK_BACK_UNITS = 3
# A text of so few sentences is a note, whatever its type says.
_JOTTED_UNITS = 3
# How far before its chunk a bare "Sent." looks for the promise that it keeps.
_PROMISE_UNITS = 200
# Fewer words beside a ticked box name no task.
_LEAST_TASK_WORDS = 2


@dataclass(frozen=True)
class _Statement:
    """A clause, or several of one sentence that say the same, and what was found there."""

    start: int
    end: int
    found: FoundCategory


class RulesExtractor:
    """Deterministic: the same revision gives the same events on every machine."""

    name = "rules"

    async def extract_chunk(self, revision: Revision, chunk: RevisionChunk) -> ChunkExtraction:
        return ChunkExtraction(chunk, tuple(_read_chunk(revision, chunk)))

    async def merge(self, revision: Revision, extractions: Sequence[ChunkExtraction]) -> MergedEvents:
        return MergedEvents(merge_candidates(revision, [found for each in extractions for found in each.candidates]))


def _read_chunk(revision: Revision, chunk: RevisionChunk) -> Iterator[Candidate]:
    units = revision.layout.units
    first = bisect_left(units, chunk.start, key=lambda unit: unit.start)
    last = bisect_left(units, chunk.end, key=lambda unit: unit.start)
    cast = Cast(revision, before=units[max(0, first - _PROMISE_UNITS) : first])
    for unit in units[max(0, first - _LOOK_BACK_UNITS) : first]:
        cast.hear(plain(unit.text))
    for unit in units[first:last]:
        yield from _read_unit(revision, unit, cast, chunk.chunk_id)


def _read_unit(revision: Revision, unit: Unit, cast: Cast, chunk_id: str | None) -> Iterator[Candidate]:
    if unit.section is Section.REFERENCE:
        return
    if unit.form == "row":
        if row := read_table_row(revision, unit, chunk_id):
            yield replace(row, confidence=confidence_of(row.rule, row.category, revision.type))
        return
    sentence = plain(unit.text)
    if report := _bare_report(revision, unit, sentence, cast, chunk_id):
        yield report
        return
    for statement in _statements(sentence, unit, revision):
        # "Tomas is not happy; he will look at it": who was named before speaks for the pronoun after.
        cast.hear(sentence[: statement.start])
        candidate = _candidate(revision, unit, sentence, statement, cast, chunk_id)
        if candidate:
            cast.note_promise(unit, candidate)
            yield candidate
    cast.hear(sentence)


def _statements(sentence: str, unit: Unit, revision: Revision) -> list[_Statement]:
    """Clauses with the same category and the same agent are one statement."""
    jotted = revision.type in ("chat", "note") or len(revision.layout.units) <= _JOTTED_UNITS
    clipped = unit.form == "item" or jotted
    statements: list[_Statement] = []
    for start, end in split_clauses(sentence, 0, len(sentence)):
        found = best_match(sentence[start:end], sentence, _leading(unit, start), revision.people, clipped)
        found = _as_ticked(found, sentence[start:end]) if unit.ticked and start == 0 else found
        if found is None or _is_formula(found, sentence, revision, unit.day or revision.today):
            continue
        last = statements[-1] if statements else None
        if last and last.found.category is found.category and last.found.agent == found.agent:
            statements[-1] = replace(last, end=end)
        else:
            statements.append(_Statement(start, end, found))
    return statements


def _as_ticked(found: FoundCategory | None, clause: str) -> FoundCategory | None:
    """A ticked box says that the task beside it is done, whatever words name the task."""
    if found is not None and found.category is not Category.COMMITMENT:
        return found
    if found is None and len(clause.split()) < _LEAST_TASK_WORDS:
        return None
    found = found or FoundCategory(Category.EXECUTION, "ticked", 2.0, 0, 0, NOBODY)
    return replace(found, category=Category.EXECUTION, rule="ticked", kind=None)


def _bare_report(revision: Revision, unit: Unit, sentence: str, cast: Cast, chunk_id: str | None) -> Candidate | None:
    """ "Sent.": an event only for who has just promised to send something, and about that."""
    verb = bare_report(sentence) if unit.speaker else None
    promise = _open_promise(revision, str(unit.speaker), cast) if verb else None
    if promise is None or not answers(verb, promised_verb(promise.evidence.quote)):
        return None
    evidence = evidence_at(revision.text, unit.start, unit.end, chunk_id)
    if evidence is None:
        return None
    cast.promises[str(unit.speaker)] = None
    speaker = cast.people.full_name(str(unit.speaker))
    return Candidate(
        Category.EXECUTION,
        _narrative(sentence, unit, cast),
        promise.subject,
        (InvolvedActor(speaker, "contributor"),),
        evidence,
        confidence_of("done_bare", Category.EXECUTION, revision.type),
        event_time=said_on(unit, revision),
        rule="done_bare",
    )


def _open_promise(revision: Revision, speaker: str, cast: Cast) -> Candidate | None:
    """The speaker's last promise, unless they have already reported on it; also one from before this chunk."""
    if speaker not in cast.promises:
        # Set first: a report that stands there looks no further back than what is read here.
        cast.promises[speaker] = None
        earlier = Cast(revision)
        earlier.promises = cast.promises
        for unit in cast.before:
            if unit.speaker == speaker:
                list(_read_unit(revision, unit, earlier, None))
    return cast.promises[speaker]


def _leading(unit: Unit, start: int) -> Unit:
    return unit if start == 0 else replace(unit, leads=False)


def _is_formula(found: FoundCategory, sentence: str, revision: Revision, today: date | None) -> bool:
    """A request anywhere, or a promise in mail, that has no date and that the sentence model does not believe."""
    doubted = found.kind == "request" or (found.rule == "promise" and revision.type == "email")
    return doubted and actionable(sentence) < LEAST_INTENT and due_of(sentence, today) is None


def _candidate(
    revision: Revision, unit: Unit, sentence: str, statement: _Statement, cast: Cast, chunk_id: str | None
) -> Candidate | None:
    found, clause = statement.found, sentence[statement.start : statement.end]
    start, end = _quote_span(clause, found)
    evidence = evidence_at(
        revision.text, unit.start + statement.start + start, unit.start + statement.start + end, chunk_id
    )
    if evidence is None:
        return None
    fallback = unit.heading or revision.title
    commitment = found.category is Category.COMMITMENT
    today = unit.day or revision.today
    return Candidate(
        found.category,
        _narrative(clause, unit, cast),
        subject_of(clause, (found.start, found.end), found.about, found.category, revision.people, fallback),
        _actors(revision, unit, clause, found, cast, unit.start + statement.start),
        evidence,
        confidence_of(found.rule, found.category, revision.type),
        event_time=event_time_of(clause, found.category, today, revision.zone) or said_on(unit, revision),
        due=due_of(clause, today) if commitment else None,
        kind=found.kind,
        rule=found.rule,
    )


def _actors(
    revision: Revision, unit: Unit, clause: str, found: FoundCategory, cast: Cast, start: int
) -> tuple[InvolvedActor, ...]:
    """The grammar of agents is English; a German clause names its people as the learned reader's fields find them."""
    if not is_german(revision.text):
        return cast.actors(clause, unit, found)
    place = bisect_left(revision.layout.units, unit.start, key=lambda one: one.start)
    return actors_of(revision, place, found.category, cast, clause, found.kind, start)


def _quote_span(clause: str, found: FoundCategory) -> tuple[int, int]:
    """The clause; of a long one, the words around the cue."""
    words = list(re.finditer(r"\S+", clause))
    if len(words) <= MOST_WORDS:
        return 0, len(clause)
    last_cue = max(position for position, word in enumerate(words) if word.start() <= max(found.start, found.end - 1))
    first = max(0, min(last_cue - MOST_WORDS // 2, len(words) - MOST_WORDS))
    return words[first].start(), words[first + MOST_WORDS - 1].end()


def _narrative(clause: str, unit: Unit, cast: Cast) -> str:
    words = " ".join(clause.split())
    speaker = unit.speaker or (
        cast.revision.author if re.search(r"\b(?:I|we|my|our)\b", words, re.IGNORECASE) else None
    )
    return f"{cast.people.full_name(speaker)}: {words}" if speaker else words
