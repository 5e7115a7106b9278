"""Periods over REST: closed ones refuse, soft-closed ones ask for another administrator."""

from uuid import UUID

import httpx

from mnemon.app import Mnemon
from mnemon.identity.roles import Role
from mnemon.log.append.incoming import DECISION, DECISION_TYPE

from .conftest import Person, person

MARCH = {"name": "2026-03", "starts_on": "2026-03-01", "ends_on": "2026-03-31", "reason": "The year begins"}


async def change(client: httpx.AsyncClient, who: Person, **body: str) -> httpx.Response:
    return await client.patch("/v1/periods/2026-03", json={"reason": "because"} | body, headers=who.headers)


async def test_a_soft_closed_period_takes_only_what_another_administrator_approved(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, user: Person, tenant: UUID
) -> None:
    second = await person(mnemon, tenant, Role.ADMIN, "second@example.org")
    await client.post("/v1/event-types", json=DECISION_TYPE, headers=admin.headers)
    assert (await client.post("/v1/periods", json=MARCH, headers=admin.headers)).status_code == 201
    assert (await change(client, admin, status="soft_closed")).json()["status"] == "soft_closed"

    async def append(who: Person, **more: str) -> httpx.Response:
        return await client.post("/v1/events", json={"events": [DECISION | more]}, headers=who.headers)

    refused = await append(admin)
    assert (refused.status_code, refused.json()["error_code"]) == (409, "PERIOD_CLOSED")
    for who, approver in (
        (admin, f"user:{admin.user_id}"),
        (admin, f"user:{user.user_id}"),
        (admin, "somebody"),
        (user, f"user:{second.user_id}"),
    ):
        refused = await append(who, approved_by=approver)
        assert (refused.status_code, refused.json()["error_code"]) == (403, "NOT_ALLOWED")
    approved = await append(admin, approved_by=f"user:{second.user_id}")
    assert approved.status_code == 201
    event = (await client.get(f"/v1/events/{approved.json()['events'][0]['id']}", headers=user.headers)).json()
    assert event["event"]["metadata"]["approved_by"] == f"user:{second.user_id}"
    assert (await change(client, admin, status="hard_closed")).status_code == 200
    assert (await append(admin, approved_by=f"user:{second.user_id}")).status_code == 409
    assert (await change(client, admin, status="open")).status_code == 403
    assert (await change(client, admin, status="open", approved_by=f"user:{second.user_id}")).status_code == 200
    listed = (await client.get("/v1/periods", headers=user.headers)).json()
    assert [(one["name"], one["status"]) for one in listed["periods"]] == [("2026-03", "open")]


async def test_a_period_that_overlaps_or_runs_backwards_is_refused(client: httpx.AsyncClient, admin: Person) -> None:
    await client.post("/v1/periods", json=MARCH, headers=admin.headers)
    overlapping = await client.post(
        "/v1/periods", json=MARCH | {"name": "Q1", "starts_on": "2026-01-01"}, headers=admin.headers
    )
    assert (overlapping.status_code, overlapping.json()["error_code"]) == (409, "CONFLICT")
    backwards = await client.post("/v1/periods", json=MARCH | {"ends_on": "2026-02-01"}, headers=admin.headers)
    assert (backwards.status_code, backwards.json()["error_code"]) == (422, "INVALID_REQUEST")
    absent = await client.patch("/v1/periods/none", json={"status": "open", "reason": "x"}, headers=admin.headers)
    assert absent.status_code == 404
