"""Whose words a place in a text is among: the line above that names who writes, the name below that signs."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from mnemon.semantics.rules.people import People

_FROM = re.compile(r"\W*(?:from|von|author|by|sender|absender)\s*:\s*", re.IGNORECASE)
_LEAD = re.compile(r"\A[\W\d]*")
# A day, an hour or nothing behind the name: "Ada Kowal, Mon 4 May 2026 12:15", "Ada (09:12)", "Ada wrote:".
_BEHIND = re.compile(r"[\s,<(\[–—|:*-]*(?:[^\n]*\d[^\n]*|(?:wrote|writes|schrieb|schreibt)\W*|<[^>]*>)?[\s)\]:*]*\Z")
_CLOSING = re.compile(
    r"\A\W*(?:(?:best|kind|warm|many|with|regards|thanks|thank you|cheers|yours|sincerely|all the best|ta|mfg|lg|vg"
    r"|viele|liebe|beste|freundliche[nr]?|schöne[ns]?|mit|grüße[n]?|gruß|dank|danke|herzlich\w*|bis dann)\b[\s,.!]*)*",
    re.IGNORECASE,
)
_HELLO = (
    r"(?:hi|hello|hey|dear|hiya|good (?:morning|afternoon|evening)|morning|hallo|liebe[r]?|moin|servus|grüezi|salut"
    r"|guten (?:tag|morgen|abend)|sehr geehrte[r]?)\b[\s,]*"
)
_GREETING = re.compile(rf"\s*(?P<hello>(?:{_HELLO})+)?(?P<names>[^.?:;\d]{{2,60}}?)\s*[,!.–-]?\s*\Z", re.IGNORECASE)
_LIST = re.compile(r",|\band\b|\bund\b|&|\bliebe[r]?\b", re.IGNORECASE)
_TITLE = re.compile(r"\A(?:Frau|Herrn?|Mr\.?|Mrs\.?|Ms\.?|Dr\.?|Prof\.?)\s+")
_ME = re.compile(r"\W*(?:ich|me|I|myself|selbst)\W*\Z", re.IGNORECASE)
_LONGEST = 90
_NAME_WORDS = 4


@dataclass(frozen=True)
class NamedLines:
    """Where lines that name who writes begin, whom they name, and the same of lines that sign."""

    heads: tuple[tuple[int, str], ...]
    signatures: tuple[tuple[int, str], ...]
    # Lines that greet somebody: "Hi Cerys", "Liebe Frau Hagedorn,", "Kofi, Ben,".
    greetings: tuple[tuple[int, tuple[str, ...]], ...]

    def head_above(self, position: int) -> str | None:
        place = bisect_right(self.heads, position, key=lambda one: one[0]) - 1
        return self.heads[place][1] if place >= 0 else None

    def head_before(self, position: int) -> str | None:
        """Whoever wrote what stands before the part that this place is in."""
        place = bisect_right(self.heads, position, key=lambda one: one[0]) - 1
        own = self.heads[place][1] if place >= 0 else None
        return next((name for _, name in reversed(self.heads[: max(place, 0)]) if name != own), None)

    def signed_below(self, position: int) -> str | None:
        """Before another begins to write."""
        end = next((start for start, _ in self.heads if start > position), None)
        found = (name for start, name in self.signatures if start > position and (end is None or start < end))
        return next(found, None)

    def hailed_above(self, position: int) -> tuple[str, ...]:
        """Whom the message that this place is in greets."""
        place = bisect_right(self.heads, position, key=lambda one: one[0]) - 1
        begin = self.heads[place][0] if place >= 0 else 0
        return next((names for start, names in self.greetings if begin <= start <= position), ())


@lru_cache(maxsize=16)
def named_lines(text: str, people: People, author: str | None) -> NamedLines:
    heads, signatures, greetings, at = [], [], [], 0
    for line in text.split("\n"):
        if 0 < len(line.strip()) <= _LONGEST and not line.lstrip().startswith(">"):
            if name := _head(line, people, author):
                heads.append((at, name))
            if name := _signature(line, people):
                signatures.append((at, name))
            if names := _greeted(line, people):
                greetings.append((at, names))
        at += len(line) + 1
    return NamedLines(tuple(heads), tuple(signatures), tuple(greetings))


def _greeted(line: str, people: People) -> tuple[str, ...]:
    match = _GREETING.match(line)
    if match is None or not (match["hello"] or line.rstrip().endswith((",", "!"))):
        return ()
    names = [name.strip() for name in _LIST.split(match["names"])]
    return tuple(people.full_name(_TITLE.sub("", name)) for name in names if people.is_told(_TITLE.sub("", name)))


def _head(line: str, people: People, author: str | None) -> str | None:
    if _ME.match(line):
        return people.full_name(author) if author else None
    if len(line) - len(line.lstrip()) > 3 or line.lstrip()[:1] in "-•*–":
        return None
    said = _FROM.match(line)
    rest = line[said.end() :] if said else _LEAD.sub("", line, count=1)
    name, behind = _leading_name(rest, people)
    if name is None or not (said or _BEHIND.fullmatch(behind)) or line.rstrip().endswith((".", "!", "?", ",")):
        return None
    return name


def _signature(line: str, people: People) -> str | None:
    """A name, or its first letters, and nothing else but a greeting."""
    rest = _CLOSING.sub("", line, count=1).strip(" -–—,.")
    if not rest or len(rest.split()) > _NAME_WORDS:
        return None
    if people.is_told(rest):
        return people.full_name(rest)
    letters = re.sub(r"[.\s]", "", rest)
    return people.by_initials(letters) if letters.isupper() and len(letters) <= 3 else None


def _leading_name(line: str, people: People) -> tuple[str | None, str]:
    words = list(re.finditer(r"[^\W\d_][\w.’'-]*", line))[:_NAME_WORDS]
    for count in range(len(words), 0, -1):
        end = words[count - 1].end()
        called = line[:end].strip()
        if called[:1].isupper() and people.is_told(called) and "," not in called:
            return people.full_name(called), line[end:]
    return None, line
