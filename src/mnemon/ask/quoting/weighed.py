"""Weighs every statement in and around what was found: which answers best, and whether that is enough."""

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mnemon.ask.frames import Frames
from mnemon.ask.inputs import is_as_words
from mnemon.ask.learned.cross_encoder import AskedAsRead, StatementReader
from mnemon.ask.learned.pairs import ReadStatement
from mnemon.ask.quoting import things
from mnemon.ask.quoting.agreeing import heard_in_each, with_agreement
from mnemon.ask.quoting.choosing import Choice, choose, with_day_said
from mnemon.ask.quoting.clean import clean_words
from mnemon.ask.quoting.features import CandidateStatement, StatementValues, Weighing
from mnemon.ask.quoting.hearing import folded, words_in
from mnemon.ask.quoting.judgement import Judgement, KnownStatements
from mnemon.ask.quoting.moved import is_of_thread, thread_of
from mnemon.ask.quoting.needs import FILLERS, Need, need_of, with_people
from mnemon.ask.quoting.periods import AskedPeriod
from mnemon.ask.quoting.surroundings import Stretch
from mnemon.ask.quoting.told import NOTHING_TOLD, ToldEvents
from mnemon.ask.search import Ranked
from mnemon.models.embedder import Embedder
from mnemon.semantics.semantic_event import Category

# Passages whose statements are weighed, and statements whose meaning is compared.
PASSAGES, COMPARED = 10, 12
# Few of the questions that the judgement learned from are about things that nobody wrote of.
MOST_UNHEARD = 0.5
# Of what stands in an answer only because of another statement.
NO_ANSWER = -100.0
# By its own words, not by others of like meaning alone.
SAID = 0.8
# So much of a question's words speak of its matter.
OF_THE_MATTER = 0.6
# No more than this of the matter in its own words, and less than that near in meaning, is about something else.
HALF_SAID, FAR = 0.5, 0.4
_SAYS_ABOUT = re.compile(
    r"\b(?:sa(?:y|ys|id)|tell|tells|told|thinks?|thought|writes?|wrote|mention(?:s|ed)?|sag(?:t|te|en|ten)|gesagt|meint|meinte"
    r"|gemeint|schreibt|schrieb|geschrieben|denkt|dachte|erzählt|erzählte|erwähnt)\b.{0,60}"
    r"\b(?:about|of|on|regarding|concerning|über|von|zu[mr]?|bezüglich)\b",
    re.IGNORECASE,
)
# A lead in reading says no more beyond this.
LEAD_COUNTS = 4.0


@dataclass(frozen=True)
class Weighed:
    """Every statement that may answer, best first, and the chance that the best one does."""

    need: Need
    weighing: Weighing
    found: Sequence[CandidateStatement]
    told: ToldEvents
    judgement: Judgement
    chance: float
    enough: bool

    def choices(self) -> list[Choice]:
        chosen = choose(self.found, self.weighing, self.told) if self.enough else []
        return [with_day_said(one) for one in chosen] if self.need.kind == "when" else chosen

    @property
    def thread(self) -> str | None:
        """The subject of the mail that answers, where a later one may set its figure or day anew."""
        return thread_of(self.found[0], self.weighing) if self.enough else None

    def with_later(self, stretches: Sequence[Stretch]) -> "Weighed":
        """With what the thread of the mail that answers says later: no answer by itself."""
        own = [one for one in stretches if is_of_thread(self.found[0].origin, one.origin)]
        known = {one.key for one in self.found}
        more = [one for one in self.weighing.candidates(own, NOTHING_TOLD) if one.key not in known]
        return replace(self, found=[*self.found, *(replace(one, score=NO_ANSWER) for one in more)])

    def understood(self, frames: Frames) -> dict[str, str]:
        """The limits that were read from the question."""
        return {"time": self.weighing.bound_to.told(frames)} if self.weighing.bound_to else {}

    @property
    def of_other_times(self) -> AskedPeriod | None:
        """The time that was asked for, where what came near is of others."""
        return self.weighing.bound_to if self.weighing.of_other_times and not self.enough else None

    @property
    def of_somebody_else(self) -> list[str]:
        """Whom the question names, each with the whole name, if the best statement is about others."""
        if not self.found or not (self.found[0].values["of_other"] or self.found[0].values["lead"] < 0):
            return []
        nearest = self.found[0].statement
        said = {folded(word) for word in words_in(f"{nearest.speaker or ''} {nearest.text}")}
        return [name for name in self._names_asked() if not {folded(word) for word in words_in(name)} & said]

    def _names_asked(self) -> list[str]:
        """Linh Tran is one: words of names that stand side by side."""
        names: list[str] = []
        for number, word in enumerate(self.need.words):
            if number not in self.need.names:
                continue
            if names and number - 1 in self.need.names and folded(word) in self.weighing.people:
                names[-1] += f" {word}"
            else:
                names.append(word)
        return names


async def weigh_statements(
    ranked: Ranked, stretches: Sequence[Stretch], told: ToldEvents, judgements: Mapping[KnownStatements, Judgement],
    embedder: Embedder | None, reader: StatementReader | None = None, need: Need | None = None,
) -> Weighed:  # fmt: skip
    people = _people(stretches, told)
    need = with_people(need or need_of(ranked.asked.question), people)
    weighing = Weighing(need, ranked.terms, ranked.corpus.texts, people, as_words=is_as_words(ranked.filters))
    judgement = judgements["words"]
    found = judgement.ranked(weighing.candidates(stretches, told))
    further = [replace(one, score=NO_ANSWER) for one in found[COMPARED:]]
    found = judgement.ranked(with_agreement(found[:COMPARED], weighing))
    if embedder is not None and ranked.asked.vector is not None and found:
        judgement = judgements["meaning"]
        found = judgement.ranked(await _compared(found, ranked, embedder))
        if reader is not None and (read := await _read(found, weighing, ranked, reader)):
            judgement = judgements["reading"]
            found = judgement.ranked(read)
    found = sorted(found, key=lambda one: (one.values["no_contact"], not takes_side(one, weighing, OF_THE_MATTER)))
    found = [_beside(found[0], found[1:]), *found[1:]] if found else found
    chance = judgement.chance(found[0].values) if found else 0.0
    if found and (says_it_all(found[0]) or takes_side(found[0], weighing, SAID)):
        chance = max(chance, judgement.enough)
    apart = bool(found) and (is_undecided(found[0], weighing) or said_by_another(found, weighing))
    enough = chance >= judgement.enough and not is_outside(found[0]) and not apart
    return Weighed(need, weighing, [*found, *further], told, judgement, chance, enough)


def says_it_all(best: CandidateStatement) -> bool:
    """Whether it has every word of the question itself, and beside them the amount, time or person that is asked for:
    "The rent is 640 EUR" of "How much is the rent?"."""
    values = best.values
    elsewhere = sum(values[name] for name in ("heads", "near", "title", "missing", "numbers_missing"))
    against = sum(values[name] for name in ("question", "of_other", "of_themselves", "quoted", "empty"))
    fits = values["fits_new"] or values["names_somebody"]
    return bool(fits and values["own"] >= SAID and not elsewhere and not against)


def takes_side(one: CandidateStatement, weighing: Weighing, least: float) -> bool:
    """Whether somebody takes the side there that is asked for, in so much of what the question is about: "Tom objected"
    below the heading of the matter, of "Who was against it?"."""
    against = sum(one.values[name] for name in ("question", "of_other", "of_themselves", "quoted"))
    return bool(one.values["stance"] > 0 and not against and weighing.share(one.covers) >= least)


def is_outside(best: CandidateStatement) -> bool:
    """Whether even the best is about something else: most of what is asked about stands nowhere, and no reading would
    know it in other words; a name stands nowhere; or somebody else speaks of themselves there."""
    values = best.values
    if values["unheard"] > MOST_UNHEARD and "read" not in values:
        return True
    return bool(values["unknown_name"] or values["of_themselves"] or values["no_contact"])


def is_undecided(best: CandidateStatement, weighing: Weighing) -> bool:
    """Whether a decision is asked for and even the best tells of no event, nor says or means much of the matter: the
    row of a price list does not say what was decided about pricing."""
    if weighing.asked_event is None or weighing.asked_event[0] is not Category.DECISION:
        return False
    values = best.values
    return not values["event"] and values["own"] <= HALF_SAID and values.get("similarity", 0.0) < FAR


def said_by_another(found: Sequence[CandidateStatement], weighing: Weighing) -> bool:
    """ "What did Gareth say about the castle?", where somebody else speaks of it in these words, and he never does."""
    need = weighing.need
    matter = frozenset(range(len(need.words))) - need.names
    if not matter or not _SAYS_ABOUT.search(need.question):
        return False
    asked = {folded(need.words[number]) for number in need.names}
    spoken = [(one, asked & {folded(word) for word in words_in(one.statement.speaker or "")}) for one in found]
    own = [one for one, by_asked in spoken if by_asked]
    if not own or any(matter & (one.around | one.covers) for one in own):
        return False
    return any(matter <= one.said for one, by_asked in spoken if one.statement.speaker and not by_asked)


def _beside(best: CandidateStatement, others: Sequence[CandidateStatement]) -> CandidateStatement:
    return best.known(
        **beside_others([one.values for one in (best, *others)], [best.score, *(o.score for o in others)])
    )


def beside_others(values: Sequence[StatementValues], scores: Sequence[float]) -> StatementValues:
    """What the first of all has beside the others: how far it is ahead of the next, in the matter of what is said of or
    by somebody else, and in how it reads; the most that any of them has of each value; and how much the reading takes
    all of them together for an answer."""
    best, others = values[0], values[1:]
    elsewhere = [one["matter"] for one in others if one["of_other"]]
    lead = best["matter"] - max(elsewhere) if elsewhere and not best["of_other"] else 0.0
    margin = min(2.0, scores[0] - scores[1]) if others else 2.0
    beside = {f"most_{name}": max(one.get(name, 0.0) for one in values) for name in best}
    beside |= {"lead": min(lead, 0.0), "margin": margin}
    if "read" in best:
        read = [one["read"] for one in values]
        ahead = read[0] - max(read[1:], default=read[0])
        beside["read_lead"] = max(-LEAD_COUNTS, min(LEAD_COUNTS, ahead))
        beside["any_read"] = max(read) + math.log(sum(math.exp(one - max(read)) for one in read))
    return beside


async def _compared(
    best: Sequence[CandidateStatement], ranked: Ranked, embedder: Embedder
) -> list[CandidateStatement]:  # fmt: skip
    """The best ones once more, with how near their meaning is."""
    texts = [meaning_of(one) for one in best]
    each = list(dict.fromkeys(texts))
    vectors = await embedder.embed(each, purpose="query")
    near = dict(zip(each, (vectors @ np.asarray(ranked.asked.vector)).tolist(), strict=True))
    return [one.known(similarity=near[text]) for one, text in zip(best, texts, strict=True)]


async def _read(
    best: Sequence[CandidateStatement], weighing: Weighing, ranked: Ranked, reader: StatementReader
) -> list[CandidateStatement]:  # fmt: skip
    """The same with how each reads as an answer; none while there is no model to read with."""
    asked = AskedAsRead(weighing.need.question, weighing.need.places)
    logits = await asyncio.to_thread(reader.read, asked, as_read(best, weighing))
    if logits is None:
        return []
    return [one.known(read=logit) for one, logit in zip(best, logits.tolist(), strict=True)]


def meaning_of(one: CandidateStatement) -> str:
    """Its words, after those that it cannot be understood without."""
    statement = one.statement
    words = clean_words(statement.text, statement.columns)
    lead = statement.asked or statement.lead or (statement.headings[-1] if statement.headings else "")
    return f"{clean_words(lead)} {words}" if lead else words


def as_read(found: Sequence[CandidateStatement], weighing: Weighing) -> list[ReadStatement]:
    return [_as_read(one, heard) for one, heard in zip(found, heard_in_each(found, weighing), strict=True)]


def _as_read(one: CandidateStatement, heard: tuple[int, ...]) -> ReadStatement:
    """With what it leans on: who says it, the question and the words before it, the day and the headings over it, what
    the text is about, and what comes after it."""
    statement, origin = one.statement, one.origin
    words = clean_words(statement.text, statement.columns)
    speaker = f"{statement.speaker}: " if statement.speaker else ""
    led = [statement.asked or statement.lead or statement.earlier, statement.before]
    before = " ".join(clean_words(part) for part in dict.fromkeys(led))
    day = f"{one.day.day} {one.day:%B %Y}. " if one.day else ""
    about = clean_words(origin.opening) or origin.title
    over = (*(clean_words(heading) for heading in reversed(statement.headings[-2:])), about)
    return ReadStatement(
        speaker + words, before, day + ". ".join(dict.fromkeys(over)), clean_words(statement.after), heard
    )


def _people(stretches: Sequence[Stretch], told: ToldEvents) -> list[str]:
    """Whoever speaks, is named in full, or takes part in an event."""
    names = {one.speaker for stretch in stretches for one in stretch.statements if one.speaker}
    names |= {hit.speaker for stretch in stretches for hit in stretch.hits if hit.speaker}
    names |= {name for event in told.events for name in event.people.split(", ") if name}
    for stretch in stretches:
        for one in stretch.statements:
            names |= {name for name in things.PERSON.findall(one.text) if not _is_filled(name)}
    return sorted(names)


def _is_filled(name: str) -> bool:
    """ "Die Nachtschicht" is nobody, and neither is what stands after a label."""
    return any(word.lower() in FILLERS for word in name.split())
