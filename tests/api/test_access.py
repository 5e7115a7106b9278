"""The role matrix: every route there is, every role, every scope, from the one declaration."""

from uuid import UUID

import httpx
import pytest

from mnemon.api.reference import routes
from mnemon.app import Mnemon
from mnemon.identity.roles import RULES, Action, CredentialScope, Role, may

from .conftest import Person, person, token_for

# Open on purpose: the health of the server, and the ways to get a credential.
PUBLIC = {"/asyncapi.json", "/health", "/ready", "/metrics", "/v1/auth/login", "/v1/auth/link"}

SPECIFIED = {
    # action: (admin, user), as the ingestion specification's table has it, and what this system adds
    Action.UPLOAD_DOCUMENTS: (True, True),
    Action.VIEW_DOCUMENTS: (True, True),
    Action.QUERY: (True, True),
    Action.VIEW_RUNS: (True, True),
    Action.MANAGE_SOURCES: (True, False),
    Action.TRIGGER_SYNC: (True, False),
    Action.MANAGE_USERS: (True, False),
    Action.DEACTIVATE_DOCUMENTS: (True, False),
    Action.MANAGE_PRIVACY: (True, False),
    Action.MANAGE_LOG: (True, False),
}


@pytest.mark.parametrize("action", list(SPECIFIED))
def test_the_table_of_the_specification_holds(action: Action) -> None:
    assert tuple(may(role, CredentialScope.WRITE, action) for role in (Role.ADMIN, Role.USER)) == SPECIFIED[action]


def test_every_action_has_a_rule() -> None:
    assert set(RULES) == set(Action)


def test_a_read_token_never_writes() -> None:
    assert all(
        RULES[action].scope is CredentialScope.READ
        for action in Action
        for role in Role
        if may(role, CredentialScope.READ, action)
    )


def test_every_route_declares_its_action_or_is_public() -> None:
    open_routes = {route.path.replace("/api/", "/v1/") for route in routes() if route.action is None}
    assert open_routes == PUBLIC


async def test_every_route_obeys_the_matrix(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, user: Person, tenant: UUID
) -> None:
    spare = await person(mnemon, tenant, Role.ADMIN, "spare@example.org")
    credentials = {
        (who, scope, True): await token_for(mnemon, tenant, owner, scope)
        for who, owner in ((Role.ADMIN, admin), (Role.USER, user))
        for scope in CredentialScope
    }
    credentials[Role.ADMIN, CredentialScope.WRITE, False] = admin.session
    credentials[Role.USER, CredentialScope.WRITE, False] = user.session
    tried = 0
    # Logging out comes last: it ends the sessions that the others are tried with.
    for route in sorted(routes(), key=lambda one: one.path.endswith("/logout")):
        if route.action is None:
            continue
        path = route.path.replace("{user_id}", str(spare.user_id))
        path = path if "{" not in path else path[: path.index("{")] + str(UUID(int=0)) + path[path.index("}") + 1 :]
        nobody = await client.request(route.method, path, json={})
        assert nobody.status_code == 401, route
        # Under /api stand the same routers: there the credential that may do least is enough.
        least = {key: secret for key, secret in credentials.items() if key[:2] == (Role.USER, CredentialScope.READ)}
        for (role, scope, by_token), secret in (least if path.startswith("/api/") else credentials).items():
            answer = await client.request(route.method, path, json={}, headers={"Authorization": f"Bearer {secret}"})
            refused = answer.status_code == 403 and answer.json()["error_code"] == "NOT_ALLOWED"
            assert refused != may(role, scope, route.action, by_token=by_token), (route, role, scope, answer.text)
            tried += 1
    assert tried >= 40


async def test_a_cookie_from_another_page_changes_nothing(client: httpx.AsyncClient, admin: Person) -> None:
    client.cookies.set("mnemon_session", admin.session)
    assert (await client.get("/v1/me")).status_code == 200
    for origin in ({}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
        refused = await client.post("/v1/tokens", json={"name": "x"}, headers=origin)
        assert (refused.status_code, refused.json()["error_code"]) == (403, "NOT_ALLOWED")
    own = await client.post("/v1/tokens", json={"name": "x"}, headers={"Origin": "http://127.0.0.1:8787"})
    assert own.status_code == 201
