"""Tells a statement from a question, a condition, a wish, a denial and somebody else's words."""

import re
from dataclasses import dataclass

_QUESTION = re.compile(r"\?[\"'”’)\]]*\s*(?::\w+:\s*)?$")
_ASKED = re.compile(
    r"\b(?:ask(?:s|ed)|wonder(?:s|ed|ing)?|unclear|not sure|see)\b[\w\s]{0,20}\b(?:whether|if|who|what"
    r"|when)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"^(?:\W*(?:and|but|so|also|or)\s+)?(?:if|unless|in case|provided|assuming|suppose|should\s+(?:you|we"
    r"|they|the)|had\s+(?:the|we|they|it)\b"
    r"|were\s+(?:we|they|it)\s+to)\b|\b(?:if|unless|in case|provided that|assuming|as long as"
    r"|in the event)\b",
    re.IGNORECASE,
)
_HARMLESS_IF = re.compile(r"\b(?:if possible|if we are lucky|if you like|as if|even if)\b", re.IGNORECASE)
_TENTATIVE = re.compile(
    r"\b(?:would|could|might|(?-i:may)|maybe|perhaps|possibly|probably|should|ought|hope[sd]? to|hoping"
    r"|wish|some ?day|one day|at some point|we'll see"
    r"|seem(?:s|ed)? to|can (?:\w+ )?be|not like|i(?:'d| would) (?:rather|prefer|like to)|consider(?:s"
    r"|ing)?\b(?!ed)|may want|think about|propos(?:e|es|ed|al)|suggest(?:s|ed|ion)?)\b",
    re.IGNORECASE,
)
# "I propose that we order lamps by Friday": nothing of it is promised or decided yet.
_SOMEBODY = r"(?:I|we|you|he|she|they|ich|wir|er|sie|(?-i:[A-ZÄÖÜ])[\w.-]+(?: (?-i:[A-ZÄÖÜ])[\w.-]+)?)"
_PROPOSES = re.compile(
    rf"\W*(?:(?:so|and|then|also|maybe|therefore|und|also|dann),? )?(?:{_SOMEBODY} (?:(?:would|'d|also|hereby|therefore"
    r"|auch|daher|deshalb) ?)*(?:propos(?:e|es|ed|ing)|suggest(?:s|ed|ing)?)\b"
    rf"|(?:{_SOMEBODY} )?(?:schlage|schlägt|schlagen|schlug)\b[^.;!?]*?\bvor\b"
    r"|(?:my|our|mein|unser) (?:proposal|suggestion|vorschlag)\b|(?:proposal|suggestion|vorschlag)\s*:"
    r"|(?:how about|what if we|why don't we|wie wäre es)\b)",
    re.IGNORECASE,
)
_OWN_PROMISE = re.compile(r"\b(?:I|we)(?:'ll| will| shall)\b|\bich werde\b|\W*(?:and|und) (?:I|ich)\b", re.IGNORECASE)
_GENERAL = re.compile(
    r"\b(?:usually|normally|generally|typically|often|always|every year|in general|means|case by case"
    r"|case-by-case|rare|rarely|unlikely|is defined as|refers? to the)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nobody|nothing|neither|nor|without|no longer|hardly|cannot|can't|won't|isn't"
    r"|aren't|wasn't|weren't"
    r"|don't|doesn't|didn't|haven't|hasn't|hadn't|shan't|wouldn't|couldn't|shouldn't|yet to|fail(?:s"
    r"|ed)? to|refus(?:es|ed) to|unable to)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`[^`\n]+`|[\"“„«][^\"“”„«»\n]{3,400}[\"”“»]")
_APOSTROPHES = str.maketrans("’‘", "''")
# {disfmarker}, [laughter]; "I 'll" and "do n't" as some transcribers write.
_MARKUP = re.compile(r"\{\w+\}|\[(?:laughs?|laughter|pause|inaudible|crosstalk)\]", re.IGNORECASE)
_SPLIT_CONTRACTION = re.compile(r"(?<=\w) ('(?:ll|re|ve|m|s|d)\b)")
# "No, we decided to stay" denies what was asked, not what it says.
_ANSWER = re.compile(r"\W*(?:no|nope|nah)\b\s*[,.;:!–—]\s*", re.IGNORECASE)
_REACH = 34


@dataclass(frozen=True)
class Mood:
    """Of one clause within its sentence."""

    question: bool
    conditional: bool
    tentative: bool
    general: bool


def plain(text: str) -> str:
    """Of the same length, with plain apostrophes, joined contractions and no transcriber's marks."""
    text = text.translate(_APOSTROPHES)
    text = _MARKUP.sub(lambda match: " " * len(match[0]), text)
    return _SPLIT_CONTRACTION.sub(lambda match: match[1] + " ", text)


def mood_of(clause: str, sentence: str) -> Mood:
    """A question is the whole sentence's; a condition at its beginning holds for all of it."""
    opening = _CONDITION.match(sentence)
    conditional = bool(opening) or (bool(_CONDITION.search(clause)) and not _HARMLESS_IF.search(clause))
    return Mood(
        question=bool(_QUESTION.search(sentence)) or bool(_ASKED.search(clause)),
        conditional=conditional,
        tentative=bool(_TENTATIVE.search(clause)) or is_proposed(clause, sentence),
        general=bool(_GENERAL.search(clause)),
    )


def is_proposed(clause: str, sentence: str) -> bool:
    """Whether the sentence only proposes what the clause says; who promises something beside it does promise it."""
    return _PROPOSES.match(sentence) is not None and not (_OWN_PROMISE.search(clause) and not _PROPOSES.match(clause))


def is_denied(clause: str, start: int, end: int) -> bool:
    """Whether a negation stands in the cue or shortly before it."""
    answer = _ANSWER.match(clause)
    first = max(start - _REACH, answer.end() if answer and answer.end() <= start else 0)
    return _NEGATION.search(clause, first, end) is not None and not re.search(
        r"\b(?:no later than|not only|no hurry|not later than)\b", clause[first:end], re.IGNORECASE
    )


def is_quoted(clause: str, start: int, end: int) -> bool:
    """Whether the cue stands inside quotation marks: those are not the author's own words."""
    return any(match.start() <= start and end <= match.end() for match in _QUOTED.finditer(clause))
