"""Entities over REST: the state of one, as of now or of any moment."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.identity.roles import Action, Principal
from mnemon.log.events import MAIN
from mnemon.log.read.query import read_position

router = APIRouter(tags=["entities"])

EXAMPLE: dict[str, Any] = {
    "entity_type": "decision",
    "entity_id": "D-17",
    "legal_entity": "main",
    "state": {"title": "Move the archive to Frankfurt", "outcome": "approved", "meetings": 1},
    "version": 1,
    "as_of_sequence": "42",
    "consistency": "strong",
}


class EntityStateOut(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    entity_type: str
    entity_id: str
    legal_entity: str
    state: dict[str, Any] = Field(description="By the `state` rules of event types; empty for one with no event.")
    version: int = Field(description="How many events are in it.")
    as_of_sequence: str = Field(description="The last of them; 0 if there is none.")
    consistency: Literal["strong", "verified"] = Field(
        description="verified: there are more events, which did not fit in the time; ask again."
    )


@router.get("/entities/{entity_type}/{entity_id:path}/state", summary="What an entity's events add up to")
async def get_entity_state(
    mnemon: MnemonPart,
    principal: Annotated[Principal, allow(Action.READ_LOG)],
    entity_type: Annotated[str, Path(max_length=100)],
    entity_id: Annotated[str, Path(max_length=400)],
    as_of: Annotated[
        str | None, Query(max_length=40, description="The log as it was at a sequence or a recorded moment; else now.")
    ] = None,
    legal_entity: Annotated[str, Query(max_length=100)] = MAIN,
) -> EntityStateOut:
    found = await mnemon.entity_states.read(
        principal.tenant_id, entity_type, entity_id,
        legal_entity=legal_entity, as_of=read_position(as_of) if as_of else None,
    )  # fmt: skip
    return EntityStateOut(entity_type=entity_type, entity_id=entity_id, legal_entity=legal_entity, **found.as_json())
