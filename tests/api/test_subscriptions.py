"""Subscriptions over REST: declared, polled, waited on, streamed, acknowledged, moved; by whom they may be."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.api.log import streaming
from mnemon.app import Mnemon
from mnemon.identity.roles import CredentialScope, Role
from mnemon.log.append.incoming import DECISION, DECISION_TYPE
from mnemon.log.subscribe.pull import LONGEST_WAIT
from mnemon.log_operations.delivery import BatchOut
from mnemon.web.site import listening_socket, site_server
from tests.patience import PATIENCE

from .conftest import Person, person, token_for

BOT = {"id": "minutes-bot", "subscriber_type": "agent", "event_types": ["board.decision.taken"]}
PATH = "/v1/subscriptions/minutes-bot"


@pytest.fixture
async def board(client: httpx.AsyncClient, admin: Person) -> Person:
    await client.post("/v1/event-types", json=DECISION_TYPE, headers=admin.headers)
    made = await client.post("/v1/subscriptions", json=BOT, headers=admin.headers)
    assert made.status_code == 201, made.text
    return admin


async def decide(client: httpx.AsyncClient, who: Person, count: int = 1) -> list[dict[str, Any]]:
    made = await client.post("/v1/events", json={"events": [DECISION] * count}, headers=who.headers)
    assert made.status_code == 201, made.text
    events: list[dict[str, Any]] = made.json()["events"]
    return events


async def poll(client: httpx.AsyncClient, who: Person, **query: Any) -> dict[str, Any]:
    answer = await client.get(f"{PATH}/poll", params=query, headers=who.headers)
    assert answer.status_code == 200, answer.text
    BatchOut.model_validate_json(answer.text)
    batch: dict[str, Any] = answer.json()
    return batch


async def acknowledge(client: httpx.AsyncClient, who: Person, event: dict[str, Any], **more: Any) -> httpx.Response:
    body = {"event_id": event["id"], "sequence": event["sequence"]} | more
    return await client.post(f"{PATH}/acknowledge", json=body, headers=who.headers)


async def test_events_come_again_until_they_are_acknowledged(client: httpx.AsyncClient, board: Person) -> None:
    made = await decide(client, board, 3)
    first = await poll(client, board, limit=2)
    assert [one["id"] for one in first["events"]] == [one["id"] for one in made[:2]]
    assert first["has_more"] is True
    assert await poll(client, board, limit=2) == first
    done = await acknowledge(client, board, first["events"][1], token=first["tokens"]["main"])
    assert done.json() == {"sequence": made[1]["sequence"]}
    assert [one["id"] for one in (await poll(client, board))["events"]] == [made[2]["id"]]
    detail = (await client.get(PATH, headers=board.headers)).json()
    assert (detail["positions"][0]["sequence"], detail["positions"][0]["lag"]) == (made[1]["sequence"], 1)


async def test_a_long_poll_ends_when_an_event_arrives(client: httpx.AsyncClient, board: Person) -> None:
    waiting = asyncio.create_task(poll(client, board, wait=LONGEST_WAIT))
    await asyncio.sleep(0)
    [made] = await decide(client, board)
    batch = await asyncio.wait_for(waiting, PATIENCE)
    assert [one["id"] for one in batch["events"]] == [made["id"]]
    await acknowledge(client, board, made)
    assert (await poll(client, board, wait=0.05))["events"] == []


async def test_only_the_subscriber_and_administrators_acknowledge(
    client: httpx.AsyncClient, mnemon: Mnemon, board: Person, user: Person, tenant: UUID
) -> None:
    [made] = await decide(client, board)
    refused = await acknowledge(client, user, made)
    assert (refused.status_code, refused.json()["error_code"]) == (403, "NOT_ALLOWED")
    own = BOT | {"id": "own-bot", "subscriber_id": f"user:{user.user_id}"}
    await client.post("/v1/subscriptions", json=own, headers=board.headers)
    secret = await token_for(mnemon, tenant, user, CredentialScope.WRITE)
    body = {"event_id": made["id"], "sequence": made["sequence"]}
    done = await client.post(
        "/v1/subscriptions/own-bot/acknowledge", json=body, headers={"Authorization": f"Bearer {secret}"}
    )
    assert done.status_code == 200, done.text


async def test_a_paused_subscription_yields_nothing_and_a_reset_one_everything_again(
    client: httpx.AsyncClient, board: Person
) -> None:
    made = await decide(client, board, 2)
    old = await poll(client, board)
    await acknowledge(client, board, made[1])
    assert (await client.post(f"{PATH}/pause", headers=board.headers)).json()["status"] == "paused"
    reset = await client.post(f"{PATH}/reset", json={"positions": {"main": made[0]["sequence"]}}, headers=board.headers)
    assert reset.json()["positions"][0]["sequence"] == made[0]["sequence"]
    assert (await poll(client, board))["events"] == []
    assert (await client.post(f"{PATH}/resume", headers=board.headers)).json()["status"] == "active"
    assert [one["id"] for one in (await poll(client, board))["events"]] == [made[1]["id"]]
    late = await acknowledge(client, board, made[1], token=old["tokens"]["main"])
    assert (late.status_code, late.json()["error_code"]) == (409, "SUBSCRIPTION_MOVED")
    await client.post(f"{PATH}/reset", json={}, headers=board.headers)
    assert len((await poll(client, board))["events"]) == 2


async def test_a_wrong_acknowledgement_is_refused(client: httpx.AsyncClient, board: Person) -> None:
    made = await decide(client, board, 2)
    mixed = await acknowledge(client, board, {"id": made[0]["id"], "sequence": made[1]["sequence"]})
    assert (mixed.status_code, mixed.json()["error_code"]) == (409, "CONFLICT")
    for sequence in ("soon", "-1", 7):
        bad = await acknowledge(client, board, made[0] | {"sequence": sequence})
        assert (bad.status_code, bad.json()["error_code"]) == (422, "INVALID_REQUEST")
    absent = await acknowledge(client, board, made[0] | {"id": "01NONE"})
    assert (absent.status_code, absent.json()["error_code"]) == (404, "EVENT_NOT_FOUND")


async def test_subscriptions_are_listed_repeated_refused_and_removed(client: httpx.AsyncClient, board: Person) -> None:
    assert (await client.post("/v1/subscriptions", json=BOT, headers=board.headers)).status_code == 201
    other = await client.post("/v1/subscriptions", json=BOT | {"event_types": []}, headers=board.headers)
    assert (other.status_code, other.json()["error_code"]) == (409, "CONFLICT")
    bad = await client.post("/v1/subscriptions", json={"id": "Not an id"}, headers=board.headers)
    assert (bad.status_code, bad.json()["error_code"]) == (422, "INVALID_REQUEST")
    listed = (await client.get("/v1/subscriptions", headers=board.headers)).json()
    assert [one["id"] for one in listed["subscriptions"]] == ["minutes-bot"]
    assert (await client.delete(PATH, headers=board.headers)).status_code == 204
    gone = await client.get(f"{PATH}/poll", headers=board.headers)
    assert (gone.status_code, gone.json()["error_code"]) == (404, "SUBSCRIPTION_NOT_FOUND")


async def test_a_subscription_from_now_on_leaves_out_the_past(client: httpx.AsyncClient, board: Person) -> None:
    await decide(client, board)
    await client.delete(PATH, headers=board.headers)
    await client.post("/v1/subscriptions", json=BOT | {"start": "now"}, headers=board.headers)
    [made] = await decide(client, board)
    assert [one["id"] for one in (await poll(client, board))["events"]] == [made["id"]]


async def test_dead_letters_are_listed_replayed_and_discarded(
    client: httpx.AsyncClient, mnemon: Mnemon, board: Person, tenant: UUID
) -> None:
    made = await decide(client, board, 2)
    async with mnemon.database.owner() as owner:
        await owner.execute(
            "INSERT INTO mnemon.parked_events (tenant_id, subscription_id, partition_id, sequence, event_id, type, "
            "entities, state, attempts, error, failed_at, due_at) "
            "SELECT tenant_id, 'minutes-bot', partition_id, sequence, id, type, '[]', 'dead', 5, 'ValueError: no', "
            "now(), 'infinity' FROM mnemon.events WHERE tenant_id = %s AND type = 'board.decision.taken'",
            (tenant,),
        )
    path = f"{PATH}/dead-letters"
    letters = (await client.get(path, headers=board.headers)).json()["dead_letters"]
    assert [one["sequence"] for one in letters] == [one["sequence"] for one in made]
    half = await client.post(f"{path}/replay", json={"sequence": made[0]["sequence"]}, headers=board.headers)
    assert half.status_code == 422
    one = {"legal_entity": "main", "sequence": made[0]["sequence"]}
    assert (await client.post(f"{path}/replay", json=one, headers=board.headers)).json() == {"count": 1}
    absent = await client.post(f"{path}/replay", json=one, headers=board.headers)
    assert (absent.status_code, absent.json()["error_code"]) == (404, "DEAD_LETTER_NOT_FOUND")
    assert (await client.post(f"{path}/discard", json={}, headers=board.headers)).json() == {"count": 1}
    assert (await client.get(path, headers=board.headers)).json()["total"] == 0


async def test_another_tenants_subscription_does_not_exist_here(
    client: httpx.AsyncClient, mnemon: Mnemon, board: Person, other_tenant: UUID
) -> None:
    stranger = await person(mnemon, other_tenant, Role.ADMIN, "stranger@example.org")
    for method, path in (("GET", PATH), ("GET", f"{PATH}/poll"), ("GET", f"{PATH}/events"), ("DELETE", PATH)):
        answer = await client.request(method, path, headers=stranger.headers)
        assert (answer.status_code, answer.json()["error_code"]) == (404, "SUBSCRIPTION_NOT_FOUND")


@pytest.fixture
async def address(mnemon: Mnemon) -> AsyncIterator[str]:
    """A real server: the client in this process would wait for a stream to end."""
    settings = mnemon.settings.model_copy(update={"port": 0})
    with listening_socket(settings) as listener:
        mnemon.settings = settings.model_copy(update={"port": listener.getsockname()[1], "shutdown_seconds": 1})
        server = site_server(mnemon)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        yield mnemon.url
        server.should_exit = True
        await serving


async def test_server_sent_events_bring_what_is_there_and_what_comes(
    client: httpx.AsyncClient, board: Person, address: str
) -> None:
    [old] = await decide(client, board)
    async with (
        asyncio.timeout(PATIENCE),
        httpx.AsyncClient(base_url=address, headers=board.headers, timeout=PATIENCE, trust_env=False) as caller,
        caller.stream("GET", f"{PATH}/events") as stream,
    ):
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.aiter_lines()
        first = await _message(lines)
        [new] = await decide(client, board)
        second = await _message(lines)
    assert (first["id"], second["id"]) == (old["id"], new["id"])
    assert first["event"] == "board.decision.taken"
    assert json.loads(second["data"])["data"] == DECISION["data"]


async def test_a_stream_ends_when_its_credential_is_revoked(
    client: httpx.AsyncClient, mnemon: Mnemon, board: Person, address: str, tenant: UUID,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.05)
    secret = await token_for(mnemon, tenant, board, CredentialScope.READ)
    async with (
        asyncio.timeout(PATIENCE),
        httpx.AsyncClient(base_url=address, timeout=PATIENCE, trust_env=False) as caller,
        caller.stream("GET", f"{PATH}/events", headers={"Authorization": f"Bearer {secret}"}) as stream,
    ):
        lines = stream.aiter_lines()
        while await anext(lines) != ": still here":
            pass
        async with mnemon.database.transaction(tenant) as tx:
            await tx.execute("UPDATE mnemon.access_tokens SET revoked_at = now()")
        async for _ in lines:
            pass
        await decide(client, board)
    assert stream.is_closed


async def _message(lines: AsyncIterator[str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    async for line in lines:
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields:
            break
    return fields


async def claim(client: httpx.AsyncClient, who: Person, **wanted: Any) -> dict[str, Any]:
    answer = await client.post(f"{PATH}/claim", json=wanted, headers=who.headers)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def test_two_consumers_share_a_subscription_without_getting_the_same_batch(
    client: httpx.AsyncClient, board: Person
) -> None:
    made = await decide(client, board, 2)
    mine = await claim(client, board, consumer="one")
    assert [one["id"] for one in mine["events"]] == [one["id"] for one in made]
    assert mine["claimed_until"] is not None
    other = await claim(client, board, consumer="two")
    assert (other["events"], other["held"]) == ([], {"main": f"user:{board.user_id}/one"})
    assert (await poll(client, board))["events"] == []
    unfenced = await acknowledge(client, board, made[1])
    assert (unfenced.status_code, unfenced.json()["error_code"]) == (409, "SUBSCRIPTION_MOVED")
    assert (await acknowledge(client, board, made[1], token=mine["tokens"]["main"])).status_code == 200
    [later] = await decide(client, board, 1)
    assert [one["id"] for one in (await claim(client, board, consumer="two"))["events"]] == [later["id"]]


async def test_a_rejected_event_comes_again_until_it_is_a_dead_letter(
    client: httpx.AsyncClient, mnemon: Mnemon, board: Person, user: Person, tenant: UUID
) -> None:
    [made] = await decide(client, board, 1)
    body = {"event_id": made["id"], "sequence": made["sequence"], "error": "HTTP 502"}
    refused = await client.post(f"{PATH}/reject", json=body, headers=user.headers)
    assert (refused.status_code, refused.json()["error_code"]) == (403, "NOT_ALLOWED")
    for attempts in range(1, 6):
        batch = await poll(client, board, wait=LONGEST_WAIT)
        assert batch["failures"] == ({made["id"]: attempts - 1} if attempts > 1 else {})
        token = {"token": batch["tokens"]["main"]}
        rejected = await client.post(f"{PATH}/reject", json=body | token, headers=board.headers)
        assert rejected.status_code == 200, rejected.text
        assert rejected.json()["attempts"] == attempts
        async with mnemon.database.transaction(tenant) as tx:  # what is tested is not the pause
            await tx.execute("UPDATE mnemon.parked_events SET due_at = now() WHERE state = 'retrying'")
    assert rejected.json()["state"] == "dead"
    letters = (await client.get(f"{PATH}/dead-letters", headers=board.headers)).json()
    assert [(one["event_id"], one["error"]) for one in letters["dead_letters"]] == [(made["id"], "HTTP 502")]


async def test_only_the_subscriber_and_administrators_claim(
    client: httpx.AsyncClient, board: Person, user: Person
) -> None:
    refused = await client.post(f"{PATH}/claim", json={}, headers=user.headers)
    assert (refused.status_code, refused.json()["error_code"]) == (403, "NOT_ALLOWED")
    for wrong in ({"seconds": 0}, {"seconds": 10**9}, {"limit": -1}, {"consumer": "a b"}, {"other": 1}):
        bad = await client.post(f"{PATH}/claim", json=wrong, headers=board.headers)
        assert bad.status_code == 422
