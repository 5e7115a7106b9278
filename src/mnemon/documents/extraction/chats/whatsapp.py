"""WhatsApp's export: plain text in which each message begins with its day, its time and who sent it."""

import re
from collections.abc import Iterator

from mnemon.documents.structure.lines import Line, block_of
from mnemon.documents.structure.notices import STAMPED, notices_in, sender_of
from mnemon.documents.structure.structure import Block


def whatsapp_blocks(lines: list[Line]) -> list[Block]:
    """A block for each message; none where the text is no such export."""
    begins = [(number, found) for number, line in enumerate(lines) if (found := STAMPED.match(line.text))]
    if not begins or any(not line.blank for line in lines[: begins[0][0]]):
        return []
    unnamed = {lines[number].start for number, found in begins if not sender_of(lines[number].text, found)}
    talk = len(begins) - len(unnamed) > 1 and unnamed <= notices_in(lines).keys()
    return list(_blocks(lines, begins)) if talk else []


def _blocks(lines: list[Line], begins: list[tuple[int, re.Match[str]]]) -> Iterator[Block]:
    ends = [*(number for number, _ in begins[1:]), len(lines)]
    for (number, found), until in zip(begins, ends, strict=True):
        speaker = sender_of(lines[number].text, found)
        yield from block_of("message" if speaker else "paragraph", lines[number:until], speaker=speaker)
