"""Users and tokens over REST: what administrators can do, what is recorded, what other tenants see."""

import base64
from datetime import UTC, datetime
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.identity.roles import CredentialScope, Role

from .conftest import Person, person, token_for


async def test_an_administrator_adds_lists_changes_and_links_a_user(client: httpx.AsyncClient, admin: Person) -> None:
    made = await client.post("/v1/users", json={"email": "Žofia@example.org", "name": "Žofia"}, headers=admin.headers)
    assert made.status_code == 201
    user_id = made.json()["user_id"]
    assert made.json()["role"] == "user"
    assert made.json()["has_password"] is False
    changed = await client.patch(f"/v1/users/{user_id}", json={"role": "admin", "name": "Zo"}, headers=admin.headers)
    assert (changed.json()["role"], changed.json()["name"]) == ("admin", "Zo")
    assert (await client.get(f"/v1/users/{user_id}", headers=admin.headers)).json() == changed.json()
    link = await client.post(f"/v1/users/{user_id}/login-link", headers=admin.headers)
    assert link.json()["url"].startswith("http://127.0.0.1:8787/login#")
    listed = await client.get("/v1/users", headers=admin.headers)
    assert {one["email"] for one in listed.json()["items"]} == {"admin@example.org", "Žofia@example.org"}


async def test_pages_of_users_join_without_gap_or_repeat(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, tenant: UUID
) -> None:
    for number in range(7):
        await client.post("/v1/users", json={"email": f"u{number}@x.org"}, headers=admin.headers)
    seen, cursor = [], None
    while True:
        page = (
            await client.get(
                "/v1/users", params={"limit": 3, "cursor": cursor} if cursor else {"limit": 3}, headers=admin.headers
            )
        ).json()
        seen += [one["email"] for one in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == ["admin@example.org", *(f"u{number}@x.org" for number in range(7))]
    bad = await client.get("/v1/users", params={"cursor": "!!"}, headers=admin.headers)
    assert (bad.status_code, bad.json()["error_code"]) == (422, "INVALID_REQUEST")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"email": "admin@example.org"}, 409, "CONFLICT"),
        ({"email": "ADMIN@example.org"}, 409, "CONFLICT"),
        ({"email": "nobody"}, 422, "INVALID_REQUEST"),
        ({"email": "a@b", "role": "owner"}, 422, "INVALID_REQUEST"),
        ({"email": "a@b", "password": "short"}, 422, "INVALID_REQUEST"),
        ({}, 422, "INVALID_REQUEST"),
    ],
)
async def test_a_bad_user_is_refused_and_nothing_is_added(
    client: httpx.AsyncClient, admin: Person, body: dict[str, str], status: int, code: str
) -> None:
    answer = await client.post("/v1/users", json=body, headers=admin.headers)
    assert (answer.status_code, answer.json()["error_code"]) == (status, code)
    assert set(answer.json()) == {"error", "error_code", "details"}
    assert len((await client.get("/v1/users", headers=admin.headers)).json()["items"]) == 1


async def test_the_last_administrator_stays(client: httpx.AsyncClient, admin: Person, user: Person) -> None:
    for change in ({"role": "user"}, {"disabled": True}):
        refused = await client.patch(f"/v1/users/{admin.user_id}", json=change, headers=admin.headers)
        assert (refused.status_code, refused.json()["error_code"]) == (409, "CONFLICT")
    await client.patch(f"/v1/users/{user.user_id}", json={"role": "admin"}, headers=admin.headers)
    stepped_down = await client.patch(f"/v1/users/{admin.user_id}", json={"role": "user"}, headers=admin.headers)
    assert stepped_down.status_code == 200


async def test_every_change_is_recorded_with_its_actor(client: httpx.AsyncClient, admin: Person, user: Person) -> None:
    path = f"/v1/users/{user.user_id}"
    await client.patch(path, json={"role": "admin"}, headers=admin.headers)
    await client.patch(path, json={"disabled": True}, headers=admin.headers)
    await client.patch(path, json={"disabled": False}, headers=admin.headers)
    await client.patch(path, json={"password": "a new password"}, headers=admin.headers)
    token = (await client.post("/v1/tokens", json={"name": "t"}, headers=admin.headers)).json()
    await client.delete(f"/v1/tokens/{token['token_id']}", headers=admin.headers)
    changes = (await client.get("/v1/identity-changes", headers=admin.headers)).json()["items"]
    by_admin = [change["kind"] for change in reversed(changes) if change["actor"] == f"user:{admin.user_id}"]
    assert by_admin == [
        "user.role_changed", "user.disabled", "user.enabled", "user.password_changed", "token.added", "token.revoked",
    ]  # fmt: skip
    assert "a new password" not in str(changes)


async def test_another_tenants_people_and_tokens_do_not_exist_here(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, other_tenant: UUID
) -> None:
    stranger = await person(mnemon, other_tenant, Role.ADMIN, "stranger@example.org")
    secret = await token_for(mnemon, other_tenant, stranger, CredentialScope.WRITE)
    their_tokens = (await client.get("/v1/tokens", headers={"Authorization": f"Bearer {secret}"})).json()
    for method, path in (
        ("GET", f"/v1/users/{stranger.user_id}"),
        ("PATCH", f"/v1/users/{stranger.user_id}"),
        ("POST", f"/v1/users/{stranger.user_id}/login-link"),
        ("DELETE", f"/v1/tokens/{their_tokens[0]['token_id']}"),
    ):
        answer = await client.request(
            method, path, json={"name": "mine"} if method == "PATCH" else None, headers=admin.headers
        )
        assert (answer.status_code, answer.json()["error_code"]) == (404, "NOT_FOUND")
    everyones = await client.get("/v1/tokens?everyone=true", headers=admin.headers)
    assert everyones.json() == []
    assert (await client.get("/v1/me", headers={"Authorization": f"Bearer {secret}"})).status_code == 200


async def test_a_token_is_shown_once_stored_hashed_and_dies_when_revoked(
    client: httpx.AsyncClient, mnemon: Mnemon, user: Person, tenant: UUID
) -> None:
    made = (
        await client.post("/v1/tokens", json={"name": "agent", "scope": "read", "days": 1}, headers=user.headers)
    ).json()
    secret = made.pop("secret")
    assert secret.startswith("mnm_")
    headers = {"Authorization": f"Bearer {secret}"}
    assert (await client.get("/v1/me", headers=headers)).json()["scope"] == "read"
    listed = (await client.get("/v1/tokens", headers=user.headers)).json()
    assert listed[0]["last_used_at"] is not None
    assert "secret" not in listed[0]
    async with mnemon.database.owner() as owner:
        rows = await (
            await owner.execute("SELECT t::text AS row FROM mnemon.access_tokens AS t WHERE tenant_id = %s", (tenant,))
        ).fetchall()
    assert secret not in rows[0]["row"]
    assert (await client.delete(f"/v1/tokens/{made['token_id']}", headers=user.headers)).json()["revoked_at"]
    assert (await client.get("/v1/me", headers=headers)).status_code == 401


async def test_an_expired_token_opens_nothing(
    client: httpx.AsyncClient, mnemon: Mnemon, user: Person, tenant: UUID
) -> None:
    secret = await token_for(mnemon, tenant, user, CredentialScope.READ)
    async with mnemon.database.owner() as owner:
        await owner.execute(
            "UPDATE mnemon.access_tokens SET expires_at = %s WHERE tenant_id = %s", (datetime.now(UTC), tenant)
        )
    assert (await client.get("/v1/me", headers={"Authorization": f"Bearer {secret}"})).status_code == 401


async def test_a_user_sees_and_revokes_only_their_own_tokens(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, user: Person, tenant: UUID
) -> None:
    await token_for(mnemon, tenant, admin, CredentialScope.WRITE)
    admins = (await client.get("/v1/tokens", headers=admin.headers)).json()
    assert (await client.get("/v1/tokens", headers=user.headers)).json() == []
    assert (await client.get("/v1/tokens?everyone=true", headers=user.headers)).status_code == 403
    assert len((await client.get("/v1/tokens?everyone=true", headers=admin.headers)).json()) == 1
    refused = await client.delete(f"/v1/tokens/{admins[0]['token_id']}", headers=user.headers)
    assert refused.status_code == 404


@pytest.mark.parametrize("position", ["5", "[1]", '{"a": 1}', "true", "null"])
async def test_a_cursor_that_no_page_gave_is_refused(client: httpx.AsyncClient, admin: Person, position: str) -> None:
    cursor = base64.urlsafe_b64encode(position.encode()).decode().rstrip("=")
    answer = await client.get("/v1/users", params={"cursor": cursor}, headers=admin.headers)
    assert answer.status_code == 422
