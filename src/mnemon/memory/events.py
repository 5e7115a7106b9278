"""The event types of memory objects, their branches, and the items that other programs hand in."""

from typing import Any

from mnemon.log.types.event_type import EntityRequirement, EventType, declare
from mnemon.memory.objects import EMO_TYPES
from mnemon.memory.personal import ITEM_FIELDS, PERSONAL_FIELDS

OBJECT = "emo"
HISTORY = "emo_history"
BRANCH_ENTITY = "emo_branch"
ITEM = "memory_item"

TEXT = {"type": "string"}
IDENTITY = {"type": "string", "format": "uuid"}
VERSION = {"type": "integer", "minimum": 1}
TAGS = {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 200}, "maxItems": 100}
PARENTS = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["emo_id", "rel"],
        "properties": {"emo_id": IDENTITY, "rel": {"enum": ["derived", "supersedes", "merges"]}},
        "additionalProperties": False,
    },
}
LINKS = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["kind", "ref"],
        "properties": {"kind": {"enum": ["uri", "emo"]}, "ref": {"type": "string", "minLength": 1, "maxLength": 2000}},
        "additionalProperties": False,
    },
}
VECTOR_META = {
    "type": "object",
    "required": ["model_id"],
    "properties": {
        "model_id": TEXT,
        "model_version": TEXT,
        "template_id": TEXT,
        "embed_dim": {"type": ["integer", "null"], "minimum": 1},
    },
}
FACET = {"type": "object", "required": ["name"], "properties": {"name": TEXT, "value": TEXT}}
READERS = {"type": ["array", "null"], "items": {"type": "string", "minLength": 1, "maxLength": 200}, "maxItems": 200}
NAMED = {"type": "string", "minLength": 1, "maxLength": 200}
SCOPE = {
    "type": "object",
    "properties": {
        "owner": NAMED,
        "agent_id": NAMED,
        "session_id": NAMED,
        "readers": READERS,
        "writers": {"enum": ["owner", "readers"]},
    },
}
SUBJECT_ID = {"type": "string", "minLength": 1, "maxLength": 200}
ABOUT = {
    "type": "object",
    "required": ["subject_id", "sealed"],
    "properties": {"subject_id": SUBJECT_ID, "sealed": {"type": "object"}},
}
CHANGE: dict[str, Any] = {
    "emo_id": IDENTITY,
    "emo_version": VERSION,
    "world_id": IDENTITY,
    "branch": TEXT,
    "idempotency_key": TEXT,
    "change_id": IDENTITY,
    "rationale": TEXT,
    "about": ABOUT,
}
REQUIRED = ["emo_id", "emo_version", "world_id", "branch", "idempotency_key", "change_id"]


def _object_event(operation: str, description: str, written: str | None = None, **fields: Any) -> EventType:
    """`written` is the field that must be there unless it is sealed away with its subject."""
    schema: dict[str, Any] = {"type": "object", "required": REQUIRED, "properties": CHANGE | fields}
    if written:
        schema["anyOf"] = [{"required": [written]}, {"required": ["about"]}]
    return declare(
        EventType(
            type=f"emo.{operation}",
            module="memory",
            description=description,
            data_schema=schema,
            required_entities=(EntityRequirement(OBJECT, "subject"),),
            personal_fields=PERSONAL_FIELDS,
            bound_to_periods=False,
        )
    )


CREATED = _object_event(
    "created",
    "A memory object began, at version 1.",
    "content",
    tenant_id=IDENTITY,
    emo_type={"enum": list(EMO_TYPES)},
    content=TEXT,
    mime_type=TEXT,
    tags=TAGS,
    source={"type": "object", "required": ["kind"], "properties": {"kind": {"enum": ["user", "agent", "ingest"]}}},
    source_uri=TEXT,
    parents=PARENTS,
    links=LINKS,
    outside_links=LINKS,
    facets={"type": "object", "additionalProperties": TEXT},
    vector_meta=VECTOR_META,
    scope=SCOPE,
)
UPDATED = _object_event(
    "updated",
    "Its content changed, or its tags.",
    "content",
    content=TEXT,
    content_diff={"type": "object"},
    tags=TAGS,
    vector_meta=VECTOR_META,
)
LINKED = _object_event(
    "linked",
    "Relations to other objects and outside references were added or removed.",
    parents=PARENTS,
    links=LINKS,
    outside_links=LINKS,
    removed_parents=PARENTS,
    removed_links=LINKS,
    removed_outside_links=LINKS,
)
DELETED = _object_event("deleted", "It was hidden from every view; its history stays.", deletion_reason=TEXT)
RESTORED = _object_event("restored", "It came back as it was before it was deleted.")
SHARED = _object_event("shared", "Others may read or change it than before, in every branch.", scope=SCOPE)
FACET_ADDED = _object_event("facet.added", "A named facet was added beside the content.", "facet", facet=FACET)
FACET_REPLACED = _object_event("facet.replaced", "A facet has another value.", "facet", facet=FACET)
FACET_REMOVED = _object_event("facet.removed", "A facet was taken away.", "facet", facet=FACET)

SNAPSHOT_COMPACTED = declare(
    EventType(
        type="emo.snapshot.compacted",
        module="memory",
        description="The versions of an object up to one of them are kept as a single snapshot; the version stays.",
        data_schema={
            "type": "object",
            "required": [
                *REQUIRED, "start_seq", "end_seq", "compacted_events_count", "compacted_versions",
            ],
            "properties": CHANGE
            | {
                "state": {"type": "object"},
                "start_seq": {"type": "integer"},
                "end_seq": {"type": "integer"},
                "compacted_events_count": {"type": "integer", "minimum": 1},
                "compacted_versions": {"type": "array", "items": VERSION},
                "content_hash": TEXT,
                "determinism_hash": TEXT,
            },
            "anyOf": [{"required": ["state", "content_hash", "determinism_hash"]}, {"required": ["about"]}],
        },
        required_entities=(EntityRequirement(HISTORY, "subject"),),
        personal_fields=PERSONAL_FIELDS,
        bound_to_periods=False,
    )
)  # fmt: skip


def _branch_event(operation: str, description: str, required: tuple[str, ...] = (), **fields: Any) -> EventType:
    return declare(
        EventType(
            type=f"emo.branch.{operation}",
            module="memory",
            description=description,
            data_schema={
                "type": "object",
                "required": ["world_id", "branch", *required],
                "properties": {"world_id": IDENTITY, "branch": TEXT} | fields,
            },
            required_entities=(EntityRequirement(BRANCH_ENTITY, "subject"),),
            bound_to_periods=False,
        )
    )


BRANCH_CREATED = _branch_event(
    "created",
    "A branch began, as its parent was at a sequence; without one, as it is now.",
    ("parent",),
    parent=TEXT,
    fork_sequence={"type": "integer", "minimum": 0},
    purpose=TEXT,
    needs_person={"type": "boolean"},
)
BRANCH_MERGED = _branch_event(
    "merged",
    "A branch's changes were taken into its parent; it is closed.",
    ("into", "seen_sequence"),
    into=TEXT,
    seen_sequence={"type": "integer", "minimum": 0},
    objects={"type": "array", "items": IDENTITY},
    resolved={"type": "array", "items": IDENTITY},
)
BRANCH_ABANDONED = _branch_event("abandoned", "A branch was given up; it is closed.", reason=TEXT)

OBJECT_TYPES = (CREATED, UPDATED, LINKED, DELETED, RESTORED, SHARED, FACET_ADDED, FACET_REPLACED, FACET_REMOVED)
LENS_TYPES = tuple(
    one.type for one in (*OBJECT_TYPES, SNAPSHOT_COMPACTED, BRANCH_CREATED, BRANCH_MERGED, BRANCH_ABANDONED)
)


def _item_event(operation: str, description: str, required: list[str], **fields: Any) -> EventType:
    return declare(
        EventType(
            type=f"memory.item.{operation}",
            module="memory",
            description=description,
            data_schema={
                "type": "object",
                "required": ["item_id", *required],
                "properties": {
                    "item_id": {"type": "string", "minLength": 1, "maxLength": 300},
                    "world_id": IDENTITY,
                    "branch": TEXT,
                    "reason": TEXT,
                    "subject_id": SUBJECT_ID,
                }
                | fields,
            },
            personal_fields=ITEM_FIELDS,
            open_to_callers=True,
            bound_to_periods=False,
        )
    )


ITEM_UPSERTED = _item_event(
    "upserted",
    "Another program's memory item, to be kept as a memory object.",
    ["content"],
    content=TEXT,
    emo_type={"enum": list(EMO_TYPES)},
    mime_type=TEXT,
    tags=TAGS,
    source={"type": "object", "properties": {"kind": {"enum": ["user", "agent", "ingest"]}, "uri": TEXT}},
)
ITEM_DELETED = _item_event("deleted", "Another program's memory item is gone.", [])
