"""The state of an entity over REST: by the rules of its types, now and at any moment."""

import httpx

from mnemon.log.append.incoming import DECISION, DECISION_TYPE

from .conftest import Person


async def test_an_entity_is_what_its_events_add_up_to_now_and_before(
    client: httpx.AsyncClient, admin: Person, user: Person
) -> None:
    place = "/v1/entities/decision/D-17/state"
    unknown = await client.get("/v1/entities/nothing/D-17/state", headers=user.headers)
    assert (unknown.status_code, unknown.json()["error_code"]) == (404, "NOT_FOUND")
    await client.post("/v1/event-types", json=DECISION_TYPE, headers=admin.headers)
    empty = (await client.get(place, headers=user.headers)).json()
    assert (empty["state"], empty["version"], empty["as_of_sequence"]) == ({}, 0, "0")

    sequences = []
    for outcome in ("postponed", "approved"):
        event = DECISION | {"data": DECISION["data"] | {"outcome": outcome}}
        made = await client.post("/v1/events", json={"events": [event]}, headers=user.headers)
        sequences.append(made.json()["events"][0]["sequence"])
    now = (await client.get(place, headers=user.headers)).json()
    assert now == {
        "entity_type": "decision",
        "entity_id": "D-17",
        "legal_entity": "main",
        "state": {"title": "Move the archive to Frankfurt", "outcome": "approved", "meetings": 2},
        "version": 2,
        "as_of_sequence": sequences[1],
        "consistency": "strong",
    }
    before = await client.get(place, params={"as_of": sequences[0]}, headers=user.headers)
    assert (before.json()["state"]["outcome"], before.json()["version"]) == ("postponed", 1)
    long_ago = await client.get(place, params={"as_of": "2001-01-01"}, headers=user.headers)
    assert long_ago.json()["version"] == 0
    assert (await client.get(place, params={"as_of": "soon"}, headers=user.headers)).status_code == 422


async def test_an_id_may_have_slashes(client: httpx.AsyncClient, admin: Person, user: Person) -> None:
    await client.post("/v1/event-types", json=DECISION_TYPE, headers=admin.headers)
    event = DECISION | {"entities": [{"entity_type": "decision", "entity_id": "2026/17/state"}]}
    await client.post("/v1/events", json={"events": [event]}, headers=user.headers)
    found = await client.get("/v1/entities/decision/2026/17/state/state", headers=user.headers)
    assert (found.json()["entity_id"], found.json()["version"]) == ("2026/17/state", 1)


async def test_rules_that_lead_nowhere_are_refused_with_the_type(client: httpx.AsyncClient, admin: Person) -> None:
    rules = [{"entity_type": "decision", "set": {"outcome": "$.outcom"}}]
    refused = await client.post("/v1/event-types", json=DECISION_TYPE | {"state": rules}, headers=admin.headers)
    assert (refused.status_code, "has no outcom" in refused.text) == (422, True)
