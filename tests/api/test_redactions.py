"""Redactions over REST: two administrators take a value out of an event; nobody does it alone."""

import json
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.identity.roles import CredentialScope, Role
from mnemon.log.events import Actor
from mnemon.log.proof.verify import verify
from mnemon.log.types.event_type import EventType

from .conftest import Person, person, token_for

REASON = {"reason": "legacy_data", "reference": "DSR-1"}


@pytest.fixture
async def second(mnemon: Mnemon, tenant: UUID) -> Person:
    return await person(mnemon, tenant, Role.ADMIN, "second@example.org")


@pytest.fixture
async def leaked(mnemon: Mnemon, client: httpx.AsyncClient, admin: Person, tenant: UUID) -> str:
    """An event with an address in plain text, since its type did not declare it."""
    declared = EventType(type="crm.note.made", data_schema={"type": "object"})
    await mnemon.log.register_type(tenant, declared, Actor("system", "test"))
    event = {"type": "crm.note.made", "data": {"text": "call", "email": "eve@example.net"}}
    made = await client.post("/v1/events", json={"events": [event]}, headers=admin.headers)
    return str(made.json()["events"][0]["id"])


async def ask(client: httpx.AsyncClient, who: Person, event_id: str, *fields: str) -> httpx.Response:
    body = {"event_id": event_id, "fields": fields, **REASON}
    return await client.post("/v1/privacy/redactions", json=body, headers=who.headers)


async def test_one_administrator_asks_another_approves_and_the_value_is_gone(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, second: Person, leaked: str, tenant: UUID
) -> None:
    asked = await ask(client, admin, leaked, "/data/email")
    assert (asked.status_code, asked.json()["status"]) == (201, "requested")
    where = f"/v1/privacy/redactions/{asked.json()['redaction_id']}"
    own = await client.post(f"{where}/approve", headers=admin.headers)
    assert (own.status_code, own.json()["error_code"]) == (403, "NOT_ALLOWED")
    token = await token_for(mnemon, tenant, admin, CredentialScope.WRITE)
    by_token = await client.post(f"{where}/approve", headers={"Authorization": f"Bearer {token}"})
    assert by_token.status_code == 403
    assert (await client.get(f"/v1/events/{leaked}", headers=admin.headers)).json()["event"]["data"]["email"] != (
        "[REDACTED]"
    )
    done = await client.post(f"{where}/approve", headers=second.headers)
    assert (done.status_code, done.json()["status"], done.json()["decided_by"]) == (
        200, "completed", f"user:{second.user_id}",
    )  # fmt: skip
    event = (await client.get(f"/v1/events/{leaked}", headers=admin.headers)).json()["event"]
    assert event["data"] == {"text": "call", "email": "[REDACTED]"}
    attesting = await client.get(f"/v1/events/{done.json()['attested_by']}", headers=admin.headers)
    assert attesting.json()["event"]["type"] == "privacy.payload.redacted"
    assert (await client.post(f"{where}/approve", headers=second.headers)).json() == done.json()
    assert (await client.get(where, headers=admin.headers)).json() == done.json()
    listed = (await client.get("/v1/privacy/redactions", headers=admin.headers)).json()
    assert listed["items"] == [done.json()]
    assert (await verify(mnemon.log.reader, tenant)).intact


async def test_every_step_is_an_event(client: httpx.AsyncClient, admin: Person, second: Person, leaked: str) -> None:
    for decision in ("decline", "approve"):
        asked = (await ask(client, admin, leaked, "/data/email")).json()
        await client.post(f"/v1/privacy/redactions/{asked['redaction_id']}/{decision}", headers=second.headers)
    stream = await client.get(
        f"/v1/events?stream_type=entity&entity_type=event&stream_id={leaked}", headers=admin.headers
    )
    assert [one["type"] for one in stream.json()["events"]] == [
        "privacy.redaction.requested",
        "privacy.redaction.declined",
        "privacy.redaction.requested",
        "privacy.payload.redacted",
    ]
    assert "eve@example.net" not in json.dumps(stream.json())


async def test_a_decision_is_final(client: httpx.AsyncClient, admin: Person, second: Person, leaked: str) -> None:
    for first, then in (("decline", "approve"), ("approve", "decline")):
        asked = (await ask(client, admin, leaked, "/data/email")).json()
        where = f"/v1/privacy/redactions/{asked['redaction_id']}"
        assert (await client.post(f"{where}/{first}", headers=second.headers)).status_code == 200
        late = await client.post(f"{where}/{then}", headers=second.headers)
        assert (late.status_code, late.json()["error_code"]) == (409, "CONFLICT")


async def test_what_cannot_be_redacted_is_refused_when_it_is_asked_for(
    client: httpx.AsyncClient, admin: Person, second: Person, leaked: str
) -> None:
    assert (await ask(client, admin, leaked, "/data/absent")).status_code == 422
    assert (await ask(client, admin, leaked, "data.email")).status_code == 422
    assert (await ask(client, admin, leaked)).status_code == 422
    assert (await ask(client, admin, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "/data/email")).status_code == 404
    done = (await ask(client, admin, leaked, "/data/email")).json()
    approved = await client.post(f"/v1/privacy/redactions/{done['redaction_id']}/approve", headers=second.headers)
    record = approved.json()["attested_by"]
    refused = await ask(client, admin, record, "/data/old_digest")
    assert (refused.status_code, refused.json()["error_code"]) == (422, "INVALID_REQUEST")
    assert "attests a redaction" in refused.json()["error"]


async def test_users_and_other_tenants_have_no_part_in_it(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, user: Person, leaked: str, other_tenant: UUID
) -> None:
    assert (await ask(client, user, leaked, "/data/email")).status_code == 403
    assert (await client.get("/v1/privacy/redactions", headers=user.headers)).status_code == 403
    asked = (await ask(client, admin, leaked, "/data/email")).json()
    stranger = await person(mnemon, other_tenant, Role.ADMIN, "stranger@example.org")
    assert (await ask(client, stranger, leaked, "/data/email")).status_code == 404
    where = f"/v1/privacy/redactions/{asked['redaction_id']}"
    assert (await client.get(where, headers=stranger.headers)).status_code == 404
    assert (await client.post(f"{where}/approve", headers=stranger.headers)).status_code == 404
    assert (await client.get("/v1/privacy/redactions", headers=stranger.headers)).json()["items"] == []
