"""What an administrator may do with people in the log: see who is there and what it says of them, and forget them."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, RootModel

from mnemon.documents.access import Reader, open_as
from mnemon.documents.events import document_of
from mnemon.errors import Conflict, NotFound
from mnemon.identity.roles import Action
from mnemon.inputs import Cursor, from_cursor, page_of
from mnemon.log.errors import TransactionConflict
from mnemon.log.privacy.affected import Person
from mnemon.log.privacy.erasure import Erasure
from mnemon.log_operations.fields import NO_TOOLS, Parts, person_of
from mnemon.log_operations.shown import shown_data
from mnemon.operations import Caller, Door, Input, Output, operation

SubjectId = Annotated[str, Field(min_length=1, max_length=200, description="The person's id in the log.")]
Reason = Annotated[str, Field(max_length=60, description="A code word like subject_request; it stays in the log.")]
Reference = Annotated[str | None, Field(max_length=100, description="The number of a ticket or letter.")]
ONE = {"erasure_id": "01KJQ6Y0Q5M8ZQ3T3M6S8V4X2B"}
IN_THE_LIST: Mapping[Door, str] = {**NO_TOOLS, "command": "`mnemon privacy erasures` shows each with all its fields."}


class PrivacyPageAsked(Input):
    """A page of a list."""

    limit: int = Field(100, ge=1, le=1000, description="Most items on this page.")
    cursor: Cursor = None


class SubjectAsked(Input):
    """One person."""

    subject_id: SubjectId


class ErasureWanted(Input):
    """Whom to forget, and why."""

    subject_id: SubjectId
    reason: Reason
    reference: Reference = None


class ErasureAsked(Input):
    """One erasure."""

    erasure_id: str = Field(max_length=100, description="The erasure's id.")


class ReadmissionWanted(Input):
    """Who may be recorded again, and why."""

    subject_id: SubjectId
    reason: Reason


class PersonPage(Output):
    """A page of people; the last one has no cursor."""

    items: list[Person]
    next_cursor: str | None


class PersonalDataOut(Output):
    """One value that the log holds about a person."""

    legal_entity: str
    sequence: str
    field: str = Field(description="Where in the event's payload, as a JSON pointer.")
    value: Any


class PersonalDataList(RootModel[list[PersonalDataOut]]):
    """All of it."""


class ErasurePage(Output):
    """A page of the deletion log; the last one has no cursor."""

    items: list[Erasure]
    next_cursor: str | None


class ReadmittedOut(Output):
    subject_id: str
    generation: int = Field(description="Which key of theirs is used from now on.")


@operation("privacy.people", Action.MANAGE_PRIVACY, read_only=True, example={"limit": 100}, absent=NO_TOOLS)
async def people(mnemon: Parts, caller: Caller, asked: PrivacyPageAsked) -> PersonPage:
    """List people whose personal data the log holds or held."""
    found = await mnemon.privacy.people(caller.tenant_id, asked.limit + 1, from_cursor(asked.cursor) or "")
    return PersonPage(**page_of(found, asked.limit, lambda one: one.subject_id))


@operation(
    "privacy.data", Action.MANAGE_PRIVACY, read_only=True, errors=(NotFound,), example={"subject_id": "customer-17"},
    absent=NO_TOOLS,
)  # fmt: skip
async def data(mnemon: Parts, caller: Caller, asked: SubjectAsked) -> PersonalDataList:
    """All that the log holds about a person; they may ask for it."""
    if caller.principal is not None and (doc_id := document_of(asked.subject_id)) is not None:
        # A document has a key of its own here, and readers that a role does not add to.
        async with mnemon.database.transaction(caller.tenant_id) as tx:
            await open_as(tx, Reader.of(caller.actor), doc_id)
    found = [
        PersonalDataOut(legal_entity=one.legal_entity, sequence=str(one.sequence), field=one.field, value=one.value)
        async for one in shown_data(mnemon, caller, asked.subject_id)
    ]
    return PersonalDataList(found)


@operation(
    "erasures.request", Action.MANAGE_PRIVACY, errors=(NotFound, Conflict), absent=NO_TOOLS,
    example={"subject_id": "customer-17", "reason": "subject_request", "reference": "DSR-17"},
)  # fmt: skip
async def request(mnemon: Parts, caller: Caller, asked: ErasureWanted) -> Erasure:
    """Ask that a person be forgotten."""
    return await mnemon.privacy.erasures.request(
        caller.tenant_id, asked.subject_id,
        reason=asked.reason, reference=asked.reference, requested_by=person_of(caller),
    )  # fmt: skip


@operation("erasures.list", Action.MANAGE_PRIVACY, read_only=True, example={"limit": 100}, absent=NO_TOOLS)
async def listed(mnemon: Parts, caller: Caller, asked: PrivacyPageAsked) -> ErasurePage:
    """The deletion log, newest first."""
    found = await mnemon.privacy.erasures.page(caller.tenant_id, asked.limit + 1, from_cursor(asked.cursor))
    return ErasurePage(**page_of(found, asked.limit, lambda one: one.erasure_id))


@operation("erasures.get", Action.MANAGE_PRIVACY, read_only=True, errors=(NotFound,), example=ONE, absent=IN_THE_LIST)
async def get(mnemon: Parts, caller: Caller, asked: ErasureAsked) -> Erasure:
    """One erasure."""
    return await mnemon.privacy.erasures.get(caller.tenant_id, asked.erasure_id)


@operation(
    "erasures.approve", Action.MANAGE_PRIVACY, destructive=True, absent=NO_TOOLS,
    errors=(NotFound, Conflict, TransactionConflict), example=ONE,
)  # fmt: skip
async def approve(mnemon: Parts, caller: Caller, asked: ErasureAsked) -> Erasure:
    """Approve an erasure that someone else asked for, or finish one that was interrupted.

    The person counts, not the credential: nobody approves their own request through a token of theirs.
    """
    by = person_of(caller)
    return await mnemon.privacy.erasures.approve(caller.tenant_id, asked.erasure_id, approved_by=by)


@operation("erasures.decline", Action.MANAGE_PRIVACY, errors=(NotFound, Conflict), example=ONE, absent=NO_TOOLS)
async def decline(mnemon: Parts, caller: Caller, asked: ErasureAsked) -> Erasure:
    """Decline an erasure that was asked for, or take one's own request back."""
    by = person_of(caller)
    return await mnemon.privacy.erasures.decline(caller.tenant_id, asked.erasure_id, declined_by=by)


@operation(
    "privacy.readmit", Action.MANAGE_PRIVACY, errors=(NotFound, Conflict), absent=NO_TOOLS,
    example={"subject_id": "customer-17", "reason": "new_contract"},
)  # fmt: skip
async def readmit(mnemon: Parts, caller: Caller, asked: ReadmissionWanted) -> ReadmittedOut:
    """Let an erased person be recorded again, under a new key. What was erased stays erased."""
    generation = await mnemon.privacy.erasures.readmit(
        caller.tenant_id, asked.subject_id, reason=asked.reason, by=person_of(caller)
    )
    return ReadmittedOut(subject_id=asked.subject_id, generation=generation)
