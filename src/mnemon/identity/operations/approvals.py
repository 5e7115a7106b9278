"""What administrators may do with approvals: ask for one, see them, give or decline one."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal, Protocol
from uuid import UUID

from pydantic import ConfigDict, Field

from mnemon.db.database import Database
from mnemon.errors import Conflict, NotFound
from mnemon.identity import approvals
from mnemon.identity.approvals import Approval, ApprovedAct
from mnemon.identity.roles import Action, user_actor_id
from mnemon.log.append.incoming import LegalEntity
from mnemon.log.events import MAIN
from mnemon.log.store import EventLog
from mnemon.operations import Caller, Door, Input, Output, operation

WITH_A_CREDENTIAL: Mapping[Door, str] = {
    "mcp": "People agree with people.",
    "command": "Whoever runs the command owns the machine: two people would be one.",
}
IN_THE_LIST: Mapping[Door, str] = {**WITH_A_CREDENTIAL, "web": "The page of approvals shows each with all its fields."}
ONE = {"approval_id": "018f4d1e-0000-7000-8000-000000000001"}
ApprovalStatus = Literal["requested", "approved", "declined", "used"]


class ApprovalParts(Protocol):
    """What these operations need of Mnemon."""

    @property
    def database(self) -> Database: ...

    @property
    def log(self) -> EventLog: ...


class ApprovalWanted(Input):
    """What another administrator is to agree to."""

    act: ApprovedAct = Field(
        description="periods.open: open a hard-closed period; events.append: record in a soft-closed."
    )
    period: str = Field(min_length=1, max_length=100, description="The period that it is about.")
    legal_entity: Annotated[LegalEntity, Field(description="Whose period it is.")] = MAIN
    reason: str = Field(min_length=1, max_length=1000, description="Why; the other person reads it.")


class ApprovalAsked(Input):
    """One approval."""

    approval_id: UUID = Field(description="The approval's id.")


class ApprovalsAsked(Input):
    """Which approvals."""

    status: ApprovalStatus | None = Field(None, description="Only those in this state.")
    page: int = Field(1, ge=1, le=10_000, description="Which page.")
    limit: int = Field(100, ge=1, le=1000, description="Most items on this page.")


class ApprovalOut(Output):
    """A request, and what another person said to it."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)

    approval_id: UUID = Field(description="To be named as `approval_id` in the act, once it is approved.")
    act: ApprovedAct
    legal_entity: str
    period: str
    reason: str
    status: ApprovalStatus
    requested_by: str
    requested_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    expires_at: datetime | None = Field(description="Until when it can be used.")
    used_at: datetime | None


class ApprovalList(Output):
    """A page of approvals, newest first."""

    items: list[ApprovalOut]


@operation(
    "approvals.request", Action.MANAGE_LOG, absent=WITH_A_CREDENTIAL,
    example={"act": "periods.open", "period": "2026-03", "reason": "An invoice was booked twice"},
)  # fmt: skip
async def request(mnemon: ApprovalParts, caller: Caller, asked: ApprovalWanted) -> ApprovalOut:
    """Ask another administrator to agree to an act that one person may not do alone."""
    async with mnemon.log.transaction(caller.tenant_id) as transaction:
        made = await approvals.request_approval(
            transaction, caller.actor, _person(caller), asked.act, asked.legal_entity, asked.period, asked.reason
        )
    return _approval(made)


@operation(
    "approvals.list", Action.MANAGE_LOG, read_only=True, example={"status": "requested"}, absent=WITH_A_CREDENTIAL
)
async def listed(mnemon: ApprovalParts, caller: Caller, asked: ApprovalsAsked) -> ApprovalList:
    """Approvals, newest first."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        found = await approvals.page_of_approvals(tx, asked.limit, (asked.page - 1) * asked.limit, asked.status)
    return ApprovalList(items=[_approval(one) for one in found])


@operation("approvals.get", Action.MANAGE_LOG, read_only=True, errors=(NotFound,), example=ONE, absent=IN_THE_LIST)
async def get(mnemon: ApprovalParts, caller: Caller, asked: ApprovalAsked) -> ApprovalOut:
    """One approval."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        return _approval(await approvals.find_approval(tx, asked.approval_id))


@operation(
    "approvals.approve", Action.MANAGE_LOG, errors=(NotFound, Conflict), idempotent=True, example=ONE,
    absent=WITH_A_CREDENTIAL,
)  # fmt: skip
async def approve(mnemon: ApprovalParts, caller: Caller, asked: ApprovalAsked) -> ApprovalOut:
    """Agree to what someone else asked for; for a day they may do it.

    The person counts, not the credential: nobody approves their own request through a token of theirs.
    """
    return await _decided(mnemon, caller, asked.approval_id, approved=True)


@operation(
    "approvals.decline", Action.MANAGE_LOG, errors=(NotFound, Conflict), idempotent=True, example=ONE,
    absent=WITH_A_CREDENTIAL,
)  # fmt: skip
async def decline(mnemon: ApprovalParts, caller: Caller, asked: ApprovalAsked) -> ApprovalOut:
    """Decline a request, or take one's own back."""
    return await _decided(mnemon, caller, asked.approval_id, approved=False)


async def _decided(mnemon: ApprovalParts, caller: Caller, approval_id: UUID, *, approved: bool) -> ApprovalOut:
    async with mnemon.log.transaction(caller.tenant_id) as transaction:
        decided = await approvals.decide_approval(
            transaction, caller.actor, _person(caller), approval_id, approved=approved
        )
    return _approval(decided)


def _person(caller: Caller) -> str:
    return caller.actor.id if caller.principal is None else user_actor_id(caller.principal.user_id)


def _approval(found: Approval) -> ApprovalOut:
    return ApprovalOut.model_validate(found)
