"""Event types over REST: register, list, show."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel

from mnemon.api.access import MnemonPart, allow
from mnemon.app import Mnemon
from mnemon.errors import NotFound
from mnemon.identity.roles import Action, Principal
from mnemon.log.append.incoming import IncomingType
from mnemon.log.types.event_type import EventType

router = APIRouter(tags=["event types"])
Reader = Annotated[Principal, allow(Action.READ_LOG)]


class TypeOut(BaseModel):
    type: str
    schema_version: int
    module: str
    description: str
    built_in: bool
    data_schema: dict[str, Any]
    required_dimensions: list[str]
    optional_dimensions: list[str]
    required_entity_refs: list[dict[str, str]]
    pii_fields: list[dict[str, str]]
    retention_class: str
    minimum_retention_years: int | None
    business_key: dict[str, Any] | None
    examples: list[dict[str, Any]]
    migration: dict[str, Any] | None


class TypesOut(BaseModel):
    event_types: list[TypeOut]
    total: int


@router.post(
    "/event-types",
    summary="Register an event type, its next version, or a compatible change",
    status_code=201,
    response_model=TypeOut,
)
async def post_event_type(
    new: IncomingType, mnemon: MnemonPart, principal: Annotated[Principal, allow(Action.MANAGE_LOG)]
) -> dict[str, Any]:
    declared = await mnemon.log.register_type(principal.tenant_id, new.as_event_type(), principal.actor)
    return _described(mnemon, declared)


@router.get("/event-types", summary="Every version of every type", response_model=TypesOut)
async def get_event_types(
    mnemon: MnemonPart, principal: Reader, module: Annotated[str | None, Query(max_length=100)] = None
) -> dict[str, Any]:
    types = await mnemon.log.registry.list(principal.tenant_id)
    found = [_described(mnemon, one) for one in types if module in (None, one.module)]
    return {"event_types": found, "total": len(found)}


@router.get("/event-types/{type_name}", summary="One type, every version of it", response_model=TypesOut)
async def get_event_type(
    type_name: Annotated[str, Path(max_length=200)], mnemon: MnemonPart, principal: Reader
) -> dict[str, Any]:
    types = await mnemon.log.registry.list(principal.tenant_id)
    found = [_described(mnemon, one) for one in types if one.type == type_name]
    if not found:
        raise NotFound(f"There is no event type {type_name!r}: GET /v1/event-types lists them.", type=type_name)
    return {"event_types": found, "total": len(found)}


def _described(mnemon: Mnemon, declared: EventType) -> dict[str, Any]:
    return declared.as_json() | {"built_in": mnemon.log.registry.is_built_in(declared.type)}
