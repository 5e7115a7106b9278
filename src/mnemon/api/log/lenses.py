"""Lenses over REST: how each stands, made anew, compared with the log."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.identity.roles import Action, Principal

router = APIRouter(tags=["lenses"])
LensName = Annotated[str, Path(max_length=94, description="As the list has it.")]


class LensOut(BaseModel):
    name: str
    lifecycle: Literal["inline", "async"] = Field(description="Written with the events, or soon after.")
    status: Literal["empty", "current", "behind", "outdated", "rebuilding"]
    version: int = Field(description="Of the code.")
    rows_version: int | None = Field(description="Of the code that made the rows; null before the first.")
    tables: list[str]
    behind: int = Field(description="Events that it has not looked at.")
    rebuilt_at: datetime | None
    state_hash: str | None = Field(description="Of the rows after the last rebuild, hexadecimal.")
    done: int = Field(description="Events that a rebuild has replayed.")
    total: int = Field(description="Events that it replays.")


class LensList(BaseModel):
    lenses: list[LensOut]
    total: int


class RebuiltLens(BaseModel):
    lens: str
    events: int = Field(description="Events that were replayed.")
    seconds: float
    state_hash: str = Field(description="Of the new rows, hexadecimal.")


class VerifiedLens(BaseModel):
    lens: str
    matches: bool = Field(description="Whether the rows are those that the log gives; if not, rebuild.")
    events: int = Field(description="Events that were replayed.")
    seconds: float
    stored_hash: str = Field(description="Of the rows that serve, hexadecimal.")
    replayed_hash: str = Field(description="Of those that the log gives, hexadecimal.")


@router.get("/lenses", summary="The lenses, and how each stands")
async def list_lenses(mnemon: MnemonPart, principal: Annotated[Principal, allow(Action.READ_LOG)]) -> LensList:
    found = [LensOut(**one.as_json()) for one in await mnemon.projector.list(principal.tenant_id)]
    return LensList(lenses=found, total=len(found))


@router.post("/lenses/{name}/rebuild", summary="Make a lens's rows anew from the log, while the old ones serve")
async def rebuild_lens(
    mnemon: MnemonPart,
    principal: Annotated[Principal, allow(Action.MANAGE_LOG)],
    name: LensName,
    from_snapshot: Annotated[bool, Query(description="From its last snapshot, if it keeps any.")] = True,
) -> RebuiltLens:
    done = await mnemon.projector.rebuild(principal.tenant_id, name, from_snapshot=from_snapshot)
    return RebuiltLens(**done.as_json())


@router.post("/lenses/{name}/verify", summary="Replay the log beside a lens's rows and compare; nothing changes")
async def verify_lens(
    mnemon: MnemonPart, principal: Annotated[Principal, allow(Action.MANAGE_LOG)], name: LensName
) -> VerifiedLens:
    return VerifiedLens(**(await mnemon.projector.verify(principal.tenant_id, name)).as_json())
