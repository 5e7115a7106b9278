"""Branches, graph, search and upkeep of memory over REST."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.identity.roles import CredentialScope
from tests.api.conftest import Person, token_for

OBJECTS, BRANCHES = "/v1/memory/objects", "/v1/memory/branches"


@pytest.fixture
def headers(user: Person) -> dict[str, str]:
    return user.headers


async def created(client: httpx.AsyncClient, headers: dict[str, str], content: str, **fields: Any) -> str:
    answer = await client.post(OBJECTS, json={"content": content} | fields, headers=headers)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["emo_id"])


async def test_an_agent_tries_on_a_branch_and_a_person_accepts(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, user: Person, headers: dict[str, str]
) -> None:
    agent = {"Authorization": f"Bearer {await token_for(mnemon, tenant, user, CredentialScope.WRITE)}"}
    emo_id = await created(client, headers, "one\ntwo\n")
    made = await client.post(BRANCHES, json={"branch": "try", "needs_person": True}, headers=agent)
    assert (made.status_code, made.json()["status"]) == (201, "open")
    url = f"{OBJECTS}/{emo_id}/content"
    assert (
        await client.put(url, json={"content": "ONE\ntwo\n"}, headers=agent | {"X-Branch": "try"})
    ).status_code == 200
    assert (await client.get(f"{OBJECTS}/{emo_id}", headers=headers)).json()["content"] == "one\ntwo\n"
    compared = (await client.get(f"{BRANCHES}/try/compare", headers=headers)).json()
    assert (compared["conflicts"], compared["objects"][0]["change"]) == (0, "changed")
    refused = await client.post(f"{BRANCHES}/try/merge", headers=agent)
    assert (refused.status_code, refused.json()["error_code"]) == (403, "PERSON_NEEDED")
    merged = await client.post(f"{BRANCHES}/try/merge", headers=headers)
    assert (merged.status_code, merged.json()["branch"]["status"]) == (200, "merged")
    assert (await client.get(f"{OBJECTS}/{emo_id}", headers=headers)).json()["content"] == "ONE\ntwo\n"
    late = await client.put(url, json={"content": "x"}, headers=agent | {"X-Branch": "try"})
    assert (late.status_code, late.json()["error_code"]) == (409, "BRANCH_CLOSED")


async def test_conflicts_are_409_with_all_three_sides_until_they_are_settled(
    client: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    emo_id = await created(client, headers, "base")
    await client.post(BRANCHES, json={"branch": "try"}, headers=headers)
    url = f"{OBJECTS}/{emo_id}/content"
    await client.put(url, json={"content": "ours"}, headers=headers)
    await client.put(url, params={"branch": "try"}, json={"content": "theirs"}, headers=headers)
    refused = await client.post(f"{BRANCHES}/try/merge", headers=headers)
    assert refused.status_code == 409
    [conflict] = refused.json()["details"]["conflicts"]
    assert conflict["conflicts"] == [{"field": "content", "base": "base", "ours": "ours", "theirs": "theirs"}]
    wrong = await client.post(f"{BRANCHES}/try/merge", json={"resolutions": {emo_id: "mine"}}, headers=headers)
    assert wrong.status_code == 400
    settled = await client.post(
        f"{BRANCHES}/try/merge", json={"resolutions": {emo_id: {"content": "both"}}}, headers=headers
    )
    assert settled.status_code == 200
    assert (await client.get(f"{OBJECTS}/{emo_id}", headers=headers)).json()["content"] == "both"


async def test_branches_are_listed_abandoned_and_begun_in_the_past(
    client: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    emo_id = await created(client, headers, "then")
    moment = (await client.get(f"{OBJECTS}/{emo_id}", headers=headers)).json()["sequence"]
    await client.put(f"{OBJECTS}/{emo_id}/content", json={"content": "now"}, headers=headers)
    await client.post(BRANCHES, json={"branch": "past", "at": moment}, headers=headers)
    seen = await client.get(f"{OBJECTS}/{emo_id}", params={"branch": "past"}, headers=headers)
    assert seen.json()["content"] == "then"
    assert (await client.post(f"{BRANCHES}/past/abandon", headers=headers)).json()["status"] == "abandoned"
    listed = (await client.get(BRANCHES, headers=headers)).json()["branches"]
    assert [(one["branch"], one["status"]) for one in listed] == [("past", "abandoned")]
    assert (await client.get(f"{BRANCHES}/nowhere", headers=headers)).status_code == 404
    taken = await client.post(BRANCHES, json={"branch": "past"}, headers=headers)
    assert taken.status_code == 409
    assert (await client.post(BRANCHES, json={"branch": "a b"}, headers=headers)).status_code == 400


async def test_the_graph_is_walked_and_exported(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    first = await created(client, headers, "a")
    second = await created(client, headers, "b", parents=[{"emo_id": first, "rel": "supersedes"}])
    lineage = (await client.get(f"{OBJECTS}/{second}/lineage", headers=headers)).json()
    assert lineage["edges"] == [{"kind": "SUPERSEDED_BY", "source": first, "target": second, "properties": {}}]
    near = (await client.get(f"{OBJECTS}/{first}/neighbours", params={"kinds": "LINKS_TO"}, headers=headers)).json()
    assert near["edges"] == []
    path = (await client.get(f"{OBJECTS}/{first}/path", params={"to": second}, headers=headers)).json()
    assert [node["emo_id"] for node in path["nodes"]] == [first, second]
    alone = await created(client, headers, "c")
    assert (await client.get(f"{OBJECTS}/{first}/path", params={"to": alone}, headers=headers)).status_code == 404
    for form, mark in (("graphml", "<graphml"), ("mermaid", "flowchart"), ("json", '"nodes"')):
        answer = await client.get("/v1/memory/graph", params={"format": form}, headers=headers)
        assert answer.status_code == 200 and mark in answer.text
    whole = (await client.get("/v1/memory/graph/integrity", headers=headers)).json()
    assert (whole["invalid_relationships"], whole["circular_count"]) == (0, 0)


async def test_words_and_meaning_find_objects_and_the_status_tells_the_lag(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, headers: dict[str, str]
) -> None:
    ferry = await created(client, headers, "The ferry to the island leaves at noon.", tags=["travel"])
    await created(client, headers, "Invoices are due within thirty days.")
    status = (await client.get("/v1/memory/status", headers=headers)).json()
    assert (status["vectors"], status["behind"], status["hashes"]) == (0, 2, None)
    asked = (await client.get("/v1/memory/status", params={"hashes": "true"}, headers=headers)).json()
    assert list(asked["hashes"]) == [f"{tenant}/main"]
    await mnemon.memory.vectors.catch_up(tenant, mnemon.embedder)
    for params in ({"mode": "hybrid"}, {"mode": "semantic"}, {"tags": "travel"}):
        found = (await client.get(OBJECTS, params={"query": "a boat trip", **params}, headers=headers)).json()
        assert found["objects"][0]["emo_id"] == ferry
    words = (await client.get(OBJECTS, params={"query": "noon", "mode": "text"}, headers=headers)).json()
    assert (words["mode"], [one["emo_id"] for one in words["objects"]]) == ("text", [ferry])
    near = (await client.get(f"{OBJECTS}/{ferry}/similar", params={"k": 1}, headers=headers)).json()
    assert near["similar"][0]["object"]["content"].startswith("Invoices")
    assert (await client.get(f"{OBJECTS}/{ferry}/similar-facets", headers=headers)).json() == {"similar": []}
    assert (await client.get("/v1/memory/rationales", params={"query": "why"}, headers=headers)).json() == {
        "similar": []
    }
    await mnemon.close_models()


async def test_upkeep_is_for_administrators(client: httpx.AsyncClient, admin: Person, user: Person) -> None:
    emo_id = await created(client, user.headers, "one")
    await client.put(f"{OBJECTS}/{emo_id}/content", json={"content": "two"}, headers=user.headers)
    url = f"{OBJECTS}/{emo_id}/compact"
    assert (await client.post(url, headers=user.headers)).status_code == 403
    assert (await client.post(url, headers=admin.headers)).json()["compacted_versions"] == [1]
    assert (await client.post(url, headers=admin.headers)).status_code == 409
    assert (await client.get(f"{OBJECTS}/{emo_id}", params={"as_of": "v1"}, headers=user.headers)).json()[
        "content"
    ] == "one"
    report = (await client.post("/v1/memory/replay", headers=admin.headers)).json()
    assert report["same"] and report["objects"] == 1


async def test_items_come_in_through_the_events(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, headers: dict[str, str]
) -> None:
    event = {"type": "memory.item.upserted", "data": {"item_id": "n-1", "content": "from elsewhere"}}
    assert (await client.post("/v1/events", json={"events": [event]}, headers=headers)).status_code == 201
    forged = {"type": "emo.created", "data": {}}
    assert (await client.post("/v1/events", json={"events": [forged]}, headers=headers)).status_code == 403
    await mnemon.memory.translator.catch_up(tenant)
    [found] = (await client.get(OBJECTS, headers=headers)).json()["objects"]
    assert (found["content"], found["source"]["kind"]) == ("from elsewhere", "user")
