"""Every route by every role and owner, from the declarations: what one may not see looks like what is not there."""

import re
from collections.abc import Iterator
from uuid import UUID

import httpx
import pytest

from mnemon.api.reference import Route, routes
from mnemon.app import Mnemon
from mnemon.identity.roles import CredentialScope, Role, may
from mnemon.ids import new_uuid
from tests.api.conftest import Person, person, token_for
from tests.documents.conftest import Ingested, rows
from tests.documents.sample_chunks import put

IN_PATH = re.compile(r"{(\w+)(?::\w+)?}")
TEXT = "Decision: We will buy the zeppelin factory in Friedrichshafen.\n\nBen will sign the contract by 9 March 2026."
# What a route would do to the thing itself comes after those that only look.
ENDING = ("purge", "delete", "cancel", "deactivate")


@pytest.fixture
async def owned(ingested: Ingested, mnemon: Mnemon, tenant: UUID, user: Person) -> dict[str, str]:
    """What belongs to one user alone, by the names that paths have for it."""
    run = await ingested(TEXT, "plan.txt", visibility_scope="me")
    [job] = await rows(mnemon, tenant, "SELECT job_id FROM mnemon.jobs WHERE kind = 'documents.ingest'")
    return {
        "doc_id": run["doc_id"],
        "run_id": run["run_id"],
        "doc_version_id": run["doc_version_id"],
        "job_id": str(job["job_id"]),
        "artifact_uid": "uid_" + UUID(run["doc_id"]).hex[:16],
    }


def routes_of(names: dict[str, str]) -> Iterator[Route]:
    """Those whose path names one of these things, the gentle ones first."""
    found = [one for one in routes() if one.in_schema and {*IN_PATH.findall(one.path)} & names.keys()]
    yield from sorted(found, key=lambda one: (one.method != "GET", any(word in one.path for word in ENDING), one.path))


def path_of(route: Route, names: dict[str, str]) -> str:
    return IN_PATH.sub(lambda found: names.get(found[1], {"start": "0", "end": "8"}.get(found[1], "x")), route.path)


def unknown() -> dict[str, str]:
    uids = {"artifact_uid": "uid_" + new_uuid().hex[:16]}
    return {name: str(new_uuid()) for name in ("doc_id", "run_id", "doc_version_id", "job_id")} | uids


async def test_who_may_not_see_a_private_file_gets_the_answer_of_its_absence(
    client: httpx.AsyncClient, mnemon: Mnemon, owned: dict[str, str], admin: Person, tenant: UUID, other_tenant: UUID
) -> None:
    another = await person(mnemon, tenant, Role.USER, "another@example.org")
    stranger = await person(mnemon, other_tenant, Role.ADMIN, "stranger@example.org")
    readers = {
        "an administrator": admin.session,
        "another user": another.session,
        "an administrator of another tenant": stranger.session,
        "an administrator's token": await token_for(mnemon, tenant, admin, CredentialScope.WRITE),
    }
    tried = 0
    for route in routes_of(owned):
        for who, secret in readers.items():
            headers = {"Authorization": f"Bearer {secret}"}
            seen = await client.request(route.method, path_of(route, owned), json={}, headers=headers)
            absent = await client.request(route.method, path_of(route, unknown()), json={}, headers=headers)
            told = seen.json() if seen.headers.get("content-type", "").startswith("application/json") else {}
            assert seen.status_code == absent.status_code >= 400, (who, route.method, route.path, seen.text[:300])
            assert told["error_code"] == absent.json()["error_code"], (who, route.method, route.path)
            assert "zeppelin" not in seen.text.lower(), (who, route.method, route.path)
            tried += 1
    assert tried >= 60


async def test_its_owner_sees_it_on_every_route_that_only_looks(
    client: httpx.AsyncClient, owned: dict[str, str], user: Person
) -> None:
    """Else the test above would pass for a server that shows nobody anything."""
    looked = 0
    for route in routes_of(owned):
        allowed = route.action is not None and may(Role.USER, CredentialScope.WRITE, route.action)
        if route.method == "GET" and allowed:
            answer = await client.get(path_of(route, owned), headers=user.headers)
            # No worker has read its events here, so there may be none yet to show.
            first = "came first" in answer.text
            missing = answer.status_code == 404 and answer.json()["error_code"] == "ARTIFACT_NOT_FOUND" and not first
            looked += answer.status_code == 200
            assert not missing, (route.path, answer.text)
    assert looked >= 8


SECRET = "The zeppelin is painted at night."


@pytest.fixture
async def of_tenant(client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, admin: Person) -> dict[str, str]:
    """What a tenant's administrator has made, by the names that paths have for it."""

    async def made(path: str, **body: object) -> dict[str, str]:
        answer = await client.post(f"/v1/{path}", json=body, headers=admin.headers)
        assert answer.is_success, (path, answer.text)
        return dict(answer.json())

    await put(mnemon.database, tenant, [SECRET])
    kept = await made("memory/objects", content=SECRET)
    await made("subscriptions", id="zeppelins")
    await made("event-types", type="zeppelin.hull.painted", data_schema={"type": "object"}, description=SECRET)
    newest = (await client.get("/v1/events?direction=backward&limit=1", headers=admin.headers)).json()["events"][0]
    asked = await made("ask", question="When is the zeppelin painted?")
    return {
        "emo_id": kept["emo_id"],
        "subscription_id": "zeppelins",
        "type_name": "zeppelin.hull.painted",
        "event_id": newest["id"],
        "query_id": asked["query_id"],
        "user_id": str(admin.user_id),
    }


async def test_what_a_tenant_has_is_absent_for_every_other(
    client: httpx.AsyncClient, mnemon: Mnemon, of_tenant: dict[str, str], admin: Person, other_tenant: UUID
) -> None:
    stranger = await person(mnemon, other_tenant, Role.ADMIN, "stranger@example.org")
    nothing = {name: str(new_uuid()) for name in of_tenant} | {"type_name": "zeppelin.hull.sold"}
    tried = 0
    for route in routes_of(of_tenant):
        seen = await client.request(route.method, path_of(route, of_tenant), json={}, headers=stranger.headers)
        absent = await client.request(route.method, path_of(route, nothing), json={}, headers=stranger.headers)
        assert seen.status_code == absent.status_code, (route.method, route.path, seen.text[:300])
        assert "painted at night" not in seen.text
        tried += 1
    assert tried >= 30
    kept = await client.get(f"/v1/memory/objects/{of_tenant['emo_id']}", headers=admin.headers)
    assert SECRET in kept.text, "and whatever the stranger asked for changed nothing"
