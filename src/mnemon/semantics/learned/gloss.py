"""Puts German words into plain English, word by word, since the embedder was made for English."""

import re
from functools import cache, lru_cache
from importlib import resources

from mnemon.semantics.rules.word_lists import words

_WORD = re.compile(r"[^\W\d_]+")
# Endings that German words take; longest first.
_ENDING = re.compile(r"(?:ungen|innen|ern|est|ten|tet|tes|ter|em|en|er|es|st|te|e|n|s|t)$")
_SHORTEST_STEM = 4
_SHORTEST_PART = 5
_PARTICIPLE = re.compile(
    r"(?:ab|an|auf|aus|bei|durch|ein|her|hin|mit|nach|um|vor|weg|zu|zurück)?ge(?P<stem>\w{3,})(?:t|en)$"
)
# "Abzuholen", "umbuchen", "vorgerechnet": what stands before the verb says less than the verb.
_PARTED = re.compile(
    r"(?:ab|an|auf|aus|bei|durch|ein|fest|fort|her|herauf|hin|los|mit|nach|um|vor|weg|weiter|zu|zurück|zusammen|be|ent|er"
    r"|ver|zer)(?:zu|ge)?(?P<stem>\w{4,})$"
)
_VERB_ENDINGS = ("", "e", "t", "st", "est", "et", "te", "ten", "test", "end", "ende", "enden")
# Words that only German has, and that no German text does without.
_SIGNS = words(
    """der die das und nicht ist ein eine mit für auf von wir ich sich auch noch wird haben hat zu den dem im am bis
    nur sind war bei nach oder aber ihr sie vom zum zur ab wegen erledigt offen keine kein heute morgen"""
)
_LEAST_SHARE = 0.12


@lru_cache(maxsize=32)
def is_german(text: str) -> bool:
    """By the share of its commonest words, or its umlauts where it is clipped."""
    found = [word.lower() for word in _WORD.findall(text)]
    signs = sum(word in _SIGNS or any(letter in "äöüß" for letter in word) for word in found)
    return bool(found) and signs / len(found) >= _LEAST_SHARE


@lru_cache(maxsize=20_000)
def english(word: str) -> str | None:
    """What the word means, as far as the list knows it, its form or its parts; None where it knows nothing."""
    small = word.lower()
    if found := _known(small):
        return found
    if (participle := _PARTICIPLE.match(small)) and (found := _known(participle["stem"] + "en")):
        return f"{found} done"
    if (parted := _PARTED.match(small)) and (found := _known(parted["stem"])):
        return found
    return _compound(small)


def is_word(word: str) -> bool:
    """Whether it is an English word that the list gives a meaning by: nobody is called so."""
    return word.lower() in _english_words()


def german_words(word: str) -> tuple[str, ...]:
    """The German words that mean this English one, as the list has them."""
    small = word.lower()
    return _german_by_english().get(small) or _german_by_english().get(small.removesuffix("s"), ())


def _known(small: str) -> str | None:
    """The word itself, its stem, or the verb whose form it is: "ruf", "rufe", "ruft"; Swiss write ss for ß."""
    exact, stems = _meanings()
    if found := exact.get(small) or stems.get(_stem(small)):
        return found
    for ending in _VERB_ENDINGS:
        if small.endswith(ending) and (found := exact.get(small[: len(small) - len(ending)] + "en")):
            return found
    return exact.get(small.replace("ss", "ß")) if "ss" in small else None


def _compound(small: str) -> str | None:
    """ "Liefertermin": a known word at its end, and another before it if that is known too."""
    exact, stems = _meanings()
    for border in range(3, len(small) - _SHORTEST_PART + 1):
        last = exact.get(small[border:]) or stems.get(_stem(small[border:]))
        if last:
            first = small[:border]
            known = exact.get(first) or stems.get(_stem(first)) or exact.get(first.removesuffix("s"))
            return f"{known} {last}" if known else last
    return None


def _stem(small: str) -> str:
    stem = _ENDING.sub("", small)
    return stem if len(stem) >= _SHORTEST_STEM else small


@cache
def _english_words() -> frozenset[str]:
    exact, _ = _meanings()
    return frozenset(word for meaning in exact.values() for word in meaning.lower().split())


@cache
def _german_by_english() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for german, meaning in _meanings()[0].items():
        found.setdefault(meaning.lower(), []).append(german)
    return {meaning: tuple(words) for meaning, words in found.items()}


@cache
def _meanings() -> tuple[dict[str, str], dict[str, str]]:
    exact: dict[str, str] = {}
    text = resources.files("mnemon.semantics.learned").joinpath("german_words.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        meaning, _, forms = line.partition(": ")
        for form in forms.split():
            exact.setdefault(form, meaning)
    stems: dict[str, str] = {}
    for form, meaning in exact.items():
        if len(form) >= _SHORTEST_STEM:
            stems.setdefault(_stem(form), meaning)
    return exact, stems
