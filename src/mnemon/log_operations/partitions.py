"""What a user may ask of partitions: the head of each chain, and the version of an entity."""

from datetime import datetime

from pydantic import Field

from mnemon.identity.roles import Action
from mnemon.log.events import MAIN
from mnemon.log_operations.fields import BY_PROGRAMS, Parts, Where
from mnemon.operations import Caller, Input, Output, operation


class AllPartitions(Input):
    """Nothing to choose."""


class VersionAsked(Input):
    """One entity."""

    entity_type: str = Field(max_length=100, description="What kind of entity.")
    entity_id: str = Field(max_length=400, description="Which one.")
    legal_entity: Where = MAIN


class PartitionOut(Output):
    legal_entity: str
    sequence: str = Field(description="Of its last event; 0 when it has none.")
    head: str = Field(description="Hash of its last event, hexadecimal.")
    recorded_at: datetime | None


class PartitionList(Output):
    partitions: list[PartitionOut]
    total: int


class EntityVersion(Output):
    entity_type: str
    entity_id: str
    legal_entity: str
    version: int = Field(description="What `expected_versions` is compared with; 0 for an entity with no event.")


@operation("partitions.list", Action.READ_LOG, read_only=True, example={}, absent=BY_PROGRAMS)
async def listed(mnemon: Parts, caller: Caller, asked: AllPartitions) -> PartitionList:
    """The legal entities that have a log, and where each one's ends."""
    found = [
        PartitionOut(
            legal_entity=one.legal_entity, sequence=str(one.sequence), head=one.hash.hex(), recorded_at=one.recorded_at
        )
        for one in await mnemon.log.list_partitions(caller.tenant_id)
    ]
    return PartitionList(partitions=found, total=len(found))


@operation(
    "entities.version", Action.READ_LOG, read_only=True, absent=BY_PROGRAMS,
    example={"entity_type": "decision", "entity_id": "D-17"},
)  # fmt: skip
async def entity_version(mnemon: Parts, caller: Caller, asked: VersionAsked) -> EntityVersion:
    """How many events an entity has had."""
    version = await mnemon.log.entity_version(
        caller.tenant_id, asked.entity_type, asked.entity_id, legal_entity=asked.legal_entity
    )
    return EntityVersion(**asked.model_dump(), version=version)
