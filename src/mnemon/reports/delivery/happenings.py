"""The events of recipients: who is told of what the log says. Where they are is sealed with a key of their own."""

from typing import Any
from uuid import UUID

from mnemon.log.events import Actor, EntityReference, NewEvent
from mnemon.log.types.event_type import EntityRequirement, EventType, PersonalField, declare

ENTITY = "recipient"
TEXT = {"type": "string"}
# Of the row as the change left it: see `reports/functions/recipient_seal.sql`.
SEAL = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_EXAMPLE = {"subject": "recipient:5f0d2f6e-86f5-4a52-8d24-0d6c1f5a9b10", "way": "webhook"}


def subject_of_recipient(recipient_id: UUID) -> str:
    """Whose key seals where a recipient is, and what is sent there is signed with."""
    return f"{ENTITY}:{recipient_id}"


def _type(name: str, description: str, example: dict[str, Any]) -> EventType:
    return declare(
        EventType(
            type=f"{ENTITY}.{name}",
            module="reports",
            description=description,
            data_schema={
                "type": "object",
                "required": ["subject", "way"],
                "properties": {
                    "subject": TEXT, "way": {"enum": ["webhook", "e-mail"]}, "place": TEXT,
                    "event_types": {"type": "array", "items": TEXT}, "seal": SEAL,
                },
                "additionalProperties": False,
            },
            required_entities=(EntityRequirement(ENTITY, "subject"),),
            personal_fields=(PersonalField("place", "free_text", subject_path="subject"),),
            examples=(_EXAMPLE | example,),
            bound_to_periods=False,
        )
    )  # fmt: skip


ADDED = _type(
    "added", "Somebody is told of what the log says, by webhook or by mail.",
    {"place": "https://chat.example.org/hook", "event_types": ["report.published"]},
)  # fmt: skip
REMOVED = _type("removed", "A recipient is told no more.", {})
ALL_TYPES = (ADDED, REMOVED)


def about_recipient(happening: EventType, recipient_id: UUID, actor: Actor, **data: Any) -> NewEvent:
    return NewEvent(
        type=happening.type,
        data={"subject": subject_of_recipient(recipient_id)} | data,
        actor=actor,
        entities=[EntityReference(ENTITY, str(recipient_id))],
        tags=[ENTITY],
    )
