"""Privacy over REST: two administrators forget a person; others cannot."""

from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.identity.roles import CredentialScope, Role
from mnemon.log.events import Actor
from mnemon.log.moments import now
from mnemon.log.types.event_type import EventType, PersonalField

from .conftest import Person, person, token_for

LEAD = {
    "type": "crm.lead.made",
    "data_schema": {"type": "object", "required": ["id"]},
    "pii_fields": [{"field_path": "email", "pii_class": "contact", "subject_path": "id"}],
}


@pytest.fixture
async def second(mnemon: Mnemon, tenant: UUID) -> Person:
    return await person(mnemon, tenant, Role.ADMIN, "second@example.org")


@pytest.fixture
async def lead(mnemon: Mnemon, client: httpx.AsyncClient, admin: Person, tenant: UUID) -> str:
    declared = EventType(
        type="crm.lead.made",
        data_schema=LEAD["data_schema"],  # type: ignore[arg-type]
        personal_fields=(PersonalField("email", "contact", subject_path="id"),),
    )
    await mnemon.log.register_type(tenant, declared, Actor("system", "test"))
    made = await client.post(
        "/v1/events",
        json={"events": [{"type": "crm.lead.made", "data": {"id": "p/1 ä", "email": "eve@example.net"}}]},
        headers=admin.headers,
    )
    assert made.status_code == 201, made.text
    return "p/1 ä"


async def test_one_administrator_asks_another_approves_and_the_person_is_gone(
    client: httpx.AsyncClient, admin: Person, second: Person, lead: str
) -> None:
    known = await client.get("/v1/privacy/data", params={"subject_id": lead}, headers=admin.headers)
    assert [(one["field"], one["value"]) for one in known.json()] == [("/data/email", "eve@example.net")]
    asked = await client.post(
        "/v1/privacy/erasures",
        json={"subject_id": lead, "reason": "subject_request", "reference": "DSR-1"},
        headers=admin.headers,
    )
    assert (asked.status_code, asked.json()["status"]) == (201, "requested")
    where = f"/v1/privacy/erasures/{asked.json()['erasure_id']}"
    own = await client.post(f"{where}/approve", headers=admin.headers)
    assert (own.status_code, own.json()["error_code"]) == (403, "NOT_ALLOWED")
    done = await client.post(f"{where}/approve", headers=second.headers)
    assert (done.status_code, done.json()["status"], done.json()["events_affected"]) == (200, "completed", 1)
    assert (await client.get(where, headers=admin.headers)).json() == done.json()
    listed = await client.get("/v1/privacy/erasures", headers=admin.headers)
    assert listed.json()["items"] == [done.json()]
    people = {
        one["subject_id"]: one
        for one in (await client.get("/v1/privacy/people", headers=admin.headers)).json()["items"]
    }
    assert people[lead]["erased_at"] is not None
    assert (await client.get("/v1/privacy/data", params={"subject_id": lead}, headers=admin.headers)).json() == []
    again = await client.post(
        "/v1/events",
        json={"events": [{"type": "crm.lead.made", "data": {"id": lead, "email": "eve@example.net"}}]},
        headers=admin.headers,
    )
    assert (again.status_code, again.json()["error_code"]) == (409, "SUBJECT_ERASED")
    early = await client.post(
        "/v1/privacy/readmissions", json={"subject_id": lead, "reason": "new_contract"}, headers=admin.headers
    )
    assert early.status_code == 404


async def test_nobody_approves_their_own_request_through_a_token(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, admin: Person, lead: str
) -> None:
    asked = await client.post(
        "/v1/privacy/erasures", json={"subject_id": lead, "reason": "subject_request"}, headers=admin.headers
    )
    token = await token_for(mnemon, tenant, admin, CredentialScope.WRITE)
    answer = await client.post(
        f"/v1/privacy/erasures/{asked.json()['erasure_id']}/approve", headers={"Authorization": f"Bearer {token}"}
    )
    assert (answer.status_code, answer.json()["error_code"]) == (403, "NOT_ALLOWED")


async def test_a_request_can_be_taken_back(client: httpx.AsyncClient, admin: Person, lead: str) -> None:
    asked = await client.post(
        "/v1/privacy/erasures", json={"subject_id": lead, "reason": "subject_request"}, headers=admin.headers
    )
    where = f"/v1/privacy/erasures/{asked.json()['erasure_id']}"
    assert (await client.post(f"{where}/decline", headers=admin.headers)).json()["status"] == "declined"


async def test_users_and_other_tenants_have_no_part_in_it(
    client: httpx.AsyncClient, mnemon: Mnemon, user: Person, other_tenant: UUID, lead: str
) -> None:
    for path in ("/v1/privacy/people", "/v1/privacy/erasures", f"/v1/privacy/data?subject_id={lead}", "/v1/archives"):
        assert (await client.get(path, headers=user.headers)).status_code == 403
    stranger = await person(mnemon, other_tenant, Role.ADMIN, "stranger@example.org")
    assert (await client.get("/v1/privacy/people", headers=stranger.headers)).json()["items"] == []
    asked = await client.post(
        "/v1/privacy/erasures", json={"subject_id": lead, "reason": "subject_request"}, headers=stranger.headers
    )
    assert asked.status_code == 404


async def test_archived_objects_are_listed(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, admin: Person, lead: str
) -> None:
    assert (await client.get("/v1/archives", headers=admin.headers)).json() == []
    [moved] = await mnemon.privacy.archive.archive(tenant, now(), actor=Actor("system", "test"))
    [listed] = (await client.get("/v1/archives", headers=admin.headers)).json()
    assert (listed["first_sequence"], listed["object_key"]) == ("1", moved.object_key)
    read = await client.get("/v1/privacy/data", params={"subject_id": lead}, headers=admin.headers)
    assert read.json()[0]["value"] == "eve@example.net"


async def test_an_administrator_sees_whose_terms_end(
    client: httpx.AsyncClient, admin: Person, user: Person, lead: str
) -> None:
    """The lead's type has no term, so that nothing of it ever ends."""
    answer = await client.get("/v1/privacy/retention", params={"days": 36_500}, headers=admin.headers)
    assert (answer.status_code, answer.json()) == (200, {"notice_days": 30, "items": []})
    assert (await client.get("/v1/privacy/retention", headers=user.headers)).status_code == 403
