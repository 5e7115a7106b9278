"""A question in one language that is read, of texts in the other: German is read as English, word by word."""

import re
from collections.abc import Sequence
from dataclasses import replace

from mnemon.ask.quoting.needs import FILLERS, Need, is_german_name, need_of
from mnemon.ask.quoting.statements import Statement
from mnemon.ask.quoting.surroundings import Stretch
from mnemon.ask.quoting.weighed import Weighed
from mnemon.semantics.learned.gloss import english, german_words, is_german

# A question looks for so many German words beside its own, and so many for each of them.
MOST_WORDS, MOST_FORMS = 12, 3
# The share of the question's words, names of people apart, that the best statement must have.
LEAST_MATTER = 0.25
_WORD = re.compile(r"[^\W\d_]+")
# What asks, and verbs in two parts: word by word they would ask something else.
_PHRASES = [
    (re.compile(rf"\b{german}\b", re.IGNORECASE), meaning)
    for german, meaning in (
        (r"wie (?:hoch|teuer) (?:ist|sind|war|waren)", "how much is"), (r"was kost\w+", "how much does it cost"),
        (r"wie ?viele", "how many"), (r"wie (?:hoch|viel|teuer)|wieviel", "how much"), ("wie lange", "how long"),
        ("wie oft", "how often"), ("wann", "when"), ("wer", "who"), ("wem|wen", "whom"), ("wessen", "whose"),
        ("wohin|woher|wo", "where"), ("warum|weshalb|wieso", "why"), (r"welche\w?", "which"), ("wie", "how"),
        ("was für (?:ein|eine|einen)", "which"), ("was", "what"),
        (r"(?:läuft|laufen)\b(?P<between>.*)\b(?:aus|ab)", r"end\g<between>"),
        (r"(?:findet|finden)\b(?P<between>.*)\bstatt", r"takes place\g<between>"),
        (r"(?:fängt|fangen)\b(?P<between>.*)\ban", r"begins\g<between>"),
    )
]  # fmt: skip


def in_english(text: str) -> str:
    """Word by word; what the list does not know stays as it is."""
    return _WORD.sub(lambda found: english(found[0]) or found[0], text)


def asked_in_english(question: str) -> str:
    for phrase, meaning in _PHRASES:
        question = phrase.sub(meaning, question, count=1)
    parts = re.split(r"\b(how much|how many|how long|is|does it)\b", question)
    return "".join(part if number % 2 else in_english(part) for number, part in enumerate(parts))


def asked_in_german_too(question: str) -> str:
    """With the German words that mean what its own do."""
    found: list[str] = []
    for word in _WORD.findall(question):
        if word.lower() not in FILLERS:
            found += german_words(word)[:MOST_FORMS]
    return " ".join((question, *found[:MOST_WORDS]))


def need_of_german(question: str, translated: str) -> Need:
    """What the translated question needs: the kind that the German one asks for, and no noun is taken for a name."""
    need = need_of(translated)
    names = frozenset(number for number in need.names if is_german_name(need.words[number]))
    return replace(need, kind=need_of(question).kind, names=names)


def german_as_english(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Those in German, each statement in English words at its own place."""
    return [
        replace(one, statements=[
            replace(said, text=in_english(said.text), lead=in_english(said.lead), before=in_english(said.before),
                    after=in_english(said.after), earlier=in_english(said.earlier), asked=in_english(said.asked),
                    headings=tuple(map(in_english, said.headings)), columns=tuple(map(in_english, said.columns)))
            for said in one.statements
        ])
        for one in stretches if is_german(" ".join(said.text for said in one.statements))
    ]  # fmt: skip


def is_same_matter(weighed: Weighed) -> bool:
    """Whether it answers, and shares more with the question than whom it is about: words are put over one by one, and
    what reads well may say something else."""
    return weighed.enough and weighed.found[0].values["matter"] >= LEAST_MATTER


def as_written(weighed: Weighed, stretches: Sequence[Stretch]) -> Weighed:
    """What was weighed in English, with the words that stand there."""
    written: dict[object, Statement] = {
        (one.origin.doc_version_id, said.start, said.end): said for one in stretches for said in one.statements
    }
    found = [replace(one, statement=written.get(one.key, one.statement)) for one in weighed.found]
    return replace(weighed, found=found)
