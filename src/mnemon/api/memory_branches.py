"""Branches of memory over REST, and the upkeep of its history: compaction and replay."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from mnemon.api.access import MnemonPart
from mnemon.api.memory_models import Asked
from mnemon.api.memory_requests import (
    BranchChangeAsked,
    BranchReadingAsked,
    Keeper,
    MemoryRoute,
    ReadingAsked,
    Where,
    Writer,
    author_of,
)

router = APIRouter(tags=["memory"], route_class=MemoryRoute)


class NewBranch(Asked):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"branch": "tidy-up", "purpose": "merge duplicates", "needs_person": True}]},
    )
    branch: str = Field(max_length=100)
    parent: str = Field("main", max_length=100)
    at: str | None = Field(None, max_length=40, description="A log sequence or a moment. Unset: now.")
    purpose: str = Field("", max_length=500, description="For people to read; leave out personal data.")
    needs_person: bool = Field(False, description="Agents may work on it, but only a person may merge it.")


class BranchOut(BaseModel):
    branch: str
    parent: str
    fork_sequence: str
    status: str
    purpose: str
    needs_person: bool
    created_by: str
    created_at: str
    closed_by: str | None
    closed_at: str | None
    objects: int = Field(description="How many objects it has changed.")


class BranchList(BaseModel):
    branches: list[BranchOut]


class Comparison(BaseModel):
    branch: BranchOut
    objects: list[dict[str, Any]]
    conflicts: int


class MergeAsked(Asked):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"resolutions": {"018f4d1e-0000-7000-8000-000000000001": "theirs"}}]},
    )
    resolutions: dict[UUID, str | dict[str, Any]] = Field(
        default_factory=dict, description="By object: `ours` (the parent's), `theirs`, or a value for each field."
    )
    rationale: str | None = Field(None, max_length=10_000)


class MergedOut(BaseModel):
    branch: BranchOut
    objects: list[UUID]
    events: int


class Abandonment(Asked):
    reason: str = Field("", max_length=500)


class CompactedOut(BaseModel):
    emo_id: UUID
    emo_version: int
    compacted_versions: list[int]
    determinism_hash: str


class ReplayOut(BaseModel):
    model_config = ConfigDict(extra="allow")
    same: bool
    differences: list[dict[str, str]]


@router.post("/memory/branches", summary="Begin a branch", status_code=201, response_model=BranchOut)
async def post_branch(new: NewBranch, mnemon: MnemonPart, principal: Writer, where: Where) -> dict[str, Any]:
    made = await mnemon.memory.branches.create(
        principal.tenant_id,
        where.branch(principal, new.branch),
        author_of(principal),
        parent=new.parent,
        at=new.at,
        purpose=new.purpose,
        needs_person=new.needs_person,
    )
    return made.as_json()


@router.get("/memory/branches", summary="List the branches of a world", response_model=BranchList)
async def list_branches(asked: ReadingAsked) -> dict[str, Any]:
    tenant, place = asked.here
    return {"branches": [one.as_json() for one in await asked.memory.branches.list(tenant, place.world_id)]}


@router.get("/memory/branches/{branch_name}", summary="One branch", response_model=BranchOut)
async def get_branch(asked: BranchReadingAsked) -> dict[str, Any]:
    return (await asked.memory.branches.get(*asked.here)).as_json()


@router.get("/memory/branches/{branch_name}/compare", summary="What differs from the parent", response_model=Comparison)
async def compare_branch(asked: BranchReadingAsked) -> dict[str, Any]:
    branch = await asked.memory.branches.get(*asked.here)
    compared = await asked.memory.merging.compare(*asked.here)
    return {
        "branch": branch.as_json(),
        "objects": [one.as_json() for one in compared],
        "conflicts": sum(bool(one.outcome.clashes) for one in compared),
    }


@router.post("/memory/branches/{branch_name}/merge", summary="Merge into the parent", response_model=MergedOut)
async def merge_branch(asked: BranchChangeAsked, how: MergeAsked | None = None) -> dict[str, Any]:
    merged = await asked.memory.merging.merge(*asked.target, **dict(how or MergeAsked()))
    return {"branch": merged.branch.as_json(), "objects": list(merged.objects), "events": merged.events}


@router.post("/memory/branches/{branch_name}/abandon", summary="Give a branch up", response_model=BranchOut)
async def abandon_branch(asked: BranchChangeAsked, why: Abandonment | None = None) -> dict[str, Any]:
    return (await asked.memory.branches.abandon(*asked.target, **dict(why or Abandonment()))).as_json()


@router.post("/memory/objects/{emo_id}/compact", summary="Compact earlier versions", response_model=CompactedOut)
async def compact_object(emo_id: UUID, mnemon: MnemonPart, principal: Keeper, where: Where) -> dict[str, Any]:
    compaction = mnemon.memory.compaction
    done = await compaction.compact(principal.tenant_id, where.place(principal), emo_id, author_of(principal))
    return done.as_json()


@router.post("/memory/replay", summary="Rebuild the lens from the log, and compare", response_model=ReplayOut)
async def replay(mnemon: MnemonPart, principal: Keeper) -> dict[str, Any]:
    return (await mnemon.memory.replay.verify(principal.tenant_id)).as_json()
