"""Who holds an office, by the head of the text: "Perpetua Nyambura (Works Manager)" is "the Works Manager"."""

import re
from functools import lru_cache

# Lists of those who are there stand at the head.
_HEAD = 4_000
_FEMALE = re.compile(r"(?:erin|innen|ung|er|in)$")
_LEAST = 4
# Of a body everybody is a member: "Vorstand: Ada Berg" makes nobody the board.
_BODY = re.compile(
    r"(?:.*(?:board|committee|council|team|staff|crew|members?|vorstand|ausschuss|beirat|verein|rat|kreis|mitglied\w*))\Z",
    re.IGNORECASE,
)
_TITLE = r"(?:(?:Dr|Prof|Mr|Mrs|Ms|Sr|Rev)\.?\s+|Frau\s+|Herrn?\s+)*"


@lru_cache(maxsize=256)
def office_holder(text: str, office: str, people: tuple[str, ...]) -> str | None:
    """The one person whom the head of the text names beside that office."""
    stem = _FEMALE.sub("", office)
    if len(stem) < _LEAST or not office[:1].isalpha() or _BODY.match(office):
        return None
    head = text[:_HEAD]
    called = rf"(?<![\w-])(?i:{re.escape(stem)})[^\W\d_]{{0,5}}"
    if not re.search(called, head):
        return None
    holders = {name for name in people if " " in name and _holds(head, called, re.escape(name))}
    return holders.pop() if len(holders) == 1 else None


def _holds(head: str, called: str, name: str) -> bool:
    """ "Ada Berg (Chair)", "Ada Berg, Chair", "Chair: Ada Berg", "Schriftführung: Oberrätin Ada Berg"."""
    return bool(
        re.search(rf"{name}(?:\s+\(|,\s+)(?:the\s+)?{called}\s*(?:[),;.]|$)", head, re.MULTILINE)
        or re.search(rf"{called}(?:\s*:\s*(?:[^\W\d_][\w.-]+\s+)?|\s+){_TITLE}{name}", head)
    )
