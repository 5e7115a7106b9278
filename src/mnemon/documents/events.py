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
OPTIONAL_TEXT = {"type": ["string", "null"]}

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


# Whose it is, who may read it and how long it is kept: what the rows need even when the key is gone.
TERMS = {
    "document_type": TEXT,
    "source_system": TEXT,
    "sensitivity": TEXT,
    "visibility_scope": TEXT,
    "owner": TEXT,
    # Whoever may read it; null for everyone of the tenant.
    "readers": {"type": ["array", "null"], "items": TEXT},
    "retention_policy": TEXT,
    "retain_until": MOMENT,
}
_TERMS = {
    "document_type": "doc", "source_system": "upload", "sensitivity": "normal", "visibility_scope": "org",
    "owner": "user:1", "readers": None, "retention_policy": "forever", "retain_until": None,
}  # fmt: skip
_ORIGIN = {"source_id": OPTIONAL_TEXT, "source_url": OPTIONAL_TEXT}

ACCEPTED = _type(
    "accepted",
    "A file or a text was taken in, for a new document or as another content of one; a run reads it.",
    {"run_id": ID, "source_type": TEXT, "size_bytes": COUNT, "media_type": TEXT} | TERMS,
    {"run_id": _RUN, "source_type": "upload", "size_bytes": 1_234, "media_type": "application/pdf"}
    | {"source_uri": f"upload://{_HASH}", "title": "Travel policy", "original_filename": "policy.pdf"}
    | {"content_hash": _HASH, "tags": ["policy"], "source_id": None, "source_url": None}
    | _TERMS,
    {"source_uri": TEXT, "title": TEXT, "original_filename": TEXT, "content_hash": TEXT, "tags": TEXTS} | _ORIGIN,
)
DESCRIBED = _type(
    "described",
    "Its owner says otherwise what a document is called, who may read it or how long it is kept.",
    TERMS,
    _TERMS | {"title": "Travel policy", "source_id": None, "source_url": None},
    {"title": TEXT} | _ORIGIN,
)
INGESTED = _type(
    "ingested",
    "The file was read: this revision is the active one now.",
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
FILED = _type(
    "filed",
    "A text that was read before it came, one of many: its document, and a revision that is the active one now.",
    {
        "run_id": ID,
        "doc_version_id": ID,
        "version_number": {"type": "integer", "minimum": 1},
        "source_type": TEXT,
        # What the room that files it knows it by; it tells nothing of what stands in it.
        "filed_as": TEXT,
        "extractor": TEXT,
        "media_type": TEXT,
        "size_bytes": COUNT,
        "char_count": COUNT,
    }
    | TERMS,
    {"run_id": _RUN, "doc_version_id": _REVISION, "version_number": 1, "source_type": "mail", "extractor": "mail/1"}
    | {"filed_as": "a1b2c3d4e5f60718"}
    | {"media_type": "message/rfc822", "size_bytes": 1_234, "char_count": 900}
    | _TERMS
    | {
        "about": {
            "source_uri": "mail:a1b2c3d4e5f60718",
            "title": "Re: Plan",
            "tags": [],
            "source_id": "<1@example.org>",
            "source_url": None,
            "text_hash": _HASH,
            "written_at": "2026-03-01T00:00:00Z",
            "authors": ["Ada"],
            "participants": ["Ada"],
            "details": {"title": "Re: Plan"},
            "kept": {},
        }
    },
    # In one field, since each that is sealed apart costs a row: thousands of these come at once.
    {"about": {"type": "object"}},
)
FAILED = _type(
    "failed",
    "A run could not read the file.",
    {"run_id": ID, "error_code": TEXT},
    {"run_id": _RUN, "error_code": "EXTRACTION_FAILED", "error": "The file has no text layer."},
    {"error": TEXT},
)
DEACTIVATED = _type(
    "deactivated", "A revision is no longer served.", {"doc_version_id": ID}, {"doc_version_id": _REVISION}
)
REACTIVATED = _type(
    "reactivated",
    "A revision is served again, in the place of the one that was.",
    {"doc_version_id": ID, "deactivated_version_id": {"type": ["string", "null"], "format": "uuid"}},
    {"doc_version_id": _REVISION, "deactivated_version_id": None},
)
REBUILT = _type(
    "rebuilt",
    "Text, chunks and vectors of a revision were made again from its file; they are the same.",
    {"run_id": ID, "doc_version_id": ID, "extractor": TEXT, "chunk_count": COUNT, "token_count": COUNT},
    {"run_id": _RUN, "doc_version_id": _REVISION, "extractor": "pdf/1", "chunk_count": 3, "token_count": 220},
)
PURGED = _type(
    "purged",
    "The content, the texts, the names and the files of a document are gone for good.",
    {"revisions": COUNT, "runs": COUNT},
    {"revisions": 1, "runs": 2},
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
