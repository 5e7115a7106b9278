"""Input that nobody sends by mistake: it is refused with a reason, never answered with a failure of ours."""

import base64
import hashlib
import json
from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.identity.roles import Role
from mnemon.log.append.incoming import DECISION, DECISION_TYPE
from mnemon.log.proof.verify import verify
from mnemon.log.read.streams import Stream

from .conftest import Person, person

NUL, LONE = "a\x00b", "\ud800"
FINGERPRINT = hashlib.sha256(json.dumps(["main", "scope", "", None], separators=(",", ":")).encode()).hexdigest()[:12]


def cursor_of(*content: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()


CURSORS = [
    "x", "%00", "=" * 50, "A" * 2001, "é", cursor_of(1), cursor_of({}), cursor_of(1, 2, 3),
    cursor_of(2, 1, FINGERPRINT),
    cursor_of(1, 10**30, FINGERPRINT), cursor_of(1, -(10**30), FINGERPRINT), cursor_of(1, -1, FINGERPRINT),
    cursor_of(1, True, FINGERPRINT), cursor_of(1, 1.5, FINGERPRINT), cursor_of(1, "1", FINGERPRINT),
    cursor_of(1, 2**63, FINGERPRINT), cursor_of(1, None, FINGERPRINT),
]  # fmt: skip
QUERIES = [
    {"limit": -1}, {"limit": 0}, {"limit": 10**30}, {"limit": "NaN"}, {"from_sequence": -1}, {"from_sequence": 10**30},
    {"to_sequence": "9" * 5000}, {"from_sequence": "١٢"}, {"as_of": 10**30}, {"as_of": "0000-00-00"}, {"as_of": NUL},
    {"from_date": "9999-12-31"}, {"to_date": "9999-12-31"}, {"from_date": "0001-01-01"}, {"to_date": "2026-02-30"},
    {"from_date": "0001-01-01T00:00:00+23:59"}, {"to_date": "9999-12-31T23:59:59-23:59"}, {"recorded_to": "9999-12-31"},
    {"effective_from": "infinity"}, {"effective_to": "9999-12-31"}, {"stream_type": "tag"},
    {"stream_type": "tag", "stream_id": NUL}, {"stream_type": "entity", "stream_id": "x", "entity_type": NUL},
    {"stream_type": "scope", "scope": NUL, "stream_id": "x"}, {"stream_type": "scope", "stream_id": NUL},
    {"legal_entity": NUL}, {"legal_entity": "'; DROP TABLE x; --"}, {"legal_entity": "%s %(tenant)s"}, {"type": NUL},
    {"dimension": "a"}, {"dimension": f"a:{NUL}"}, {"dimension": f"{NUL}:b"}, {"dimension": ":"}, {"direction": "up"},
    {"unknown": "1"}, {"stream_type": "correlation", "stream_id": NUL}, {"stream_type": "actor", "stream_id": NUL},
    {"stream_type": "type", "stream_id": NUL}, {"stream_type": "type", "stream_id": "x" * 401},
]  # fmt: skip
PATHS = [
    "/v1/events/%00", "/v1/events/%00/lineage", "/v1/events/%00/descendants", "/v1/events/%00/receipt",
    "/v1/events/process/%00", "/v1/events/process/" + "x" * 5000, "/v1/subscriptions/%00", "/v1/subscriptions/%00/poll",
    "/v1/subscriptions/%00/events", "/v1/subscriptions/%00/dead-letters", "/v1/integrity/checkpoints?legal_entity=%00",
    "/v1/integrity/export?legal_entity=%00", "/v1/archives?legal_entity=%00", "/v1/archives?legal_entity=nowhere",
    "/v1/privacy/data?subject_id=%00", "/v1/privacy/erasures/%00", "/v1/privacy/redactions/%00",
    "/v1/entity-version?entity_type=%00&entity_id=x", "/v1/entity-version?entity_type=x&entity_id=%00",
    "/v1/integrity/verifications/%00", "/v1/jobs/%00", "/v1/events/..%2f..%2fetc%2fpasswd",
    "/v1/integrity/checkpoints?legal_entity=..%2f..%2f..%2fetc", "/v1/privacy/people?cursor=%00&limit=1",
    "/v1/events/x?legal_entity=%00", "/v1/events/x/lineage?depth=-1", "/v1/events/x/lineage?depth=999999999999",
    "/v1/events?from_date=9999-12-31T23:59:59-14:00", "/v1/events?to_date=0001-01-01T00:00:00%2B14:00",
    "/v1/events?recorded_to=9999-12-31T23:59:59-01:00", "/v1/events?as_of=99999999999999999999",
    "/v1/semantic-events?from_date=9999-12-31T23:59:59-01:00", "/v1/search?query=x&limit=99999999999999999999",
    "/v1/documents/01890a5d-ac96-774b-bcce-b302099a8057/text?start=99999999999999999999",
    "/v1/documents/01890a5d-ac96-774b-bcce-b302099a8057/text?start=0&end=99999999999999999999",
    "/v1/documents?page=99999999999999999999", "/v1/ingestion-runs?limit=-99999999999999999999",
    "/v1/evidence/01890a5d-ac96-774b-bcce-b302099a8057/99999999999999999999-999999999999999999999",
    "/v1/privacy/redactions?cursor=%FF", "/v1/privacy/erasures?cursor=AA",
]  # fmt: skip
EVENTS: list[dict[str, Any]] = [
    {"data": None}, {"data": []}, {"type": NUL}, {"type": ""}, {"tags": [NUL]}, {"tags": ["x" * 5000]},
    {"tags": ["t"] * 10_000}, {"correlation_id": NUL}, {"correlation_id": "x" * 10_000}, {"caused_by": NUL},
    {"entities": [{"entity_type": "decision", "entity_id": NUL}]},
    {"entities": [{"entity_type": NUL, "entity_id": "x"}]},
    {"entities": [{"entity_type": "decision", "entity_id": "\U0001f600" * 400}]},
    {"entities": [{"entity_type": "decision", "entity_id": "D-17"}] * 5000},
    {"occurred_at": "0001-01-01T00:00:00+23:59"},
    {"occurred_at": "9999-12-31T23:59:59-23:59"}, {"occurred_at": "2026-03-02"}, {"occurred_at": 10**30},
    {"effective_date": "0000-01-01"}, {"effective_date": "9999-12-31"}, {"schema_version": 10**30},
    {"schema_version": -1},
    {"expected_versions": [{"entity_type": "decision", "entity_id": "D-17", "version": 10**30}]},
    {"expected_versions": [{"entity_type": "decision", "entity_id": "D-17", "version": -1}]},
    {"expected_versions": [{"entity_type": "other", "entity_id": "x", "version": 0}]},
    {"idempotency_key": NUL}, {"idempotency_key": ""}, {"idempotency_key": "k" * 5000}, {"intent_id": NUL},
    {"scope": {"legal_entity": NUL}}, {"scope": {"legal_entity": ""}}, {"scope": {"region": NUL}},
    {"scope": {"custom_scopes": {NUL: "x"}}}, {"scope": {"custom_scopes": {"x": NUL}}}, {"dimensions": {NUL: "x"}},
    {"dimensions": {"x": NUL}}, {"id": "01K9ZZZZZZZZZZZZZZZZZZZZZZ"}, {"actor": {"id": "someone-else"}},
    {"actor": {"name": NUL}}, {"scope": {"tenant_id": "00000000-0000-0000-0000-000000000000"}}, {"sequence": "1"},
    {"data": {"title": "x", "outcome": "approved", "votes": {"for": 10**30}}},
    {"data": {"title": NUL, "outcome": "approved"}},
    {"data": {"title": "\u202e\ufeff\U0001f600", "outcome": "approved"}},
    {"approved_by": "user:x"}, {"occurred_at": "9999-12-31T23:59:59-14:00"},
    {"occurred_at": "0001-01-01T00:00:00+14:00"}, {"schema_version": 10**20},
    {"source": {"system": NUL}}, {"rules_evaluated": [{"rule_id": NUL}]},
]  # fmt: skip


@pytest.fixture
async def board(client: httpx.AsyncClient, admin: Person) -> Person:
    await client.post("/v1/event-types", json=DECISION_TYPE, headers=admin.headers)
    made = await client.post("/v1/events", json={"events": [DECISION]}, headers=admin.headers)
    assert made.status_code == 201
    return admin


def refused_or_fine(answer: httpx.Response, about: Any) -> None:
    assert answer.status_code < 500, (about, answer.text)
    if answer.status_code >= 400:
        assert set(answer.json()) >= {"error", "error_code"}, about


async def test_no_query_makes_the_server_fail(client: httpx.AsyncClient, board: Person) -> None:
    for query in [*QUERIES, *({"cursor": cursor} for cursor in CURSORS)]:
        refused_or_fine(await client.get("/v1/events", params=query, headers=board.headers), query)


async def test_no_path_makes_the_server_fail(client: httpx.AsyncClient, board: Person) -> None:
    for path in PATHS:
        refused_or_fine(await client.get(path, headers=board.headers), path)


async def test_no_event_makes_the_server_fail_and_the_log_holds(
    client: httpx.AsyncClient, mnemon: Mnemon, board: Person, tenant: UUID
) -> None:
    for change in EVENTS:
        body = json.dumps({"events": [DECISION | change]})
        answer = await client.post("/v1/events", content=body, headers=board.headers)
        refused_or_fine(answer, change)
    for partition in await mnemon.log.list_partitions(tenant):
        assert (await verify(mnemon.log.reader, tenant, partition.legal_entity)).intact
        read = await mnemon.log.read_page(tenant, Stream(), legal_entity=partition.legal_entity, limit=1000)
        assert len(read.events) == partition.sequence


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b'{"events": []}', b'{"events": {}}', b'{"events": [null]}', b"\xff\xfe",
        b'{"events": [' + b'{"a":' * 3000 + b"1" + b"}" * 3000 + b"]}",
        json.dumps({"events": [DECISION | {"data": {"title": LONE, "outcome": "approved"}}]}).encode(),
        json.dumps({"events": [DECISION | {"data": {"title": float("nan"), "outcome": "approved"}}]}).encode(),
        json.dumps({"events": [DECISION] * 20_000}).encode(),
        json.dumps({"events": [DECISION | {"data": {"title": "x" * 30_000_000, "outcome": "approved"}}]}).encode(),
    ],
    ids=lambda body: f"{body[:30]!r} {len(body)}",
)  # fmt: skip
async def test_a_malformed_or_huge_body_is_refused(client: httpx.AsyncClient, board: Person, body: bytes) -> None:
    answer = await client.post("/v1/events", content=body, headers=board.headers)
    assert 400 <= answer.status_code < 500, answer.text
    assert set(answer.json()) >= {"error", "error_code"}


async def test_settling_with_malformed_words_is_refused(client: httpx.AsyncClient, board: Person) -> None:
    await client.post("/v1/subscriptions", json={"id": "bot"}, headers=board.headers)
    event = (await client.get("/v1/events", headers=board.headers)).json()["events"][0]
    for door in ("acknowledge", "reject"):
        for change in (
            {"sequence": "-1"}, {"sequence": "9" * 18}, {"sequence": 10**30}, {"token": "9" * 18}, {"token": "-1"},
            {"event_id": NUL}, {"event_id": "01NONE"}, {"sequence": "0"},
        ):  # fmt: skip
            body = {"event_id": event["id"], "sequence": event["sequence"], "error": "x"} | change
            if door == "acknowledge":
                del body["error"]
            answer = await client.post(f"/v1/subscriptions/bot/{door}", json=body, headers=board.headers)
            assert 400 <= answer.status_code < 500, (door, change, answer.text)
    nul = {"event_id": event["id"], "sequence": event["sequence"], "error": NUL}
    refused_or_fine(await client.post("/v1/subscriptions/bot/reject", json=nul, headers=board.headers), nul)


async def test_a_reset_or_subscription_beyond_all_bounds_is_refused_or_held_at_the_end(
    client: httpx.AsyncClient, board: Person
) -> None:
    for wanted in (
        {"id": NUL}, {"id": "a" * 101}, {"id": "bot", "subscriber_id": NUL}, {"id": "bot", "event_types": [NUL]},
        {"id": "bot", "scopes": {NUL: "x"}}, {"id": "lens:x"}, {"id": "bot", "entities": [{"entity_type": "x"}]},
    ):  # fmt: skip
        refused_or_fine(await client.post("/v1/subscriptions", json=wanted, headers=board.headers), wanted)
    await client.post("/v1/subscriptions", json={"id": "far"}, headers=board.headers)
    for position in ("9" * 18, "-1", "9" * 30):
        answer = await client.post(
            "/v1/subscriptions/far/reset", json={"positions": {"main": position}}, headers=board.headers
        )
        refused_or_fine(answer, position)
    assert (await client.get("/v1/subscriptions/far", headers=board.headers)).status_code == 200


async def test_what_one_tenant_holds_is_nothing_to_another(
    client: httpx.AsyncClient, mnemon: Mnemon, board: Person, tenant: UUID, other_tenant: UUID
) -> None:
    """Ids, cursors, tokens and jobs of one tenant, in the hands of an administrator of another."""
    stranger = await person(mnemon, other_tenant, Role.ADMIN, "stranger@example.org")
    await client.post("/v1/events", json={"events": [DECISION] * 3}, headers=board.headers)
    await client.post("/v1/subscriptions", json={"id": "bot"}, headers=board.headers)
    page = (await client.get("/v1/events?limit=2", headers=board.headers)).json()
    event = page["events"][1]
    await client.post("/v1/integrity/checkpoints", json={}, headers=board.headers)
    asked = await client.post(
        "/v1/privacy/redactions",
        json={"event_id": event["id"], "fields": ["/data/title"], "reason": "legacy_data"},
        headers=board.headers,
    )
    for path in (
        f"/v1/events/{event['id']}", f"/v1/events/{event['id']}/lineage", f"/v1/events/{event['id']}/receipt",
        "/v1/subscriptions/bot", "/v1/subscriptions/bot/poll", "/v1/subscriptions/bot/events",
        "/v1/subscriptions/bot/dead-letters", f"/v1/privacy/redactions/{asked.json().get('redaction_id', 'x')}",
    ):  # fmt: skip
        assert (await client.get(path, headers=stranger.headers)).status_code == 404, path
    told = {"event_id": event["id"], "sequence": event["sequence"]}
    for door in ("acknowledge", "reject", "claim", "pause", "reset"):
        body = {"acknowledge": told, "reject": told | {"error": "x"}}.get(door, {})
        answer = await client.post(f"/v1/subscriptions/bot/{door}", json=body, headers=stranger.headers)
        assert answer.status_code == 404, door
    # A cursor is a place in a stream, not a key to it.
    borrowed = await client.get("/v1/events", params={"cursor": page["next_cursor"]}, headers=stranger.headers)
    assert all(one["scope"]["tenant_id"] == str(other_tenant) for one in borrowed.json()["events"])
    followed = await client.get(f"/v1/events/{event['id']}/descendants", headers=stranger.headers)
    assert followed.status_code == 404
    for path in ("/v1/events", "/v1/events/process/hosting-2026", "/v1/privacy/people"):
        answer = await client.get(path, headers=stranger.headers)
        assert event["id"] not in answer.text
        assert str(tenant) not in answer.text
    export = await client.get("/v1/integrity/export", headers=stranger.headers)
    assert str(tenant) not in export.text
