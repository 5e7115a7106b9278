"""The file of all that is held about a person: their own for everyone, another's for administrators."""

from uuid import UUID

import httpx

from mnemon.app import Mnemon
from mnemon.identity.roles import CredentialScope, Role
from mnemon.log.events import Actor, NewEvent
from mnemon.log.types.event_type import EventType, PersonalField

from .conftest import Person, person, token_for

FILE = "/v1/privacy/file"


async def _lead(mnemon: Mnemon, tenant: UUID, subject: str, email: str) -> None:
    declared = EventType(
        type="crm.lead.made",
        data_schema={"type": "object", "required": ["id"]},
        personal_fields=(PersonalField("email", "contact", subject_path="id"),),
    )
    await mnemon.log.register_type(tenant, declared, Actor("system", "test"))
    made = NewEvent(type="crm.lead.made", data={"id": subject, "email": email}, actor=Actor("system", "crm"))
    await mnemon.log.append(tenant, [made])


async def test_everyone_may_have_their_own(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, user: Person
) -> None:
    await _lead(mnemon, tenant, f"user:{user.user_id}", "private@example.net")
    token = await token_for(mnemon, tenant, user, CredentialScope.WRITE)
    by_agent = {"Authorization": f"Bearer {token}"}
    sent = {"events": [{"type": "crm.lead.made", "data": {"id": "customer-1"}}]}
    assert (await client.post("/v1/events", json=sent, headers=by_agent)).status_code == 201
    answer = await client.get(FILE, headers=user.headers)
    assert answer.status_code == 200, answer.text
    held = answer.json()
    assert held["subject_id"] == f"user:{user.user_id}"
    assert held["account"]["user_id"] == str(user.user_id)
    assert len(held["tokens"]) == 1 and "secret" not in held["tokens"][0]
    assert ("/data/email", "private@example.net") in [(one["field"], one["value"]) for one in held["values"]]
    assert [one["type"] for one in held["acts"] if one["actor_id"].startswith("token:")] == ["crm.lead.made"]


async def test_anothers_is_for_administrators(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, user: Person, admin: Person, other_tenant: UUID
) -> None:
    await _lead(mnemon, tenant, "customer-17", "eve@example.net")
    params = {"subject_id": "customer-17"}
    assert (await client.get(FILE, params=params, headers=user.headers)).status_code == 403
    held = (await client.get(FILE, params=params, headers=admin.headers)).json()
    assert [one["value"] for one in held["values"]] == ["eve@example.net"]
    assert held["values"][0]["type"] == "crm.lead.made" and held["account"] is None
    stranger = await person(mnemon, other_tenant, Role.ADMIN, "stranger@example.org")
    assert (await client.get(FILE, params=params, headers=stranger.headers)).status_code == 404


async def test_nobody_and_documents_have_no_file(client: httpx.AsyncClient, admin: Person) -> None:
    unknown = await client.get(FILE, params={"subject_id": "nobody-at-all"}, headers=admin.headers)
    assert (unknown.status_code, unknown.json()["error_code"]) == (404, "NOT_FOUND")


async def test_an_erased_person_has_an_empty_file(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, admin: Person
) -> None:
    await _lead(mnemon, tenant, "customer-18", "gone@example.net")
    asked = await mnemon.privacy.erasures.request(
        tenant, "customer-18", reason="subject_request", reference=None, requested_by="user:a"
    )
    await mnemon.privacy.erasures.approve(tenant, asked.erasure_id, approved_by="user:b")
    answer = await client.get(FILE, params={"subject_id": "customer-18"}, headers=admin.headers)
    assert answer.status_code == 200 and answer.json()["values"] == []
    assert "gone@example.net" not in answer.text
