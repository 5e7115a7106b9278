"""Partitions over REST: the head of each chain, and the version of an entity."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.identity.roles import Action, Principal
from mnemon.log.events import MAIN

router = APIRouter(tags=["partitions"])
Reader = Annotated[Principal, allow(Action.READ_LOG)]


class PartitionOut(BaseModel):
    legal_entity: str
    sequence: str = Field(description="Of its last event; 0 when it has none.")
    head: str = Field(description="Hash of its last event, hexadecimal.")
    recorded_at: datetime | None


class Partitions(BaseModel):
    partitions: list[PartitionOut]
    total: int


class EntityVersion(BaseModel):
    entity_type: str
    entity_id: str
    legal_entity: str
    version: int = Field(description="What `expected_versions` is compared with; 0 for an entity with no event.")


@router.get("/partitions", summary="The legal entities that have a log, and where each one's ends")
async def get_partitions(mnemon: MnemonPart, principal: Reader) -> Partitions:
    found = [
        PartitionOut(
            legal_entity=one.legal_entity,
            sequence=str(one.sequence),
            head=one.hash.hex(),
            recorded_at=one.recorded_at,
        )
        for one in await mnemon.log.list_partitions(principal.tenant_id)
    ]
    return Partitions(partitions=found, total=len(found))


@router.get("/entity-version", summary="How many events an entity has had")
async def get_entity_version(
    mnemon: MnemonPart,
    principal: Reader,
    entity_type: Annotated[str, Query(max_length=100)],
    entity_id: Annotated[str, Query(max_length=400)],
    legal_entity: Annotated[str, Query(max_length=100)] = MAIN,
) -> EntityVersion:
    version = await mnemon.log.entity_version(principal.tenant_id, entity_type, entity_id, legal_entity=legal_entity)
    return EntityVersion(entity_type=entity_type, entity_id=entity_id, legal_entity=legal_entity, version=version)
