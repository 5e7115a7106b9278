"""The one splitter: where sentences begin and end, in code points of the text they stand in.

Half a sentence misleads whoever reads a citation, so a doubtful stop, as one before a small letter, ends nothing.
`mnemon.semantics.rules.clauses` parts what it gives further, into single facts.
"""

import re

Span = tuple[int, int]

CLOSERS = "\"'”“’‘»›)\\]}」』）】〉》"
# A stop with white space after it, a stop of a script that sets none, a blank line, or a line that begins an item.
CANDIDATE = re.compile(
    rf"(?P<stop>(?<![.!?…؟।۔።])[.!?…؟।۔።]++[{CLOSERS}*_]*+)(?=\s|\Z)"
    rf"|(?P<wide>[。！？｡]+[{CLOSERS}]*)"
    r"|(?P<blank>\n[ \t]*\n\s*)"
    r"|(?P<item>\n)(?=[ \t]*(?:[-*•‣◦▪–—·]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t])"
)
WORD_BEFORE = re.compile(r"[^\s(\[{\"'“‘«„/]+\Z")
NEXT_WORD = re.compile(r"\s*[\"'“‘«„(\[*_]*([^\s.,;:!?\"'”’»)\]*_]*)")
# "Seit 26.02. liegt es vor", "die Sitzung vom 24. hat".
DAY_NUMBER = re.compile(
    r"(?:\b\d{1,2}\.\d{1,2}|\b(?:vom|am|der|die|das|den|dem|zum|bis|im|ab|seit|des) \d{1,2})\Z", re.IGNORECASE
)
LIST_NUMBER = re.compile(r"(?:\A|\n)[ \t]*(?:#{1,6}[ \t]+)?\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})(?:\.\d{1,3})*\Z")


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# Never the end of a sentence: a name or a number follows.
TITLES = _words(
    "mr mrs ms mx dr prof hon rev fr sr sra srta mme mlle st gen col capt lt sgt cmdr gov sen rep pres supt "
    "messrs hr hrn fr frau fa vllt wg bzgl gem str geb "
    "dipl ing eng mag bspw bzw ca vgl ggf evtl inkl exkl sog usf vs cf viz approx esp resp incl excl "
    "e.g i.e eg ie z.b d.h u.a s.o s.u i.d.r z.t p.ex par.ex"
)
# Not the end of one if a number follows.
BEFORE_NUMBERS = _words(
    "no nos nr num p pp s fig figs tab eq eqs sec sect ch chap vol art par para ver v rev ex cl § abs ziff anh"
)
# The end of one only if a word that begins sentences, or at least a capital, follows.
ABBREVIATIONS = _words(
    "etc inc ltd corp co llc plc gmbh bros dept est al ed eds jr assn univ ave blvd rd min max tel fax ext attn enc "
    "u.s u.k e.u u.n a.m p.m b.c a.d ph.d m.d b.a m.a usw zzgl jan feb mar apr jun jul aug sep sept oct nov dec "
    "mon tue tues wed thu thur thurs fri sat sun st"
)
SPECIAL = TITLES | BEFORE_NUMBERS | ABBREVIATIONS
ROMAN = frozenset("ivx")
MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december|"
    "januar|februar|märz|mai|juni|juli|oktober|dezember|jänner"
)
MONTH = re.compile(rf"(?:{MONTHS})\b", re.IGNORECASE)
STARTERS = _words(
    "a an the this that these those it its he she we i you they there here what who when where why how if in on at as "
    "and but so or for from with after before however then also our my his her their all no not yes please once "
    "der die das ein eine wir ich er sie es wenn aber und"
)


def sentences(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """The sentences of `text[start:end]`, trimmed, in order; together they hold all that is not white space."""
    end = len(text) if end is None else end
    spans: list[Span] = []
    begin = start
    for match in CANDIDATE.finditer(text, start, end):
        if match.lastgroup == "stop" and not _ends_here(text, begin, match, end):
            continue
        cut = match.end() if match.lastgroup in ("stop", "wide") else match.start()
        spans.append((begin, cut))
        begin = cut
    spans.append((begin, end))
    return [span for one in spans if (span := trimmed(text, *one))]


def trimmed(text: str, start: int, end: int) -> Span | None:
    """The span without white space at its edges; None where nothing is left."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


def _ends_here(text: str, begin: int, match: re.Match[str], end: int) -> bool:
    following = NEXT_WORD.match(text, match.end(), end)
    word = following.group(1) if following else ""
    if not word:
        return True
    if word[0].islower():
        return False
    stop = match["stop"]
    if stop[0] != "." or stop[1:2] == ".":
        return True
    return _full_stop_ends(text, begin, match.start(), word)


def is_abbreviated(text: str, begin: int, at: int) -> bool:
    """Whether the full stop at `at` belongs to the word before it: an abbreviation, an initial, a list number."""
    window = text[max(begin, at - 40) : at]
    if _is_ordinary(window):
        return False
    found = WORD_BEFORE.search(window)
    word = found.group() if found else ""
    initial = len(word) == 1 and word.isupper() and word != "I"
    if DAY_NUMBER.search(window):
        return True
    return initial or word.lower().strip(".") in SPECIAL or LIST_NUMBER.search("\n" + window.lstrip()) is not None


def _full_stop_ends(text: str, begin: int, at: int, following: str) -> bool:
    """Whether the full stop at `at` ends a sentence and not an abbreviation, an initial or a list number."""
    window = text[max(begin, at - 40) : at]
    if _is_ordinary(window):
        return True
    if LIST_NUMBER.search("\n" + window.lstrip()):
        return False
    found = WORD_BEFORE.search(window)
    word = found.group() if found else ""
    plain = word.lower().strip(".")
    if plain in TITLES:
        return plain == "st" and following.lower() in STARTERS
    if plain in BEFORE_NUMBERS and following[0].isdigit():
        return False
    if (
        word.isdigit()
        and len(word) <= 2
        and (MONTH.match(following) or following in ("Kalenderwoche", "KW", "Quartal"))
    ):
        return False
    if len(word) == len(following) == 1 and word.isalpha() and following.isalpha() and following != "I":
        # Abbreviated words such as "z. B.", or initials.
        return False
    if (len(word) == 1 and word.isupper()) or re.fullmatch(r"(?:[^\W\d_]\.)+[^\W\d_]", word):
        return following.lower() in STARTERS and following[0].isupper() and following != "I"
    if plain in ABBREVIATIONS:
        return following[0].isupper() and (following.lower() in STARTERS or plain in ("etc", "a.m", "p.m"))
    return True


def _is_ordinary(window: str) -> bool:
    """Whether the last word is one that says nothing special of the stop after it; most are, and this is soon seen."""
    words = window.rsplit(None, 1)
    last = words[-1] if words and not window[-1].isspace() else ""
    return len(last) > 2 and last.isalpha() and last.islower() and last not in SPECIAL and not ROMAN.issuperset(last)
