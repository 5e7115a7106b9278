"""What holds for every extraction and its chunks, whatever the file was."""

from itertools import pairwise

from mnemon.documents.extraction.hygiene import clean
from mnemon.documents.ingest.chunking import chunk
from mnemon.documents.ingest.content import Chunk, Extraction
from mnemon.documents.ingest.embedded_text import text_to_embed
from mnemon.documents.ingest.sizes import DEFAULT_SIZES, WINDOW
from mnemon.documents.ingest.structured import with_structure
from mnemon.documents.structure.sentences import sentences
from mnemon.documents.structure.stored import load_structure
from mnemon.documents.structure.structure import Structure
from mnemon.models.tokens import count_tokens, find_tokenizer

TOKENIZER = find_tokenizer()


def count(text: str) -> int:
    return count_tokens(TOKENIZER, text)


def squeezed(text: str) -> str:
    return "".join(text.split())


def check(extraction: Extraction) -> list[Chunk]:
    """Check the text, its blocks, its pages and its chunks; give the chunks."""
    check_text(extraction)
    check_pages(extraction)
    return check_chunks(extraction)


def structure_of(extraction: Extraction) -> Structure:
    """The parts as they are stored with a revision."""
    found = load_structure(with_structure(extraction).structure)
    assert found is not None
    return found


def check_text(extraction: Extraction) -> None:
    text = extraction.text
    assert "\x00" not in text
    assert "\r" not in text
    text.encode()
    assert clean(text) == text
    assert all(0 <= block.start < block.end <= len(text) for block in extraction.blocks)
    assert all(one.end <= other.start for one, other in pairwise(extraction.blocks))
    assert squeezed("".join(text[block.start : block.end] for block in extraction.blocks)) == squeezed(text)
    for block in extraction.blocks:
        words = text[block.start : block.end]
        assert words == words.strip()
        inside = sentences(text, block.start, block.end)
        assert squeezed("".join(text[start:end] for start, end in inside)) == squeezed(words)
    assert all(0 <= remark.start <= remark.end <= len(text) for remark in extraction.remarks)


def check_pages(extraction: Extraction) -> None:
    assert all(one.end <= other.start for one, other in pairwise(extraction.pages))
    for page in extraction.pages:
        for run in page.glyphs:
            assert page.start <= run.start < run.end <= page.end
            assert len(run.widths) in (0, run.end - run.start)


def check_chunks(extraction: Extraction) -> list[Chunk]:
    text, chunks = extraction.text, chunk(extraction, count)
    assert all(text[one.start : one.end] == one.text for one in chunks)
    assert squeezed("".join(one.text for one in chunks)) == squeezed(text)
    assert all(one.end <= other.start for one, other in pairwise(chunks))
    assert [one.ordinal for one in chunks] == list(range(len(chunks)))
    assert all(one.tokens == count(one.text) <= DEFAULT_SIZES.cap for one in chunks)
    assert all(count(text_to_embed(one.headings, one.text, one.speaker)) <= WINDOW for one in chunks)
    assert chunk(extraction, count) == chunks
    return chunks
