"""What a follow-up question asks, in full: with the names and things of what was asked and answered before it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mnemon.ask.quoting import things
from mnemon.ask.quoting.hearing import stem_of
from mnemon.ask.quoting.needs import need_of
from mnemon.documents.structure.calendar_words import MONTHS, WEEKDAYS
from mnemon.documents.structure.dates import Mention, read_dates

_I = re.IGNORECASE
_OPENS = re.compile(r"^\W*(?:and|but|also|und|aber)\b[\s,]*", _I)
# It asks the same of something else: "what about Ben?", "and in April?".
_ABOUT = re.compile(r"^\W*(?:(?:and|but|und|aber)\b[\s,]*)?(?:what about|how about|was ist mit|und was ist mit)\s+", _I)
_ASKS = re.compile(
    r"\b(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|has|have|had|can|could|will|would|"
    r"should|must|(?-i:may)|wer|wem|wen|wessen|was|welche\w*|wann|wo|wohin|warum|weshalb|wieso|wie|ist|sind|war|waren|hat|"
    r"haben|wird|wurde|wurden|kann|soll|muss|darf)\b", _I,
)  # fmt: skip
_SOMEBODY = re.compile(r"\b(?:he|him|she|er|ihn|ihm)\b", _I)
_SOMEBODYS = re.compile(r"\b(?:his|her|sein(?:e[rnms]?)?|ihr(?:e[rnms]?)?)\b", _I)
# "the club and its seat", "der Verein seinen Sitz": whose it is stands in the question itself.
_OWNED_HERE = re.compile(
    r"\b(?:the|our|an?|der|die|das|den|dem|eine?|unser\w*)\s+[^\W\d_]\w*\s+(?:and\s+|und\s+)?"
    r"(?:his|her|its|their|sein(?:e[rnms]?)?|ihr(?:e[rnms]?)?)\b", _I,
)  # fmt: skip
_SOMETHING = re.compile(
    r"\b(?:it|its|they|them|their|those|these|es|sie|davon|dafür|dagegen|damit|darüber|dazu|daran|darauf|deren|dessen|"
    r"diese[rsnm]?)\b|\b(?:that|this|das|dies)(?=\W*$|\s+(?:is|was|were|are|will|would|cost|costs|happen|happened|mean|"
    r"means|change|changed|decided|ist|war|wird|wurde|kostet|hei[sß]+t|bedeutet)\b)", _I,
)  # fmt: skip
# Words that say how one asks, not about what: with them the follow-up would ask the same again.
_HOW_ASKED = frozenset(
    map(
        stem_of,
        """decide decided decision agree agreed change changed happen responsible person people time day date number
        reason cause beschlossen entschieden entscheidung geändert zuständig grund""".split(),  # noqa: SIM905
    )
)
# What a question leans on, as `in_full` gives it, and what it is about where that comes last: "decided about the fee?".
_LEANT_ON = re.compile(r"\([^()]*\)(?=\W*$)")
_MATTER = re.compile(
    r"(?:.*\s)?(?P<by>about|for|with|of|on|against|über|für|mit|von|gegen|zum|zur)\s+(?P<matter>[^\s\d?!.]+(?:\s[^\s\d?!.]+){0,3})"
    r"[?!. ]*$", _I,
)  # fmt: skip
MOST_WORDS, MOST_NAMES = 8, 3
# "89 EUR" names nothing.
_NAME = re.compile(r"(?<![.!?:] )(?<!\d )(?<!^)\b[A-ZÄÖÜ][\w-]{2,}")
_CALENDAR = frozenset((*MONTHS, *WEEKDAYS))
_LEADS = re.compile(r"^(?:in|on|at|im|am|since|seit|by|until|bis)\s+", _I)


@dataclass(frozen=True)
class AskedBefore:
    """A question in full, the words that answered it, and who said them."""

    question: str
    quotes: Sequence[str] = ()
    speakers: Sequence[str] = ()


def in_full(question: str, before: AskedBefore) -> str | None:
    """The follow-up as one would ask it alone; None where it stands by itself."""
    if _OWNED_HERE.search(question) and not _OPENS.search(question):
        return None
    rest = _OPENS.sub("", _ABOUT.sub("", question)).strip()
    if not _ASKS.search(rest) and (_ABOUT.search(question) or _OPENS.search(question)):
        return _asked_of_another(before.question, rest.strip(" ?!."))
    somebody = bool(_SOMEBODY.search(question) or _SOMEBODYS.search(question))
    leans = bool(_OPENS.search(question) or _SOMETHING.search(question)) or len(need_of(question).words) == 0
    if somebody and (name := _person_of(before)):
        question = _SOMEBODYS.sub(f"{name}’s", _SOMEBODY.sub(name, question))
    elif not leans and not somebody:
        return None
    words = _things_of(before, question)
    return f"{question.strip().rstrip('?!. ')} ({' '.join(words)})?" if words else question


def _asked_of_another(asked: str, other: str) -> str:
    """The question before, of another person, time or matter where it names one; else with what is said now beside
    it."""
    if not other:
        return asked
    bare = _LEADS.sub("", other)
    if _times_in(f"in {bare}"):
        if said := _times_in(asked):
            return asked[: said[0].start] + bare + asked[said[0].end :]
        other = f"in {bare}" if bare == other else other
    elif bare[:1].isupper() and (names := _people_in(asked)):
        return asked.replace(names[-1], bare)
    if leant_on := _LEANT_ON.search(asked):
        return asked[: leant_on.start()] + f"({other})" + asked[leant_on.end() :]
    matter, own = _MATTER.match(asked), _MATTER.match(other)
    same = own is None or (matter is not None and own["by"].lower() == matter["by"].lower())
    if matter and same and not _LEADS.match(other):
        return asked[: matter.start("matter")] + (own["matter"] if own else other) + asked[matter.end("matter") :]
    return f"{asked.rstrip('?!. ')} {other}?"


def _times_in(text: str) -> list[Mention]:
    return list(read_dates(text, datetime.now(UTC).date(), "past"))


def _people_in(text: str) -> list[str]:
    """Names in full, and else words that are written as names; in German every noun has a capital."""
    need = need_of(text)
    plain = [] if need.german else [need.words[number] for number in sorted(need.names)]
    return things.PERSON.findall(text) or plain


def _person_of(before: AskedBefore) -> str | None:
    """Whom "she" means: whom the question named, or else whoever said the answer or is named first in it."""
    answered = [name for quote in before.quotes for name in things.PERSON.findall(f". {quote}")]
    found = [*_people_in(before.question), *before.speakers, *answered]
    return found[0] if found else None


def _things_of(before: AskedBefore, question: str) -> list[str]:
    """What the question before was about and the things that its answer names first, in small letters: they help to
    find, and nothing is refused because it does not name them. People and times of the answer are not what it asks."""
    asked = {stem_of(word) for word in need_of(question).words}
    answered = things.PERSON.sub(" ", before.quotes[0]) if before.quotes else ""
    names = _NAME.findall(answered)[:MOST_NAMES]
    found: dict[str, str] = {}
    for word in (*need_of(before.question).words, *names):
        stem = stem_of(word)
        if stem not in asked and stem not in _HOW_ASKED and word.lower() not in _CALENDAR:
            found.setdefault(stem, word.lower())
    return list(found.values())[:MOST_WORDS]
