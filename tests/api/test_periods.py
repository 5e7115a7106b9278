"""Periods over REST: closed ones refuse, soft-closed ones ask for another administrator."""

from uuid import UUID

import httpx

from mnemon.app import Mnemon
from mnemon.identity.roles import CredentialScope, Role
from mnemon.ids import new_uuid
from mnemon.log.append.incoming import DECISION, DECISION_TYPE

from .conftest import Person, person, token_for

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
    claimed = await append(admin, approved_by=f"user:{second.user_id}")
    assert claimed.status_code == 422, "naming a second person is not being one"
    approval = await approved(client, "events.append", admin, second)
    for who, named in ((second, approval), (admin, str(new_uuid()))):
        refused = await append(who, approval_id=named)
        assert (refused.status_code, refused.json()["error_code"]) == (403, "NOT_ALLOWED")
    elsewhere = await append(admin, approval_id=approval, effective_date="2026-04-01")
    assert elsewhere.status_code == 403, "it is for dates in March"
    taken = await append(admin, approval_id=approval)
    assert taken.status_code == 201, taken.text
    event = (await client.get(f"/v1/events/{taken.json()['events'][0]['id']}", headers=user.headers)).json()
    assert event["event"]["metadata"]["approved_by"] == f"user:{second.user_id}"
    assert (await change(client, admin, status="hard_closed")).status_code == 200
    assert (await append(admin, approval_id=approval)).status_code == 409


async def approved(client: httpx.AsyncClient, act: str, asking: Person, giving: Person) -> str:
    wanted = {"act": act, "period": "2026-03", "reason": "An invoice was late"}
    asked = (await client.post("/v1/approvals", json=wanted, headers=asking.headers)).json()
    path = f"/v1/approvals/{asked['approval_id']}"
    assert asked["status"] == "requested"
    given = (await client.post(f"{path}/approve", headers=giving.headers)).json()
    assert (given["status"], given["decided_by"]) == ("approved", f"user:{giving.user_id}")
    return str(asked["approval_id"])


async def test_one_administrator_alone_opens_no_hard_closed_period(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, user: Person, tenant: UUID
) -> None:
    second = await person(mnemon, tenant, Role.ADMIN, "second@example.org")
    await client.post("/v1/periods", json=MARCH, headers=admin.headers)
    await change(client, admin, status="hard_closed")
    assert (await change(client, admin, status="open")).status_code == 403
    named = await change(client, admin, status="open", approved_by=f"user:{second.user_id}")
    assert named.status_code == 422
    wanted = {"act": "periods.open", "period": "2026-03", "reason": "A mistake"}
    asked = (await client.post("/v1/approvals", json=wanted, headers=admin.headers)).json()
    path = f"/v1/approvals/{asked['approval_id']}"
    token = await token_for(mnemon, tenant, admin, CredentialScope.WRITE)
    for alone in (admin.headers, {"Authorization": f"Bearer {token}"}):
        assert (await client.post(f"{path}/approve", headers=alone)).status_code == 403
    assert (await client.post(f"{path}/approve", headers=user.headers)).status_code == 403
    early = await change(client, admin, status="open", approval_id=asked["approval_id"])
    assert early.status_code == 403, "nobody has given it yet"
    assert (await client.post(f"{path}/approve", headers=second.headers)).json()["status"] == "approved"
    others = await change(client, second, status="open", approval_id=asked["approval_id"])
    assert others.status_code == 403, "it is for the one who asked"
    opened = await change(client, admin, status="open", approval_id=asked["approval_id"])
    assert opened.json()["status"] == "open"
    assert (await client.get(path, headers=admin.headers)).json()["status"] == "used"
    await change(client, admin, status="hard_closed")
    assert (await change(client, admin, status="open", approval_id=asked["approval_id"])).status_code == 403
    changes = (await client.get("/v1/identity-changes", headers=admin.headers)).json()["items"]
    assert {"approval.requested", "approval.given"} <= {one["kind"] for one in changes}


async def test_a_declined_approval_allows_nothing_and_strangers_see_none(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, tenant: UUID, other_tenant: UUID
) -> None:
    second = await person(mnemon, tenant, Role.ADMIN, "second@example.org")
    stranger = await person(mnemon, other_tenant, Role.ADMIN)
    wanted = {"act": "periods.open", "period": "2026-03", "reason": "A mistake"}
    asked = (await client.post("/v1/approvals", json=wanted, headers=admin.headers)).json()
    path = f"/v1/approvals/{asked['approval_id']}"
    assert (await client.get(path, headers=stranger.headers)).status_code == 404
    assert (await client.post(f"{path}/approve", headers=stranger.headers)).status_code == 404
    assert (await client.post(f"{path}/decline", headers=second.headers)).json()["status"] == "declined"
    assert (await client.post(f"{path}/approve", headers=second.headers)).status_code == 409
    listed = (await client.get("/v1/approvals", headers=admin.headers)).json()["items"]
    assert [one["status"] for one in listed] == ["declined"]
    assert (await client.get("/v1/approvals", headers=stranger.headers)).json()["items"] == []


async def test_a_period_is_listed_as_it_is(client: httpx.AsyncClient, admin: Person, user: Person) -> None:
    await client.post("/v1/periods", json=MARCH, headers=admin.headers)
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
