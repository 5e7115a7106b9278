"""WhatsApp's export: plain text in which each message begins with its day, its time and who sent it."""

import re
from collections.abc import Iterator

from mnemon.documents.structure.lines import Line, block_of
from mnemon.documents.structure.structure import Block

# "[02.03.26, 10:32:15] Anna: hello", "02/03/2026, 10:32 - +49 170 1234567: hello", and without a name what the program
# tells by itself.
_STAMPED = re.compile(
    r"(?P<bracket>\[)?\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? \d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?: ?[AaPp]\.? ?[Mm]\.?)?"
    r"(?(bracket)\]| -) (?:~ ?)?(?:(?P<name>[^:\n]{1,80}): ?)?"
)


def whatsapp_blocks(lines: list[Line]) -> list[Block]:
    """A block for each message; none where the text is no such export."""
    begins = [(number, found) for number, line in enumerate(lines) if (found := _STAMPED.match(line.text))]
    if not begins or any(not line.blank for line in lines[: begins[0][0]]):
        return []
    named = [found for _, found in begins if found["name"]]
    return list(_blocks(lines, begins)) if len(named) > 1 and len(named) * 2 > len(begins) else []


def _blocks(lines: list[Line], begins: list[tuple[int, re.Match[str]]]) -> Iterator[Block]:
    ends = [*(number for number, _ in begins[1:]), len(lines)]
    for (number, found), until in zip(begins, ends, strict=True):
        speaker = (found["name"] or "").strip() or None
        yield from block_of("message" if speaker else "paragraph", lines[number:until], speaker=speaker)
