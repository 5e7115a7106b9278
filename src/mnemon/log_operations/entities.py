"""What a user may ask of an entity: the state that its events add up to, and how many it has had."""

from typing import Any, Literal

from pydantic import Field

from mnemon.errors import NotFound
from mnemon.identity.roles import Action
from mnemon.log.events import MAIN
from mnemon.log_operations.fields import BY_PROGRAMS, NO_TOOLS, AsOf, Parts, Where
from mnemon.operations import Caller, Input, Output, operation

ONE = {"entity_type": "decision", "entity_id": "D-17"}


class EntityAsked(Input):
    """One entity."""

    entity_type: str = Field(max_length=100, description="What kind of entity.")
    entity_id: str = Field(max_length=400, description="Which one.")
    legal_entity: Where = MAIN


class EntityStateAsked(EntityAsked):
    """One entity, now or at a moment."""

    as_of: AsOf = Field(None, description="The log as it was at a sequence or a recorded moment; else now.")


class EntityStateOut(Output):
    """What an entity's events add up to."""

    entity_type: str
    entity_id: str
    legal_entity: str
    state: dict[str, Any] = Field(description="By the `state` rules of event types; empty for one with no event.")
    version: int = Field(description="How many events are in it.")
    as_of_sequence: str = Field(description="The last of them; 0 if there is none.")
    consistency: Literal["strong", "verified"] = Field(
        description="verified: there are more events, which did not fit in the time; ask again."
    )


class EntityVersion(Output):
    """How many events an entity has had."""

    entity_type: str
    entity_id: str
    legal_entity: str
    version: int = Field(description="What `expected_versions` is compared with; 0 for an entity with no event.")


@operation(
    "entities.state", Action.READ_LOG, read_only=True, errors=(NotFound,), absent=NO_TOOLS,
    example={**ONE, "as_of": "2026-03-01T09:30Z"},
)  # fmt: skip
async def state(mnemon: Parts, caller: Caller, asked: EntityStateAsked) -> EntityStateOut:
    """What an entity's events add up to, as of now or of any moment, by the rules that event types declare."""
    found = await mnemon.entity_states.read(
        caller.tenant_id, asked.entity_type, asked.entity_id, legal_entity=asked.legal_entity, as_of=asked.as_of
    )
    return EntityStateOut(**asked.model_dump(exclude={"as_of"}), **found.as_json())


@operation("entities.version", Action.READ_LOG, read_only=True, absent=BY_PROGRAMS, example=ONE)
async def version(mnemon: Parts, caller: Caller, asked: EntityAsked) -> EntityVersion:
    """How many events an entity has had."""
    found = await mnemon.log.entity_version(
        caller.tenant_id, asked.entity_type, asked.entity_id, legal_entity=asked.legal_entity
    )
    return EntityVersion(**asked.model_dump(), version=found)
