"""Plain text in any encoding: the text stays as it is; its structure is recognised in it."""

from mnemon.documents.extraction.decoding import decode
from mnemon.documents.extraction.hygiene import one_line
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.lines import lines_of
from mnemon.documents.extraction.minutes import date_in, participants_in
from mnemon.documents.extraction.plain_blocks import plain_blocks
from mnemon.documents.extraction.transcript import talk_blocks
from mnemon.documents.ingest.content import Block, Details, Extraction
from mnemon.documents.ingest.headings import heading_title

VERSION = "txt/1"


def extract_plain(content: bytes, limits: Limits) -> Extraction:
    text = decode(content)
    limits.check_characters(len(text))
    lines = lines_of(text)
    talk = talk_blocks(lines)
    blocks = talk or list(plain_blocks(lines))
    speakers = {block.speaker: None for block in talk if block.speaker}
    details = Details(
        title=_title(text, blocks),
        participants=participants_in(text) or list(speakers)[:1_000],
        written_at=date_in(text),
    )
    return Extraction(text, blocks, details, VERSION)


def _title(text: str, blocks: list[Block]) -> str | None:
    """The first block, where it is a heading."""
    first = blocks[0] if blocks else None
    return one_line(heading_title(text[first.start : first.end])) if first and first.kind == "heading" else None
