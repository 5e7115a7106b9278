"""Reading a file: from bytes to text and chunks. Runs in a process of its own."""

import time
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from mnemon.documents.extraction.errors import ExtractionFailed
from mnemon.documents.extraction.extract import extract, load_extractors
from mnemon.documents.extraction.kinds import FileKind
from mnemon.documents.extraction.limits import DEFAULT_LIMITS, Limits
from mnemon.documents.ingest.chunking import chunk
from mnemon.documents.ingest.content import Chunk, Extraction
from mnemon.documents.ingest.sizes import DEFAULT_SIZES, ChunkSizes
from mnemon.documents.ingest.structured import with_structure
from mnemon.models.tokens import count_tokens, find_tokenizer
from mnemon.work.child import types_of


class ReadingTools(BaseModel):
    """What reading needs, whatever the file."""

    embedder_folder: Path | None = None


def load_tools(tools: ReadingTools) -> None:
    """Once, in the process whose forks read one file each."""
    load_extractors()
    types_of(read_file)
    count_tokens(find_tokenizer(tools.embedder_folder), "Ready.")


class FileToRead(BaseModel):
    """What the subprocess is told."""

    path: Path
    kind: FileKind
    limits: Limits = DEFAULT_LIMITS
    embedder_folder: Path | None = None
    sizes: ChunkSizes = DEFAULT_SIZES


@dataclass(frozen=True, slots=True)
class ReadFile:
    """What became of the file, and how long each part took."""

    extraction: Extraction
    chunks: list[Chunk]
    extract_seconds: float
    chunk_seconds: float


def read_file(wanted: FileToRead) -> ReadFile:
    """Pure: the same file, kind and extractor give the same. Runs in the subprocess."""
    started = time.perf_counter()
    extraction = extract(wanted.path, wanted.kind, wanted.limits)
    check_text(extraction.text)
    extraction = with_structure(extraction, "email" if wanted.kind == "eml" else None)
    extracted = time.perf_counter()
    tokenizer = find_tokenizer(wanted.embedder_folder)
    chunks = list(chunk(extraction, lambda text: count_tokens(tokenizer, text), wanted.sizes))
    wanted.limits.check_chunks(len(chunks))
    return ReadFile(extraction, chunks, extracted - started, time.perf_counter() - extracted)


def check_text(text: str) -> None:
    """Refuse a text that the database cannot hold as it is: offsets must stay true, so nothing is taken out of it."""
    if not text.strip():
        raise ExtractionFailed("The file holds no text: there is nothing to search or quote.", reason="empty")
    if "\x00" in text:
        raise ExtractionFailed("The text holds zero bytes, which no database column keeps.", reason="damaged")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ExtractionFailed("The text holds halves of characters.", reason="damaged") from None
