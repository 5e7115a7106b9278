"""What is taken in, as it comes and as it is answered for."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from mnemon.documents.extraction.kinds import FileKind
from mnemon.documents.ingest.content import Extraction
from mnemon.documents.intake.files import Received
from mnemon.documents.intake.origin import Origin
from mnemon.log.events import Actor

DedupResult = Literal["new", "new_version", "reprocess", "skipped", "restored"]


@dataclass(frozen=True, slots=True)
class TextRead:
    """A text that was read before it is taken in. Long ones are counted later, by the run that makes their chunks."""

    extraction: Extraction
    source_uri: str
    chunk_count: int | None
    token_count: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a file or a text; without a run where its content is known already."""

    doc_id: UUID
    run_id: UUID | None
    dedup: DedupResult
    filename: str
    content_hash: str
    source_uri: str
    title: str
    # Of a text: its revision, the chunks if they were counted, and the job that reads its events.
    revision_id: UUID | None = None
    chunk_count: int | None = None
    extraction_job: UUID | None = None

    @property
    def status(self) -> str:
        return "queued" if self.run_id else "skipped"


@dataclass(frozen=True, slots=True)
class Arrival:
    """What is taken in, by whom."""

    actor: Actor
    received: Received
    origin: Origin
    kind: FileKind
    text: TextRead | None
    source_uri: str = ""

    def outcome(self, doc_id: UUID, run_id: UUID | None, dedup: DedupResult, title: str, **text: Any) -> Outcome:
        received = self.received
        return Outcome(doc_id, run_id, dedup, received.filename, received.content_hash, self.source_uri, title, **text)
