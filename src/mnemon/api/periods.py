"""Periods over REST: which effective dates are open."""

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.errors import InvalidRequest
from mnemon.identity.recording import check_approver
from mnemon.identity.roles import Action, Principal
from mnemon.log.append.incoming import LegalEntity
from mnemon.log.append.periods import Period, PeriodStatus
from mnemon.log.events import MAIN

router = APIRouter(tags=["periods"])
Keeper = Annotated[Principal, allow(Action.MANAGE_LOG)]
Reason = Annotated[str, Field(min_length=1, max_length=1000)]


class PeriodOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    name: str
    starts_on: date
    ends_on: date
    status: PeriodStatus


class Periods(BaseModel):
    periods: list[PeriodOut]
    total: int


class NewPeriod(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"name": "2026-03", "starts_on": "2026-03-01", "ends_on": "2026-03-31", "reason": "The year begins"}
            ]
        },
    )
    name: str = Field(min_length=1, max_length=100)
    starts_on: date
    ends_on: date
    reason: Reason
    legal_entity: LegalEntity = MAIN


class PeriodChange(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"status": "soft_closed", "reason": "March is complete"}]},
    )
    status: PeriodStatus
    reason: Reason
    legal_entity: LegalEntity = MAIN
    approved_by: str | None = Field(
        None, max_length=200, description="Another administrator; needed to open a hard-closed period."
    )


@router.get("/periods", summary="The periods of a legal entity")
async def get_periods(
    mnemon: MnemonPart,
    principal: Annotated[Principal, allow(Action.READ_LOG)],
    legal_entity: Annotated[str, Query(max_length=100)] = MAIN,
) -> Periods:
    found = await mnemon.log.periods.list(principal.tenant_id, legal_entity)
    return Periods(periods=[PeriodOut.model_validate(one) for one in found], total=len(found))


@router.post("/periods", summary="Define a period, open at first", status_code=201, response_model=PeriodOut)
async def post_period(new: NewPeriod, mnemon: MnemonPart, principal: Keeper) -> Period:
    if new.ends_on < new.starts_on:
        raise InvalidRequest(f"The period ends on {new.ends_on}, before it starts on {new.starts_on}.")
    return await mnemon.log.periods.define(
        principal.tenant_id,
        Period(new.name, new.starts_on, new.ends_on),
        actor=principal.actor,
        reason=new.reason,
        legal_entity=new.legal_entity,
    )


@router.patch("/periods/{name}", summary="Close a period, or open it again", response_model=PeriodOut)
async def patch_period(
    name: Annotated[str, Path(max_length=100)], change: PeriodChange, mnemon: MnemonPart, principal: Keeper
) -> Period:
    if change.approved_by is not None:
        await check_approver(mnemon.log, principal, change.approved_by)
    return await mnemon.log.periods.change(
        principal.tenant_id,
        name,
        change.status,
        actor=principal.actor,
        reason=change.reason,
        legal_entity=change.legal_entity,
        approved_by=change.approved_by,
    )
