"""Plain text in any encoding: the text stays as it is; its structure is recognised in it."""

from mnemon.documents.content import Details, Extraction
from mnemon.documents.extraction.decoding import decode
from mnemon.documents.extraction.limits import Limits
from mnemon.documents.extraction.lines import lines_of
from mnemon.documents.extraction.plain_blocks import plain_blocks

VERSION = "txt/1"


def extract_plain(content: bytes, limits: Limits) -> Extraction:
    text = decode(content)
    limits.check_characters(len(text))
    blocks = list(plain_blocks(lines_of(text)))
    return Extraction(text, blocks, Details(), VERSION)
