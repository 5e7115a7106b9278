"""Takes a text in that comes with its origin instead of as a file: it is read at once, and is a revision at once."""

import asyncio
from dataclasses import replace
from uuid import UUID

from mnemon.documents.artifact_names import ADDRESS, uid_of_source
from mnemon.documents.extraction.limits import DEFAULT_LIMITS
from mnemon.documents.extraction.plain import extract_plain
from mnemon.documents.ingest.chunking import chunk
from mnemon.documents.ingest.content import Extraction
from mnemon.documents.ingest.described import as_told
from mnemon.documents.ingest.reading import check_text
from mnemon.documents.ingest.sizes import ChunkSizes
from mnemon.documents.ingest.structured import with_structure
from mnemon.documents.intake.arrival import Outcome, TextRead
from mnemon.documents.intake.files import Files, Received
from mnemon.documents.intake.origin import TEXT, Origin, checked_origin
from mnemon.documents.intake.receive import accept
from mnemon.errors import InvalidRequest
from mnemon.log.events import Actor
from mnemon.log.store import EventLog
from mnemon.models.tokens import count_tokens, find_tokenizer
from mnemon.settings import Settings
from mnemon.telemetry import histogram

FILENAME = "artifact.txt"
LONGEST_TEXT = 5_000_000
# Letters of the longest text whose chunks are counted while its sender waits. No chunk holds as many: what is longer
# has more than one.
COUNTED_AT_ONCE = 24_000

SECONDS = histogram("mnemon_text_intake_seconds", "Time until a text was acknowledged.")


async def accept_text(
    events: EventLog, files: Files, settings: Settings, tenant: UUID, actor: Actor, text: str, origin: Origin
) -> Outcome:
    """Document, revision and jobs are there together, or nothing is. The same content again changes nothing."""
    with SECONDS.time():
        origin = checked_origin(replace(origin, source_type=TEXT))
        if origin.source_system is None or not origin.source_system.strip():
            raise InvalidRequest("source_system is empty: say where the text comes from.", field="source_system")
        received, read = await asyncio.to_thread(_read, files, settings, tenant, text, origin)
        return await accept(events, files, tenant, actor, received, origin, read)


def _read(files: Files, settings: Settings, tenant: UUID, text: str, origin: Origin) -> tuple[Received, TextRead]:
    if not text.strip():
        raise InvalidRequest("content is empty: there is nothing to read.", field="content")
    if len(text) > LONGEST_TEXT:
        raise InvalidRequest(
            f"content has {len(text)} characters, more than {LONGEST_TEXT}: upload it as a file.", field="content"
        )
    content = text.encode()
    extraction = extract_plain(content, DEFAULT_LIMITS)
    check_text(extraction.text)
    chunks, tokens = _count(extraction, settings)
    address = ADDRESS + uid_of_source(origin.source_system or "", origin.source_id)
    incoming = files.receive(tenant, FILENAME)
    try:
        received = incoming.complete(content)
    except BaseException:
        incoming.abandon()
        raise
    told = with_structure(as_told(extraction, origin.told), origin.document_type or "doc")
    return received, TextRead(told, address, chunks, tokens)


def _count(extraction: Extraction, settings: Settings) -> tuple[int | None, int | None]:
    """Chunks and tokens; of a long text neither, so that its sender does not wait for them."""
    if len("".join(extraction.text.split())) > COUNTED_AT_ONCE:
        return None, None
    tokenizer = find_tokenizer(settings.embedder_folder)
    read = with_structure(extraction)
    chunks = chunk(read, lambda words: count_tokens(tokenizer, words), ChunkSizes.of(settings))
    return len(chunks), sum(one.tokens for one in chunks)
