"""Plain text in any encoding: the text stays as it is; its structure is recognised in it."""

from mnemon.documents.extraction.chats.whatsapp import whatsapp_blocks
from mnemon.documents.extraction.decoding import decode
from mnemon.documents.extraction.hygiene import one_line
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.ingest.content import Details, Extraction
from mnemon.documents.structure.dates import midnight
from mnemon.documents.structure.headings import heading_title
from mnemon.documents.structure.lines import lines_of
from mnemon.documents.structure.plain_blocks import plain_blocks
from mnemon.documents.structure.preamble import read_preamble
from mnemon.documents.structure.structure import Block
from mnemon.documents.structure.talk import talk_blocks

VERSION = "txt/1"


def extract_plain(content: bytes, limits: Limits) -> Extraction:
    return read_plain(decode(content), limits)


def read_plain(text: str, limits: Limits) -> Extraction:
    """A clean text, whatever it was taken from."""
    limits.check_characters(len(text))
    lines = lines_of(text)
    talk = whatsapp_blocks(lines) or talk_blocks(lines)
    blocks = talk or list(plain_blocks(lines))
    preamble = read_preamble(text)
    speakers = {block.speaker: None for block in talk if block.speaker}
    details = Details(
        title=_title(text, blocks),
        participants=list(preamble.present) or list(speakers)[:1_000],
        written_at=midnight(preamble.written_on),
    )
    return Extraction(text, blocks, details, VERSION)


def _title(text: str, blocks: list[Block]) -> str | None:
    """The first block, where it is a heading."""
    first = blocks[0] if blocks else None
    return one_line(heading_title(text[first.start : first.end])) if first and first.kind == "heading" else None
