"""What each envelope looks like, as JSON Schema made from the declaration of its event type."""

from collections.abc import Mapping
from typing import Any

from mnemon.bus.envelope import envelope_version, name_of_type, personal_paths, without_owner
from mnemon.log.types.event_type import EventType
from mnemon.log.types.paths import EACH, steps_of

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXT = {"type": "string"}
_POSITION = {
    "type": "object",
    "description": "Where in the log it stands. Within one legal entity of one tenant events come in this order.",
    "properties": {"tenant_id": {"type": "string", "format": "uuid"}, "legal_entity": _TEXT, "sequence": _TEXT},
    "required": ["tenant_id", "legal_entity", "sequence"],
    "additionalProperties": False,
}


def envelope_schema(declaration: EventType) -> dict[str, Any]:
    """Personal fields may be there or not: whoever set up the receiver decided."""
    fields: dict[str, Any] = {
        "event_type": {"const": name_of_type(declaration.type)},
        "event_id": {"type": "string", "description": "The same event has the same id, however often it comes."},
        "timestamp": {"type": "string", "format": "date-time", "description": "When it was recorded, UTC."},
        "version": {"const": envelope_version(declaration.schema_version)},
        "routing_key": {"const": declaration.type},
        "correlation_id": {"type": "string", "description": "Shared by all events of one undertaking."},
        "causation_id": {"type": ["string", "null"], "description": "The event that this one follows from."},
        "position": _POSITION,
        "data": data_schema(declaration),
    }
    return {
        "$schema": DIALECT,
        "title": name_of_type(declaration.type),
        "description": declaration.description,
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def data_schema(declaration: EventType) -> dict[str, Any]:
    """The schema of the type, in which no personal field is required."""
    schema = dict(declaration.data_schema)
    if "properties" in schema:
        schema["properties"] = without_owner(declaration.type, schema["properties"])
    if "required" in schema:
        schema["required"] = [name for name in schema["required"] if name in schema.get("properties", {})]
    paths = personal_paths(declaration)
    if any(name in paths for one in schema.get("anyOf", ()) for name in one.get("required", ())):
        del schema["anyOf"]
    for path in paths:
        schema = _optional(schema, steps_of(path))
    return schema


def _optional(schema: Mapping[str, Any], steps: tuple[str, ...]) -> dict[str, Any]:
    first, rest = steps[0], steps[1:]
    if first == EACH:
        return {**schema, "items": _optional(schema["items"], rest)} if rest and "items" in schema else dict(schema)
    made = dict(schema)
    if not rest:
        made["required"] = [name for name in schema.get("required", ()) if name != first]
    elif first in schema.get("properties", {}):
        made["properties"] = {**schema["properties"], first: _optional(schema["properties"][first], rest)}
    return made
