"""Names that are known by their place alone: what stands before a colon and is written like a name."""

import re
from collections.abc import Iterator

from mnemon.documents.structure.names import CAPITALISED, TITLE
from mnemon.semantics.extract.revision import Revision
from mnemon.semantics.learned.gloss import english
from mnemon.semantics.rules.people import NOT_NAMES
from mnemon.semantics.rules.word_lists import words

_LINE_LABEL = re.compile(r"[\s\W]*(?P<names>[^:\n–—]{1,60}?)\s*:\s+(?=\S)")
_TITLE = re.compile(TITLE)
_PART = re.compile(rf"(?:{TITLE}|[A-Z]\.|de|da|van|von|der|bin|al|{CAPITALISED})")
# Capitalised at the head of a line or a sentence, and nobody.
_NOBODY = words(
    """action actions agenda answer date deadline decision decisions done due issue location next note notes open owner
    place present priority question reason result risk risks room subject state status task tasks team title todo topic
    update version when where who why alert booth lux return pit part lock budget offer price report plan result review
    test tests stock order orders both each all everybody everyone nobody none night day early late shift yes no please
    stand-up standup sync retro kick-off kickoff minutes meeting protokoll sitzung besprechung
    mo di mi do fr sa so kw fa pls express spam info archiv
    aufgabe aufgaben beschluss bitte datum frage grund hinweis nachtrag ort punkt rest status stand termin thema top wer
    wann was wo weil wenn früh spät nacht alle beide jeder keiner niemand gib gebt schick schickt setzt macht"""
)


def could_be_name(revision: Revision, name: str, german: bool) -> bool:
    """Somebody who is known; else written like a name, and no word that the language or the text uses otherwise."""
    people = revision.people
    if people.is_told(name):
        return True
    parts = name.split()
    if not parts or len(parts) > 4 or not all(_PART.fullmatch(part) for part in parts):
        return False
    small = [part.lower().strip(".") for part in parts if not _TITLE.fullmatch(part)]
    if not small:
        return False
    if any(part in _NOBODY or part in NOT_NAMES or part in people.common_words for part in small):
        return False
    if german:
        noun = len(parts) == 1 and parts[0] in revision.german_nouns
        return not noun and english(small[-1]) is None and len(small[-1]) > 1
    return people.is_person(name)


def names_before_line(revision: Revision, start: int, german: bool) -> list[str]:
    """ "Marek: finished the parser. Today: metrics.": all of the line is Marek's."""
    text = revision.text
    begin = text.rfind("\n", 0, start) + 1
    end = text.find("\n", start)
    match = _LINE_LABEL.match(text, begin, end if end >= 0 else len(text))
    if match is None:
        return []
    names = list(split_list(match["names"]))
    return names if names and all(could_be_name(revision, name, german) for name in names) else []


def split_list(names: str) -> Iterator[str]:
    for name in re.split(r"\s*(?:,|/|&|\+|\band\b|\bund\b)\s*", names):
        if plain := name.strip(" -–—•*()[]\"'"):
            yield plain
