"""Questions for decisions, promises, risks and the like: which kind of event is asked for."""

import re

from mnemon.semantics.semantic_event import Category

# The words that name a kind of event in a question.
_KINDS = (
    (
        Category.DECISION,
        r"decid(?:e|es|ed|ing)|decisions?|agreed?|agreements?|conclu(?:de|ded|sions?)|approved?|"
        r"beschlossen|beschlüssen?|beschlu(?:ss|ß)|beschlie(?:ss|ß)t|entschied(?:en)?|entscheidung(?:en)?|vereinbart",
    ),
    (
        Category.COMMITMENT,
        r"promis(?:e|es|ed)|commit(?:s|ted|ments?)?|pledg(?:e|es|ed)|under(?:take|takes|took|taken)|action items?|"
        r"to-?dos?|assigned|tasks?|"
        r"verspr(?:ochen|icht|ach|echen)|zugesagt|zusagen?|aufgaben?|übernommen",
    ),
    (Category.QUALITY_RISK, r"risks?|blockers?|concerns?|worr(?:y|ies|ied)|risiken|risiko|bedenken"),
    (Category.FEEDBACK, r"feedback|complain(?:s|ed|ts?)?|prais(?:e|ed)|rückmeldung(?:en)?|beschwerden?"),
    (Category.STAKEHOLDER, r"responsible|in charge|roles?|zuständig|verantwortlich"),
)
_NAMED = [(category, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for category, words in _KINDS]
# Who asks like this wants the events themselves; "why" and "how" want what is said about them.
_ASKS_FOR = re.compile(
    r"^\W*(?:what|which|who|whom|when|list|show|name|tell|is there|are there|was (?:wurden?|haben?|hat|ist|sind)|"
    r"welche[rsnm]?|wer|wen|wem|wann|nenne|zeige?|gibt es|gab es)\b",
    re.IGNORECASE,
)

# And those that only ask; what is left says what it is about.
_ASKING = re.compile(
    r"\b(?:what|which|who|whom|when|list|show|name|tell|me|is|are|was|were|there|did|do|does|has|have|had|been|we|they|"
    r"about|on|any|all|the|welche[rsnm]?|wer|wen|wem|wann|nenne|zeige?|gibt|gab|es|wurden?|worden|haben?|hat|wir|sie|"
    r"über|zu[mr]?|ist|sind|war|waren|der|die|das)\b",
    re.IGNORECASE,
)


def without_kind(question: str) -> str:
    """The question without the words that name a kind: an event of that kind seldom says them itself."""
    for _, named in _NAMED:
        question = named.sub(" ", question)
    return _ASKING.sub(" ", question).strip(" ?!.")


def asked_for(question: str) -> tuple[Category, str] | None:
    """The kind of event that a question asks for, with the words that say so."""
    if not _ASKS_FOR.match(question):
        return None
    for category, named in _NAMED:
        if found := named.findall(question):
            return category, " ".join(found)
    return None
