"""What a user may do with branches of memory: begin, list, compare, merge, give up."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import ConfigDict, Field

from mnemon.documents.access import Reader
from mnemon.identity.roles import Action
from mnemon.log.events import MAIN
from mnemon.memory.branching.merging import Compared
from mnemon.memory.diffs import diff_texts
from mnemon.memory.errors import BranchClosed, BranchNotFound, MemoryConflict, MergeConflicts, PersonNeeded
from mnemon.memory.operations.object_inputs import RATIONALE, AsOf, BranchName, PlaceAsked, Reason, WorldAsked
from mnemon.memory.operations.object_outputs import Told
from mnemon.memory.operations.objects import FEW_TOOLS, Parts, author_of
from mnemon.operations import Caller, Output, operation

EXAMPLE = {"branch": "tidy-up"}


class BranchAsked(PlaceAsked):
    """One branch."""

    branch: BranchName = Field(description="The branch.")


class NewBranch(BranchAsked):
    """A branch to begin."""

    parent: BranchName = Field(MAIN, description="The branch it begins from.")
    at: AsOf | None = Field(None, description="A log sequence or a moment; unset: now.")
    purpose: str = Field("", max_length=500, description="For people to read; leave out personal data.")
    needs_person: bool = Field(False, description="Agents may work on it, but only a person may merge it.")


class MergeAsked(BranchAsked):
    """How a branch is merged."""

    resolutions: dict[UUID, str | dict[str, Any]] | None = Field(
        None, description="By object: `ours` (the parent's), `theirs`, or a value for each field."
    )
    rationale: Reason | None = RATIONALE


class Abandonment(BranchAsked):
    """Why a branch is given up."""

    reason: str = Field("", max_length=500, description="Why.")


class BranchOut(Told):
    """A branch and how it stands."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    branch: str
    parent: str
    fork_sequence: str
    status: str
    purpose: str
    needs_person: bool
    created_by: str
    created_at: datetime
    closed_by: str | None
    closed_at: datetime | None
    objects: int = Field(description="How many objects it has changed.")


class BranchList(Output):
    """All branches of a world but main."""

    branches: list[BranchOut]


class ClashOut(Told):
    """A field that both sides changed, each in its own way."""

    field: str
    base: Any
    ours: Any
    theirs: Any


class ComparedOut(Output):
    """One object that the branch has changed."""

    emo_id: UUID
    change: str
    base_version: int | None
    parent_version: int | None
    branch_version: int
    content_diff: dict[str, Any]
    conflicts: list[ClashOut]


class Comparison(Output):
    """A branch beside its parent."""

    branch: BranchOut
    objects: list[ComparedOut]
    conflicts: int


class MergedOut(Told):
    """What a merge did."""

    branch: BranchOut
    objects: Sequence[UUID]
    events: int


@operation(
    "memory.branch.create", Action.WRITE_MEMORY, errors=(BranchNotFound, BranchClosed), absent=FEW_TOOLS,
    example={**EXAMPLE, "purpose": "merge duplicates", "needs_person": True},
)  # fmt: skip
async def begin(mnemon: Parts, caller: Caller, asked: NewBranch) -> BranchOut:
    """Begin a branch."""
    made = await mnemon.memory.branches.create(
        caller.tenant_id, asked.place(caller), author_of(caller),
        parent=asked.parent, at=asked.at, purpose=asked.purpose, needs_person=asked.needs_person,
    )  # fmt: skip
    return BranchOut.model_validate(made)


@operation("memory.branch.list", Action.READ_MEMORY, read_only=True, example={}, absent=FEW_TOOLS)
async def listed(mnemon: Parts, caller: Caller, asked: WorldAsked) -> BranchList:
    """List the branches of a world."""
    found = await mnemon.memory.branches.list(caller.tenant_id, asked.world_id or caller.tenant_id)
    return BranchList(branches=[BranchOut.model_validate(one) for one in found])


@operation(
    "memory.branch.get", Action.READ_MEMORY, read_only=True, errors=(BranchNotFound,), example=EXAMPLE,
    absent={**FEW_TOOLS, "command": "`memory branch` lists them all."},
)  # fmt: skip
async def get(mnemon: Parts, caller: Caller, asked: BranchAsked) -> BranchOut:
    """One branch."""
    return BranchOut.model_validate(await mnemon.memory.branches.get(caller.tenant_id, asked.place(caller)))


@operation(
    "memory.branch.compare", Action.READ_MEMORY, read_only=True, errors=(BranchNotFound,), example=EXAMPLE,
    absent=FEW_TOOLS,
)  # fmt: skip
async def compare(mnemon: Parts, caller: Caller, asked: BranchAsked) -> Comparison:
    """What a branch has changed, beside its parent."""
    branch = await get(mnemon, caller, asked)
    compared = await mnemon.memory.merging.compare(caller.tenant_id, asked.place(caller), Reader.of(caller.actor))
    objects = [_compared(one) for one in compared]
    return Comparison(branch=branch, objects=objects, conflicts=sum(bool(one.conflicts) for one in objects))


@operation(
    "memory.branch.merge", Action.WRITE_MEMORY, absent=FEW_TOOLS,
    errors=(BranchNotFound, BranchClosed, MergeConflicts, MemoryConflict, PersonNeeded),
    example={**EXAMPLE, "resolutions": {"018f4d1e-0000-7000-8000-000000000001": "theirs"}},
)  # fmt: skip
async def merge(mnemon: Parts, caller: Caller, asked: MergeAsked) -> MergedOut:
    """Take a branch's changes into its parent, all or none."""
    merged = await mnemon.memory.merging.merge(
        caller.tenant_id, asked.place(caller), author_of(caller),
        resolutions=asked.resolutions, rationale=asked.rationale,
    )  # fmt: skip
    return MergedOut.model_validate(merged)


@operation(
    "memory.branch.abandon", Action.WRITE_MEMORY, errors=(BranchNotFound, BranchClosed), absent=FEW_TOOLS,
    example={**EXAMPLE, "reason": "it led nowhere"},
)  # fmt: skip
async def abandon(mnemon: Parts, caller: Caller, asked: Abandonment) -> BranchOut:
    """Give a branch up."""
    closed = await mnemon.memory.branches.abandon(
        caller.tenant_id, asked.place(caller), author_of(caller), reason=asked.reason
    )
    return BranchOut.model_validate(closed)


def _compared(one: Compared) -> ComparedOut:
    return ComparedOut(
        emo_id=one.emo_id,
        change=one.change,
        base_version=one.base.emo_version if one.base else None,
        parent_version=one.ours.emo_version if one.ours else None,
        branch_version=one.theirs.emo_version,
        content_diff=diff_texts(one.base.content if one.base else "", one.theirs.content),
        conflicts=[ClashOut.model_validate(clash) for clash in one.outcome.clashes],
    )
