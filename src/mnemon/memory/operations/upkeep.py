"""What keeps memory small and proves it: compaction and replay."""

from collections.abc import Sequence
from uuid import UUID

from pydantic import Field

from mnemon.identity.roles import Action
from mnemon.inputs import Maybe
from mnemon.memory.errors import CompactionRefused
from mnemon.memory.operations.object_inputs import PlaceAsked
from mnemon.memory.operations.object_outputs import Told
from mnemon.memory.operations.objects import FEW_TOOLS, NOT_THERE, ONE, Parts, author_of
from mnemon.memory.replay import MOST_NAMED
from mnemon.operations import Caller, Input, Output, operation


class CompactionAsked(PlaceAsked):
    """Which objects."""

    emo_id: Maybe[UUID] = Field(None, description="Only this object.")
    versions: int = Field(10, ge=1, le=1_000_000, description="Of all objects with so many earlier versions.")


class ReplayAsked(Input):
    """Whether to compare."""

    verify: bool = Field(True, description="Compare every row and hash with the old ones.")


class CompactedOut(Told):
    """What a compaction did to one object."""

    emo_id: UUID
    emo_version: int
    compacted_versions: Sequence[int]
    determinism_hash: str


class Compactions(Output):
    """What a compaction did."""

    compacted: list[CompactedOut]


class DifferenceOut(Told):
    """A row that is not the same before and after."""

    table: str
    key: str
    how: str


class ReplayOut(Output):
    """What a replay made; all but the hash only where it was compared."""

    state_hash: str
    same: bool = True
    events: int = 0
    objects: int = 0
    rows: int = 0
    seconds: float = 0
    branches: dict[str, str] = Field(default_factory=dict)
    differences: list[DifferenceOut] = Field(default_factory=list, description="The first of them.")
    difference_count: int = 0


@operation(
    "memory.compact",
    Action.MANAGE_MEMORY,
    errors=(*NOT_THERE, CompactionRefused),
    example=ONE,
    absent=FEW_TOOLS,
)
async def compact(mnemon: Parts, caller: Caller, asked: CompactionAsked) -> Compactions:
    """Keep earlier versions as one snapshot; refused if it would not replay to the same state."""
    compaction, place, author = mnemon.memory.compaction, asked.place(caller), author_of(caller)
    if asked.emo_id is not None:
        done = [await compaction.compact(caller.tenant_id, place, asked.emo_id, author)]
    else:
        done = [*await compaction.compact_all(caller.tenant_id, place, author, versions=asked.versions)]
    return Compactions(compacted=[CompactedOut.model_validate(one) for one in done])


@operation("memory.replay", Action.MANAGE_MEMORY, example={"verify": True}, absent=FEW_TOOLS)
async def replay(mnemon: Parts, caller: Caller, asked: ReplayAsked) -> ReplayOut:
    """Make the lens anew from the log, while readers go on, and compare it with the old one."""
    if not asked.verify:
        return ReplayOut(state_hash=await mnemon.memory.replay.rebuild(caller.tenant_id))
    report = await mnemon.memory.replay.verify(caller.tenant_id)
    return ReplayOut(
        state_hash=report.state_hash, same=report.same, events=report.events, objects=report.objects,
        rows=report.rows, seconds=round(report.seconds, 3), branches=dict(report.branches),
        differences=[DifferenceOut.model_validate(one) for one in report.differences[:MOST_NAMED]],
        difference_count=len(report.differences),
    )  # fmt: skip
