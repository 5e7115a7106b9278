"""Event types over REST: declared once, changed only as old events allow, listed with the built-in ones."""

import httpx

from mnemon.log.append.incoming import DECISION_TYPE

from .conftest import Person


async def test_a_type_is_registered_listed_and_shown(client: httpx.AsyncClient, admin: Person, user: Person) -> None:
    made = await client.post("/v1/event-types", json=DECISION_TYPE, headers=admin.headers)
    assert made.status_code == 201
    assert made.json()["module"] == "board"
    assert made.json()["built_in"] is False
    listed = (await client.get("/v1/event-types", headers=user.headers)).json()
    names = {one["type"]: one["built_in"] for one in listed["event_types"]}
    assert names["board.decision.taken"] is False
    assert names["identity.user.added"] is True
    assert listed["total"] == len(listed["event_types"])
    of_module = (await client.get("/v1/event-types?module=board", headers=user.headers)).json()
    assert of_module["event_types"] == [made.json()]
    shown = (await client.get("/v1/event-types/board.decision.taken", headers=user.headers)).json()
    assert shown["event_types"] == [made.json()]
    absent = await client.get("/v1/event-types/board.decision.undone", headers=user.headers)
    assert (absent.status_code, absent.json()["error_code"]) == (404, "NOT_FOUND")


async def test_an_incompatible_change_needs_a_version(client: httpx.AsyncClient, admin: Person) -> None:
    await client.post("/v1/event-types", json=DECISION_TYPE, headers=admin.headers)
    schema = DECISION_TYPE["data_schema"] | {"required": ["title", "outcome", "chair"]}
    changed = DECISION_TYPE | {"data_schema": schema, "examples": []}
    refused = await client.post("/v1/event-types", json=changed, headers=admin.headers)
    assert (refused.status_code, refused.json()["error_code"]) == (409, "EVENT_TYPE_INCOMPATIBLE")
    second = changed | {"schema_version": 2, "migration": {"defaults": {"chair": "unknown"}}}
    assert (await client.post("/v1/event-types", json=second, headers=admin.headers)).status_code == 201
    shown = (await client.get("/v1/event-types/board.decision.taken", headers=admin.headers)).json()
    assert [one["schema_version"] for one in shown["event_types"]] == [1, 2]


async def test_a_bad_declaration_is_refused_with_the_reason(client: httpx.AsyncClient, admin: Person) -> None:
    for change, word in (
        ({"type": "Board Decision"}, "lower-case words"),
        ({"data_schema": {"type": "thing"}}, "schema"),
        ({"examples": [{"title": 1}]}, "Example 1"),
        ({"pii_fields": [{"field_path": "title", "pii_class": "name"}]}, "whose is it"),
        ({"schema_version": "first"}, "schema_version"),
        ({"retention_class": "for ever"}, "retention_class"),
    ):
        refused = await client.post("/v1/event-types", json=DECISION_TYPE | change, headers=admin.headers)
        assert (refused.status_code, refused.json()["error_code"]) == (422, "INVALID_REQUEST"), refused.text
        assert word in refused.json()["error"]
    built_in = DECISION_TYPE | {"type": "identity.user.added"}
    refused = await client.post("/v1/event-types", json=built_in, headers=admin.headers)
    assert refused.json()["error_code"] == "EVENT_TYPE_INCOMPATIBLE"
