"""The events of sources: who opened a place to Mnemon, and who closed it. Keys of the place are in none of them."""

from typing import Any
from uuid import UUID

from mnemon.documents.sources.sealed_keys import subject_of_source
from mnemon.log.events import Actor, EntityReference, NewEvent
from mnemon.log.types.event_type import EntityRequirement, EventType, PersonalField, declare

ENTITY = "source"
TEXT = {"type": "string"}
# Of the row as the change left it: see `functions/source_seal.sql` and, for mail, `mail_source_seal.sql`.
SEAL = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_SUBJECT = {"subject": "source:5f0d2f6e-86f5-4a52-8d24-0d6c1f5a9b10"}


def _type(name: str, description: str, example: dict[str, Any]) -> EventType:
    return declare(
        EventType(
            type=f"{ENTITY}.{name}",
            description=description,
            data_schema={
                "type": "object",
                "required": ["subject", "kind"],
                "properties": {"subject": TEXT, "kind": TEXT, "name": TEXT, "place": TEXT, "seal": SEAL},
                "additionalProperties": False,
            },
            required_entities=(EntityRequirement(ENTITY, "subject"),),
            personal_fields=tuple(PersonalField(one, "free_text", subject_path="subject") for one in ("name", "place")),
            examples=(_SUBJECT | example,),
            bound_to_periods=False,
        )
    )


_EXAMPLE = {"kind": "s3", "name": "policies", "place": "s3://acme-docs/policies/"}
ADDED = _type("added", "A place is followed: its files become documents, or mail.", _EXAMPLE)
CHANGED = _type("changed", "A source is followed in another way, or with other keys.", _EXAMPLE)
REMOVED = _type("removed", "A source is followed no more; its documents stay.", {"kind": "s3"})
ALL_TYPES = (ADDED, CHANGED, REMOVED)


def about_source(happening: EventType, source_id: UUID, actor: Actor, **data: Any) -> NewEvent:
    return NewEvent(
        type=happening.type,
        data={"subject": subject_of_source(source_id)} | data,
        actor=actor,
        entities=[EntityReference(ENTITY, str(source_id))],
        tags=[ENTITY],
    )
