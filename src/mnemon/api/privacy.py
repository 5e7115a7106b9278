"""Privacy over REST: who is in the log, what it says of them, and erasures by two administrators."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.api.paging import Cursor, Limit, Page, from_cursor, to_cursor
from mnemon.documents.access import Reader, open_as
from mnemon.documents.events import document_of
from mnemon.identity.roles import Action, Principal, user_actor_id
from mnemon.log.privacy.affected import Person
from mnemon.log.privacy.erasure import Erasure

router = APIRouter(tags=["privacy"])
Admin = Annotated[Principal, allow(Action.MANAGE_PRIVACY)]
SubjectId = Annotated[str, Query(min_length=1, max_length=200, description="The person's id in the log.")]


class PersonOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    subject_id: str
    generation: int = Field(description="Which key of theirs is the last: 1, unless they were erased and readmitted.")
    known_since: datetime
    erased_at: datetime | None
    events: int = Field(description="Events that hold, or held, something about them.")


class PersonalDataOut(BaseModel):
    legal_entity: str
    sequence: str
    field: str = Field(description="Where in the event's payload, as a JSON pointer.")
    value: Any


class NewErasure(BaseModel):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"subject_id": "customer-17", "reason": "subject_request", "reference": "DSR-17"}]
        }
    )
    subject_id: str = Field(min_length=1, max_length=200)
    reason: str = Field(description="A code word; it stays in the log for good.")
    reference: str | None = Field(None, description="The number of a ticket or letter.")


class ErasureOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    erasure_id: str
    subject_id: str
    reason: str
    reference: str | None
    status: str = Field(description="requested, declined, key_destroyed or completed")
    requested_by: str
    requested_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    key_destroyed_at: datetime | None
    events_affected: int | None
    lenses_rebuilt: list[str]
    completed_at: datetime | None
    last_error: str | None


class Readmission(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"subject_id": "customer-17", "reason": "new_contract"}]})
    subject_id: str = Field(min_length=1, max_length=200)
    reason: str


class ReadmittedOut(BaseModel):
    subject_id: str
    generation: int


@router.get("/privacy/people", summary="List people whose personal data the log holds or held")
async def list_people(
    mnemon: MnemonPart, principal: Admin, limit: Limit = 100, cursor: Cursor = None
) -> Page[PersonOut]:
    people = await mnemon.privacy.people(principal.tenant_id, limit + 1, from_cursor(cursor) or "")
    following = to_cursor(people[limit - 1].subject_id) if len(people) > limit else None
    return Page[PersonOut](items=[_person(one) for one in people[:limit]], next_cursor=following)


@router.get("/privacy/data", summary="All that the log holds about a person")
async def list_personal_data(mnemon: MnemonPart, principal: Admin, subject_id: SubjectId) -> list[PersonalDataOut]:
    if (doc_id := document_of(subject_id)) is not None:
        # A document has a key of its own here, and readers that a role does not add to.
        async with mnemon.database.transaction(principal.tenant_id) as tx:
            await open_as(tx, Reader.of(principal.actor), doc_id)
    return [
        PersonalDataOut(legal_entity=one.legal_entity, sequence=str(one.sequence), field=one.field, value=one.value)
        async for one in mnemon.privacy.data_of(principal.tenant_id, subject_id)
    ]


@router.post("/privacy/erasures", summary="Ask that a person be forgotten", status_code=201)
async def post_erasure(new: NewErasure, mnemon: MnemonPart, principal: Admin) -> ErasureOut:
    asked = await mnemon.privacy.erasures.request(
        principal.tenant_id,
        new.subject_id,
        reason=new.reason,
        reference=new.reference,
        requested_by=user_actor_id(principal.user_id),
    )
    return _erasure(asked)


@router.get("/privacy/erasures", summary="The deletion log, newest first")
async def list_erasures(
    mnemon: MnemonPart, principal: Admin, limit: Limit = 100, cursor: Cursor = None
) -> Page[ErasureOut]:
    found = await mnemon.privacy.erasures.page(principal.tenant_id, limit + 1, from_cursor(cursor))
    following = to_cursor(found[limit - 1].erasure_id) if len(found) > limit else None
    return Page[ErasureOut](items=[_erasure(one) for one in found[:limit]], next_cursor=following)


@router.get("/privacy/erasures/{erasure_id}", summary="One erasure")
async def get_erasure(erasure_id: str, mnemon: MnemonPart, principal: Admin) -> ErasureOut:
    return _erasure(await mnemon.privacy.erasures.get(principal.tenant_id, erasure_id))


@router.post("/privacy/erasures/{erasure_id}/approve", summary="Approve an erasure that someone else asked for")
async def approve_erasure(erasure_id: str, mnemon: MnemonPart, principal: Admin) -> ErasureOut:
    """The person counts, not the credential: nobody approves their own request through a token of theirs."""
    approver = user_actor_id(principal.user_id)
    return _erasure(await mnemon.privacy.erasures.approve(principal.tenant_id, erasure_id, approved_by=approver))


@router.post("/privacy/erasures/{erasure_id}/decline", summary="Decline an erasure, or take one's own back")
async def decline_erasure(erasure_id: str, mnemon: MnemonPart, principal: Admin) -> ErasureOut:
    by = user_actor_id(principal.user_id)
    return _erasure(await mnemon.privacy.erasures.decline(principal.tenant_id, erasure_id, declined_by=by))


@router.post("/privacy/readmissions", summary="Let an erased person be recorded again", status_code=201)
async def post_readmission(new: Readmission, mnemon: MnemonPart, principal: Admin) -> ReadmittedOut:
    by = user_actor_id(principal.user_id)
    generation = await mnemon.privacy.erasures.readmit(principal.tenant_id, new.subject_id, reason=new.reason, by=by)
    return ReadmittedOut(subject_id=new.subject_id, generation=generation)


def _person(one: Person) -> PersonOut:
    return PersonOut.model_validate(one)


def _erasure(one: Erasure) -> ErasureOut:
    return ErasureOut.model_validate(one)
