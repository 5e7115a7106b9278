"""The events of mail, under the routing keys of the specification.

The type of an event in the log is its routing key; `mnemon.bus.envelope` puts it into the specification's envelope.
What follows chunks and embeddings (summaries, reports) is declared by the room that does it.
"""

from typing import Any

from mnemon.bus.envelope import CATALOGUE
from mnemon.log.events import SYSTEM, Actor, EntityReference, NewEvent
from mnemon.log.types.event_type import EntityRequirement, EventType, PersonalField, declare

ARCHIVE = "mail_archive"
TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 0}
NUMBER = {"type": "number", "minimum": 0}
MOMENT = {"type": "string", "format": "date-time"}
READERS = {"type": ["array", "null"], "items": TEXT}
KEYS = {"type": "array", "items": {"type": "string", "pattern": "^[0-9a-f]{16}$"}}
_ARCHIVE = "b9c8d7e6f5a4b3c2"
_SUBJECT = {"subject": f"{ARCHIVE}:{_ARCHIVE}"}


def subject_of_archive(archive_id: str) -> str:
    """Whose key seals where an archive came from."""
    return f"{ARCHIVE}:{archive_id}"


def _type(
    key: str, description: str, fields: dict[str, Any], example: dict[str, Any],
    sealed: dict[str, Any] | None = None, optional: dict[str, Any] | None = None,
) -> EventType:  # fmt: skip
    sealed, optional = sealed or {}, optional or {}
    return declare(
        EventType(
            type=key,
            module="mail",
            description=f"{CATALOGUE[key]}: {description}",
            data_schema={
                "type": "object",
                "required": ["subject", *fields],
                "properties": {"subject": TEXT} | fields | sealed | optional,
                "additionalProperties": False,
            },
            required_entities=(EntityRequirement(ARCHIVE, "subject"),),
            personal_fields=tuple(PersonalField(field, "free_text", subject_path="subject") for field in sealed),
            examples=(_SUBJECT | example,),
            bound_to_periods=False,
        )
    )


_SOURCE = {"source_name": TEXT, "source_url": TEXT}
_FROM = {"source_name": "ietf-quic", "source_url": "rsync://rsync.ietf.org/mailman-archive/quic/"}
_FAILED = {"error_message": "The server did not answer.", "error_type": "SOURCE_UNREACHABLE", "retry_count": 3}
_WHY = {"error_type": TEXT, "retry_count": COUNT}
_PLACE = {"type": "array", "prefixItems": [TEXT, TEXT, COUNT, COUNT, TEXT]}

ARCHIVE_INGESTED = _type(
    "archive.ingested", "an archive was fetched, and its bytes are kept.",
    {
        "archive_id": TEXT, "source_type": TEXT, "file_hash_sha256": TEXT, "file_size_bytes": COUNT, "format": TEXT,
        "start_offset": COUNT, "ingestion_started_at": MOMENT, "ingestion_completed_at": MOMENT,
    },
    {
        "archive_id": _ARCHIVE, "source_type": "rsync", "file_hash_sha256": "ab" * 32, "file_size_bytes": 2_048_576,
        "format": "mbox", "start_offset": 0, "ingestion_started_at": "2023-10-15T14:25:00Z",
        "ingestion_completed_at": "2023-10-15T14:30:00Z", "file_path": "quic/2023-10.mbox", **_FROM,
    },
    {**_SOURCE, "file_path": TEXT},
    {"continues": {"type": ["string", "null"]}, "readers": READERS},
)  # fmt: skip
ARCHIVE_FAILED = _type(
    "archive.ingestion.failed", "an archive could not be fetched, often as it was tried.",
    {"source_type": TEXT, "failed_at": MOMENT, **_WHY},
    {"source_type": "rsync", "failed_at": "2023-10-15T14:35:00Z", **_FAILED, **_FROM},
    {**_SOURCE, "error_message": TEXT},
    {"readers": READERS},
)  # fmt: skip
PARSED = _type(
    "json.parsed", "a part of an archive was read, and its messages are stored.",
    {
        "archive_id": TEXT, "message_count": COUNT, "message_keys": KEYS, "copies": {"type": "array", "items": _PLACE},
        "defects": {"type": "array", "items": {"type": "array"}}, "is_last": {"type": "boolean"},
        "parsing_duration_seconds": NUMBER,
    },
    {
        "archive_id": _ARCHIVE, "message_count": 1, "message_keys": ["b0909b070abce029"],
        "copies": [["b0909b070abce029", "3af08455db2c8691", 0, 1_234, "ab" * 32]], "defects": [], "is_last": True,
        "parsing_duration_seconds": 12.5,
    },
)  # fmt: skip
PARSING_FAILED = _type(
    "parsing.failed", "an archive could not be read to its end.",
    {"archive_id": TEXT, "messages_parsed_before_failure": COUNT, "failed_at": MOMENT, **_WHY},
    {"archive_id": _ARCHIVE, "messages_parsed_before_failure": 75, "failed_at": "2023-10-15T14:37:00Z", **_FAILED},
    {"error_message": TEXT},
)  # fmt: skip
CHUNKS_PREPARED = _type(
    "chunks.prepared", "passages of messages were made.",
    {
        "message_keys": KEYS, "chunk_count": COUNT, "chunk_ids": KEYS, "chunks_ready": {"type": "boolean"},
        "chunking_strategy": TEXT, "avg_chunk_size_tokens": NUMBER,
    },
    {
        "message_keys": ["b0909b070abce029"], "chunk_count": 1, "chunk_ids": ["3af08455db2c8691"],
        "chunks_ready": True, "chunking_strategy": "structure", "avg_chunk_size_tokens": 350.0,
    },
)  # fmt: skip
CHUNKS_FAILED = _type(
    "chunks.failed", "passages of messages could not be made.",
    {"message_keys": KEYS, "failed_at": MOMENT, **_WHY},
    {"message_keys": ["b0909b070abce029"], "failed_at": "2023-10-15T14:42:00Z", **_FAILED},
    {"error_message": TEXT},
)  # fmt: skip
EMBEDDINGS_GENERATED = _type(
    "embeddings.generated", "passages of messages have vectors.",
    {
        "chunk_ids": KEYS, "embedding_count": COUNT, "embedding_model": TEXT, "embedding_backend": TEXT,
        "embedding_dimension": COUNT, "vector_store_collection": TEXT, "vector_store_updated": {"type": "boolean"},
        "avg_generation_time_ms": NUMBER,
    },
    {
        "chunk_ids": ["3af08455db2c8691"], "embedding_count": 1, "embedding_model": "all-MiniLM-L6-v2@1",
        "embedding_backend": "local", "embedding_dimension": 384, "vector_store_collection": "chunk_vectors",
        "vector_store_updated": True, "avg_generation_time_ms": 15.3,
    },
)  # fmt: skip
EMBEDDINGS_FAILED = _type(
    "embeddings.failed", "passages are without vectors for now; a job goes on trying.",
    {"chunk_ids": KEYS, "embedding_backend": TEXT, "failed_at": MOMENT, **_WHY},
    {
        "chunk_ids": ["3af08455db2c8691"], "embedding_backend": "local", "failed_at": "2023-10-15T14:47:00Z", **_FAILED,
    },
    {"error_message": TEXT},
)  # fmt: skip


THREADS_CHANGED = declare(
    EventType(
        type="mail.threads.changed",
        module="mail",
        description="Messages that came late made threads one, or parted one; by the keys of the threads.",
        data_schema={
            "type": "object",
            "required": ["subject", "merged", "parted"],
            "properties": {
                "subject": TEXT,
                # Each thread that is no longer, and the one that its root belongs to now.
                "merged": {"type": "array", "items": KEYS},
                # Threads that others left.
                "parted": KEYS,
            },
            "additionalProperties": False,
        },
        required_entities=(EntityRequirement(ARCHIVE, "subject"),),
        examples=(_SUBJECT | {"merged": [["b0909b070abce029", "3af08455db2c8691"]], "parted": []},),
        bound_to_periods=False,
    )
)


def mail_event(
    happening: EventType, archive: str, correlation_id: str, actor: Actor = SYSTEM, caused_by: str | None = None, /,
    **data: Any,
) -> NewEvent:  # fmt: skip
    """An event about an archive; what belongs to one import shares the correlation id."""
    return NewEvent(
        type=happening.type,
        data={"subject": subject_of_archive(archive)} | data,
        actor=actor,
        entities=[EntityReference(ARCHIVE, archive)],
        correlation_id=correlation_id,
        caused_by=caused_by,
        tags=["mail"],
    )
