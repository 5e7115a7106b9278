"""Whether a text holds the kind of thing that a question needs: a person, a time, a number, a cause, a definition."""

import re

from mnemon.ask.quoting.hearing import Hearing, folded, words_in
from mnemon.ask.quoting.needs import FILLERS, AnswerKind, Need

_I = re.IGNORECASE
_MONTH = (
    r"(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|"
    r"sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)"
)
_WEEKDAY = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|sonnabend"
)
TIME = re.compile(
    rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}\.\s?\d{{1,2}}\.(?:\s?\d{{2,4}})?|\b\d{{1,2}}:\d\d\b|\b\d{{1,2}}\.\d\d "
    rf"?(?:uhr|[ap]m)\b|\b\d{{1,2}} ?(?:[ap]\.?m\b|uhr\b|o'clock)"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th|\.)? ?(?:of )?{_MONTH}\b|\b{_MONTH}\.? \d{{1,4}}|\b(?:in|by|until|from|since|"
    rf"till|before|after|early|late|mid|end of|im|bis|ab|seit|ende|anfang|mitte|vor|nach)[ -]{_MONTH}\b"
    rf"|\b(?:{_WEEKDAY})\b|\b(?:19|20)\d\d\b|\b(?:yesterday|today|tomorrow|tonight|gestern|heute|morgen|"
    rf"übermorgen|noon|midnight|mittag|mitternacht)\b"
    r"|\b(?:last|next|this|coming|nächste[rsnm]?|letzte[rsnm]?|diese[rsnm]?|kommende[rsnm]?) (?:week|month|year|"
    r"quarter|weekend|summer|winter|spring|autumn|fall|woche|monat|jahr|quartal|sommer|winter|frühjahr|herbst|"
    r"sprint|release)\b"
    r"|\b(?:ago|vor (?:\w+ )?(?:tagen|wochen|monaten|jahren))\b|\bq[1-4]\b|\b(?:kw|calendar week|week) ?\d+\b|"
    r"\b(?:spring|summer|autumn|winter|christmas|easter|frühling|sommer|herbst|weihnachten|ostern|jahresende|"
    r"year-end|year's end|quartalsende|monatsende)\b",
    _I,
)
# Nobody knows when that is who does not know when it was said.
FROM_THEN_ON = re.compile(
    r"\b(?:tomorrow|yesterday|tonight|übermorgen|vorgestern|gestern|morgen"
    rf"|(?:next|this|last|coming) (?:week|month|weekend|{_WEEKDAY})"
    rf"|(?:nächste|diese|letzte|kommende)[rsnm]? (?:woche|monat|wochenende|{_WEEKDAY})"
    r"|in (?:a|one|two|three|\d+) (?:days?|weeks?)|in (?:einer|zwei|drei|\d+) (?:tagen|wochen?))\b",
    _I,
)
# "Are we open on Saturdays?" asks for no Saturday in particular.
ANY_SUCH_DAY = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days|(?:mon|diens|donners|frei|sams|sonn)tags|mittwochs)\b", _I
)
_COUNT_WORDS = (
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|"
    r"ninety|dozen|hundred|thousand|million|half|twice|once|"
    r"ein(?:e|en|er|em)?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|fünfzehn|zwanzig|dreißig|"
    r"vierzig|fünfzig|hundert|tausend|million(?:en)?|dutzend|halbe[rsn]?|zweimal|dreimal|einmal|nobody|none|"
    r"keine[rsn]?"
)
NUMBER = re.compile(rf"\d+(?:[.,]\d+)*|\b(?:{_COUNT_WORDS})\b", _I)
DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_AMOUNT = re.compile(
    r"(?:[€$£]|\b(?:EUR|USD|GBP|CHF)):? ?\d|\d(?:[\d.,]*)\s?(?:[€$£%]|EUR\b|USD\b|GBP\b|CHF\b|euros?\b|cents?\b|"
    r"dollars?\b|pounds?\b|francs?\b|prozent\b|percent\b|per cent\b|k\b|km\b|m\b|cm\b|mm\b|kg\b|g\b|t\b|tonn\w*|"
    r"liters?\b|litres?\b|liter\b|kwh?\b|mwh?\b|mb\b|gb\b|tb\b|ms\b|°|degrees?\b|grad\b|bar\b|volt\b|watt\b|"
    r"years?\b|jahre?n?\b|hours?\b|stunden?\b|points?\b|punkte?\b)",
    _I,
)
_DURATION = re.compile(
    rf"(?:\d+(?:[.,]\d+)?|\b(?:{_COUNT_WORDS}|several|mehrere))[ -]*(?:to \d+ |bis \d+ )?(?:\w+ )?(?:seconds?|"
    rf"minutes?|hours?|days?|weeks?|months?|years?|nights?|sekunden?|minuten?|stunden?|tagen?|tage|tag|wochen?|"
    rf"monate?n?|jahre?n?|nächte)\b"
    r"|\b(?:until|till|through|for good|forever|permanently|bis|dauerhaft|unbefristet)\b",
    _I,
)
_CAUSE = re.compile(
    r"\b(?:because|due to|owing to|since|so that|in order to|reasons?|caused?|root cause|thanks to|as a result|"
    r"that is why|otherwise|too \w+|to (?:avoid|save|keep|make|give|prevent|reduce|allow)|"
    r"weil|wegen|da (?:die|der|das|wir|es|sie|er|ein)|denn|damit|um .{1,60} zu|aufgrund|gründe?|ursachen?|"
    r"deshalb|daher|sonst|zu \w+)\b",
    _I,
)
_PLACE = re.compile(
    r"\b(?:room|office|building|floor|hall|street|warehouse|harbour|station|city|site|folder|cupboard|cellar|"
    r"drive|server|raum|büro|gebäude|etage|stock|halle|straße|lager|hafen|bahnhof|werk|ordner|schrank|keller|"
    r"saal|laufwerk)\b"
    r"|\b(?:in|at|near|to|from|into|bei|nach|aus|auf|im|am)(?: the| der| dem| den)? [A-ZÄÖÜ]\w+",
)
_ROLE = re.compile(
    r"\b(?:ceo|cfo|cto|coo|chair(?:man|woman|person)?|board|director|head of|manager|lead|team|treasurer|"
    r"secretary|lawyer|auditor|supplier|customer|department|nobody|everyone|colleagues|"
    r"vorstand|geschäftsführ\w+|leit(?:er|erin|ung)|abteilung|kassenwart\w*|schriftführ\w+|niemand|alle|"
    r"vorsitzende[rn]?|betriebsrat|kolleg\w+)\b|\b(?:I|we|ich|wir)\b",
    _I,
)
PERSON = re.compile(r"(?<![.!?] )(?<!^)\b[A-ZÄÖÜ][a-zäöüß'’-]+(?: (?:van |von |de |der )?[A-ZÄÖÜ][\w'’-]+)+|@\w+")
_VERDICT = re.compile(
    r"^\W*(?:yes|no|yep|nope|sure|right|correct|agreed|ja|nein|doch|genau|stimmt|klar)\b|\b(?:not|never|no "
    r"longer|must|may|can|cannot|can't|allowed|forbidden|only|still|always|remains?|stays?|keep|decided|approved|"
    r"nicht|nie|kein\w*|mehr|muss|darf|dürfen|kann|erlaubt|verboten|nur|weiterhin|immer|bleibt|beschlossen|"
    r"genehmigt)\b|n['’]t\b",
    _I,
)
_MEANS = re.compile(r"\b(?:is|are|means?|stands for|refers to|denotes|ist|sind|bedeutet|heißt|bezeichnet|steht "
                    r"für|meint)\b|[:=–—]", _I)  # fmt: skip
_WAY = re.compile(r"\b(?:by|via|through|using|with|first|then|step|click|run|durch|mit|indem|über|mittels|zuerst|"
                  r"dann|per)\b", _I)  # fmt: skip

# "The plumber is Rohrfix", "Plumber: Rohrfix, tel. …": one word is a name where nothing else stands there.
_NAMED_SO = re.compile(
    r"(?P<what>\w+)\W*?(?:\s(?:is|are|was|were|remains|called|ist|sind|war|waren|bleibt|heißt)|[:=–—])\s+(?P<name>[A-ZÄÖÜ][\w&'’.-]*\w)(?!\s*:)"
)

_CONTACTS = {
    "phone": re.compile(
        r"(?<![\d.,/-])(?!\d\d?[./-]\d\d?[./-]\d)(?:\+\d|0\d|\(0?\d{2,4}\))[\d /().-]{4,}\d|\b\d{3}-\d{4}\b"
        r"|\b(?:tel(?:efon)?|phone|mobile?|handy|ext(?:ension)?|durchwahl|dw)\b\W{0,3}\d[\d /-]*\d", _I,
    ),
    "mail": re.compile(r"[\w.+-]+@[\w-]+\.\w"),
}  # fmt: skip

# Who is against something, and who is for it.
_AGAINST = re.compile(
    r"\b(?:against|oppos\w+|object(?:s|ed|ion|ions)?|disagree\w*|veto\w*|reject\w*|dagegen|gegen|abgelehnt|"
    r"lehnt\w*|widersprach\w*|widerspricht|einwand|einwände|bedenken|contra)\b|(?<!\w)[-−]1\b",
    _I,
)
_FOR = re.compile(
    r"\b(?:in favou?r|supports?|supported|agree[sd]?|welcomes?|fine with|dafür|zugestimmt|stimmt\w* zu|"
    r"befürwort\w+|pro)\b|(?<!\w)\+1\b",
    _I,
)
_STILL_TO_DO = re.compile(r"\b(?:still|open|left|outstanding|pending|noch|offen\w*|ausstehend\w*|unerledigt\w*)\b", _I)

_FIRST_PERSON = re.compile(r"\b(?:I|I['’]\w+|my|me|mine|ich|mir|mich|mein(?:e[rnms]?)?)\b")

# Who is named in such a question may be the one to whom it is done; "Was" that opens a German one asks.
PASSIVE = re.compile(r"(?<=\s)(?:was|were|been|being|wurden?|worden)\b", _I)
QUESTION = re.compile(r"\?[\s\"'”’)*_]*$")
GREETING = re.compile(
    r"\W*(?:hi|hello|hey|hallo|dear|liebe[rs]?|moin|servus|good (?:morning|afternoon|evening)|guten (?:morgen|"
    r"tag|abend)|morning|thanks?(?: you)?|thx|danke|vielen dank|cheers|"
    r"(?:best|kind|warm) (?:regards|wishes)|regards|viele grüße|beste grüße|mit freundlichen grüßen|liebe grüße|"
    r"vg|lg|bye|tschüss|see you|welcome)\b[^.!?\n]{0,40}[,.!…]*\W*",
    _I,
)
EMPTY = re.compile(r"(?:\W|:[a-z_+0-9-]+:|\b(?:ok(?:ay)?|yes|no|ja|nein|great|super|perfect|haha|lol|cool|nice|"
                   r"sure|done|\+1|same|true|right|hm+|ah|oh)\b)*", _I)  # fmt: skip
# A time, and no word of anything that ends.
END_OF = re.compile(
    r"\bend of (?:the |this |next |last )?(?:day|week|month|quarter|year|season|summer|winter|january|february|march|"
    r"april|may|june|july|august|september|october|november|december|\d{4})\b|"
    r"\bende (?:des |der |dieser |dieses |nächster |nächsten )?(?:tag\w*|woche|monats?|quartals?|jahres?|januar|"
    r"februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|\d{4})\b",
    _I,
)


def holds(kind: AnswerKind, text: str) -> bool:
    """Whether the text has a thing of this kind at all."""
    match kind:
        case "who":
            return bool(PERSON.search(text) or _ROLE.search(text))
        case "when":
            return bool(TIME.search(text))
        case "where":
            return bool(_PLACE.search(text))
        case "how_many":
            return bool(NUMBER.search(text))
        case "how_long":
            return bool(_DURATION.search(text) or TIME.search(text))
        case "how_much":
            return bool(DIGITS.search(text))
        case "why":
            return bool(_CAUSE.search(text))
        case "yes_no":
            return bool(_VERDICT.search(text))
        case "definition":
            return bool(_MEANS.search(text))
        case "how":
            return bool(_WAY.search(text))
    return True


def holds_new(need: Need, text: str, speaker: str | None, people: frozenset[str]) -> bool:
    """Whether the thing is not just what the question says itself."""
    if need.kind == "who":
        asked = {folded(word) for word in need.words}
        names = {folded(word) for found in PERSON.findall(text) for word in words_in(found)} | {
            folded(word) for word in words_in(text) if folded(word) in people
        }
        own = {folded(word) for word in words_in(speaker or "")}
        return bool(names - asked) or bool(own - asked) or bool(_ROLE.search(text))
    if need.kind in ("how_many", "how_much", "how_long", "when"):
        told = set(DIGITS.findall(text)) - need.numbers
        if need.kind == "how_many":
            return bool(told) or bool(NUMBER.search(text))
        if need.kind == "how_much":
            return bool(told) and bool(_AMOUNT.search(text))
        if need.kind == "how_long":
            return bool(_DURATION.search(text))
        return bool(_times(text) - _times(need.question))
    return holds(need.kind, text)


def names_somebody(need: Need, text: str) -> bool:
    """Whether it says outright who it is that the question asks about, by a name that the question has not."""
    if need.kind != "who":
        return False
    hearing, asked = Hearing(need.words), {folded(word) for word in need.words} | FILLERS
    return any(hearing.heard_in(what)[0] and folded(name) not in asked for what, name in _NAMED_SO.findall(text))


def lacks_contact(need: Need, text: str) -> bool:
    """Whether a number or address to reach somebody is asked for, and this is none."""
    return need.contact is not None and _CONTACTS[need.contact].search(text) is None


def is_first_person(text: str) -> bool:
    """Whether the speaker speaks of him- or herself."""
    return _FIRST_PERSON.search(text) is not None


def _times(text: str) -> set[str]:
    return {found[0].lower() for found in TIME.finditer(text)}


def stance(question: str, text: str) -> float:
    """1 where the text takes the side that is asked for, -1 where it does not, 0 where none is asked for."""
    for side in (_AGAINST, _FOR):
        if side.search(question):
            return 1.0 if side.search(text) else -1.0
    return 0.0


def is_left(question: str, done: bool | None) -> float:
    """1 for an open item where what is left is asked for, -1 for one that is done."""
    if done is None or not _STILL_TO_DO.search(question):
        return 0.0
    return -1.0 if done else 1.0


def counts_unit(need: Need, text: str) -> bool:
    """Whether a number stands before what is counted."""
    if need.unit is None:
        return False
    hearing = Hearing([need.unit])
    for found in NUMBER.finditer(text):
        after = " ".join(text[found.end() : found.end() + 50].split()[:4])
        if hearing.heard_in(after)[0]:
            return True
    return False
