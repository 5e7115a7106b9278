"""The memory API answers with the documented fields and status codes."""

from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.identity.roles import CredentialScope, Role
from mnemon.inputs import to_cursor
from tests.api.conftest import Person, person, token_for

OBJECTS = "/v1/memory/objects"


async def created(client: httpx.AsyncClient, who: Person, **fields: Any) -> dict[str, Any]:
    answer = await client.post(OBJECTS, json={"content": "first\n"} | fields, headers=who.headers)
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def test_create_answers_201_with_a_location_that_leads_to_the_object(
    client: httpx.AsyncClient, user: Person
) -> None:
    answer = await client.post(
        OBJECTS, json={"emo_type": "fact", "content": "Water boils.", "tags": ["physics"]}, headers=user.headers
    )
    assert answer.status_code == 201
    found = await client.get(answer.headers["location"], headers=user.headers)
    assert found.status_code == 200
    body = found.json()
    assert (body["emo_type"], body["emo_version"], body["content"], body["tags"]) == (
        "fact",
        1,
        "Water boils.",
        ["physics"],
    )
    assert body["source"] == {"kind": "user", "uri": None}
    assert body["view_data"]["operation"] == "created"


async def test_the_four_views(client: httpx.AsyncClient, user: Person) -> None:
    emo_id = (await created(client, user))["emo_id"]
    url = f"{OBJECTS}/{emo_id}"
    new = {"content": "first\nsecond\n", "rationale": "there was more", "expected_version": 1}
    assert (await client.put(f"{url}/content", json=new, headers=user.headers)).json()["emo_version"] == 2
    views = {
        name: (await client.get(url, params={"view": name}, headers=user.headers)).json()["view_data"]
        for name in ("current", "changelog", "diff", "rationale")
    }
    assert views["current"]["emo_version"] == 2
    assert [one["operation"] for one in views["changelog"]["changes"]] == ["created", "updated"]
    assert views["diff"]["diffs"][1]["diff"]["content"]["hunks"] == [{"line": 1, "removed": [], "added": ["second\n"]}]
    assert [one["rationale"] for one in views["rationale"]["rationales"]] == ["there was more"]
    between = await client.get(url, params={"view": "diff", "from_version": 1, "to_version": 2}, headers=user.headers)
    assert between.json()["view_data"]["diff"]["content"]["hunks"][0]["added"] == ["second\n"]


@pytest.mark.parametrize(
    "body", [{}, {"content": "x", "emo_type": "poem"}, {"content": "x", "colour": "red"}, {"content": "a\u0000b"}]
)
async def test_a_malformed_object_is_answered_with_400(client: httpx.AsyncClient, user: Person, body: Any) -> None:
    answer = await client.post(OBJECTS, json=body, headers=user.headers)
    assert answer.status_code == 400
    assert answer.json()["error_code"] == "MEMORY_INVALID"


async def test_a_bad_id_view_or_branch_is_answered_with_400(client: httpx.AsyncClient, user: Person) -> None:
    emo_id = (await created(client, user))["emo_id"]
    for url in (
        f"{OBJECTS}/nonsense",
        f"{OBJECTS}/{emo_id}?view=all",
        f"{OBJECTS}/{emo_id}?branch=a%20b",
        f"{OBJECTS}/{emo_id}?as_of=vx",
    ):
        assert (await client.get(url, headers=user.headers)).status_code == 400, url


async def test_403_for_another_tenant_and_for_a_token_that_only_reads(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, user: Person
) -> None:
    foreign = await client.post(OBJECTS, json={"content": "x", "tenant_id": str(uuid4())}, headers=user.headers)
    assert foreign.status_code == 403
    reading = {"Authorization": f"Bearer {await token_for(mnemon, tenant, user, CredentialScope.READ)}"}
    emo_id = (await created(client, user))["emo_id"]
    assert (await client.post(OBJECTS, json={"content": "x"}, headers=reading)).status_code == 403
    assert (await client.get(f"{OBJECTS}/{emo_id}", headers=reading)).status_code == 200


async def test_another_tenants_object_is_not_found(
    client: httpx.AsyncClient, mnemon: Mnemon, other_tenant: UUID, user: Person
) -> None:
    emo_id = (await created(client, user))["emo_id"]
    stranger = await person(mnemon, other_tenant, Role.USER, "stranger@example.org")
    for params in (
        {},
        {"world_id": (await client.get(f"{OBJECTS}/{emo_id}", headers=user.headers)).json()["world_id"]},
    ):
        answer = await client.get(f"{OBJECTS}/{emo_id}", params=params, headers=stranger.headers)
        assert answer.status_code == 404


async def test_409_names_the_current_version(client: httpx.AsyncClient, user: Person) -> None:
    url = f"{OBJECTS}/{(await created(client, user))['emo_id']}"
    new = {"content": "second", "expected_version": 1}
    assert (await client.put(f"{url}/content", json=new, headers=user.headers)).status_code == 200
    answer = await client.put(f"{url}/content", json=new | {"content": "third"}, headers=user.headers)
    assert answer.status_code == 409
    assert answer.json()["details"]["current_version"] == 2
    late = await client.request("DELETE", url, json={"expected_version": 1}, headers=user.headers)
    assert late.status_code == 409


async def test_409_for_a_repeated_key_or_id(client: httpx.AsyncClient, user: Person) -> None:
    headers = user.headers | {"Idempotency-Key": "k-1"}
    first = await client.post(OBJECTS, json={"content": "x"}, headers=headers)
    again = await client.post(OBJECTS, json={"content": "x"}, headers=headers)
    assert (first.status_code, again.status_code) == (201, 409)
    assert again.json()["details"]["emo_id"] == first.json()["emo_id"]
    same = await client.post(OBJECTS, json={"content": "x", "emo_id": first.json()["emo_id"]}, headers=user.headers)
    assert same.status_code == 409
    url = f"{OBJECTS}/{first.json()['emo_id']}/content"
    headers = user.headers | {"Idempotency-Key": "k-2"}
    assert (await client.put(url, json={"content": "y"}, headers=headers)).status_code == 200
    assert (await client.put(url, json={"content": "z"}, headers=headers)).status_code == 409


async def test_a_key_is_its_users_own(client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, user: Person) -> None:
    """What another does under the same key is done, and tells neither of what the other did."""
    another = await person(mnemon, tenant, Role.USER, "another@example.org")
    key = {"Idempotency-Key": "step-1"}
    private = await client.post(OBJECTS, json={"content": "mine", "readers": []}, headers=user.headers | key)
    theirs = await client.post(OBJECTS, json={"content": "theirs"}, headers=another.headers | key)
    assert (private.status_code, theirs.status_code) == (201, 201), theirs.text
    assert theirs.json()["emo_id"] != private.json()["emo_id"]
    agent = {"Authorization": f"Bearer {await token_for(mnemon, tenant, user, CredentialScope.WRITE)}"}
    repeated = await client.post(OBJECTS, json={"content": "mine", "readers": []}, headers=agent | key)
    assert repeated.status_code == 409, "a user and their token are one"
    assert repeated.json()["details"]["emo_id"] == private.json()["emo_id"]


async def test_delete_answers_204_then_410_and_reading_404(client: httpx.AsyncClient, user: Person) -> None:
    url = f"{OBJECTS}/{(await created(client, user))['emo_id']}"
    asked = {"deletion_reason": "no longer needed", "expected_version": 1}
    assert (await client.request("DELETE", url, json=asked, headers=user.headers)).status_code == 204
    assert (await client.request("DELETE", url, headers=user.headers)).status_code == 410
    assert (await client.put(f"{url}/content", json={"content": "y"}, headers=user.headers)).status_code == 410
    links = {"links": [{"kind": "uri", "ref": "https://example.org"}]}
    assert (await client.post(f"{url}/links", json=links, headers=user.headers)).status_code == 410
    for view in ("current", "changelog", "diff", "rationale"):
        assert (await client.get(url, params={"view": view}, headers=user.headers)).status_code == 404
    assert (await client.get(OBJECTS, headers=user.headers)).json()["total"] == 0
    history = (await client.get(f"{url}/history", headers=user.headers)).json()
    assert history["deleted"] and len(history["versions"]) == 2
    assert (await client.get(url, params={"as_of": "v1"}, headers=user.headers)).json()["content"] == "first\n"
    back = await client.post(f"{url}/restore", headers=user.headers)
    assert (back.status_code, back.json()["emo_version"]) == (200, 3)
    assert (await client.get(url, headers=user.headers)).status_code == 200


async def test_links_and_facets_are_versions_too(client: httpx.AsyncClient, user: Person) -> None:
    parent = (await created(client, user))["emo_id"]
    url = f"{OBJECTS}/{(await created(client, user))['emo_id']}"
    asked = {
        "parents": [{"emo_id": parent, "rel": "supersedes"}],
        "links": [{"kind": "uri", "ref": "https://example.org"}],
    }
    linked = (await client.post(f"{url}/links", json=asked, headers=user.headers)).json()
    assert linked["emo_version"] == 2
    assert linked["links"] == [
        {"rel": "supersedes", "target_emo_id": parent},
        {"rel": "links", "target_uri": "https://example.org"},
    ]
    facet = (await client.put(f"{url}/facets/summary", json={"value": "short"}, headers=user.headers)).json()
    assert (facet["emo_version"], facet["facets"]) == (3, {"summary": "short"})
    gone = await client.request("DELETE", f"{url}/facets/summary", headers=user.headers)
    assert (gone.json()["emo_version"], gone.json()["facets"]) == (4, {})
    assert (await client.request("DELETE", f"{url}/facets/summary", headers=user.headers)).status_code == 404
    lost = {"parents": [{"emo_id": str(uuid4()), "rel": "derived"}]}
    assert (await client.post(f"{url}/links", json=lost, headers=user.headers)).status_code == 400


async def test_world_and_branch_come_by_header_or_query(client: httpx.AsyncClient, user: Person) -> None:
    world = str(uuid4())
    made = await client.post(OBJECTS, json={"content": "x"}, headers=user.headers | {"X-World-ID": world})
    emo_id = made.json()["emo_id"]
    assert made.json()["world_id"] == world
    assert (await client.get(f"{OBJECTS}/{emo_id}", headers=user.headers)).status_code == 404
    assert (await client.get(f"{OBJECTS}/{emo_id}?world_id={world}", headers=user.headers)).status_code == 200
    answer = await client.get(
        f"{OBJECTS}/{emo_id}?world_id={world}", headers=user.headers | {"X-World-ID": str(uuid4())}
    )
    assert answer.status_code == 400
    missing = await client.get(f"{OBJECTS}/{emo_id}?branch=nowhere", headers=user.headers)
    assert (missing.status_code, missing.json()["error_code"]) == (404, "BRANCH_NOT_FOUND")


async def test_a_list_is_filtered_and_paged(client: httpx.AsyncClient, user: Person) -> None:
    for number in range(5):
        await created(client, user, content=str(number), tags=["odd" if number % 2 else "even"], emo_type="fact")
    await created(client, user, content="a note")
    seen: list[str] = []
    params: dict[str, Any] = {"type": "fact", "limit": 2}
    while True:
        page = (await client.get(OBJECTS, params=params, headers=user.headers)).json()
        assert page["total"] == 5
        seen += [one["content"] for one in page["objects"]]
        if page["next_cursor"] is None:
            break
        params["cursor"] = page["next_cursor"]
    assert seen == ["4", "3", "2", "1", "0"]
    odd = (await client.get(OBJECTS, params={"tags": "odd"}, headers=user.headers)).json()
    assert {one["content"] for one in odd["objects"]} == {"1", "3"}


async def test_an_object_is_read_as_it_was_at_a_version_a_time_or_a_sequence(
    client: httpx.AsyncClient, user: Person
) -> None:
    first = await created(client, user)
    url = f"{OBJECTS}/{first['emo_id']}"
    await client.put(f"{url}/content", json={"content": "second"}, headers=user.headers)
    for as_of in ("v1", first["sequence"], first["updated_at"]):
        found = await client.get(url, params={"as_of": as_of}, headers=user.headers)
        assert found.json()["content"] == "first\n", as_of
    before = await client.get(url, params={"as_of": "2001-01-01"}, headers=user.headers)
    assert before.status_code == 404


@pytest.mark.parametrize("position", ["garbage", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z nobody"])
async def test_a_cursor_of_another_list_is_answered_with_400(
    client: httpx.AsyncClient, user: Person, position: str
) -> None:
    answer = await client.get(OBJECTS, params={"cursor": to_cursor(position)}, headers=user.headers)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "MEMORY_INVALID")


async def test_what_no_column_can_hold_is_answered_with_400(client: httpx.AsyncClient, user: Person) -> None:
    url = f"{OBJECTS}/{(await created(client, user))['emo_id']}"
    asked = [
        client.get(OBJECTS, params={"query": "a\0b"}, headers=user.headers),
        client.get(OBJECTS, params={"tags": "a\0b"}, headers=user.headers),
        client.get(OBJECTS, params={"as_of": "v1"}, headers=user.headers),
        client.put(f"{url}/content", json={"content": "new", "rationale": "a\0b"}, headers=user.headers),
        client.request("DELETE", url, json={"deletion_reason": "a\0b"}, headers=user.headers),
        client.post("/v1/memory/branches", json={"branch": "b", "purpose": "a\0b"}, headers=user.headers),
        client.post(OBJECTS, content=b'{"content": "x", "facets": {"\\ud800": "v"}}', headers=user.headers),
    ]
    for answer in [await one for one in asked]:
        assert (answer.status_code, answer.json()["error_code"]) == (400, "MEMORY_INVALID"), answer.text


async def test_a_facet_s_name_may_hold_a_slash(client: httpx.AsyncClient, user: Person) -> None:
    url = f"{OBJECTS}/{(await created(client, user))['emo_id']}/facets/in%2Fout"
    assert (await client.put(url, json={"value": "x"}, headers=user.headers)).json()["facets"] == {"in/out": "x"}
    assert (await client.delete(url, headers=user.headers)).json()["facets"] == {}


async def test_the_history_says_why_an_object_was_deleted(client: httpx.AsyncClient, user: Person) -> None:
    url = f"{OBJECTS}/{(await created(client, user))['emo_id']}"
    await client.request("DELETE", url, json={"deletion_reason": "outdated"}, headers=user.headers)
    versions = (await client.get(f"{url}/history", headers=user.headers)).json()["versions"]
    assert [one["deletion_reason"] for one in versions] == [None, "outdated"]


@pytest.mark.parametrize("content", ["", " \n"])
async def test_an_object_that_says_nothing_is_refused(client: httpx.AsyncClient, user: Person, content: str) -> None:
    kept = await created(client, user)
    new = await client.post(OBJECTS, json={"content": content}, headers=user.headers)
    changed = await client.put(f"{OBJECTS}/{kept['emo_id']}/content", json={"content": content}, headers=user.headers)
    for answer in (new, changed):
        assert answer.status_code in (400, 422), answer.text
        assert answer.json()["error"].startswith("There is nothing to remember: ")


async def test_what_is_no_id_of_an_object_is_named(client: httpx.AsyncClient, user: Person) -> None:
    answer = await client.get(f"{OBJECTS}/nonsense", headers=user.headers)
    assert answer.json()["error"].startswith("“nonsense” is not the id of something remembered: ")
