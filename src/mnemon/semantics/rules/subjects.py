"""Names what a clause is about, by the noun phrase that its category points to."""

import re

from mnemon.documents.structure.names import NAME
from mnemon.semantics.learned.gloss import is_german
from mnemon.semantics.link.wording import content_words
from mnemon.semantics.rules.agents import split_names
from mnemon.semantics.rules.cues.verbs import DIRECTION, TASK
from mnemon.semantics.rules.german_subjects import german_subject
from mnemon.semantics.rules.people import People
from mnemon.semantics.semantic_event import Category, Subject, SubjectType

_DETERMINERS = (
    r"(?:the|a|an|our|my|your|his|her|its|their|this|that|these|those|some|any|all|each|every|both|another"
    r"|no)"
)
_STOP = (
    r"of|by|before|until|till|within|on|at|after|since|because|that|which|who|when|while|where|if|so|than|and"
    r"|but|or|as|is|are|was|were|be|been|to"
    r"|has|have|had|will|shall|would|could|can|with|from|into|instead|rather|about|via|during|today"
    r"|tomorrow|yesterday|not|now|know|for|in"
    r"|next|last|this|still|again|early|late|too|only|drops|keeps|find|finds|found|like|likes|say|said"
    r"|find|goes|went|moves|moved|stays|may"
    r"|might|exactly|just|gave|came|led|i|we|you|he|she|they|it|isn't|doesn't|haven't|hasn't|can't|won't"
    r"|aren't|me|us|him|them"
)
_WORD = rf"(?!(?:{_STOP})(?![\w-]))[$€£#@]?(?:\d{{1,3}}(?:,\d{{3}})+|\w[\w&/'.+-]*(?<![.'-]))"
_PHRASE = re.compile(
    rf"(?:{_DETERMINERS}\s+)*(?P<phrase>{_WORD}(?:\s+{_WORD}){{0,4}}(?:\s+(?:of|in"
    rf"|for)\s+(?:{_DETERMINERS}\s+)*{_WORD}(?:\s+{_WORD})?)?)",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"\W*(?:to\s+[a-z-]+\s+)?(?:(?:to|for|with|about|on|of|in|at|up|down|out|through|over|forward|um|uh"
    r"|you|me|us|him|her|them|that|back|also|just|and|as)\s+)*",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"\W*(?:(?:so|and|but|then|also|yes|no|ok|okay|well|um|uh|oh|yeah|actually,?|exactly|sadly|of course"
    r"|more recently|sure|as you know|honestly|right|fyi|btw|one thing|there (?:is|are|was|were)|it (?:is"
    r"|was)|with effect from|from)\b[\s,:]*)*"
    r"(?:[\w ]{1,30}:\s+)?",
    re.IGNORECASE,
)
# "Use Postgres" is about Postgres, "Changed pricing" about pricing.
_IMPERATIVE = re.compile(
    rf"(?:{DIRECTION}|{TASK}|(?:we|I)\s+\w+|changed|raised|moved|renamed|replaced)\s+(?=\S)", re.IGNORECASE
)
# Where a category has its own place for what it is about.
_TOPIC = {
    Category.COLLABORATION: re.compile(
        r"\b(?:about|on|over|through|discuss(?:ed)?|regarding|concerning|review)\s+(?!(?:mon|tues|wednes|thurs"
        r"|fri|satur|sun)day|\d)",
        re.IGNORECASE,
    ),
    Category.STAKEHOLDER: re.compile(
        r"\b(?:as(?! of\b)|becomes?|became|(?:is|are)(?! \w+ing\b)|responsible for|in charge of"
        r"|care of|take over|takes over|handles?"
        r"|owns?|leads?|manages|joins|joined|steps down as)\s+(?:(?:its|the|our|your|a|an|new"
        r"|now)\s+)*(?!from\b)",
        re.IGNORECASE,
    ),
    Category.FEEDBACK: re.compile(
        r"\b(?:finds?|found|likes?|loves?|hates?|about|with|that|wants?|would like|asks? for|say|says|said)\s+",
        re.IGNORECASE,
    ),
}
_PROJECT = re.compile(
    r"\b(?:project|programme|program|initiative|release|launch|migration|roadmap|phase|sprint|plan)\b", re.IGNORECASE
)
# "Pushed the delivery back from 12 to 26 February": what is between the verb and its "from".
_VERB = re.compile(r"\w+\s+(?:(?:up|down|back|out|forward)\s+)?", re.IGNORECASE)
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_NOTHING = content_words(
    """the both one ones two thing things something anything everything nothing everyone everybody someone nobody did
    what out chosen called write first second other others same more most lot bit way today tomorrow yesterday monday
    tuesday wednesday thursday friday saturday sunday"""
)
_MOST_WORDS = 8
# "Chinonso and Siobhán to review the lease", "Cerys has taken over the books": what stands behind the people's verb.
_PEOPLE_DO = re.compile(
    rf"\W*(?P<names>@?{NAME}(?:(?:,\s*|\s+and\s+|\s*[&/]\s*){NAME})*)[,:]?\s+"
    r"(?:(?:will|shall|to|has|have|had|is|are|was|were|must|can|should|does|please|also|now|still|not|been|going|never)\s+)*"
    r"[a-z][\w'’-]*\s+"
)


def subject_of(
    clause: str, cue: tuple[int, int], about: str, category: Category, people: People, fallback: str
) -> Subject:
    """The category's own place first; then after or before the cue; then the heading."""
    if is_german(clause):
        ref = german_subject(clause, people, fallback)
        return Subject(ref, _type(ref, people))
    topic = _TOPIC.get(category)
    places = [match.end() for match in topic.finditer(clause)] if topic else []
    first = _phrase(clause, _end(_IMPERATIVE, clause, _end(_OPENING, clause, 0)))
    after = _phrase(clause, _end(_PREPOSITION, clause, _word_at(clause, cue[1]))) if cue[1] else ""
    ordered = [
        *(_phrase(clause, place) for place in places),
        *((_phrase(clause, _end(_VERB, clause, cue[0])),) if about == "moved" else ()),
        _behind_people(clause, people),
        *((first, after) if about in ("before", "moved") else (after, first)),
    ]
    ref = (
        next((each for each in ordered if _says_what(each) and not people.is_told(each)), "")
        or fallback
        or " ".join(clause.split()[:_MOST_WORDS])
    )
    return Subject(ref, _type(ref, people))


def _behind_people(clause: str, people: People) -> str:
    match = _PEOPLE_DO.match(clause)
    if match is None or not all(map(people.is_person, split_names(match["names"]))):
        return ""
    return _phrase(clause, _end(_PREPOSITION, clause, match.end()))


def _says_what(phrase: str) -> bool:
    """ "The", "both" and a weekday name nothing."""
    told = content_words(phrase) - _NOTHING
    return any(len(word) > 1 and not word[0].isdigit() and not _ORDINAL.fullmatch(word) for word in told)


def subject_of_cell(words: str, people: People, is_task: bool) -> Subject:
    """ "Sign lease for hall B" is about the lease; words without a verb are all subject."""
    first = re.match(r"\w+\s+(?=[a-z\d])", words) if is_task else None
    ref = _phrase(words, first.end() if first else 0) or words
    return Subject(ref, _type(ref, people))


def _end(pattern: re.Pattern[str], clause: str, start: int) -> int:
    match = pattern.match(clause, start)
    return match.end() if match else start


def _word_at(clause: str, place: int) -> int:
    """A cue may end with the first letter of a name, "stay with W"; the name begins there."""
    inside = place >= 2 and clause[place - 2].isspace() and clause[place - 1].isupper()
    return place - 1 if inside and clause[place : place + 1].isalnum() else place


def _phrase(clause: str, start: int) -> str:
    match = _PHRASE.match(clause, start)
    return " ".join(match["phrase"].split()[:_MOST_WORDS]).strip(" .,:;'\"") if match else ""


def _type(ref: str, people: People) -> SubjectType:
    if people.is_known(ref):
        return "person"
    return "project" if _PROJECT.search(ref) else "object"
