"""What a user may do with event types: register, list, show."""

from datetime import datetime
from typing import Any

from pydantic import Field

from mnemon.errors import NotFound
from mnemon.identity.roles import Action
from mnemon.log.append.incoming import DECISION_TYPE, IncomingType
from mnemon.log.errors import TypeIncompatible
from mnemon.log.types.event_type import EventType
from mnemon.log_operations.fields import NO_TOOLS, Parts
from mnemon.operations import Caller, Input, Output, operation


class TypeDeclared(IncomingType, Input):
    """What events of a type must look like."""


class TypesAsked(Input):
    """Which types."""

    module: str | None = Field(None, max_length=100, description="Only types of this module.")


class TypeAsked(Input):
    """One type."""

    type_name: str = Field(max_length=200, description="The type, every version of it.")


class TypeOut(Output):
    """One version of a type."""

    type: str
    schema_version: int
    module: str
    description: str
    built_in: bool
    data_schema: dict[str, Any]
    required_dimensions: list[str]
    optional_dimensions: list[str]
    required_entity_refs: list[dict[str, str]]
    pii_fields: list[dict[str, Any]]
    retention_class: str
    minimum_retention_years: int | None
    business_key: dict[str, Any] | None
    state: list[dict[str, Any]] = Field(description="What events do to the state of the entities they name.")
    examples: list[dict[str, Any]]
    deprecated_at: datetime | None = Field(description="From when on no new events of it are taken.")
    migration: dict[str, Any] | None


class TypesOut(Output):
    event_types: list[TypeOut]
    total: int


@operation(
    "event_types.register", Action.MANAGE_LOG, errors=(TypeIncompatible,), example=DECISION_TYPE, absent=NO_TOOLS
)
async def register(mnemon: Parts, caller: Caller, asked: TypeDeclared) -> TypeOut:
    """Register an event type, its next version, or a compatible change."""
    declared = await mnemon.log.register_type(caller.tenant_id, asked.as_event_type(), caller.actor)
    return _described(mnemon, declared)


@operation("event_types.list", Action.READ_LOG, read_only=True, example={"module": "board"}, absent=NO_TOOLS)
async def listed(mnemon: Parts, caller: Caller, asked: TypesAsked) -> TypesOut:
    """Every version of every type, built in or registered."""
    types = await mnemon.log.registry.list(caller.tenant_id)
    return _all(mnemon, [one for one in types if asked.module in (None, one.module)])


@operation(
    "event_types.get", Action.READ_LOG, read_only=True, errors=(NotFound,), absent=NO_TOOLS,
    example={"type_name": "board.decision.taken"},
)  # fmt: skip
async def get(mnemon: Parts, caller: Caller, asked: TypeAsked) -> TypesOut:
    """One type, every version of it."""
    found = [one for one in await mnemon.log.registry.list(caller.tenant_id) if one.type == asked.type_name]
    if not found:
        raise NotFound(
            f"There is no event type {asked.type_name!r}: `mnemon log types` lists them, and GET /v1/event-types.",
            type=asked.type_name,
        )
    return _all(mnemon, found)


def _all(mnemon: Parts, types: list[EventType]) -> TypesOut:
    return TypesOut(event_types=[_described(mnemon, one) for one in types], total=len(types))


def _described(mnemon: Parts, declared: EventType) -> TypeOut:
    return TypeOut(**declared.as_json(), built_in=mnemon.log.registry.is_built_in(declared.type))
