"""What a question needs: the kind of thing that answers it, the words that it is about, the people and the time."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from mnemon.ask.quoting.hearing import WORD, folded, stem_of
from mnemon.documents.structure.calendar_words import MONTHS, WEEKDAYS

AnswerKind = Literal[
    "who", "when", "where", "how_many", "how_long", "how_much", "why", "yes_no", "list", "definition", "how", "what"
]

Contact = Literal["phone", "mail"]

# The first that fits is meant.
_KINDS: tuple[tuple[AnswerKind, str], ...] = (
    ("why", r"^\W*(?:and |but |und |aber )?(?:why|how come|warum|weshalb|wieso|weswegen)\b|\bfor what reason\b"
            r"|\b(?:what|which) (?:was|is|were|are|were) the (?:\w+ )?(?:reasons?|causes?)\b|^\W*what (?:caused|"
            r"led to|made)\b"
            r"|\baus welche[mn] gr[uü]nd|\bwas (?:ist|war|sind|waren) (?:der|die) (?:\w+ )?(?:grund|gründe|"
            r"ursachen?)\b|\bworan (?:lag|liegt)\b"),
    ("how_many", r"\bhow (?:many|often)\b|\bwhat number of\b|\bwie ?viele\b|\bwie oft\b"),
    ("how_long", r"\bhow long\b|\bwie lange\b|\b(?:what|which) (?:period|retention)\b"),
    ("when", r"^\W*(?:and |but |so |und )?(?:when|since when|until when|till when|by when|from when|wann|seit "
             r"wann|bis wann|ab wann|zu wann)\b"
             r"|\b(?:what|which) (?:\w+ )?(?:time|date|day|month|year|week|weekday|quarter|deadline)\b|\bhow soon\b"
             r"|\bwelche[rmns]? (?:tag|datum|termin|monat|jahr|woche|wochentag|uhrzeit|frist)\b|\bum wie ?viel "
             r"uhr\b|\bwhat is the deadline\b"),
    ("how_much", r"\bhow (?:much|high|large|big|expensive|old|far|tall|fast|heavy|wide|deep|strong|warm|cold|hot)\b"
                 r"|\bwhat (?:is|was|are|were|will be) the (?:\w+ ){0,2}(?:price|cost|costs|amount|budget|fee|"
                 r"limit|rate|sum|salary|value|share|percentage|size|temperature|number)\b"
                 r"|\bwhat (?:does|do|did|will|would) .+ cost\b|\b(?:what|which) (?:price|amount|sum|budget|"
                 r"percentage)\b"
                 r"|\bwie ?viel\b|\bwie (?:hoch|teuer|gro[sß]+|alt|weit|schwer|schnell|stark|warm|kalt|breit|"
                 r"lang)\b|\bwas kost|\bwelche[rsnm]? (?:summe|betrag|preis|budget)\b"),
    ("where", r"^\W*(?:and |und )?(?:where|wo|wohin|woher|worin)\b|\b(?:in |at |to |from )?(?:what|which) "
              r"(?:place|city|town|room|office|location|building|country|hall|street|folder|warehouse)\b"
              r"|\b(?:welche[rmns]?) (?:ort|stadt|raum|büro|gebäude|halle|land|straße|ordner|lager|saal)\b"),
    ("list", r"^\W*(?:list|name|enumerate|nenne|liste|zähle)\b|^\W*(?:what|which) (?:are|were) (?:the|our|all|"
             r"his|her|their)\b|^\W*who (?:all|else|attended|was present|were|took part|are)\b"
             r"|^\W*welche (?!person)\w+(?:en|n|e|s)\b.*\b(?:sind|waren|wurden|gibt|gab|haben|hatten|müssen|"
             r"sollen|werden)\b|^\W*(?:what|which) (?!is\b|was\b|does\b|has\b)\w+[^s\W]s (?:are|were|do|did|have|"
             r"must|should|need|will)\b"
             r"|^\W*was (?:sind|waren) die\b|^\W*wer (?:nahm|war alles|waren|sind|alles)\b"),
    ("definition", r"^\W*(?:what is meant by|define|what do we mean by|was bedeutet|was hei[sß]+t|was versteht "
                   r"man|wofür steht)\b|^\W*what does .+ (?:mean|stand for)\b"
                   r"|^\W*(?:what|who) (?:is|are) (?:an? )?(?!(?<=who is )(?:the|our|my|your|his|her|their)\b)[\w-]+"
                   r"(?: [\w-]+)?\W*$|^\W*was (?:ist|sind) "
                   r"(?:eine?[nrms]? )?[\w-]+(?: [\w-]+)?\W*$"),
    ("who", r"^\W*(?:and |but |und |aber )?(?:who|whom|whose|wer|wem|wen|wessen)\b|^\W*(?:by|to|from|with|for|of|"
            r"von|an|mit|für|durch|bei) (?:whom|who|wem|wen)\b"
            r"|\b(?:what|which) (?:person|colleague|team|company|customer|supplier|department|firm|vendor|"
            r"speaker)\b|\bwelche[rsnm]? (?:person|kolleg|team|firma|kunde|lieferant|abteilung|mitarbeiter)\w*"),
    ("what", r"^\W*(?:und )?was (?:ist|sind|wird|werden|wurden?|hat|haben|hatte|soll|sollen|muss|müssen|kann|können"
             r"|darf|gilt|galt|steht|macht|machen|passiert|geschieht|geschah|fehlt|fehlte|sagt|sagte|meint|will|wollte"
             r"|braucht|bleibt|ändert|ging|geht|kommt|bekommt|liegt)\b"),
    ("how", r"^\W*(?:and |und )?(?:how|wie|womit|wodurch|auf welche weise)\b"),
    ("yes_no", r"^\W*(?:and |but |so |und |aber )?(?:is|are|was|were|do|does|did|has|have|had|can|could|may|"
               r"might|must|should|shall|will|would|am|isn't|aren't|don't|doesn't|didn't|"
               r"ist|sind|war|waren|hat|haben|hatte|hatten|wird|werden|wurde|wurden|kann|können|konnte|darf|"
               r"dürfen|muss|müssen|soll|sollen|sollte|gibt|gab|bleibt|bleiben|gilt|gelten|"
               r"will|wollen|steht|läuft|nutzen|verwenden|stimmt|braucht|brauchen|kommt|kommen|geht|bekommt|"
               r"bekommen|findet|hält|macht|machen|übernimmt|arbeitet|fährt|liegt|reicht|liefert)\b"),
)  # fmt: skip
_NAMED = [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _KINDS]
# So begins a question, whether or not a mark ends it.
_ASKING = re.compile(
    r"^\W*(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|has|have|had|can|could|may|must|should"
    r"|shall|will|would|wer|wem|wen|wessen|welche[rmns]?|wann|wo|woher|wohin|warum|weshalb|wieso|wie|womit|wofür|ist|sind|war"
    r"|waren|hat|haben|wird|werden|wurden?|kann|können|darf|dürfen|muss|müssen|soll|sollen|gibt)\b.*[^\W_]\W{0,2}(?<![?!.…])$",
    re.IGNORECASE | re.DOTALL,
)
# They ask, bind or fill, and are not what is asked about.
FILLERS = frozenset(
    """a an the this that these those there here it its we our us you your i my me he she they them his her their one
    and or but if then than so as at by for from in into of off on onto out over to up with within without about after
    before during until till since between under through per via is are was were be been being am do does did done doing
    has have had having can could may might must should shall will would not no nor yes who whom whose what which when
    where why how many much long often soon far big large high old come currently still already yet now just also too
    only exactly actually please tell say said says know mean means meant happen happens happened there's what's who's
    any some all every each either both else more most less least very really ever get gets got give gives given take
    takes use used using make makes made need needs go goes going list name show
    der die das den dem des ein eine einen einem einer eines und oder aber wenn dann als am an auf aus bei beim bis
    durch für gegen im in ins mit nach ohne seit über um unter vom von vor zu zum zur zwischen ist sind war waren sein
    gewesen bin wird werden wurde wurden worden hat haben hatte hatten kann können konnte darf dürfen muss müssen soll
    sollen sollte will wollen nicht kein keine keinen ja nein wer wem wen wessen was welche welcher welches welchen
    welchem wann wo wohin woher warum weshalb wieso wie viel viele wieviel wieviele lange oft hoch teuer es er sie wir
    ihr ich man uns unser unsere unserer unserem unseren euer sich dies diese dieser dieses diesem diesen jener dort
    lautet lauten
    hier noch schon auch nur sehr denn eigentlich genau gerade jetzt derzeit aktuell bitte sag sagt sagte gibt gab geben
    macht machen gemacht jede jeder jedes alle alles etwas ob dass damit daran darauf dafür davon dazu wofür worüber
    woran worauf womit""".split()  # noqa: SIM905
)
# Beside "what" and "which" they only say that a time is asked for, as "when" does.
_KIND_OF_TIME = re.compile(
    r"\b(?:what|which|welche[rmns]?) (?:time|date|day|hour|uhrzeit|datum|tag|termin)\b|\bum wie ?viel uhr\b",
    re.IGNORECASE,
)
# Nor is "phone number" what is asked about: it stands in few texts that have one.
_ASKS_BY = r"\b(?:what(?:['’]s| is| are| was)|which|wie (?:lautet|ist)|was ist|welche)\b.*?"
_REACHED_BY: dict[Contact, str] = {
    "phone": r"(?:(?:tele)?phone|mobile|cell(?: phone)?)(?: |-)?numbers?|(?:telefon|handy|mobil|ruf)nummern?|durchwahl",
    "mail": r"e-?mail(?:[ -]?(?:address(?:es)?|adressen?)|(?=\W*$| of | von ))|mailadressen?",
}
_CONTACTS = [
    (contact, re.compile(rf"{_ASKS_BY}\b(?P<by>{by})\b", re.IGNORECASE)) for contact, by in _REACHED_BY.items()
]
# What was asked for is one's own past: a replaced statement may answer.
_BEFORE = re.compile(
    r"\b(?:originally|initially|previously|formerly|earlier|at first|used to|before (?:that|this|the change)|"
    r"until then|"
    r"ursprünglich|anfangs|zuerst|früher|vorher|bisher|damals|zunächst)\b", re.IGNORECASE,
)  # fmt: skip
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_UNIT = re.compile(r"\b(?:how many|wie ?viele|how much|wie ?viel)\s+(?:of the |der |die )?([^\W\d_]+)", re.IGNORECASE)
_CAPITAL = re.compile(r"[^\W\d_]*[A-ZÄÖÜ][^\W_]*")
_CALENDAR = frozenset(
    (*MONTHS, *WEEKDAYS, "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag")
)
_GERMAN = frozenset(
    """der die das und ist wer wie was wann wo warum welche welcher wurde wird für nicht mit von zum zur den dem hat
    haben sind gibt es""".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Need:
    """`words` are what the question is about, in its order; `names` those of them that name somebody or something."""

    question: str
    kind: AnswerKind
    words: tuple[str, ...]
    names: frozenset[int]
    numbers: frozenset[str]
    # The thing that is counted: "days", of "how many days".
    unit: str | None
    # The question is about what held before.
    past: bool
    german: bool
    # Where each of the words begins in the question.
    places: tuple[int, ...] = ()
    # By what somebody is to be reached: the answer must hold such a number or address.
    contact: Contact | None = None


def as_question(words: str) -> str:
    """With the mark that questions end with: what reads them has learned from questions that have one."""
    return f"{words.rstrip()}?" if _ASKING.match(words.rstrip()) else words


def need_of(question: str) -> Need:
    kind = kind_of(question)
    # "At what time is …" asks as "when is …" does, "originally" asks for the past: neither is what it is about.
    about = _BEFORE.sub(_blank, _KIND_OF_TIME.sub(_blank, question) if kind == "when" else question)
    contact = next(((one, found) for one, pattern in _CONTACTS if (found := pattern.search(about))), None)
    if contact:
        # "What is the number" asks for an amount.
        kind = "what"
        first, last = contact[1].span("by")
        about = about[:first] + " " * (last - first) + about[last:]
    tokens = list(WORD.finditer(about))
    german = len({found[0].lower() for found in tokens} & _GERMAN) >= 1 and not re.search(
        r"\b(?:the|what|who|which|did|does)\b", question, re.IGNORECASE
    )
    words: list[str] = []
    places: list[int] = []
    names: set[int] = set()
    for place, found in enumerate(tokens):
        word = found[0]
        letter = len(word) == 1 and not word.isdigit()
        if letter and not _is_lettered(word, place):
            continue
        if not letter and (word.lower() in FILLERS or folded(word) in FILLERS):
            continue
        if letter or (_is_name(word, place, german) and word.lower() not in _CALENDAR):
            names.add(len(words))
        words.append(word)
        places.append(found.start())
    unit = _UNIT.search(question)
    return Need(
        question, kind, tuple(words), frozenset(names), frozenset(_NUMBER.findall(question)),
        unit[1] if unit and unit[1].lower() not in FILLERS else None, bool(_BEFORE.search(question)), german,
        tuple(places), contact[0] if contact else None,
    )  # fmt: skip


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def matter_of(text: str) -> set[str]:
    """The stems of the words that it is about."""
    return {stem_of(word) for word in WORD.findall(text) if len(word) > 2 and word.lower() not in FILLERS}


def kind_of(question: str) -> AnswerKind:
    for kind, pattern in _NAMED:
        if pattern.search(question):
            return kind
    return "what"


def with_people(need: Need, people: Iterable[str]) -> Need:
    """With the words that are names of people whom the sources know, also where nouns have capitals too."""
    known = {folded(word) for name in people for word in WORD.findall(name) if len(word) > 2}
    more = {number for number, word in enumerate(need.words) if folded(word) in known and word[0].isupper()}
    return replace(need, names=need.names | more)


def _is_lettered(word: str, place: int) -> bool:
    """The A of "compressor A", which is another than B."""
    return place > 0 and word.isupper() and word.isascii() and word != "I"


def _is_name(word: str, place: int, german: bool) -> bool:
    """A capital inside an English sentence; in German nouns have one too, so a name has more capitals or digits."""
    if word[0].isdigit():
        return False
    return is_german_name(word) or (place > 0 and not german and _CAPITAL.fullmatch(word) is not None)


def is_german_name(word: str) -> bool:
    """By more capitals than a noun has, or digits."""
    return any(letter.isdigit() for letter in word) or sum(letter.isupper() for letter in word) > 1
