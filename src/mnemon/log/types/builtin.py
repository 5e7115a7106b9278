"""The log's own event types: what it records about itself."""

from mnemon.log.types.event_type import EntityRequirement, EventType, declare
from mnemon.log.types.state_rules import StateRule

TYPE_REGISTERED = declare(
    EventType(
        type="log.type.registered",
        description="A tenant declared an event type, a new version of one, or a compatible change to a version.",
        data_schema={
            "type": "object",
            "required": ["declaration"],
            "properties": {"declaration": {"type": "object", "required": ["type", "schema_version", "data_schema"]}},
            "additionalProperties": False,
        },
        required_entities=(EntityRequirement("event_type", "subject"),),
        examples=({"declaration": {"type": "shop.order.placed", "schema_version": 1, "data_schema": {}}},),
        bound_to_periods=False,
    )
)

PERIOD_STATUS = {"enum": ["open", "soft_closed", "hard_closed"]}

PERIOD_CHANGED = declare(
    EventType(
        type="log.period.changed",
        description="A period of a legal entity was defined, closed or opened again.",
        data_schema={
            "type": "object",
            "required": ["name", "starts_on", "ends_on", "status", "reason"],
            "properties": {
                "name": {"type": "string"},
                "starts_on": {"type": "string", "format": "date"},
                "ends_on": {"type": "string", "format": "date"},
                "previous_status": PERIOD_STATUS,
                "status": PERIOD_STATUS,
                "reason": {"type": "string"},
            },
            "additionalProperties": False,
        },
        required_entities=(EntityRequirement("period", "subject"),),
        state=(
            StateRule(
                entity_type="period",
                set={"status": "$.status", "starts_on": "$.starts_on", "ends_on": "$.ends_on", "reason": "$.reason"},
                count=("changes",),
            ),
        ),
        examples=(
            {
                "name": "2026-03",
                "starts_on": "2026-03-01",
                "ends_on": "2026-03-31",
                "previous_status": "open",
                "status": "soft_closed",
                "reason": "March is complete",
            },
        ),
        bound_to_periods=False,
    )
)

PUBLIC_KEY = {"type": "string", "pattern": "^[0-9a-f]{64}$"}

KEY_PINNED = declare(
    EventType(
        type="log.key.pinned",
        description="From here on checkpoints of the tenant may be signed with this key, as the key before it says.",
        data_schema={
            "type": "object",
            "required": ["signing_key"],
            "properties": {
                "signing_key": PUBLIC_KEY,
                "handover": {
                    "type": "object",
                    "required": ["statement", "public_key", "signature"],
                    "properties": {
                        "statement": {"type": "string"},
                        "public_key": PUBLIC_KEY,
                        "signature": {"type": "string", "pattern": "^[0-9a-f]{128}$"},
                    },
                    "additionalProperties": False,
                },
            },
            "additionalProperties": False,
        },
        required_entities=(EntityRequirement("signing_key", "subject"),),
        examples=({"signing_key": "f71f22dbe09e2492" * 4},),
        bound_to_periods=False,
    )
)

RESTORE_ADOPTED = declare(
    EventType(
        type="log.restore.adopted",
        description="The log of a legal entity was brought back to an earlier moment. Checkpoints of what came after "
        "it were set aside, on the word of whoever owns the machine.",
        data_schema={
            "type": "object",
            "required": ["legal_entity", "ends_at", "attested", "set_aside", "digest"],
            "properties": {
                "legal_entity": {"type": "string", "description": "Whose log."},
                "ends_at": {"type": "integer", "description": "The last event that it had when this was said."},
                "attested": {"type": "integer", "description": "How far the furthest one that was set aside goes."},
                "set_aside": {
                    "type": "integer",
                    "description": "How many checkpoints were set aside, its seal included.",
                },
                "digest": {"type": "string", "description": "SHA-256 of the statement of the furthest."},
            },
            "additionalProperties": False,
        },
        examples=(
            {"legal_entity": "main", "ends_at": 6, "attested": 9, "set_aside": 2, "digest": "f71f22dbe09e2492" * 4},
        ),
        bound_to_periods=False,
    )
)
