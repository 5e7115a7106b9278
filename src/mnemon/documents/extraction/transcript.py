"""Talk in plain text: the turns of a chat or a transcript, each with its speaker."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from mnemon.documents.extraction.lines import Line, block_of
from mnemon.documents.extraction.plain_blocks import plain_blocks
from mnemon.documents.ingest.content import Block

NAME = r"(?P<name>[^\W\d_][\w.'’@-]*(?: [^\W\d_(][\w.'’@-]*){0,3}(?: \([^()\n]{1,30}\))?)"
NICK = r"[@+%&~]?(?P<name>[\w\[\]\\^{}|`.-]{1,40})"
CLOCK = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:[.,]\d{1,3})?(?: ?[AaPp]\.?[Mm]\.?)?"
DAY = r"(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4})"
WHEN = rf"(?:{DAY}[T, ]+)?{CLOCK}|{DAY}"

# With a time, one line is enough to know a turn by.
TIMED = tuple(
    re.compile(pattern)
    for pattern in (
        # 10:32:01 From Anna to Everyone: hello
        rf"\s*(?:{WHEN})\s+From\s+{NAME}\s+to\s+[^:\n]{{1,60}}:",
        # [10:32] <anna> hello, 10:32 <anna> hello
        rf"\s*\[?(?:{WHEN})\]?\s+<{NICK}>\s",
        # 10:32 Anna: hello, [02/03/2026, 10:32:15] Anna: hello, 02/03/2026, 10:32 - Anna: hello
        rf"\s*[\[(]?(?:{WHEN})[\])]?(?: ?[-–—|])?\s+{NAME}:(?:\s|$)",
        # Anna [2026-03-02 10:32] hello, Anna (10:32): hello
        rf"\s*{NAME}\s+[\[(](?:{WHEN})[\])]:?(?:\s|$)",
        # Anna  10:32 AM, on a line of its own
        rf"\s*{NAME}[,\s]\s*(?:{WHEN})\s*$",
    )
)
MAY_BE_TIMED = re.compile(r"\d[:./-]\d|\s*<")
HEAD = 200
NICK_ONLY = re.compile(rf"\s*<{NICK}>\s")
NAMED = re.compile(rf"\s*(?:\*\*)?{NAME}(?:\*\*)?:(?:\*\*)?(?:\s|$)")
# Labels of minutes and letters, which look like names.
LABELS = frozenset({
    "absent", "action", "actions", "agenda", "answer", "apologies", "attendees", "author", "bcc", "cc", "chair", "date",
    "deadline", "decision", "decisions", "due", "email", "example", "from", "goal", "hint", "http", "https",
    "important", "issue", "location", "minutes", "next steps", "note", "notes", "owner", "participants", "phone",
    "place", "present", "priority", "purpose", "question", "re", "regrets", "result", "risk", "risks", "scribe",
    "status", "subject", "summary", "time", "tip", "title", "to", "todo", "topic", "version", "warning", "what",
    "when", "where", "who", "why",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Turn:
    line: int
    speaker: str


def talk_blocks(lines: list[Line]) -> list[Block]:
    """Blocks for a text that is mostly talk; none for any other text."""
    turns = _timed_turns(lines) or _named_turns(lines)
    return list(_blocks(lines, turns)) if turns else []


def _timed_turns(lines: list[Line]) -> list[Turn]:
    turns = [Turn(number, name) for number, line in enumerate(lines) if (name := _timed_speaker(line.text))]
    full = sum(not line.blank for line in lines)
    return turns if len(turns) >= 2 and len(turns) * 6 >= full else []


def _timed_speaker(line: str) -> str | None:
    if not MAY_BE_TIMED.search(line, 0, HEAD):
        return None
    if len(line) > 5_000:
        line = line[:HEAD]
    for pattern in (*TIMED, NICK_ONLY):
        if (match := pattern.match(line)) and match["name"].strip().lower() not in LABELS:
            return match["name"].strip()
    return None


def _named_turns(lines: list[Line]) -> list[Turn]:
    """`Anna: …` without a time: talk only if few people say most of it, again and again."""
    found = [(number, match["name"]) for number, line in enumerate(lines) if (match := NAMED.match(line.text[:HEAD]))]
    turns = [Turn(number, name.strip()) for number, name in found if name.lower() not in LABELS]
    said = Counter(turn.speaker for turn in turns)
    often = {speaker for speaker, times in said.items() if times > 1}
    repeated = sum(said[speaker] for speaker in often)
    full = sum(not line.blank for line in lines)
    is_talk = len(turns) >= 4 and len(said) >= 2 and often and repeated * 2 >= len(turns) and len(turns) * 2 >= full
    return turns if is_talk else []


def _blocks(lines: list[Line], turns: list[Turn]) -> Iterator[Block]:
    """A turn goes on until the next one begins; what stands before the first is no one's."""
    yield from plain_blocks(lines[: turns[0].line])
    for turn, until in zip(turns, [*(turn.line for turn in turns[1:]), len(lines)], strict=True):
        yield from block_of("message", lines[turn.line : until], speaker=turn.speaker)
