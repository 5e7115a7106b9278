"""The log event of an extraction. What came from a document is sealed with the document's own key."""

from mnemon.documents.events import COUNT, ENTITY, ID, OPTIONAL_TEXT, TEXT
from mnemon.log.types.event_type import EntityRequirement, EventType, PersonalField, declare

_DOCUMENT = "3f0d2f6e-86f5-4a52-8d24-0d6c1f5a9b10"
_REVISION = "9b4a1c7e-2c55-5d0c-9a3f-6f0e7d1b2c11"
_JOB = "01890a5d-ac96-774b-bcce-b302099a8057"
_OBJECTS = {"type": "array", "items": {"type": "object"}}


_PLAIN = {
    "doc_version_id": ID,
    "extraction_id": ID,
    "engine": TEXT,
    "model": OPTIONAL_TEXT,
    "event_count": COUNT,
    "unproven": COUNT,
}
_SEALED = {"events": _OBJECTS, "links": _OBJECTS, "answers": _OBJECTS}

EXTRACTED = declare(
    EventType(
        type="semantic.extracted",
        description="What an engine read from a revision, and what the text proves of it. It replaces what was read "
        "before.",
        data_schema={
            "type": "object",
            "required": ["subject", *_PLAIN],
            "properties": {"subject": TEXT} | _PLAIN | _SEALED,
            "additionalProperties": False,
        },
        required_entities=(EntityRequirement(ENTITY, "subject"),),
        personal_fields=tuple(PersonalField(field, "free_text", subject_path="subject") for field in _SEALED),
        examples=(
            {"subject": f"document:{_DOCUMENT}", "doc_version_id": _REVISION, "extraction_id": _JOB}
            | {"engine": "rules", "model": None, "event_count": 1, "unproven": 0, "links": [], "answers": []}
            | {"events": [{"event_id": "evt_0", "category": "Decision", "narrative": "Use Postgres."}]},
        ),
        bound_to_periods=False,
    )
)
