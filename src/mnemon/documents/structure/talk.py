"""Talk in plain text: the turns of a chat or a transcript, each with its speaker and its stamp."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from mnemon.documents.structure.calendar_words import WEEKDAYS
from mnemon.documents.structure.lines import Line, block_of
from mnemon.documents.structure.names import UPPER
from mnemon.documents.structure.notices import notices_in
from mnemon.documents.structure.plain_blocks import plain_blocks
from mnemon.documents.structure.preamble import is_field
from mnemon.documents.structure.sections import section_of
from mnemon.documents.structure.stamps import day_line
from mnemon.documents.structure.structure import Block

_NAME = (
    r"\*{0,2}(?P<name>@?[^\W\d_][\w.'’@-]*(?: (?:[^\W\d_(][\w.'’@-]*|\d{1,2}(?![\d:./-]))){0,3}"
    r"(?: \([^()\n]{1,30}\))?)\*{0,2}"
)
_WHOLE_NAME = rf"(?P<name>[{UPPER}][\w.’'-]*(?: [{UPPER}][\w.’'-]*){{0,3}})"
# As directories of firms have it.
_LAST_FIRST = (
    rf"(?P<name>(?:(?:de|van|von|der|den|da|di|la|zu) )*[{UPPER}][\w’'-]+(?: [{UPPER}][\w’'-]+)?"
    rf", [{UPPER}][\w.’'-]*(?: [{UPPER}][\w.’'-]*)?)"
)
_NICK = r"[@+%&~]?(?P<name>[\w\[\]\\^{}|`.-]{1,40})"
_CLOCK = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[.,]\d{1,3})?(?: ?[AaPp]\.?[Mm]\.?|Z|[+-]\d{2}:?\d{2})?"
_MONTH = r"(?:Jan|Jän|Feb|Mar|Mär|Apr|May|Mai|Jun|Jul|Aug|Sep|Oct|Okt|Nov|Dec|Dez)[a-zä]*\.?"
_WEEKDAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*|(?:Mo|Di|Mi|Do|Fr|Sa|So)[a-z]*)\.?"
_DAY = (
    r"(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{1,2}\.\d{1,2}\."
    rf"|\d{{1,2}}\.? {_MONTH},? \d{{4}}|{_MONTH} \d{{1,2}},? \d{{4}})"
)
_TIME = rf"(?P<stamp>(?:{_DAY}[T, ]+)?{_CLOCK})"
# "03/04, 07:55", "7:15 AM, Wed Dec 2": without a year only beside the clock.
_NO_YEAR = rf"(?:{_WEEKDAY},? )?(?:\d{{1,2}}/\d{{1,2}}|\d{{1,2}}\.? {_MONTH}|{_MONTH} \d{{1,2}})"
_WHEN = rf"(?P<stamp>(?:(?:{_DAY}|{_NO_YEAR})[T, ]+(?:at )?)?{_CLOCK}|{_CLOCK},? (?:on )?(?:{_DAY}|{_NO_YEAR})|{_DAY})"

# One line of these is enough to know a turn by: the speaker is parted from the words.
_SURE = tuple(
    re.compile(pattern)
    for pattern in (
        # 10:32:01 From Anna to Everyone: hello
        rf"\s*{_WHEN}\s+From\s+{_NAME}\s+to\s+[^:\n]{{1,60}}:\s*",
        # [10:32] <anna> hello, 10:32 <anna> hello
        rf"\s*\[?{_WHEN}\]?\s+<{_NICK}>\s+",
        # 10:32 Anna: hello, [02/03/2026, 10:32:15] Anna: hello, 02/03/2026, 10:32 - Anna: hello
        rf"\s*[\[(]?{_WHEN}[\])]?(?: ?[-–—|])?\s+{_NAME}:(?:\s+|$)",
        # **Anna Berg** 10:32 – hello, **Anna Berg (graphics)** 10:32: hello
        rf"\s*\*\*(?P<name>[^\W\d_][^*:\n]{{0,50}})\*\*,? +{_WHEN}(?: ?[-–—|] |: )(?=\S)",
        # [10:32] Berg, Anna: hello
        rf"\s*\[{_WHEN}\]\s+{_LAST_FIRST}:(?:\s+|$)",
        # Anna (10:32): hello
        rf"\s*{_NAME}\s+[\[(]{_WHEN}[\])]\s*:(?:\s+|$)",
        # Anna Berg  10:32 AM, Anna Berg [today, 10:32], on a line of its own
        rf"\s*{_WHOLE_NAME}\s+[\[(]?(?:\S+,?\s+)?{_TIME}[\])]?\s*$",
    )
)
# These only among others of their kind.
_LIKELY = (
    # Anna [2026-03-02 10:32] hello
    re.compile(rf"\s*{_NAME}\s+[\[(]{_WHEN}[\])](?:\s+|$)"),
    re.compile(rf"\s*{_NAME}[,\s]\s*{_WHEN}\s*$"),
    # anna 10:32  hello
    re.compile(rf"\s*\*{{0,2}}(?P<name>@?[^\W\d_][\w.'’@-]*)\*{{0,2}} +{_TIME}(?:  +|\t| [-–—|] )(?=\S)"),
)
# 10:32 Anna Berg, on a line of its own: an agenda looks the same.
_CLOCK_ABOVE = re.compile(rf"\s*[\[(]?{_WHEN}[\])]?(?:\s+[-–])?\s+{_WHOLE_NAME}\s*:?\s*$")
_NICK_ONLY = re.compile(rf"\s*<{_NICK}>\s+(?=\S)")
_NAMED = re.compile(rf"\s*(?:\*\*)?{_NAME}(?:\*\*)?:(?:\*\*)?(?:\s+|$)")
_FIRST_PERSON = re.compile(r"(?:(?:ok|okay|yes|sure|so|and|well),?\s+)*(?:I|we)\b", re.IGNORECASE)
_MAY_BE_TIMED = re.compile(r"\d[:./-]\d|\b\d{4}\b|\s*<")
_HEAD = 200
# "Session 3", "## Budget": the title of what is said below it.
_SESSION = re.compile(
    r"#{1,6}\s+\S.{0,100}$|\W*(?:session|part|conversation|chat|meeting|day|chapter|call)\s+#?\d{1,4}\b.{0,80}$",
    re.IGNORECASE,
)
_SESSION_LEVEL = 2
_FEWEST_STAMPS = 4
_LONGEST_SHORT_FORM = 5
# Labels of minutes and letters, which look like names.
_LABELS = frozenset({
    "absent", "action", "actions", "agenda", "answer", "apologies", "attendees", "author", "bcc", "cc", "chair", "date",
    "deadline", "decision", "decisions", "due", "email", "example", "from", "goal", "hint", "http", "https",
    "important", "issue", "location", "minutes", "next steps", "note", "notes", "owner", "participants", "phone",
    "place", "present", "priority", "purpose", "question", "re", "regrets", "result", "risk", "risks", "scribe",
    "status", "subject", "summary", "time", "tip", "title", "to", "todo", "topic", "total", "version", "warning",
    "what", "when", "where", "who", "why", "remarks",
    "an", "anwesend", "aufgabe", "aufgaben", "bemerkung", "bemerkungen", "beschluss", "betreff", "bis", "bis wann",
    "datum", "entscheidung", "erledigt", "erfasst", "fällig", "frist", "gesendet", "hinweis", "kopie",
    "maßnahme", "notiz", "offen", "ort", "problem", "projekt", "protokoll", "punkt", "risiko", "stand", "termin",
    "thema", "titel", "ursache",
    "verantwortlich", "von", "was", "wann", "wer", "wie", "wo", "ziel", "zuständig", "ergebnis", "frage", "antwort",
    "proposal", "suggestion", "motion", "request", "reminder", "idea", "update", "conclusion", "reason", "edit", "fyi",
    "vorschlag", "antrag", "bitte", "idee", "erinnerung", "fazit", "grund",
    "added", "addendum", "background", "by", "decided", "in the room", "matter", "on the line", "ps", "speakers",
    "start", "state", "dabei", "nachtrag",
    "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonnabend", "sonntag",
    "montags", "dienstags", "mittwochs", "donnerstags", "freitags", "samstags", "sonnabends", "sonntags",
    *(form for name in WEEKDAYS if len(name) > _LONGEST_SHORT_FORM for form in (name, f"{name}s")),
})  # fmt: skip
# Somebody may be called so, but not where a date stands behind it: "Mi, 1.7.2026, 9:02".
_WEEKDAYS_IN_SHORT = frozenset(
    ("mo", "di", "mi", "do", "fr", "sa", "so", *(name for name in WEEKDAYS if len(name) <= _LONGEST_SHORT_FORM))
)
_DATED = re.compile(rf"\A(?:{_DAY}|\d{{1,2}}/\d{{1,2}})")
_WORD = re.compile(r"[^\W\d_]+")
_AROUND_NAME = re.compile(
    r"\A(?:comment|reply|note|kommentar|antwort) (?:by|from|von) "
    r"|\s(?:commented|wrote|replied|added|posted|schrieb|kommentierte)(?:\s(?:on|at|am|um))?\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SpeakerTurn:
    """Somebody begins to speak on this line; the words begin at `begin` within it."""

    speaker: str
    stamp: str = ""
    begin: int = 0
    # What stands there without a doubt, what needs others beside it, and a bare `Anna:`.
    sure: bool = False
    timed: bool = True


def turn_on(line: str) -> SpeakerTurn | None:
    if len(line) > 5_000:
        line = line[:_HEAD]
    if _MAY_BE_TIMED.search(line, 0, _HEAD):
        for pattern in (*_SURE, *_LIKELY, _CLOCK_ABOVE):
            if (match := pattern.match(line)) and not _is_label(match["name"], match["stamp"]):
                return SpeakerTurn(
                    _speaker(match["name"]), match["stamp"], match.end(), pattern in _SURE, pattern is not _CLOCK_ABOVE
                )
        if match := _NICK_ONLY.match(line):
            return SpeakerTurn(match["name"], "", match.end(), sure=True)
    match = _NAMED.match(line, 0, _HEAD)
    if match is None or _is_label(match["name"]):
        return None
    return SpeakerTurn(_speaker(match["name"]), "", match.end(), timed=False)


def _speaker(name: str) -> str:
    """ "Comment by Luka", "Luka Horvat commented on", "Horvat, Luka": the name alone."""
    last, _, first = name.strip().partition(", ")
    name = f"{first} {last}" if first else name
    return _AROUND_NAME.sub("", name.strip()).strip() or name.strip()


def _is_label(name: str, stamp: str = "") -> bool:
    plain = name.strip().strip(".").lower()
    return plain in _LABELS or (plain in _WEEKDAYS_IN_SHORT and _DATED.match(stamp) is not None)


def talk_blocks(lines: list[Line]) -> list[Block]:
    """Blocks for a text that is mostly talk; none for any other text."""
    nobodys = {start for start, notice in notices_in(lines).items() if notice.sender is None}
    found = [
        (number, turn)
        for number, line in enumerate(lines)
        if line.start not in nobodys and (turn := turn_on(line.text))
    ]
    full = sum(not line.blank for line in lines)
    timed = [(number, turn) for number, turn in found if turn.timed]
    if len(timed) >= 2 and len(timed) * 6 >= full:
        return list(_blocks(lines, timed, nobodys))
    for group in (True, False):
        alike = [(number, turn) for number, turn in found if not turn.timed and bool(turn.stamp) is group]
        if _is_talk([turn.speaker for _, turn in alike], full):
            return list(_blocks(lines, alike, nobodys))
    return []


def _is_talk(speakers: list[str], full: int) -> bool:
    """`Anna: …`, or `10:32 Anna` above a line: talk only if few people say most of it, again and again."""
    said = Counter(speakers)
    repeated = sum(times for times in said.values() if times > 1)
    return len(speakers) >= 4 and len(said) >= 2 and repeated * 2 >= len(speakers) and len(speakers) * 2 >= full


def _blocks(lines: list[Line], turns: list[tuple[int, SpeakerTurn]], nobodys: Set[int]) -> Iterator[Block]:
    """A turn goes on until the next one, a session or a notice begins; what stands before the first is no one's."""
    yield from plain_blocks(lines[: turns[0][0]])
    ends = [*(number for number, _ in turns[1:]), len(lines)]
    for (number, turn), until in zip(turns, ends, strict=True):
        breaks = (at for at in range(number + 1, until) if lines[at].start in nobodys or _opens_session(lines, at))
        end = next(breaks, until)
        yield from block_of("message", lines[number:end], speaker=turn.speaker)
        yield from _between(lines[end:until])


def _between(lines: list[Line]) -> Iterator[Block]:
    """What stands between two sessions of a talk: its day or title, and what nobody says."""
    at = 0
    while at < len(lines):
        until = next((place for place in range(at, len(lines)) if _opens_session(lines, place)), len(lines))
        yield from plain_blocks(lines[at:until])
        if until < len(lines):
            hashes = len(lines[until].text) - len(lines[until].text.lstrip("#"))
            yield from block_of("heading", lines[until : until + 1], hashes or _SESSION_LEVEL)
        at = until + 1


def _opens_session(lines: list[Line], at: int) -> bool:
    """A line that is a day, or after a blank line the title of a session."""
    line = lines[at].text
    free = at == 0 or lines[at - 1].blank
    return day_line(line, stands_alone(lines, at)) is not None or (free and _SESSION.match(line) is not None)


def stands_alone(lines: Sequence[Line], at: int) -> bool:
    """Between blank lines, or between one and what somebody says."""
    above = at == 0 or lines[at - 1].blank
    below = lines[at + 1] if at + 1 < len(lines) else None
    return above and (below is None or below.blank or turn_on(below.text) is not None)


def speakers_among(
    turns: Sequence[tuple[Line, SpeakerTurn]], text: str, talk: bool, people: Sequence[str]
) -> frozenset[str]:
    """Labels that are people talking, and not "Remarks:" or "Total:"."""
    known = {name.lower() for name in people} | {name.split()[0].lower() for name in people if name.split()}
    labels = Counter(turn.speaker for line, turn in turns if not is_field(line.text))
    sure = {turn.speaker for _, turn in turns if turn.sure}
    first_person = {turn.speaker for line, turn in turns if _FIRST_PERSON.match(line.text, turn.begin)}
    likely = {label for label in labels if label not in sure and section_of(label) is None}
    # What a text writes with a small letter somewhere is no name in it.
    small = {word for word in _WORD.findall(text) if word.islower()} if likely else set()
    names = {label for label in likely if label[0].islower() or _WORD.findall(label)[0].lower() not in small}
    stamped = {turn.speaker for _, turn in turns if turn.stamp}
    if len([turn for _, turn in turns if turn.stamp]) >= max(_FEWEST_STAMPS, len(turns) / 2):
        # Where every message has its hour, "Laredo: we take them" is a word about Laredo.
        labels = Counter({one: count for one, count in labels.items() if one in stamped or one.lower() in known})
    return frozenset(
        label
        for label, count in labels.items()
        if (label in sure and (talk or count >= 2 or label.lower() in known))
        or (talk and label.lower() in known)
        or (label in names and ((label in first_person and _is_named(label)) or _may_talk(label, talk, count)))
    )


def _is_named(label: str) -> bool:
    """A name, small or capital throughout, and not "Where we are"."""
    words = label.split()
    return len(words) == 1 or all(word[:1].isupper() or word[:1] == "@" for word in words)


def _may_talk(label: str, talk: bool, count: int) -> bool:
    """In talk one line is enough for whoever has a whole name; else two lines make a speaker."""
    words = label.split()
    if not all(word[:1].isupper() or word[:1] == "@" for word in words) and (len(words) > 1 or not talk):
        return False
    return count >= 2 or (talk and (len(words) > 1 or label.isupper()))
