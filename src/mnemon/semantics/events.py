"""The log events of extractions and corrections. What came from a document is sealed with the document's own key."""

from mnemon.documents.events import COUNT, ENTITY, ID, OPTIONAL_TEXT, TEXT, TEXTS
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
# `kept` leads what people said about the events of before to those of now.
_SEALED = {"events": _OBJECTS, "links": _OBJECTS, "answers": _OBJECTS, "kept": _OBJECTS}

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

_EVENT = "evt_0123456789abcdef0123456789abcdef"
_ABOUT = {"subject": TEXT, "doc_version_id": ID, "event_id": TEXT}

# The person's words are sealed with their own key, and all of it once more with the document's: it is gone when either
# is erased.
CORRECTED = declare(
    EventType(
        type="semantic.event.corrected",
        description="What a person said about a semantic event. It stands above what was read.",
        data_schema={
            "type": "object",
            "required": [*_ABOUT, "corrector", "action", "others", "said"],
            "properties": _ABOUT | {"corrector": TEXT, "action": TEXT, "others": TEXTS, "said": {"type": "object"}},
            "additionalProperties": False,
        },
        required_entities=(EntityRequirement(ENTITY, "subject"),),
        personal_fields=(
            PersonalField("said", "free_text", subject_path="subject"),
            PersonalField("said.words", "free_text", subject_path="corrector"),
        ),
        examples=(
            {"subject": f"document:{_DOCUMENT}", "doc_version_id": _REVISION, "event_id": _EVENT}
            | {"corrector": "user:1", "action": "edit", "others": []}
            | {"said": {"words": {"due": "2026-03-01"}, "spans": [[10, 42]]}},
        ),
        bound_to_periods=False,
    )
)
CORRECTION_UNDONE = declare(
    EventType(
        type="semantic.event.correction_undone",
        description="A person took back what was said about a semantic event.",
        data_schema={
            "type": "object",
            "required": [*_ABOUT, "corrector", "correction_id"],
            "properties": _ABOUT | {"corrector": TEXT, "correction_id": TEXT},
            "additionalProperties": False,
        },
        required_entities=(EntityRequirement(ENTITY, "subject"),),
        examples=(
            {"subject": f"document:{_DOCUMENT}", "doc_version_id": _REVISION, "event_id": _EVENT}
            | {"corrector": "user:1", "correction_id": "01890A5DAC96774BBCCEB30209"},
        ),
        bound_to_periods=False,
    )
)

_NUMBERS = {"type": "object", "additionalProperties": {"type": "number"}}
_FIGURES = {"log_loss": 0.41, "accuracy": 0.8}
_LEARNED = {"adapter": TEXT, "weights": _NUMBERS, "labels": COUNT, "before": _NUMBERS, "after": _NUMBERS}
# Numbers alone: nobody's words are in them.
READER_LEARNED = declare(
    EventType(
        type="semantic.reader.learned",
        description="Weights that were fitted to the tenant's corrections and did better on those held back.",
        data_schema={
            "type": "object",
            "required": [*_LEARNED],
            "properties": _LEARNED,
            "additionalProperties": False,
        },
        required_entities=(EntityRequirement("reader", "subject"),),
        examples=(
            {"adapter": "ab" * 32, "weights": {"bias": -1.6}, "labels": 40}
            | {"before": _FIGURES, "after": _FIGURES | {"log_loss": 0.33}},
        ),
        bound_to_periods=False,
    )
)
READER_FORGOTTEN = declare(
    EventType(
        type="semantic.reader.forgotten",
        description="The tenant's own weights of the reader were given up: the shipped ones hold.",
        data_schema={"type": "object", "additionalProperties": False},
        required_entities=(EntityRequirement("reader", "subject"),),
        examples=({},),
        bound_to_periods=False,
    )
)
