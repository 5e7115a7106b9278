"""Which content words of a question a text says, in English or German, judged by stems and parts of compounds."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:['’][^\W_]+)?")
# Longest first. Both languages share the list: what is cut too much is cut alike on both sides.
_ENDINGS = (
    "ationen", "ation", "ungen", "ments", "ment", "ings", "ung", "ing", "ers", "ies", "ied", "ern", "est", "ed", "es",
    "en", "er", "em", "ly", "s", "e", "n", "y", "t",
)  # fmt: skip
SHORTEST_STEM = 3
_INFLECTIONS = frozenset(("s", "es", "'s", "’s", "ed", "ing", "e", "en", "er", "em", "ern"))
_DOER, _DOING = re.compile(r"(?:er|or)(?:s|in|innen|n)?$"), re.compile(r"(?:ing|ings|ung|ungen)$")
# A part of a compound must be this long, and leave at least so much of the word.
SHORTEST_PART, LEFT_OVER = 5, 3
# Words that people exchange for each other when they ask about work. Their stems are what is compared.
_ALIKE = (
    "holiday vacation leave urlaub ferien",
    "cost costs price fee charge kosten preis gebühr rate",
    "buy purchase ",
    "order kaufen ",
    "bestellen",
    "keep store retain save support maintain aufbewahren speichern behalten",
    "delete remove erase löschen entfernen",
    "start begin launch starten beginnen anfangen",
    "end finish expire stop enden ablaufen auslaufen",
    "contract agreement vertrag vereinbarung",
    "approve sign signed confirm genehmigen freigeben",
    "decide agree choose resolve entscheiden beschließen vereinbaren",
    "meeting call session sitzung besprechung treffen",
    "customer client guest kunde gast gäste",
    "boss manager lead ",
    "leiter chef",
    "drop remove abandon cancel streichen absagen",
    "move postpone shift delay verschieben verlegen",
    "responsible owner charge zuständig verantwortlich",
    "reason cause grund ursache",
    "task action todo aufgabe",
    "problem issue fault error fehler störung",
    "pay paid zahlen bezahlen",
    "employee colleague staff mitarbeiter kollege",
    "car vehicle auto fahrzeug wagen",
    "job position stelle",
    "raise increase erhöhen steigern",
    "reduce lower cut senken kürzen",
    "send mail schicken senden",
    "against oppose object dagegen ablehnen",
    "favour support dafür",
    "salary wage gehalt lohn",
    "deadline due frist fällig",
    "leave quit resign verlassen kündigen",
    "replace ",
    "instead ",
    "ersetzen statt",
    "win won winner gewinnen gewann gewonnen sieger gewinner",
    "spend spent ausgeben ausgegeben",
    "first 1 erste ersten erster",
    "second 2 zweite zweiten zweiter",
    "third 3 dritte dritten dritter",
)


def folded(word: str) -> str:
    """Small letters without accents; ß as ss."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFD", word.lower().replace("ß", "ss"))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


@lru_cache(16_384)
def stem_of(word: str) -> str:
    """The word without its ending; doubled letters at the cut become one."""
    plain = folded(word).removesuffix("'s").removesuffix("’s")
    for ending in _ENDINGS:
        if plain.endswith(ending) and len(plain) - len(ending) >= SHORTEST_STEM:
            plain = plain.removesuffix(ending)
            break
    if len(plain) > SHORTEST_STEM + 1 and plain[-1] == plain[-2]:
        plain = plain[:-1]
    return plain.rstrip("ei") if len(plain.rstrip("ei")) >= SHORTEST_STEM else plain


_GROUPS: dict[str, set[int]] = {}
_NO_GROUP: set[int] = set()
for _number, _line in enumerate(_ALIKE):
    for _word in _line.split():
        _GROUPS.setdefault(stem_of(_word), set()).add(_number)


def _groups_of(stem: str) -> set[int]:
    """Also of "object", the stem of "objected", though that of "object" is shorter."""
    shorter = stem_of(stem) if len(stem) >= SHORTEST_PART else stem
    return _GROUPS.get(stem, _NO_GROUP) | _GROUPS.get(shorter, _NO_GROUP)


class Hearing:
    """Hears the words of one question in many texts. What each word of a text says is judged once."""

    def __init__(self, words: Sequence[str]) -> None:
        self._stems = [stem_of(word) for word in words]
        self._plain = [folded(word) for word in words]
        self._letters = [word if len(word) == 1 and word.isupper() else "" for word in words]
        self._groups = [_groups_of(one) for one in self._stems]
        self._known: dict[str, tuple[frozenset[int], frozenset[int]]] = {}

    def heard_in(self, text: str) -> tuple[frozenset[int], frozenset[int]]:
        """The numbers of the words that the text says, and of those for which it has only a word of like meaning."""
        said: set[int] = set()
        alike: set[int] = set()
        for word in WORD.findall(text):
            found = self._known.get(word)
            if found is None:
                found = self._known[word] = self._judge(word)
            said |= found[0]
            alike |= found[1]
        return frozenset(said), frozenset(alike - said)

    def _judge(self, word: str) -> tuple[frozenset[int], frozenset[int]]:
        stem, plain = stem_of(word), folded(word)
        # "a" is not the A of "compressor A".
        said = {
            number for number, own in enumerate(self._stems)
            if (word == self._letters[number] if self._letters[number]
                else _is_same(own, self._plain[number], stem, plain))
        }  # fmt: skip
        doing = {number for number in said if _is_other_side(self._plain[number], plain)}
        said -= doing
        groups = _groups_of(stem)
        alike = doing | {number for number, own in enumerate(self._groups) if own & groups}
        return frozenset(said), frozenset(alike - said)


def _is_same(asked: str, as_asked: str, stem: str, plain: str) -> bool:
    """By stems, and by the words themselves where the ending of one hides its stem: "plants" and "plant"."""
    if asked == stem or _is_inflected(as_asked, plain):
        return True
    shorter, longer = sorted((asked, stem), key=len)
    if len(shorter) >= SHORTEST_PART and longer.startswith(shorter) and len(longer) - len(shorter) <= LEFT_OVER:
        return True
    # "Urlaub" stands in "Urlaubstage", and "Tage" too.
    whole = len(asked) >= SHORTEST_PART and len(plain) >= len(asked) + LEFT_OVER
    return whole and (plain.startswith(asked) or stem.endswith(asked))


def _is_other_side(one: str, other: str) -> bool:
    """A cleaner and the cleaning: of one stem, and not the same."""
    if _is_inflected(one, other):
        return False
    return any(_DOER.search(first) and _DOING.search(second) for first, second in ((one, other), (other, one)))


def _is_inflected(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < SHORTEST_STEM or not longer.startswith(shorter):
        return False
    rest = longer.removeprefix(shorter)
    doubled = len(shorter) > SHORTEST_STEM and rest[:1] == shorter[-1] and rest[1:] in ("ed", "ing")
    return (
        rest in _INFLECTIONS
        or doubled
        or (shorter.endswith("e") and len(shorter) > SHORTEST_STEM and rest in ("d", "n"))
    )


def words_in(text: str) -> list[str]:
    return WORD.findall(text)
