"""What a user may ask of partitions: where each chain ends."""

from datetime import datetime

from pydantic import Field

from mnemon.identity.roles import Action
from mnemon.log_operations.fields import NO_TOOLS, Parts
from mnemon.operations import Caller, Input, Output, operation


class AllPartitions(Input):
    """Nothing to choose."""


class PartitionOut(Output):
    legal_entity: str
    sequence: str = Field(description="Of its last event; 0 when it has none.")
    head: str = Field(description="Hash of its last event, hexadecimal.")
    recorded_at: datetime | None


class PartitionList(Output):
    partitions: list[PartitionOut]
    total: int


@operation(
    "partitions.list",
    Action.READ_LOG,
    read_only=True,
    example={},
    absent={**NO_TOOLS, "command": "Programs ask this over REST."},
)
async def listed(mnemon: Parts, caller: Caller, asked: AllPartitions) -> PartitionList:
    """The legal entities that have a log, and where each one's ends."""
    found = [
        PartitionOut(
            legal_entity=one.legal_entity, sequence=str(one.sequence), head=one.hash.hex(), recorded_at=one.recorded_at
        )
        for one in await mnemon.log.list_partitions(caller.tenant_id)
    ]
    return PartitionList(partitions=found, total=len(found))
