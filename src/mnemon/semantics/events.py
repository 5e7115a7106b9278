"""The log events of artifacts and extractions. What came from a source is sealed with the document's own key."""

from typing import Any

from mnemon.documents.events import COUNT, ENTITY, ID, MOMENT, TEXT
from mnemon.log.types.event_type import EntityRequirement, EventType, PersonalField, declare

_DOCUMENT = "3f0d2f6e-86f5-4a52-8d24-0d6c1f5a9b10"
_REVISION = "9b4a1c7e-2c55-5d0c-9a3f-6f0e7d1b2c11"
_JOB = "01890a5d-ac96-774b-bcce-b302099a8057"
_OPTIONAL_TEXT = {"type": ["string", "null"]}
_OBJECTS = {"type": "array", "items": {"type": "object"}}
_SUBJECT = {"subject": f"document:{_DOCUMENT}"}


def _type(
    name: str, description: str, plain: dict[str, Any], sealed: dict[str, Any], example: dict[str, Any]
) -> EventType:
    return declare(
        EventType(
            type=name,
            description=description,
            data_schema={
                "type": "object",
                "required": ["subject", *plain],
                "properties": {"subject": TEXT} | plain | sealed,
                "additionalProperties": False,
            },
            required_entities=(EntityRequirement(ENTITY, "subject"),),
            personal_fields=tuple(PersonalField(field, "free_text", subject_path="subject") for field in sealed),
            examples=(_SUBJECT | example,),
            bound_to_periods=False,
        )
    )


DESCRIBED = _type(
    "artifact.described",
    "Where a document comes from, who may read it, and how long it is kept.",
    {
        "artifact_type": TEXT,
        "source_system": TEXT,
        "sensitivity": TEXT,
        "visibility_scope": TEXT,
        "owner": TEXT,
        # Whoever may read it; null for everyone of the tenant.
        "readers": {"type": ["array", "null"], "items": TEXT},
        "retention_policy": TEXT,
        "retain_until": MOMENT,
    },
    {"artifact_uid": TEXT, "source_id": _OPTIONAL_TEXT, "source_url": _OPTIONAL_TEXT},
    {"artifact_type": "note", "source_system": "slack", "sensitivity": "normal", "visibility_scope": "me"}
    | {"owner": "user:1", "readers": ["user:1"], "retention_policy": "forever", "retain_until": None}
    | {"artifact_uid": "uid_0123456789abcdef", "source_id": "C1-17", "source_url": None},
)
EXTRACTED = _type(
    "semantic.extracted",
    "What an engine read from a revision, and what the text proves of it. It replaces what was read before.",
    {
        "doc_version_id": ID,
        "extraction_id": ID,
        "engine": TEXT,
        "model": _OPTIONAL_TEXT,
        "event_count": COUNT,
        "unproven": COUNT,
    },
    {"events": _OBJECTS, "links": _OBJECTS, "answers": _OBJECTS},
    {"doc_version_id": _REVISION, "extraction_id": _JOB, "engine": "rules", "model": None, "event_count": 1}
    | {"unproven": 0, "links": [], "answers": []}
    | {"events": [{"event_id": "evt_0", "category": "Decision", "narrative": "Use Postgres."}]},
)
