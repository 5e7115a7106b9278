"""Knows who the people of a document are, and gives one person one name."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources

from mnemon.documents.structure.names import CAPITALISED, PARTICLE, TITLE, UPPER
from mnemon.semantics.rules.word_lists import words

_FULL_NAME = re.compile(rf"(?<![\w.])(?:{TITLE} {CAPITALISED}|{CAPITALISED}(?: {PARTICLE})? {CAPITALISED})(?![\w-])")
_PROPER = re.compile(rf"(?<=[a-z,] )[{UPPER}][\w’'-]*\w")
# "In Zlín": a word that names a place once is nobody's name anywhere, unless it is known for one.
_PLACE = re.compile(rf"\b(?:in|near|outside) (?P<place>[{UPPER}][\w-]*\w)(?![’'\w])")
# How words for things end that begin a sentence: "Deployment", "Maintenance", "Shipping", "Hardware".
_THING = re.compile(
    r"[^-]*(?:(?:tion|sion|ment|ness|ity|ance|ence|ship|ing|ism|ware|ture|age|ics|board|house|line|room|day|base|port)"
    r"|[^-]{4,}(?:ers|ors|ies|ns|ts|ds|ks|ps|ls|es))"
)
# How words for what is so or was done end, which begin a clipped line: "Planned to ship", "Available by Friday". The
# letters before "ed" leave out those of Ahmed, Alfred, Khaled, Rashed and Sayed.
_QUALITY = re.compile(r"[^-]{2,}(?:able|ible|ful|less|ous|[tcsnkpdgvwxz]ed|ched|lled|uled|irmed|ormed)", re.IGNORECASE)
QUALITIES = words(
    """ready able unable willing eager happy glad due set likely unlikely bound sorry certain stuck busy sick ill absent
    late overdue gone left sent paid built bought sold found lost kept made begun written taken given shown known
    agreed guaranteed bereit fertig erledigt fällig krank unterwegs"""
)
# "Acme Gmb", "Nordsee Logistics": the last word says that it is nobody.
FIRM_WORDS = words(
    """gmb gmbh ag kg se ltd limited inc llc llp plc corp co sa sas bv nv oy ab as aps spa srl pty holding holdings
    group bank university institute foundation council ministry hospital systems solutions software logistics partners
    associates brothers sons works industries"""
)
# "At the Harbour Club", "im Alten Rathaus": nobody's name has an article before it.
_ARTICLE = re.compile(r"\b(?:the|an?|im|am|ins|zum|zur|vom|beim|das)\s+\Z", re.IGNORECASE)
# As many letters of a short name as tell whose it is.
_NICK_STEM = 4
_SHORTEST_NICK = 3
_MOST_INITIALS = 3
_CONTRACTION = re.compile(r"[’'](?:ll|m|ve|re|s|d|t)$")
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_CALLED = re.compile(rf"(?:{TITLE}|(?P<initial>[{UPPER}])\.)\s+(?P<last>{CAPITALISED})")
# A title is no part of a whole name, and all that tells who "Dr. Weiss" is.
_BEFORE_NAME = re.compile(rf"^(?:{TITLE} )+(?={CAPITALISED} (?:{PARTICLE} )?{CAPITALISED})")
_SHORTENED = re.compile(rf"(?P<first>{CAPITALISED})\s(?P<initial>[{UPPER}])\.?")
# Capitalised words that begin a sentence, a heading or a company more often than a person's name.
NOT_NAMES = (
    words(
        """a about action added appointed assigned elected hired named promoted removed replaced
    after again all also although an and annual any anyone anything apologies apr april as at
    aug august because been before best board both but by can closed could dear dec december decision done
    during each either every everyone everything feb february few first for fri friday from good great he
    hello her here hi his how however i if in instead is it its jan january jul july jun june just kind last
    let many mar march may maybe me minutes mon monday most my next no nobody none nor not note notes nothing
    nov november now oct october of ok okay on once one only open or other our please present project
    questions rather regards remarks report review right salaries sat saturday second sep sept september shall
    she should since so some someone somewhere soon status still subject such summary sun sunday sure team
    than thank thanks that the their then there these they third this those though thu thursday to today
    together tomorrow too tue tuesday two until up us very was we wed wednesday weekly well were what when
    where whether which while who why will with within would yes yesterday yet you your
    mondays tuesdays wednesdays thursdays fridays saturdays sundays
    actually additionally afterwards between basically clearly currently earlier eventually finally fortunately
    furthermore hence honestly hopefully initially lately later luckily meanwhile moreover nevertheless obviously
    originally otherwise perhaps previously recently sadly therefore thus unfortunately new old
    three four five six seven eight nine ten several most half
    der die das den dem des ein eine einen einem einer wir ich er sie es ihr du man im am zum zur beim vom bei mit nach
    für auf aus ab bis als alle beide jede jeder jedes kein keine heute gestern bitte dann dort hier und oder aber wenn
    falls weil dass nun jetzt statt firma lieferant kunde projekt beschluss punkt nächste nächster nächstes letzte
    ende anfang mitte januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag
    samstag sonntag
    hotel gasthof gasthaus restaurant café cafe bistro pension praxis kanzlei museum theater theatre kirche church
    school schule
    security legal sales support product design finance procurement facilities ops qa hr it logistics"""
    )
    | QUALITIES
)


@dataclass(frozen=True)
class People:
    """Full names, in the order they were met, and the words that the document writes small somewhere."""

    names: tuple[str, ...]
    common_words: frozenset[str] = field(default=frozenset(), repr=False)
    # Capitalised within a sentence, where capitals mean something.
    proper_words: frozenset[str] = field(default=frozenset(), repr=False)
    # Words that name a place somewhere in the text: "in Zlín".
    places: frozenset[str] = field(default=frozenset(), repr=False)
    # Those whom the document's own fields name: its author, its readers, who was there.
    told: tuple[str, ...] = ()

    @classmethod
    def known_from(cls, text: str, given: Sequence[str]) -> "People":
        common = frozenset(word for word in _WORD.findall(text) if word.islower())
        met = (
            match[0]
            for match in _FULL_NAME.finditer(text)
            if _could_be_person(match[0], common)
            and not _ARTICLE.search(text, max(0, match.start() - 5), match.start())
        )
        names = _without_titled(dict.fromkeys(_tidy(name) for name in (*given, *met) if name.strip()))
        places = frozenset(match["place"] for match in _PLACE.finditer(text))
        told = tuple(dict.fromkeys(_tidy(name) for name in given if name.strip()))
        return cls(tuple(names), common, frozenset(_PROPER.findall(text)) - places, places, told)

    @cached_property
    def _by_part(self) -> dict[str, str | None]:
        """First and last names to full names; None where two people share one. Those who are told come first."""
        parts: dict[str, str | None] = {}
        told = {word.lower() for name in self.told for word in (name, *name.split())}
        for name in self.names:
            known = name in self.told
            for part in {name.lower(), *(word.lower() for word in name.split() if len(word) > 1)}:
                if part in told and not known and part != name.lower():
                    continue
                held = parts.get(part, name)
                longer = held and _extends(name, held)
                parts[part] = name if longer else held if held and _extends(held, name) else None
        return parts

    def full_name(self, name: str) -> str:
        """ "Ben", "Mr Okafor" and "B. Okafor" are Ben Okafor where only one is known."""
        plain = _tidy(name)
        found = self._by_part.get(plain.lower())
        if found and " " in found:
            return found
        return self._by_last_name(plain) or self._by_nick(plain) or self._by_letters(plain) or found or plain

    def _by_letters(self, name: str) -> str | None:
        """ "SM" who speaks: of those who take part, the only one with these first letters."""
        if not name.isupper() or not 2 <= len(name) <= _MOST_INITIALS:
            return None
        fits = {told for told in self.told if " " in told and name in _initials_of(told)[1:]}
        return fits.pop() if len(fits) == 1 else None

    def _by_nick(self, name: str) -> str | None:
        """ "deepak-k", "ferdie", "Ravi Pillai": of those who take part, the only one whose name begins so."""
        first, *more = re.split(r"[\s._-]+", _unaccented(name))
        stem = first if len(first) <= _NICK_STEM else first[:_NICK_STEM]
        if len(stem) < _SHORTEST_NICK:
            return None
        fits = [
            told
            for told in self.told
            if " " in told
            and told.split()[-1].lower() not in FIRM_WORDS
            and any(part.startswith(stem) for part in _unaccented(told).split())
            and all(any(part.startswith(one) for part in _unaccented(told).split()) for one in more)
        ]
        return fits[0] if len(fits) == 1 else None

    def is_told(self, name: str) -> bool:
        """One of those who write, speak, are addressed or were there; by any part of the name."""
        return self.full_name(name) in self._told_names

    @cached_property
    def _told_names(self) -> frozenset[str]:
        return frozenset(self.full_name(name) for name in self.told)

    def _by_last_name(self, name: str) -> str | None:
        """Who is called by a title or an initial and the last name, or by the first name and an initial."""
        called = _CALLED.fullmatch(name)
        if called and not called["initial"]:
            found = self._by_part.get(called["last"].lower())
            return found if found and " " in found else None
        first, last = (called["initial"], called["last"]) if called else _first_and_initial(name)
        fits = [one for one in self.names if " " in one and first and _is_called(one.split(), first, last)]
        return fits[0] if len(fits) == 1 else None

    def by_initials(self, letters: str) -> str | None:
        """ "D" or "DH" in somebody's notes, where only one of the people fits."""
        for known in (self.told, self.names if len(letters) > 1 else ()):
            fits = {self.full_name(name) for name in known if letters in _initials_of(name) and name[:1].isupper()}
            if fits:
                return fits.pop() if len(fits) == 1 else None
        return None

    def called(self, name: str) -> str:
        """The full name of whoever a column names, also by first letters: "RA", "T.K."."""
        letters = re.sub(r"[.\s]", "", name)
        if self.is_known(name) or not letters.isupper() or len(letters) > _MOST_INITIALS:
            return self.full_name(name)
        return self.by_initials(letters) or self.full_name(name)

    def is_known(self, name: str) -> bool:
        return self._by_part.get(_tidy(name).lower()) is not None

    def only_opens(self, word: str) -> bool:
        """Seen at the head of sentences alone, where every word has its capital: "Invoice sent", "Wanjiru sent it"."""
        return " " not in _tidy(word) and _tidy(word) not in self.proper_words and not self.is_known(word)

    def is_person(self, words: str) -> bool:
        """Known, or written like a name and nowhere like a common word."""
        plain = _tidy(words)
        if not plain:
            return False
        if self.is_known(plain):
            return True
        opens = self.only_opens(plain)
        if opens and (_THING.fullmatch(plain) or is_quality(plain) or plain in self.places):
            return False
        return plain[:1].isupper() and _could_be_person(plain, self.common_words)


def is_quality(word: str) -> bool:
    """What something is, or was made: "ready", "available", "planned"; by itself nobody."""
    return word.lower() in QUALITIES or _QUALITY.fullmatch(word) is not None


@cache
def places_and_languages() -> frozenset[str]:
    """Capitalised like a person, and named beside one: "Ada and Berlin", "for Python and Go"."""
    return frozenset(
        resources.files("mnemon.semantics.rules").joinpath("no_people.txt").read_text(encoding="utf-8").split()
    )


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


def _unaccented(name: str) -> str:
    """As handles and addresses write it: "stoeger", "ines"."""
    plain = unicodedata.normalize("NFKD", name.lower().translate(_UMLAUTS))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def _first_and_initial(name: str) -> tuple[str, str]:
    """ "Ana F." """
    match = _SHORTENED.fullmatch(name)
    return (match["first"], match["initial"]) if match else ("", "")


def _is_called(parts: Sequence[str], first: str, last: str) -> bool:
    """Where one of the two is given by its first letter."""
    if len(last) == 1:
        return parts[0] == first and any(part.startswith(last) for part in parts[1:])
    return parts[-1] == last and parts[0].startswith(first)


def _initials_of(name: str) -> tuple[str, ...]:
    """ "D", "DH"; "HP" of Hans-Peter Volk."""
    parts = [[part[:1] for part in word.split("-")] for word in name.split()]
    whole, first = "".join(letters[0] for letters in parts if letters), "".join(parts[0]) if parts else ""
    return (name[:1], whole, *((first,) if len(first) > 1 else ()))


def _without_titled(names: dict[str, None]) -> dict[str, None]:
    """ "Ms Kamau" beside "Wanjiru Kamau" is nobody else."""
    last = {name.split()[-1] for name in names if " " in name and not _CALLED.fullmatch(name)}
    return {name: None for name in names if not (_CALLED.fullmatch(name) and name.split()[-1] in last)}


def _extends(longer: str, shorter: str) -> bool:
    """ "Ben Okafor" extends "Okafor" and "B. Okafor"."""
    whole = longer.lower().split()
    return longer == shorter or all(
        word in whole or (word.endswith(".") and any(one.startswith(word[:-1]) for one in whole))
        for word in shorter.lower().split()
    )


def _could_be_person(name: str, common_words: frozenset[str]) -> bool:
    words = [word.strip(".") for word in name.split()]
    if not words or words[0] in places_and_languages() or words[-1].lower() in FIRM_WORDS:
        return False
    return not any(
        word.lower() in NOT_NAMES
        or word.lower() in common_words
        or (word.isupper() and len(word) > 2)
        or any(map(str.isdigit, word))
        or _CONTRACTION.search(word)
        for word in words
    )


def _tidy(name: str) -> str:
    plain = _BEFORE_NAME.sub("", " ".join(name.strip(" @,:;.-–—").split()))
    plain = re.sub(r"\AHerrn(?= )", "Herr", re.sub(r"[’']s$", "", plain))
    return plain.title() if plain.isupper() and " " in plain else plain
