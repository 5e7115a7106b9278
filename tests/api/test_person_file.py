"""The file of all that is held about a person: their own for everyone, another's for administrators."""

from uuid import UUID

import httpx

from mnemon.app import Mnemon
from mnemon.identity.roles import CredentialScope, Role
from mnemon.log.events import Actor, NewEvent
from mnemon.log.types.event_type import EventType, PersonalField

from .conftest import Person, person, token_for

FILE = "/v1/privacy/file"
MESSAGE = """
INSERT INTO mnemon.mail_messages (tenant_id, message_key, doc_id, sender_email, created_at, readers)
VALUES (%s, %s, gen_random_uuid(), lower(%s), now(), %s)
"""


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


async def test_what_they_brought_and_remembered_is_in_it(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, user: Person, admin: Person
) -> None:
    """By hand and through a token; of what is private an administrator learns that it is there, not what it is."""
    token = await token_for(mnemon, tenant, user, CredentialScope.WRITE)
    by_agent = {"Authorization": f"Bearer {token}"}
    note = {"source_system": "notes", "artifact_type": "note", "title": "Quokka plan", "content": "We buy a quokka."}
    sent = await client.post("/v1/artifacts", json=note | {"visibility_scope": "me"}, headers=by_agent)
    assert sent.status_code == 202, sent.text
    kept = {"content": "I like numbats.", "readers": ["me"]}
    made = await client.post("/v1/memory/objects", json=kept, headers=user.headers)
    assert made.status_code == 201, made.text
    await client.delete(f"/v1/memory/objects/{made.json()['emo_id']}", headers=user.headers)
    own = (await client.get(FILE, headers=user.headers)).json()
    assert [one["title"] for one in own["documents"]] == ["Quokka plan"]
    assert [(one["content"], one["deleted"]) for one in own["memory"]] == [("I like numbats.", True)]
    seen = (await client.get(FILE, params={"subject_id": f"user:{user.user_id}"}, headers=admin.headers)).json()
    assert [(one["doc_id"], one["title"]) for one in seen["documents"]] == [(own["documents"][0]["doc_id"], None)]
    assert seen["memory"] == [] and "numbats" not in str(seen) and "quokka" not in str(seen).lower()


async def test_mail_from_their_address_is_in_it(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, user: Person, admin: Person
) -> None:
    """Of a list for few only where whoever asks is one of them."""
    for key, sender, readers in (
        ("0" * 16, user.email, None), ("1" * 16, "old@example.net", None), ("2" * 16, user.email, ["user:x"]),
    ):  # fmt: skip
        async with mnemon.database.owner() as owner:
            await owner.execute(MESSAGE, (tenant, key, sender, readers))
    own = (await client.get(FILE, headers=user.headers)).json()
    assert [one["message"] for one in own["messages"]] == ["0" * 16]
    asked = {"subject_id": f"user:{user.user_id}", "names": "old@example.net"}
    seen = (await client.get(FILE, params=asked, headers=admin.headers)).json()
    assert [one["message"] for one in seen["messages"]] == ["0" * 16, "1" * 16]


async def test_who_is_in_mail_alone_has_a_file_by_their_full_name(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, admin: Person
) -> None:
    async with mnemon.database.owner() as owner:
        await owner.execute(MESSAGE, (tenant, "3" * 16, "tane@example.net", None))
        await owner.execute(
            "UPDATE mnemon.mail_messages SET sender_name = 'Tane Rewi' WHERE tenant_id = %s AND message_key = %s",
            (tenant, "3" * 16),
        )
    asked = {"subject_id": "tane", "names": "Tane Rewi"}
    seen = (await client.get(FILE, params=asked, headers=admin.headers)).json()
    assert [one["message"] for one in seen["messages"]] == ["3" * 16]
    nobody = await client.get(FILE, params=asked | {"names": "Tane Other"}, headers=admin.headers)
    assert nobody.status_code == 404
    assert "nor about who is written as 'Tane Other'" in nobody.json()["error"]
