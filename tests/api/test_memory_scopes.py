"""An object is its owner's: others read it, find it and change it only as far as it says."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.identity.roles import Role
from tests.api.conftest import Person, person
from tests.api.test_memory import OBJECTS, created
from tests.log import offline


@pytest.fixture
async def bo(mnemon: Mnemon, tenant: Any) -> Person:
    return await person(mnemon, tenant, Role.USER, "bo@example.org")


async def found_by(client: httpx.AsyncClient, who: Person, **asked: Any) -> set[str]:
    answer = await client.get(OBJECTS, params=asked, headers=who.headers)
    assert answer.status_code == 200, answer.text
    assert answer.json()["total"] == len(answer.json()["objects"])
    return {one["content"] for one in answer.json()["objects"]}


async def test_what_is_for_its_owner_is_nowhere_for_others(
    client: httpx.AsyncClient, user: Person, bo: Person, admin: Person
) -> None:
    made = await created(client, user, content="The marmot budget is secret", readers=["me"], rationale="marmots")
    own = f"{OBJECTS}/{made['emo_id']}"
    assert made["readers"] == [made["owner"]] == [f"user:{user.user_id}"]
    assert await found_by(client, user, query="marmot", mode="text") == {"The marmot budget is secret"}
    for other in (bo, admin):
        assert await found_by(client, other) == await found_by(client, other, query="marmot", mode="text") == set()
        for path in ("", "/history", "/lineage", "/neighbours"):
            assert (await client.get(own + path, headers=other.headers)).status_code == 404
        graph = (await client.get("/v1/memory/graph", headers=other.headers)).json()
        assert graph["nodes"] == graph["edges"] == []
        change = await client.put(f"{own}/content", json={"content": "mine"}, headers=other.headers)
        assert change.status_code == 404
        refused = await client.post(
            OBJECTS, json={"content": "x", "links": [{"kind": "emo", "ref": made["emo_id"]}]}, headers=other.headers
        )
        assert refused.status_code == 400
        answer = await client.post("/v1/ask", json={"question": "What is the marmot budget?"}, headers=other.headers)
        assert "secret" not in answer.text
        log = await client.get("/v1/events", headers=other.headers)
        assert "secret" not in log.text
        assert "not for this reader" in log.text
    assert "secret" in (await client.get("/v1/events", headers=user.headers)).text


async def test_exports_and_receipts_hold_the_digest_of_what_is_not_for_their_reader(
    client: httpx.AsyncClient, user: Person, bo: Person, admin: Person, tmp_path: Path
) -> None:
    made = await created(client, user, content="The marmot budget is secret", readers=["me"])
    assert (await client.post("/v1/integrity/checkpoints", json={}, headers=admin.headers)).status_code == 201
    page = (await client.get("/v1/events", params={"type": "emo.created"}, headers=user.headers)).json()
    receipt = f"/v1/events/{page['events'][0]['id']}/receipt"
    for other in (bo, admin):
        for path in ("/v1/integrity/export", receipt):
            answer = await client.get(path, headers=other.headers)
            assert (answer.status_code, "secret" in answer.text) == (200, False)
            assert made["emo_id"] in answer.text
        proof = (await client.get(receipt, headers=other.headers)).json()
        assert proof["event"]["payload"] is None
        assert proof["event"]["payload_digest"]
    for path in ("/v1/integrity/export", receipt):
        assert "secret" in (await client.get(path, headers=user.headers)).text
    file = tmp_path / "export.jsonl"
    file.write_bytes((await client.get("/v1/integrity/export", headers=bo.headers)).content)
    status, said = await asyncio.to_thread(offline.run, "export", file)
    assert status == 0, said


async def test_a_persons_file_has_no_notes_that_are_not_for_whoever_asks(
    client: httpx.AsyncClient, user: Person, admin: Person
) -> None:
    await created(client, user, content="Eve is unwell", subject_id="customer-17", readers=["me"])
    await created(client, user, content="Eve has a contract", subject_id="customer-17")
    for path in ("/v1/privacy/data?subject_id=customer-17", "/v1/privacy/file?subject_id=customer-17"):
        answer = await client.get(path, headers=admin.headers)
        assert answer.status_code == 200, answer.text
        assert ("unwell" in answer.text, "contract" in answer.text) == (False, True)


async def test_who_may_change_an_object_does_not_say_who_reads_it(
    client: httpx.AsyncClient, user: Person, bo: Person, admin: Person
) -> None:
    made = await created(client, user, content="for two", readers=["me", bo.email], writers="readers")
    own = f"{OBJECTS}/{made['emo_id']}"
    refused = await client.put(f"{own}/readers", json={"readers": ["everyone"]}, headers=bo.headers)
    assert (refused.status_code, "its owner or an administrator" in refused.text) == (403, True)
    assert (await client.put(f"{own}/content", json={"content": "by bo"}, headers=bo.headers)).status_code == 200
    assert await found_by(client, admin) == set()


async def test_nobody_takes_the_id_of_anothers_object_in_a_branch(
    client: httpx.AsyncClient, user: Person, bo: Person
) -> None:
    begun = await client.post("/v1/memory/branches", json={"branch": "side"}, headers=bo.headers)
    assert begun.status_code == 201, begun.text
    made = await created(client, user, content="The marmot budget is secret", readers=["me"])
    taken = await client.post(
        OBJECTS, params={"branch": "side"}, json={"content": "mine", "emo_id": made["emo_id"]}, headers=bo.headers
    )
    assert taken.status_code == 409, taken.text
    assert await found_by(client, bo) == set()


async def test_a_clash_is_settled_by_whoever_may_change_the_object(
    client: httpx.AsyncClient, user: Person, bo: Person, admin: Person
) -> None:
    made = await created(client, user, content="base")
    own = f"{OBJECTS}/{made['emo_id']}/content"
    assert (await client.post("/v1/memory/branches", json={"branch": "side"}, headers=user.headers)).status_code == 201
    for params, content in (({}, "ours"), ({"branch": "side"}, "theirs")):
        changed = await client.put(own, params=params, json={"content": content}, headers=user.headers)
        assert changed.status_code == 200, changed.text
    merge, settled = "/v1/memory/branches/side/merge", {"resolutions": {made["emo_id"]: {"content": "what Bo says"}}}
    refused = await client.post(merge, json=settled, headers=bo.headers)
    assert (refused.status_code, "who alone may change it" in refused.text) == (403, True)
    assert await found_by(client, bo) == {"ours"}
    assert (await client.post(merge, json=settled, headers=user.headers)).status_code == 200


async def test_readers_are_named_later_and_lose_the_past_with_the_present(
    client: httpx.AsyncClient, user: Person, bo: Person
) -> None:
    made = await created(client, user, content="first", readers=["me"])
    own = f"{OBJECTS}/{made['emo_id']}"
    shared = await client.put(f"{own}/readers", json={"readers": [bo.email]}, headers=user.headers)
    assert shared.status_code == 200, shared.text
    assert shared.json()["readers"] == [f"user:{user.user_id}", f"user:{bo.user_id}"]
    assert len((await client.get(f"{own}/history", headers=bo.headers)).json()["versions"]) == 2
    refused = await client.put(f"{own}/content", json={"content": "second"}, headers=bo.headers)
    assert (refused.status_code, "who alone may change it" in refused.text) == (403, True)
    await client.put(f"{own}/readers", json={"writers": "readers"}, headers=user.headers)
    assert (await client.put(f"{own}/content", json={"content": "second"}, headers=bo.headers)).status_code == 200
    await client.put(f"{own}/readers", json={"readers": ["me"]}, headers=user.headers)
    for as_of in ("v1", "v4"):
        assert (await client.get(own, params={"as_of": as_of}, headers=bo.headers)).status_code == 404
    everyone = await client.put(f"{own}/readers", json={"readers": ["everyone"]}, headers=user.headers)
    assert everyone.json()["readers"] is None
    assert await found_by(client, bo) == {"second"}


async def test_a_replay_gives_the_same_readers(
    client: httpx.AsyncClient, user: Person, bo: Person, admin: Person
) -> None:
    made = await created(client, user, readers=["me"], session_id="s-1")
    for readers in (["everyone"], ["me"]):
        own = f"{OBJECTS}/{made['emo_id']}/readers"
        assert (await client.put(own, json={"readers": readers}, headers=user.headers)).status_code == 200
    done = await client.post("/v1/memory/replay", headers=admin.headers)
    assert done.json()["same"], done.text
    assert await found_by(client, bo) == set()
    assert await found_by(client, user, session_id="s-1") == {"first\n"}


async def test_lists_are_of_a_subject_an_owner_an_agent_or_a_session(
    client: httpx.AsyncClient, user: Person, bo: Person
) -> None:
    await created(client, user, content="about a customer", subject_id="customer-17")
    await created(client, user, content="of an agent", agent_id="planner", session_id="monday")
    await created(client, bo, content="of bo", agent_id="planner")
    assert await found_by(client, bo, subject_id="customer-17") == {"about a customer"}
    assert await found_by(client, bo, owner="me") == {"of bo"}
    assert await found_by(client, bo, owner=user.email) == {"about a customer", "of an agent"}
    assert await found_by(client, bo, agent_id="planner") == {"of an agent", "of bo"}
    assert await found_by(client, bo, agent_id="planner", session_id="monday") == {"of an agent"}
    assert await found_by(client, bo, query="agent", session_id="tuesday", mode="text") == set()
    unknown = await client.get(OBJECTS, params={"user_id": "customer-17"}, headers=bo.headers)
    assert (unknown.status_code, "user_id" in unknown.text) == (400, True)


async def test_many_are_kept_at_once_and_once(client: httpx.AsyncClient, user: Person) -> None:
    given = {"objects": [{"content": "one", "key": "k-1", "tags": ["t"]}, {"content": "two", "key": "k-2"}]}
    first = await client.post(f"{OBJECTS}/bulk", json=given, headers=user.headers)
    assert first.status_code == 201, first.text
    again = await client.post(
        f"{OBJECTS}/bulk", json={"objects": [*given["objects"], {"content": "three"}]}, headers=user.headers
    )
    assert [one["stored"] for one in again.json()["objects"]] == [False, False, True]
    assert [one["emo_id"] for one in again.json()["objects"]][:2] == [one["emo_id"] for one in first.json()["objects"]]
    assert await found_by(client, user) == {"one", "two", "three"}
    wrong = {"objects": [{"content": "four"}, {"content": "five", "readers": ["nobody@example.org"]}]}
    refused = await client.post(f"{OBJECTS}/bulk", json=wrong, headers=user.headers)
    assert (refused.status_code, "Object 2" in refused.text) == (400, True)
    assert "four" not in await found_by(client, user)


async def test_all_of_a_person_is_forgotten_at_once(client: httpx.AsyncClient, user: Person, bo: Person) -> None:
    for number in range(3):
        await created(client, user, content=f"{number}", subject_id="customer-17")
    await created(client, bo, content="of bo", subject_id="customer-17")
    await created(client, user, content="of another", subject_id="customer-18")
    done = await client.post(f"{OBJECTS}/forget", json={"subject_id": "customer-17"}, headers=user.headers)
    assert done.json() == {"forgotten": 3, "left": 1}
    assert await found_by(client, user) == {"of bo", "of another"}
    refused = await client.post(f"{OBJECTS}/forget", json={}, headers=user.headers)
    assert (refused.status_code, "Say whose" in refused.text) == (400, True)
