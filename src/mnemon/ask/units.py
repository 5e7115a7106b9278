"""The parts of a passage that can be quoted as an answer: sentences, turns of a talk, what a mail says itself."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mnemon.documents.structure.lines import lines_of
from mnemon.documents.structure.mail import mail_blocks
from mnemon.documents.structure.sentences import sentences
from mnemon.documents.structure.talk import talk_blocks

MAIL = "message/rfc822"
# A turn up to this long is quoted whole: its sentences lean on each other.
WHOLE_TURN = 300

_HEADER = re.compile(r"From: .*(?:\n.+)*")
_SUBJECT = re.compile(r"^Subject: (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class PassageUnit:
    """`passage[start:end]`, who says it where the passage tells, and whether it repeats another's words."""

    start: int
    end: int
    speaker: str | None = None
    quoted: bool = False


def units_of(passage: str, media_type: str) -> list[PassageUnit]:
    """In reading order. The headers of a mail are none."""
    header = _HEADER.match(passage)
    # A mail that was saved as a text is one too.
    if media_type == MAIL or (header and _SUBJECT.search(header[0])):
        return list(_of_mail(passage, header.end() if header else 0))
    turns = [block for block in talk_blocks(lines_of(passage)) if block.kind == "message"]
    if not turns:
        return [PassageUnit(start, end) for start, end in sentences(passage)]
    before = [PassageUnit(start, end) for start, end in sentences(passage, 0, turns[0].start)]
    return before + [unit for turn in turns for unit in _of_turn(passage, turn.start, turn.end, turn.speaker)]


def subject_of(passage: str) -> str:
    """What a mail is about: it names the matter, and answers nothing."""
    header = _HEADER.match(passage)
    found = _SUBJECT.search(header[0]) if header else None
    return found[1] if found else ""


def _of_turn(passage: str, start: int, end: int, speaker: str | None) -> Iterator[PassageUnit]:
    parts = [(start, end)] if end - start <= WHOLE_TURN else sentences(passage, start, end)
    for first, last in parts:
        yield PassageUnit(first, last, speaker)


def _of_mail(passage: str, start: int) -> Iterator[PassageUnit]:
    for block in mail_blocks(lines_of(passage, start), None):
        for span in sentences(passage, block.start, block.end):
            yield PassageUnit(*span, quoted=block.kind == "quote")
