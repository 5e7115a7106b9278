"""What a user may do with periods: define them, and say which effective dates are open."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated
from uuid import UUID

from pydantic import Field

from mnemon.db.database import Connection
from mnemon.errors import Conflict, InvalidRequest, NotAllowed, NotFound
from mnemon.identity.approvals import ApprovedAct, use_approval
from mnemon.identity.roles import Action
from mnemon.inputs import Day
from mnemon.log.append.incoming import LegalEntity
from mnemon.log.append.periods import Approving, Period, PeriodStatus
from mnemon.log.events import MAIN
from mnemon.log_operations.fields import NO_TOOLS, FromRecord, Parts, Where, person_of
from mnemon.operations import Caller, Door, Input, Output, operation

BY_THE_BOOKS: Mapping[Door, str] = {**NO_TOOLS, "command": "Who keeps the books does so with a credential of theirs."}
Reason = Annotated[str, Field(min_length=1, max_length=1000, description="Why; it stays in the log.")]
OfLegalEntity = Annotated[LegalEntity, Field(description="Whose period it is.")]


class PeriodsAsked(Input):
    """Whose periods."""

    legal_entity: Where = MAIN


class NewPeriod(Input):
    """A stretch of effective dates."""

    name: str = Field(min_length=1, max_length=100, description="Such as 2026-03.")
    starts_on: Day = Field(description="Its first day.")
    ends_on: Day = Field(description="Its last day.")
    reason: Reason
    legal_entity: OfLegalEntity = MAIN


class PeriodChange(Input):
    """A period, closed or opened again."""

    name: str = Field(max_length=100, description="The period.")
    status: PeriodStatus = Field(description="soft_closed takes approved events only, hard_closed none.")
    reason: Reason
    legal_entity: OfLegalEntity = MAIN
    approval_id: UUID | None = Field(
        None,
        description="An approval of periods.open, given by another administrator; needed to open a hard-closed one.",
    )


class PeriodOut(FromRecord):
    """One period."""

    name: str
    starts_on: date
    ends_on: date
    status: PeriodStatus


class PeriodList(Output):
    periods: list[PeriodOut]
    total: int


@operation("periods.list", Action.READ_LOG, read_only=True, example={"legal_entity": "main"}, absent=BY_THE_BOOKS)
async def listed(mnemon: Parts, caller: Caller, asked: PeriodsAsked) -> PeriodList:
    """The periods of a legal entity."""
    found = await mnemon.log.periods.list(caller.tenant_id, asked.legal_entity)
    return PeriodList(periods=[PeriodOut.model_validate(one) for one in found], total=len(found))


@operation(
    "periods.define", Action.MANAGE_LOG, errors=(Conflict,), absent=BY_THE_BOOKS,
    example={"name": "2026-03", "starts_on": "2026-03-01", "ends_on": "2026-03-31", "reason": "The year begins"},
)  # fmt: skip
async def define(mnemon: Parts, caller: Caller, asked: NewPeriod) -> PeriodOut:
    """Define a period, open at first."""
    if asked.ends_on < asked.starts_on:
        raise InvalidRequest(f"The period ends on {asked.ends_on}, before it starts on {asked.starts_on}.")
    made = await mnemon.log.periods.define(
        caller.tenant_id, Period(asked.name, asked.starts_on, asked.ends_on),
        actor=caller.actor, reason=asked.reason, legal_entity=asked.legal_entity,
    )  # fmt: skip
    return PeriodOut.model_validate(made)


@operation(
    "periods.change", Action.MANAGE_LOG, errors=(NotFound, Conflict), absent=BY_THE_BOOKS,
    example={"name": "2026-03", "status": "soft_closed", "reason": "March is complete"},
)  # fmt: skip
async def change(mnemon: Parts, caller: Caller, asked: PeriodChange) -> PeriodOut:
    """Close a period, or open it again."""
    changed = await mnemon.log.periods.change(
        caller.tenant_id, asked.name, asked.status, actor=caller.actor,
        reason=asked.reason, legal_entity=asked.legal_entity, approval=_approval(caller, asked),
    )  # fmt: skip
    return PeriodOut.model_validate(changed)


def _approval(caller: Caller, asked: PeriodChange) -> Approving | None:
    """It is used up with the change, and stays as it was if that is refused."""
    named = asked.approval_id
    if named is None:
        return None

    async def used(connection: Connection) -> str:
        found = await use_approval(
            connection, named, person_of(caller), ApprovedAct.OPEN_PERIOD, asked.legal_entity, once=True
        )
        if found.period != asked.name or found.decided_by is None:
            raise NotAllowed(f"The approval {named} is for the period {found.period}.", approval_id=str(named))
        return found.decided_by

    return used
