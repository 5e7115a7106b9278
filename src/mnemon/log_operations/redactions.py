"""What administrators may do with redactions: one asks that values be taken out of an event, another approves."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from mnemon.errors import Conflict, NotFound
from mnemon.identity.roles import Action
from mnemon.inputs import from_cursor, page_of
from mnemon.log.errors import ArchiveRefused, EventNotFound
from mnemon.log.privacy.redaction import RedactionRequest
from mnemon.log.privacy.redaction_requests import RequestedRedaction
from mnemon.log_operations.erasures import PrivacyPageAsked, Reason, Reference
from mnemon.log_operations.fields import EVENT_ID, NO_TOOLS, EventId, Parts, person_of
from mnemon.operations import Caller, Door, Input, Output, operation

ONE = {"redaction_id": "01KJQ6Y0Q5M8ZQ3T3M6S8V4X2C"}
AT_ONCE: Mapping[Door, str] = {
    **NO_TOOLS,
    "command": "`mnemon privacy redact` has both administrators, the second by a credential of theirs, at once.",
}  # fmt: skip

IN_THE_LIST: Mapping[Door, str] = {**AT_ONCE, "web": "The page of approvals shows each with all its fields."}


class RedactionWanted(Input):
    """Which values to take out, and why."""

    event_id: EventId
    fields: list[Annotated[str, Field(max_length=500)]] = Field(
        min_length=1, max_length=100, description="JSON pointers into the payload, like /data/email or /actor/name."
    )
    reason: Reason
    reference: Reference = None
    subject_id: str | None = Field(None, min_length=1, max_length=200, description="The person it is about.")


class RedactionAsked(Input):
    """One redaction."""

    redaction_id: str = Field(max_length=100, description="The redaction's id.")


class RedactionPage(Output):
    """A page of redactions; the last one has no cursor."""

    items: list[RequestedRedaction]
    next_cursor: str | None


@operation(
    "redactions.request", Action.MANAGE_PRIVACY, errors=(EventNotFound, ArchiveRefused), absent=NO_TOOLS,
    example={"event_id": EVENT_ID, "fields": ["/data/email"], "reason": "legacy_data"},
)  # fmt: skip
async def request(mnemon: Parts, caller: Caller, asked: RedactionWanted) -> RequestedRedaction:
    """Ask that values be taken out of an event."""
    wanted = RedactionRequest(
        asked.event_id, asked.fields, asked.reason, person_of(caller), asked.subject_id, asked.reference
    )
    return await mnemon.privacy.redaction_requests.request(caller.tenant_id, wanted)


@operation("redactions.list", Action.MANAGE_PRIVACY, read_only=True, example={"limit": 100}, absent=AT_ONCE)
async def listed(mnemon: Parts, caller: Caller, asked: PrivacyPageAsked) -> RedactionPage:
    """Redactions that were asked for, newest first."""
    found = await mnemon.privacy.redaction_requests.page(caller.tenant_id, asked.limit + 1, from_cursor(asked.cursor))
    return RedactionPage(**page_of(found, asked.limit, lambda one: one.redaction_id))


@operation("redactions.get", Action.MANAGE_PRIVACY, read_only=True, errors=(NotFound,), example=ONE, absent=IN_THE_LIST)
async def get(mnemon: Parts, caller: Caller, asked: RedactionAsked) -> RequestedRedaction:
    """One redaction."""
    return await mnemon.privacy.redaction_requests.get(caller.tenant_id, asked.redaction_id)


@operation(
    "redactions.approve", Action.MANAGE_PRIVACY, destructive=True, errors=(NotFound, Conflict), example=ONE,
    absent=AT_ONCE,
)  # fmt: skip
async def approve(mnemon: Parts, caller: Caller, asked: RedactionAsked) -> RequestedRedaction:
    """Approve a redaction that someone else asked for.

    The person counts, not the credential: nobody approves their own request through a token of theirs.
    """
    by = person_of(caller)
    return await mnemon.privacy.redaction_requests.approve(caller.tenant_id, asked.redaction_id, approved_by=by)


@operation("redactions.decline", Action.MANAGE_PRIVACY, errors=(NotFound, Conflict), example=ONE, absent=AT_ONCE)
async def decline(mnemon: Parts, caller: Caller, asked: RedactionAsked) -> RequestedRedaction:
    """Decline a redaction, or take one's own back."""
    by = person_of(caller)
    return await mnemon.privacy.redaction_requests.decline(caller.tenant_id, asked.redaction_id, declined_by=by)
