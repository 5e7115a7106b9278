"""Events over REST: what is recorded, by whom, what is refused, and how streams are read."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.identity.roles import CredentialScope, Role
from mnemon.log.append.incoming import DECISION, DECISION_TYPE
from mnemon.log_operations.event_outputs import (
    AppendedEvents,
    DescendantsOut,
    EventsRead,
    LineageOut,
    OneEvent,
    TraceOut,
)

from .conftest import Person, person, token_for


def decision(number: str = "D-17", **changes: Any) -> dict[str, Any]:
    return DECISION | {"entities": [{"entity_type": "decision", "entity_id": number}]} | changes


@pytest.fixture
async def board(client: httpx.AsyncClient, admin: Person) -> Person:
    """The administrator of a tenant that knows decisions."""
    registered = await client.post("/v1/event-types", json=DECISION_TYPE, headers=admin.headers)
    assert registered.status_code == 201, registered.text
    return admin


async def append(client: httpx.AsyncClient, who: Person, *events: dict[str, Any], **headers: str) -> httpx.Response:
    return await client.post("/v1/events", json={"events": list(events)}, headers=who.headers | headers)


async def recorded(client: httpx.AsyncClient, who: Person, *events: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await append(client, who, *events)
    assert answer.status_code == 201, answer.text
    listed: list[dict[str, Any]] = answer.json()["events"]
    return listed


async def read(client: httpx.AsyncClient, who: Person, **query: Any) -> list[dict[str, Any]]:
    answer = await client.get("/v1/events", params=query, headers=who.headers)
    assert answer.status_code == 200, answer.text
    EventsRead.model_validate_json(answer.text)
    events: list[dict[str, Any]] = answer.json()["events"]
    return events


async def test_an_event_comes_back_as_it_was_sent_and_as_the_caller_sent_it(
    client: httpx.AsyncClient, board: Person, tenant: UUID
) -> None:
    sent = decision(dimensions={"department": "ENG"}, intent_id="i-1", source={"system": "minutes", "channel": "batch"})
    answer = await append(client, board, sent)
    assert answer.status_code == 201
    AppendedEvents.model_validate_json(answer.text)
    [appended] = answer.json()["events"]
    found = await client.get(f"/v1/events/{appended['id']}", headers=board.headers)
    OneEvent.model_validate_json(found.text)
    event = found.json()["event"]
    assert event["data"] == sent["data"]
    assert event["occurred_at"] == "2026-03-02T14:10:00.000000Z"
    assert event["effective_date"] == "2026-03-02"
    assert event["scope"] == {"tenant_id": str(tenant), "legal_entity": "main"}
    assert event["actor"]["type"] == "human"
    assert event["actor"]["id"] == f"user:{board.user_id}"
    assert event["actor"]["ip_address"].startswith("198.51.")
    assert event["dimensions"] == {"department": "ENG"}
    assert event["metadata"]["tags"] == ["hosting"]
    assert event["metadata"]["checksum"] == appended["checksum"]
    assert event["sequence"] == appended["sequence"]
    assert isinstance(event["sequence"], str)
    assert event["correlation_id"] == "hosting-2026"


async def test_a_batch_is_recorded_in_order_or_not_at_all(client: httpx.AsyncClient, board: Person) -> None:
    before = await recorded(client, board, decision("D-0"))
    batch = await recorded(client, board, *(decision(f"D-{number}") for number in range(1, 6)))
    first = int(before[0]["sequence"])
    assert [int(one["sequence"]) for one in batch] == list(range(first + 1, first + 6))
    refused = await append(client, board, decision("D-7"), decision("D-8", data={"title": "no outcome"}))
    assert (refused.status_code, refused.json()["error_code"]) == (422, "INVALID_EVENT")
    assert await read(client, board, stream_type="entity", stream_id="D-7") == []


async def test_a_version_conflict_names_expected_and_actual(client: httpx.AsyncClient, board: Person) -> None:
    expected = {"entity_type": "decision", "entity_id": "D-17", "version": 0}
    await recorded(client, board, decision(expected_versions=[expected]))
    refused = await append(client, board, decision(expected_versions=[expected]))
    assert (refused.status_code, refused.json()["error_code"]) == (409, "VERSION_CONFLICT")
    assert (refused.json()["details"]["expected"], refused.json()["details"]["actual"]) == (0, 1)
    asked = {"entity_type": "decision", "entity_id": "D-17"}
    version = (await client.get("/v1/entity-version", params=asked, headers=board.headers)).json()["version"]
    assert version == 1
    await recorded(client, board, decision(expected_versions=[expected | {"version": version}]))


async def test_a_repeated_request_gives_the_first_ones_result(client: httpx.AsyncClient, board: Person) -> None:
    batch = [decision("D-1"), decision("D-2")]
    key = {"Idempotency-Key": "minutes-of-march"}
    first = await append(client, board, *batch, **key)
    again = await append(client, board, *batch, **key)
    assert (first.status_code, again.status_code) == (201, 200)
    assert [one["id"] for one in again.json()["events"]] == [one["id"] for one in first.json()["events"]]
    assert all(one["duplicate"] for one in again.json()["events"])
    other = await append(client, board, decision("D-1"), decision("D-3"), **key)
    assert (other.status_code, other.json()["error_code"]) == (409, "KEY_CONFLICT")
    twice = await append(client, board, decision(idempotency_key="mine"), **key)
    assert (twice.status_code, twice.json()["error_code"]) == (422, "INVALID_REQUEST")
    assert len(await read(client, board, stream_type="type", stream_id=DECISION["type"])) == 2


async def test_the_tenant_comes_from_the_credential_only(
    client: httpx.AsyncClient, board: Person, tenant: UUID, other_tenant: UUID
) -> None:
    refused = await append(client, board, decision(scope={"tenant_id": str(other_tenant)}))
    assert (refused.status_code, refused.json()["error_code"]) == (403, "NOT_ALLOWED")
    assert (await append(client, board, decision(scope={"tenant_id": str(tenant)}))).status_code == 201


async def test_another_tenants_events_do_not_exist_here(
    client: httpx.AsyncClient, mnemon: Mnemon, board: Person, other_tenant: UUID
) -> None:
    [event] = await recorded(client, board, decision())
    stranger = await person(mnemon, other_tenant, Role.ADMIN, "stranger@example.org")
    for path in (
        f"/v1/events/{event['id']}",
        f"/v1/events/{event['id']}/lineage",
        f"/v1/events/{event['id']}/descendants",
    ):
        answer = await client.get(path, headers=stranger.headers)
        assert (answer.status_code, answer.json()["error_code"]) == (404, "EVENT_NOT_FOUND")
    assert await read(client, stranger, stream_type="entity", stream_id="D-17") == []
    trace = (await client.get("/v1/events/process/hosting-2026", headers=stranger.headers)).json()
    assert trace["events"] == []


@pytest.mark.parametrize(
    "claim",
    [
        {"id": "user:00000000-0000-0000-0000-000000000000"},
        {"type": "system"},
        {"on_behalf_of": {"type": "human", "id": "ceo"}},
        {"trust_level": "full"},
        {"name": "The Chairwoman"},
    ],
)
async def test_a_user_cannot_pass_for_someone_else(
    client: httpx.AsyncClient, board: Person, user: Person, claim: dict[str, Any]
) -> None:
    refused = await append(client, user, decision(actor=claim))
    assert (refused.status_code, refused.json()["error_code"]) == (403, "NOT_ALLOWED")


async def test_an_administrator_acts_for_another_under_their_own_name(client: httpx.AsyncClient, board: Person) -> None:
    claim = {"on_behalf_of": {"type": "human", "id": "user:ceo", "name": "Ada"}, "session_id": "s-1"}
    [made] = await recorded(client, board, decision(actor=claim))
    actor = (await client.get(f"/v1/events/{made['id']}", headers=board.headers)).json()["event"]["actor"]
    assert actor["id"] == f"user:{board.user_id}"
    assert actor["on_behalf_of"] == {"type": "human", "id": "user:ceo", "name": "Ada"}
    assert (actor["name"], actor["session_id"]) == ("admin", "s-1"), "as the account has it"


async def test_a_token_writes_as_an_agent_of_its_owner(
    client: httpx.AsyncClient, mnemon: Mnemon, board: Person, user: Person, tenant: UUID
) -> None:
    secret = await token_for(mnemon, tenant, user, CredentialScope.WRITE)
    headers = {"Authorization": f"Bearer {secret}"}
    made = await client.post("/v1/events", json={"events": [decision()]}, headers=headers)
    event = (await client.get(f"/v1/events/{made.json()['events'][0]['id']}", headers=headers)).json()["event"]
    assert event["actor"]["type"] == "agent"
    assert event["actor"]["id"].startswith("token:")
    assert event["actor"]["on_behalf_of"] == {"type": "human", "id": f"user:{user.user_id}", "name": "user"}
    assert event["actor"]["name"] == "a write token", "names come from the credential"
    assert "ip_address" not in event["actor"]


async def test_nobody_forges_what_mnemon_records_itself(client: httpx.AsyncClient, board: Person) -> None:
    forged = {"type": "identity.user.added", "data": {"user_id": str(board.user_id), "role": "admin"}}
    forged |= {"entities": [{"entity_type": "user", "entity_id": str(board.user_id)}], "tags": ["identity"]}
    refused = await append(client, board, forged)
    assert (refused.status_code, refused.json()["error_code"]) == (403, "EVENT_TYPE_RESERVED")


@pytest.mark.parametrize(
    ("change", "code", "word"),
    [
        ({"type": "no.such.type"}, "EVENT_TYPE_NOT_REGISTERED", "register it"),
        ({"data": {"title": "x", "outcome": "maybe"}}, "INVALID_EVENT", "data.outcome"),
        ({"entities": []}, "INVALID_EVENT", "exactly one decision"),
        ({"occurred_at": "2026-03-02T15:10:00"}, "INVALID_REQUEST", "events.0.occurred_at"),
        ({"tgas": ["x"]}, "INVALID_REQUEST", "events.0.tgas"),
        ({"id": "not-a-ulid"}, "INVALID_EVENT", "is not a ULID"),
        ({"scope": {"legal_entity": "a\nb"}}, "INVALID_REQUEST", "legal_entity"),
        ({"tags": ["a\x00b"]}, "INVALID_EVENT", "null character"),
        ({"entities": [{"entity_type": "decision", "entity_id": "D" * 401}]}, "INVALID_REQUEST", "entity_id"),
        ({"data": {"title": "x", "outcome": "approved", "n": 2**70}}, "INVALID_EVENT", "cannot be written as JSON"),
    ],
)
async def test_a_bad_event_is_refused_with_the_reason(
    client: httpx.AsyncClient, board: Person, change: dict[str, Any], code: str, word: str
) -> None:
    refused = await append(client, board, decision(**change))
    assert (refused.status_code, refused.json()["error_code"]) == (422, code)
    assert word in refused.json()["error"]
    assert set(refused.json()) == {"error", "error_code", "details"}


async def test_what_is_not_json_is_refused(client: httpx.AsyncClient, board: Person) -> None:
    for body in ('{"events": [{"type": "board.decision.taken", "data": {"title": "x", "n": NaN}}]}', "[", '{"events":'):
        headers = board.headers | {"Content-Type": "application/json"}
        refused = await client.post("/v1/events", content=body, headers=headers)
        assert (refused.status_code, refused.json()["error_code"]) == (422, "INVALID_REQUEST")


async def test_too_many_or_too_large_is_refused(client: httpx.AsyncClient, board: Person) -> None:
    many = await append(client, board, *[decision()] * 1001)
    assert (many.status_code, many.json()["error_code"]) == (422, "BATCH_REFUSED")
    none = await append(client, board)
    assert (none.status_code, none.json()["error_code"]) == (422, "BATCH_REFUSED")
    large = await append(client, board, decision(data={"title": "x" * 1_100_000, "outcome": "approved"}))
    assert (large.status_code, large.json()["error_code"]) == (413, "REQUEST_TOO_LARGE")


@pytest.fixture
async def meeting(client: httpx.AsyncClient, board: Person) -> list[str]:
    """Six decisions on days from the first of March, of two departments and regions; their ids."""
    events = [
        decision(
            f"D-{number}",
            occurred_at=f"2026-03-0{number}T12:00:00Z",
            dimensions={"department": "ENG" if number % 2 else "OPS"},
            tags=["odd" if number % 2 else "even"],
            correlation_id=f"meeting-{number // 4}",
            scope={"region": "north" if number < 4 else "south"},
        )
        for number in range(1, 7)
    ]
    return [one["id"] for one in await recorded(client, board, *events)]


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ({"stream_type": "type", "stream_id": "board.decision.taken"}, [1, 2, 3, 4, 5, 6]),
        ({"type": "board.decision.taken", "direction": "backward"}, [6, 5, 4, 3, 2, 1]),
        ({"stream_type": "entity", "stream_id": "D-2"}, [2]),
        ({"stream_type": "entity", "stream_id": "D-2", "entity_type": "invoice"}, []),
        ({"stream_type": "correlation", "stream_id": "meeting-1"}, [4, 5, 6]),
        ({"stream_type": "tag", "stream_id": "even"}, [2, 4, 6]),
        ({"stream_type": "scope", "scope": "region", "stream_id": "south"}, [4, 5, 6]),
        ({"stream_type": "scope", "stream_id": "main", "type": "board.decision.taken"}, [1, 2, 3, 4, 5, 6]),
        ({"stream_type": "scope", "stream_id": "elsewhere"}, []),
        ({"stream_type": "tag", "stream_id": "odd", "from_date": "2026-03-02", "to_date": "2026-03-05"}, [3, 5]),
        ({"stream_type": "tag", "stream_id": "odd", "to_date": "2026-03-05T11:59:59Z"}, [1, 3]),
        ({"stream_type": "tag", "stream_id": "odd", "effective_from": "2026-03-03", "effective_to": "2026-03-03"}, [3]),
        ({"dimension": "department:OPS"}, [2, 4, 6]),
        ({"stream_type": "tag", "stream_id": "odd", "recorded_to": "2001-01-01"}, []),
    ],
)
async def test_a_stream_holds_just_what_was_asked_for(
    client: httpx.AsyncClient, board: Person, meeting: list[str], query: dict[str, str], numbers: list[int]
) -> None:
    found = await read(client, board, **query)
    assert [one["id"] for one in found] == [meeting[number - 1] for number in numbers]


async def test_a_stream_by_actor_and_by_sequence(client: httpx.AsyncClient, board: Person, meeting: list[str]) -> None:
    mine = await read(client, board, stream_type="actor", stream_id=f"user:{board.user_id}", type=DECISION["type"])
    assert [one["id"] for one in mine] == meeting
    second, fourth = mine[1]["sequence"], mine[3]["sequence"]
    between = await read(client, board, from_sequence=second, to_sequence=fourth)
    assert [one["id"] for one in between] == meeting[1:4]
    for moment in (second, mine[1]["recorded_at"]):
        then = await read(client, board, type=DECISION["type"], as_of=moment)
        assert then[-1]["id"] == (meeting[1] if moment == second else meeting[-1])


@pytest.mark.parametrize("direction", ["forward", "backward"])
async def test_pages_join_without_gap_or_repeat(
    client: httpx.AsyncClient, board: Person, meeting: list[str], direction: str
) -> None:
    seen: list[str] = []
    query: dict[str, Any] = {"type": DECISION["type"], "limit": 4, "direction": direction}
    while True:
        page = (await client.get("/v1/events", params=query, headers=board.headers)).json()
        seen += [one["id"] for one in page["events"]]
        assert page["has_more"] is (page["next_cursor"] is not None)
        if not page["has_more"]:
            break
        query["cursor"] = page["next_cursor"]
    assert seen == (meeting if direction == "forward" else meeting[::-1])
    foreign = await client.get(
        "/v1/events", params=query | {"stream_type": "tag", "stream_id": "odd"}, headers=board.headers
    )
    assert (foreign.status_code, foreign.json()["error_code"]) == (422, "BAD_CURSOR")


@pytest.mark.parametrize(
    "query",
    [
        {"stream_type": "entity"},
        {"stream_type": "mood", "stream_id": "x"},
        {"from_date": "yesterday"},
        {"from_date": "2026-03-01T09:30"},
        {"from_sequence": "-1"},
        {"as_of": "99999999999999999999"},
        {"dimension": "department"},
        {"limit": "1001"},
        {"direction": "sideways"},
        {"tpye": "a.b"},
        {"stream_type": "tag", "stream_id": "a\x00b"},
    ],
)
async def test_a_question_that_makes_no_sense_is_refused(
    client: httpx.AsyncClient, board: Person, meeting: list[str], query: dict[str, str]
) -> None:
    refused = await client.get("/v1/events", params=query, headers=board.headers)
    assert (refused.status_code, refused.json()["error_code"]) == (422, "INVALID_REQUEST")


async def test_causes_consequences_and_the_whole_process(client: httpx.AsyncClient, board: Person) -> None:
    first = (await recorded(client, board, decision("D-1", occurred_at="2026-03-02T10:00:00Z")))[0]["id"]
    second = (await recorded(client, board, decision("D-2", caused_by=first)))[0]["id"]
    third = decision("D-3", caused_by=second, occurred_at="2026-03-02T16:00:00Z", scope={"legal_entity": "GmbH"})
    last = (await recorded(client, board, third))[0]["id"]
    up = await client.get(f"/v1/events/{last}/lineage", headers=board.headers)
    LineageOut.model_validate_json(up.text)
    assert ([one["id"] for one in up.json()["lineage"]], up.json()["depth"]) == ([first, second, last], 2)
    near = (await client.get(f"/v1/events/{last}/lineage?depth=1", headers=board.headers)).json()
    assert [one["id"] for one in near["lineage"]] == [second, last]
    below = (await client.get(f"/v1/events/{first}/descendants?depth=1", headers=board.headers)).json()
    assert [one["complete"] for one in (up.json(), near, below)] == [True, False, False], "it is said where it is cut"
    down = await client.get(f"/v1/events/{first}/descendants", headers=board.headers)
    DescendantsOut.model_validate_json(down.text)
    assert ([one["id"] for one in down.json()["descendants"]], down.json()["count"]) == ([second, last], 2)
    process = await client.get("/v1/events/process/hosting-2026", headers=board.headers)
    TraceOut.model_validate_json(process.text)
    trace = process.json()
    assert {one["id"] for one in trace["events"]} == {first, second, last}
    assert trace["process_duration_ms"] == 6 * 3600 * 1000
    assert trace["actors_involved"] == [f"user:{board.user_id}"]
    assert [one["entity_id"] for one in trace["entities_involved"]] == ["D-1", "D-2", "D-3"]


async def test_partitions_show_where_each_log_ends(client: httpx.AsyncClient, board: Person) -> None:
    [last] = await recorded(client, board, decision(scope={"legal_entity": "GmbH & Co. KG"}))
    found = (await client.get("/v1/partitions", headers=board.headers)).json()
    assert [one["legal_entity"] for one in found["partitions"]] == ["GmbH & Co. KG", "main"]
    head = found["partitions"][0]
    assert (head["sequence"], head["head"]) == (last["sequence"], last["checksum"]) == ("1", last["checksum"])


async def test_every_body_in_the_openapi_document_has_an_example(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    schemas = document["components"]["schemas"]
    for path in ("/v1/events", "/v1/event-types", "/v1/periods", "/v1/periods/{name}", "/v1/integrity/verifications"):
        for operation in document["paths"][path].values():
            if body := operation.get("requestBody"):
                name = body["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
                assert schemas[name]["examples"], name


async def test_a_key_of_a_request_with_more_or_fewer_events_conflicts(client: httpx.AsyncClient, board: Person) -> None:
    headers = board.headers | {"Idempotency-Key": "batch-1"}
    two = {"events": [decision(tags=["a"]), decision(tags=["b"])]}
    first = await client.post("/v1/events", json=two, headers=headers)
    assert first.status_code == 201, first.text
    again = await client.post("/v1/events", json=two, headers=headers)
    assert [one["duplicate"] for one in again.json()["events"]] == [True, True]
    for other in (two["events"][:1], [*two["events"], decision(tags=["c"])], two["events"][::-1]):
        refused = await client.post("/v1/events", json={"events": other}, headers=headers)
        assert (refused.status_code, refused.json()["error_code"]) == (409, "KEY_CONFLICT"), refused.text


async def test_lineage_says_when_it_is_cut(client: httpx.AsyncClient, board: Person) -> None:
    chain: list[str] = []
    for _ in range(4):
        more = {"caused_by": chain[-1]} if chain else {}
        [made] = await recorded(client, board, decision(**more))
        chain.append(made["id"])

    async def asked(part: str, event: str, depth: int) -> Any:
        path = f"/v1/events/{event}/{part}"
        return (await client.get(path, params={"depth": depth}, headers=board.headers)).json()

    assert [(await asked("lineage", chain[-1], depth))["complete"] for depth in (2, 3)] == [False, True]
    assert [(await asked("descendants", chain[0], depth))["complete"] for depth in (2, 3)] == [False, True]
    process = await client.get("/v1/events/process/hosting-2026", headers=board.headers)
    assert process.json()["complete"] is True


async def test_events_of_all_legal_entities_are_read_as_one_stream(client: httpx.AsyncClient, board: Person) -> None:
    for name in ("DE", "FR", "DE"):
        await recorded(client, board, decision(scope={"legal_entity": name}))
    answer = await client.get("/v1/events", params={"legal_entity": "*", "limit": 100}, headers=board.headers)
    found = [one["scope"]["legal_entity"] for one in answer.json()["events"] if one["type"] == "board.decision.taken"]
    assert found == ["DE", "FR", "DE"]
