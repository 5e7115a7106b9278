"""The event that records a verification: what was looked at, what was found, and what the next one compares with."""

from typing import Any

from mnemon.log.types.event_type import EntityRequirement, EventType, declare

COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}

VERIFIED = declare(
    EventType(
        type="integrity.verified",
        description="Log, lenses, files, texts, rows of identity, places, keys and the database's guards were checked.",
        data_schema={
            "type": "object",
            "required": ["intact", "complete", "findings", "parts", "found", "heads", "lenses"],
            "properties": {
                "intact": {"type": "boolean"},
                "complete": {"type": "boolean"},
                "findings": COUNT,
                "parts": {"type": "object"},
                "found": {"type": "array", "items": {"type": "object"}},
                "heads": {"type": "object"},
                "lenses": {"type": "object"},
                "places": {"type": "object"},
                "keys": {"type": "object"},
            },
            "additionalProperties": False,
        },
        required_entities=(EntityRequirement("verification", "subject"),),
        examples=(
            {
                "intact": True,
                "complete": False,
                "findings": 0,
                "parts": {"log": {"checked": 12, "findings": 0}},
                "found": [],
                "heads": {"main": {"sequence": "12", "hash": "0" * 64, "checkpoints": "1"}},
                "lenses": {},
            },
        ),
        bound_to_periods=False,
    )
)
