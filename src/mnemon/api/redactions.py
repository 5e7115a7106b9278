"""Redactions over REST: one administrator asks that values be taken out of an event, another approves."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.api.paging import Cursor, Limit, Page, from_cursor, to_cursor
from mnemon.identity.roles import Action, Principal, user_actor_id
from mnemon.log.privacy.redaction import RedactionRequest
from mnemon.log.privacy.redaction_requests import RequestedRedaction

router = APIRouter(tags=["privacy"])
Admin = Annotated[Principal, allow(Action.MANAGE_PRIVACY)]
RedactionId = Annotated[str, Path(max_length=100)]


class NewRedaction(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"event_id": "01KJQ6Y0Q5M8ZQ3T3M6S8V4X2B", "fields": ["/data/email"], "reason": "legacy_data"}]
        },
    )
    event_id: str = Field(max_length=100)
    fields: list[Annotated[str, Field(max_length=500)]] = Field(
        min_length=1, max_length=100, description="JSON pointers into the payload, like /data/email or /actor/name."
    )
    reason: str = Field(max_length=60, description="A code word; it stays in the log for good.")
    reference: str | None = Field(None, max_length=100, description="The number of a ticket or letter.")
    subject_id: str | None = Field(None, min_length=1, max_length=200, description="The person it is about.")


class RedactionOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    redaction_id: str
    event_id: str
    fields: list[str]
    subject_id: str | None
    reason: str
    reference: str | None
    status: str = Field(description="requested, declined, redacted (lenses are being rebuilt) or completed")
    requested_by: str
    requested_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    attested_by: str | None = Field(description="The event that says what was taken out; none if nothing was left.")
    lenses_rebuilt: list[str]
    last_error: str | None = Field(description="Why the lenses are not rebuilt yet; another approval goes on.")


@router.post("/privacy/redactions", summary="Ask that values be taken out of an event", status_code=201)
async def post_redaction(new: NewRedaction, mnemon: MnemonPart, principal: Admin) -> RedactionOut:
    asked = RedactionRequest(
        new.event_id, new.fields, new.reason, user_actor_id(principal.user_id), new.subject_id, new.reference
    )
    return _shown(await mnemon.privacy.redaction_requests.request(principal.tenant_id, asked))


@router.get("/privacy/redactions", summary="Redactions that were asked for, newest first")
async def list_redactions(
    mnemon: MnemonPart, principal: Admin, limit: Limit = 100, cursor: Cursor = None
) -> Page[RedactionOut]:
    found = await mnemon.privacy.redaction_requests.page(principal.tenant_id, limit + 1, from_cursor(cursor))
    following = to_cursor(found[limit - 1].redaction_id) if len(found) > limit else None
    return Page[RedactionOut](items=[_shown(one) for one in found[:limit]], next_cursor=following)


@router.get("/privacy/redactions/{redaction_id}", summary="One redaction")
async def get_redaction(redaction_id: RedactionId, mnemon: MnemonPart, principal: Admin) -> RedactionOut:
    return _shown(await mnemon.privacy.redaction_requests.get(principal.tenant_id, redaction_id))


@router.post("/privacy/redactions/{redaction_id}/approve", summary="Approve a redaction that someone else asked for")
async def approve_redaction(redaction_id: RedactionId, mnemon: MnemonPart, principal: Admin) -> RedactionOut:
    """The person counts, not the credential: nobody approves their own request through a token of theirs."""
    by = user_actor_id(principal.user_id)
    return _shown(await mnemon.privacy.redaction_requests.approve(principal.tenant_id, redaction_id, approved_by=by))


@router.post("/privacy/redactions/{redaction_id}/decline", summary="Decline a redaction, or take one's own back")
async def decline_redaction(redaction_id: RedactionId, mnemon: MnemonPart, principal: Admin) -> RedactionOut:
    by = user_actor_id(principal.user_id)
    return _shown(await mnemon.privacy.redaction_requests.decline(principal.tenant_id, redaction_id, declined_by=by))


def _shown(one: RequestedRedaction) -> RedactionOut:
    return RedactionOut.model_validate(one)
