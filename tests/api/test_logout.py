"""Logging out ends the session itself, not only the browser's copy of it."""

from datetime import timedelta
from uuid import UUID

import httpx

from mnemon.app import Mnemon
from mnemon.identity.roles import CredentialScope, Principal, Role
from mnemon.identity.sessions import Sessions

from .conftest import KEY, Person, token_for


async def test_a_copy_of_an_ended_session_opens_nothing(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, tenant: UUID
) -> None:
    other = mnemon.sessions.issue(Principal(tenant, admin.user_id, Role.ADMIN)).token
    assert (await client.get("/v1/me", headers=admin.headers)).status_code == 200
    assert (await client.post("/v1/auth/logout", headers=admin.headers)).status_code == 204
    refused = await client.get("/v1/me", headers=admin.headers)
    assert (refused.status_code, "has ended" in refused.json()["error"]) == (401, True)
    # Another process has not seen the logout itself.
    elsewhere = Sessions(mnemon.database, KEY, timedelta(hours=1))
    assert (await elsewhere.principal_of(other)).user_id == admin.user_id
    assert (await client.get("/v1/me", headers={"Authorization": f"Bearer {other}"})).status_code == 200
    changes = await client.get("/v1/identity-changes", headers={"Authorization": f"Bearer {other}"})
    assert changes.json()["items"][0]["kind"] == "session.ended"


async def test_the_pages_log_out_the_same_way(client: httpx.AsyncClient, admin: Person) -> None:
    client.cookies.set("mnemon_session", admin.session)
    left = await client.post("/logout", headers={"Origin": "http://127.0.0.1:8787"})
    assert (left.status_code, left.headers["location"]) == (303, "/login")
    assert (await client.get("/v1/me", headers=admin.headers)).status_code == 401


async def test_an_access_token_is_revoked_and_not_logged_out(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, tenant: UUID
) -> None:
    token = await token_for(mnemon, tenant, admin, CredentialScope.WRITE)
    answer = await client.post("/v1/auth/logout", headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, answer.json()["error_code"]) == (403, "NOT_ALLOWED")
