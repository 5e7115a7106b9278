"""Who holds an office: "Perpetua Nyambura (Works Manager)" at the head of the text, "Kassenwart ist Said Bouazizi"."""

import re
from functools import lru_cache

# Lists of those who are there stand at the head.
_HEAD = 4_000
_FEMALE = re.compile(r"(?:erin|innen|ung|er|in)$")
_LEAST = 4
# Of a body everybody is a member: "Vorstand: Ada Berg" makes nobody the board.
_BODY = re.compile(
    r"(?:.*(?:board|committee|council|team|staff|crew|members?|administration|vorstand|verwaltung|ausschuss|beirat|verein|rat|kreis|mitglied\w*))\Z",
    re.IGNORECASE,
)
_NOW = r"(?:(?:now|again|from now on|ab sofort|nun|jetzt|weiterhin|wieder)\s+)?"
_WHICH = r"(?:(?:the|our|a|de[rmn]|die|unsere?|new|neue[rn]?|elected|as|als|zu[mr]?)\s+)*(?:[a-z]+\s+)?"
_TAKES_OVER = (
    r"(?:(?:was|is|has been|wurde|wird|has|hat)\s+)?(?:elected|appointed|takes?|took|succeeds?|succeeded"
    r"|replaces|replaced"
    r"|acts|serves|stands|starts|begins|gewählt|bestellt|folgt|übernimmt|vertritt|löst)"
)
_TITLE = r"(?:(?:Dr|Prof|Mr|Mrs|Ms|Sr|Rev)\.?\s+|Frau\s+|Herrn?\s+)*"


@lru_cache(maxsize=256)
def office_holder(text: str, office: str, people: tuple[str, ...]) -> str | None:
    """The one person whom the head of the text names beside that office."""
    stem = _FEMALE.sub("", office)
    if len(stem) < _LEAST or not office[:1].isalpha() or _BODY.match(office):
        return None
    called = rf"(?<![\w-])(?i:{re.escape(stem)})[^\W\d_]{{0,5}}"
    if not re.search(called, text):
        return None
    known = _without_title(people)
    for told in (
        {name for name in known if _became(text, called, _written(name))},
        {name for name in known if _holds(text[:_HEAD], called, _written(name))},
    ):
        if told:
            return told.pop() if len(told) == 1 else None
    # "The new chair", "die neue Vorsitzende": the office is its last word.
    return office_holder(text, office.rpartition(" ")[2], people) if " " in office else None


def _without_title(people: tuple[str, ...]) -> list[str]:
    """ "Mrs Joan Kettle" beside "Joan Kettle" is nobody else, and neither is "J. Kettle"."""
    full = [name for name in people if " " in name]
    short = {f"{name[0]}. {name.partition(' ')[2]}" for name in full}
    return [name for name in full if name not in short and not any(name.endswith(f" {other}") for other in full)]


def _written(name: str) -> str:
    """A pattern for the whole name, or with its first letter alone: "R. Wickramasinghe"."""
    first, _, last = name.partition(" ")
    return rf"(?:{re.escape(name)}|{re.escape(first[0])}\.\s?{re.escape(last)})"


def _holds(head: str, called: str, name: str) -> bool:
    """ "Ada Berg (Chair)", "Ada Berg, Chair", "Chair: Ada Berg", "Schriftführung: Oberrätin Ada Berg"."""
    return bool(
        re.search(
            rf"{name}(?:\s+\(|,\s+)(?:the\s+)?(?:[a-z]+\s+)?{called}(?:\s+(?:to|of|for)\s+the\s+\w+)?\s*(?:[),;.]|$)",
            head,
            re.MULTILINE,
        )
        or re.search(rf"{called}(?:\s*:\s*(?:[^\W\d_][\w.-]+\s+)?|\s+\(?){_TITLE}{name}", head)
    )


def _became(text: str, called: str, name: str) -> bool:
    """ "The responsible vet is Ada Berg", "als Vorsitzende wird Ada Berg gewählt", "Ada Berg succeeds Ben as chair"."""
    return bool(
        re.search(rf"{called}\s+(?:is|remains|ist|bleibt|wird|wurde)\s+{_NOW}{_TITLE}{name}", text)
        or re.search(rf"\b(?i:elected|appointed|named|made)\s+{_TITLE}{name}\s+(?:as\s+)?{_WHICH}{called}", text)
        or re.search(rf"{name}\s+(?:is|ist|wird|wurde|bleibt|remains|becomes)\s+{_NOW}{_WHICH}{called}", text)
        or re.search(rf"{name}\s+{_TAKES_OVER}\b[^.;\n]{{0,60}}?\b(?:as|als)\s+{_WHICH}{called}", text)
    )
