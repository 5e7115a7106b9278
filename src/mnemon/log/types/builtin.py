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

POSITION = {"type": "string", "pattern": "^[0-9]+$"}

LOG_RESTORED = declare(
    EventType(
        type="log.restored",
        description="The database was restored from a backup: what was recorded after its moment is no part of the "
        "log any more. `attested` is how far checkpoints and seals had gone before.",
        data_schema={
            "type": "object",
            "required": ["taken_at", "partitions"],
            "properties": {
                "taken_at": {"type": "string", "format": "date-time"},
                "partitions": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["legal_entity", "sequence", "attested"],
                        "properties": {
                            "legal_entity": {"type": "string"},
                            "sequence": POSITION,
                            "attested": POSITION,
                        },
                        "additionalProperties": False,
                    },
                },
            },
            "additionalProperties": False,
        },
        required_entities=(EntityRequirement("log", "subject"),),
        examples=(
            {
                "taken_at": "2026-11-16T02:00:00+00:00",
                "partitions": [{"legal_entity": "main", "sequence": "168", "attested": "188"}],
            },
        ),
        bound_to_periods=False,
    )
)
