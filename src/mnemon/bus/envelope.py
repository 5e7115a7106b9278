"""An event of the log as it is sent outward: in the specification's envelope, with what it belongs to and its cause."""

from collections.abc import Mapping
from typing import Any

from mnemon.log.events import Event
from mnemon.log.moments import written
from mnemon.log.types.event_type import EventType
from mnemon.log.types.paths import without

# The catalogue of the specification: its fourteen events by routing key. An event's type in the log is its routing key.
CATALOGUE: Mapping[str, str] = {
    "archive.ingested": "ArchiveIngested",
    "archive.ingestion.failed": "ArchiveIngestionFailed",
    "json.parsed": "JSONParsed",
    "parsing.failed": "ParsingFailed",
    "chunks.prepared": "ChunksPrepared",
    "chunks.failed": "ChunkingFailed",
    "embeddings.generated": "EmbeddingsGenerated",
    "embeddings.failed": "EmbeddingGenerationFailed",
    "summarization.requested": "SummarizationRequested",
    "orchestration.failed": "OrchestrationFailed",
    "summary.complete": "SummaryComplete",
    "summarization.failed": "SummarizationFailed",
    "report.published": "ReportPublished",
    "report.delivery_failed": "ReportDeliveryFailed",
}
# What people and agents wrote into memory objects. Each object has its readers, whom a broker does not know.
MEMORY = "emo."
WRITTEN_TO_MEMORY = (
    "content", "content_diff", "rationale", "tags", "facet", "facets", "deletion_reason", "source_uri",
    "outside_links", "removed_outside_links", "state",
)  # fmt: skip
# It names whose key seals the personal fields, and tells a consumer nothing.
OWNER = "subject"


def name_of_type(routing_key: str) -> str:
    """`ArchiveIngested` for `archive.ingested`; a type that the specification does not name is written the same way."""
    words = routing_key.replace("_", ".").split(".")
    return CATALOGUE.get(routing_key) or "".join(word[:1].upper() + word[1:] for word in words)


def envelope_version(schema_version: int) -> str:
    return f"{schema_version}.0"


def outward(event: Event, declaration: EventType, *, personal: bool = False) -> dict[str, Any]:
    """The envelope of an event. Its routing key is `event.type`; a receiver that sees an `event_id` again ignores it.

    What was sent cannot be forgotten any more, so personal fields go only where `personal` allows it.
    """
    data = event.data if personal else without(event.data, personal_paths(declaration))
    return {
        "event_type": name_of_type(event.type),
        "event_id": event.id,
        "timestamp": written(event.recorded_at),
        "version": envelope_version(event.data_version),
        "routing_key": event.type,
        "correlation_id": event.correlation_id,
        "causation_id": event.caused_by,
        "position": {
            "tenant_id": str(event.tenant_id),
            "legal_entity": event.legal_entity,
            "sequence": str(event.sequence),
        },
        "data": without_owner(event.type, data),
    }


def personal_paths(declaration: EventType) -> tuple[str, ...]:
    """What stays inside unless it is allowed out: personal fields, and the words of memory objects."""
    declared = tuple(one.path for one in declaration.personal_fields)
    return declared + WRITTEN_TO_MEMORY if declaration.type.startswith(MEMORY) else declared


def without_owner(routing_key: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The catalogue's events have the fields of the specification, and no other."""
    return {name: value for name, value in fields.items() if name != OWNER or routing_key not in CATALOGUE}
