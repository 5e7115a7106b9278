"""The events of documents. What came from a file or its name is sealed with the document's own key."""

from typing import Any
from uuid import UUID

from mnemon.log.events import Actor, EntityReference, NewEvent
from mnemon.log.types.event_type import EntityRequirement, EventType, PersonalField, declare

ENTITY = "document"
ID = {"type": "string", "format": "uuid"}
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
COUNT = {"type": "integer", "minimum": 0}
# Null where nobody has counted yet.
COUNTED = {"type": ["integer", "null"], "minimum": 0}
MOMENT = {"type": ["string", "null"], "format": "date-time"}

_DOCUMENT = "3f0d2f6e-86f5-4a52-8d24-0d6c1f5a9b10"
_REVISION = "9b4a1c7e-2c55-5d0c-9a3f-6f0e7d1b2c11"
_RUN = "c2a9a9de-54a3-4d7e-b9a5-1f1d0a7f8e12"
_HASH = "sha256:" + "ab" * 32
_SUBJECT = {"subject": f"document:{_DOCUMENT}"}


def subject_of(doc_id: UUID) -> str:
    """Whose key seals what came from the document: destroying it takes all of that out of the log."""
    return f"{ENTITY}:{doc_id}"


def document_of(subject_id: str) -> UUID | None:
    """The document whose key this is, if it is one's."""
    kind, _, name = subject_id.partition(":")
    try:
        return UUID(name) if kind == ENTITY else None
    except ValueError:
        return None


def _type(
    name: str, description: str, required: dict[str, Any], example: dict[str, Any], sealed: dict[str, Any] | None = None
) -> EventType:
    sealed = sealed or {}
    return declare(
        EventType(
            type=f"{ENTITY}.{name}",
            description=description,
            data_schema={
                "type": "object",
                "required": ["subject", *required],
                "properties": {"subject": TEXT} | required | sealed,
                "additionalProperties": False,
            },
            required_entities=(EntityRequirement(ENTITY, "subject"),),
            personal_fields=tuple(PersonalField(field, "free_text", subject_path="subject") for field in sealed),
            examples=(_SUBJECT | example,),
            # Reading a file does not wait for the books to open.
            bound_to_periods=False,
        )
    )


ACCEPTED = _type(
    "accepted",
    "A file was taken in, for a new document or as another content of one; a run will read it.",
    {"run_id": ID, "source_type": TEXT, "size_bytes": COUNT, "media_type": TEXT},
    {"run_id": _RUN, "source_type": "upload", "size_bytes": 1_234, "media_type": "application/pdf"}
    | {"source_uri": f"upload://{_HASH}", "title": "Travel policy", "original_filename": "policy.pdf"}
    | {"content_hash": _HASH, "tags": ["policy"]},
    {"source_uri": TEXT, "title": TEXT, "original_filename": TEXT, "content_hash": TEXT, "tags": TEXTS},
)
INGESTED = _type(
    "ingested",
    "A run has read the file: this version is the active one now.",
    {
        "run_id": ID,
        "doc_version_id": ID,
        "version_number": {"type": "integer", "minimum": 1},
        "deactivated_version_id": {"type": ["string", "null"], "format": "uuid"},
        "extractor": TEXT,
        "media_type": TEXT,
        "size_bytes": COUNT,
        "char_count": COUNT,
        "page_count": {"type": ["integer", "null"], "minimum": 1},
        "chunk_count": COUNTED,
        "token_count": COUNTED,
    },
    {"run_id": _RUN, "doc_version_id": _REVISION, "version_number": 1, "deactivated_version_id": None}
    | {"extractor": "pdf/1", "media_type": "application/pdf", "size_bytes": 1_234, "char_count": 900}
    | {"page_count": 2, "chunk_count": 3, "token_count": 220, "content_hash": _HASH, "text_hash": _HASH}
    | {"original_filename": "policy.pdf", "version_label": "1", "written_at": "2026-03-01T00:00:00Z"}
    | {"authors": ["Ada"], "participants": [], "details": {"language": "en"}},
    {
        "content_hash": TEXT,
        "text_hash": TEXT,
        "original_filename": TEXT,
        "version_label": TEXT,
        "written_at": MOMENT,
        "authors": TEXTS,
        "participants": TEXTS,
        "details": {"type": "object"},
    },
)
FAILED = _type(
    "failed",
    "A run could not read the file.",
    {"run_id": ID, "error_code": TEXT},
    {"run_id": _RUN, "error_code": "EXTRACTION_FAILED", "error": "The file has no text layer."},
    {"error": TEXT},
)
DEACTIVATED = _type(
    "deactivated", "A version is no longer served.", {"doc_version_id": ID}, {"doc_version_id": _REVISION}
)
REACTIVATED = _type(
    "reactivated",
    "A version is served again, in the place of the one that was.",
    {"doc_version_id": ID, "deactivated_version_id": {"type": ["string", "null"], "format": "uuid"}},
    {"doc_version_id": _REVISION, "deactivated_version_id": None},
)
RENAMED = _type("renamed", "A document has another title from now on.", {}, {"title": "Travel policy"}, {"title": TEXT})
REBUILT = _type(
    "rebuilt",
    "Text, chunks and vectors of a version were made again from its file; they are the same.",
    {"run_id": ID, "doc_version_id": ID, "extractor": TEXT, "chunk_count": COUNT, "token_count": COUNT},
    {"run_id": _RUN, "doc_version_id": _REVISION, "extractor": "pdf/1", "chunk_count": 3, "token_count": 220},
)
PURGED = _type(
    "purged",
    "The content, the texts, the names and the files of a document are gone for good.",
    {"versions": COUNT, "runs": COUNT},
    {"versions": 1, "runs": 2},
)


def about(happening: EventType, doc_id: UUID, actor: Actor, run_id: UUID | None = None, **data: Any) -> NewEvent:
    """An event about a document, and about the run that it came of."""
    entities = [EntityReference(ENTITY, str(doc_id))]
    if run_id is not None:
        entities.append(EntityReference("ingestion_run", str(run_id), "run"))
        data["run_id"] = str(run_id)
    return NewEvent(
        type=happening.type,
        data={"subject": subject_of(doc_id)} | data,
        actor=actor,
        entities=entities,
        correlation_id=str(run_id) if run_id else None,
        tags=[ENTITY],
    )
