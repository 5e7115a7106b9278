"""Claims about the pages of the log: what led to an event, verification and checkpoints, a second person's consent."""

import re
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.identity.roles import Role
from mnemon.log.append.incoming import DECISION, DECISION_TYPE
from mnemon.memory.operations.graph import GraphOut
from mnemon.verification.jobs import VERIFY_EVERYTHING
from mnemon.web import log_pages
from mnemon.web.pictures.graph import graph_picture
from mnemon.web.pictures.lineage import lineage_picture
from mnemon.work.worker import Worker
from tests.api.conftest import Person, admin, caller_address, client, mnemon, person, settings, user
from tests.work.conftest import Eventually, eventually, running

__all__ = ["admin", "caller_address", "client", "eventually", "mnemon", "settings", "user"]
OWN = {"Origin": "http://127.0.0.1:8787"}


async def see(client: httpx.AsyncClient, whose: Person, path: str, status: int = 200) -> str:
    answer = await client.get(path, headers=whose.headers)
    assert answer.status_code == status, answer.text
    return answer.text


async def test_a_verification_is_started_followed_and_told(
    client: httpx.AsyncClient, admin: Person, user: Person, mnemon: Mnemon, eventually: Eventually
) -> None:
    assert "Nothing was verified yet" in await see(client, user, "/integrity")
    assert 'action="/integrity"' not in await see(client, user, "/integrity")
    assert (await client.post("/integrity", headers=admin.headers | OWN)).status_code == 303
    page = await see(client, admin, "/integrity")
    assert 'data-status="queued"' in page
    assert "No worker is running" in page
    assert (await client.post("/integrity/checkpoint", headers=admin.headers | OWN)).status_code == 303
    async with running(Worker(mnemon.database, (VERIFY_EVERYTHING,), context=mnemon, poll=0.1)):

        async def told() -> bool:
            return "data-status" not in await see(client, admin, "/integrity")

        await eventually(told)
    page = await see(client, user, "/integrity")
    assert re.search(r'class="verdict">.*?(Intact|Something was changed)', page, re.DOTALL)
    assert "1 signed so far" in page


async def test_what_an_event_led_to_is_drawn_below_it(client: httpx.AsyncClient, user: Person, admin: Person) -> None:
    assert (await client.post("/v1/event-types", json=DECISION_TYPE, headers=admin.headers)).status_code == 201

    async def append(**more: str) -> str:
        made = await client.post("/v1/events", json={"events": [DECISION | more]}, headers=user.headers)
        assert made.status_code < 300, made.text
        return str(made.json()["events"][0]["id"])

    cause = await append()
    for _ in range(2):
        await append(caused_by=cause)
    page = await see(client, user, f"/log/{cause}")
    drawn = re.search(r'<figure class="lineage">(.*?)</figure>', page, re.DOTALL)
    assert drawn
    assert drawn[1].count("<circle") == 3
    assert drawn[1].count("<path") == 2
    assert "3 events, each below the one that caused it" in drawn[1]


async def test_an_event_has_a_receipt_once_a_checkpoint_covers_it(
    client: httpx.AsyncClient, user: Person, admin: Person
) -> None:
    await client.post("/memory", data={"content": "Berths cost 39 euro."}, headers=admin.headers | OWN)
    event = (await client.get("/v1/events?direction=backward", headers=admin.headers)).json()["events"][0]["id"]
    before = await see(client, user, f"/log/{event}")
    assert f"/log/{event}/receipt" not in before
    assert "Sign one now" not in before
    assert 'action="/integrity/checkpoint"' in await see(client, admin, f"/log/{event}")
    signed = await client.post("/integrity/checkpoint", data={"event": event}, headers=admin.headers | OWN)
    assert signed.headers["location"] == f"/log/{event}"
    assert f'href="/log/{event}/receipt"' in await see(client, user, f"/log/{event}")
    assert "checkpoint" in await see(client, user, f"/log/{event}/receipt")
    elsewhere = {"event": "https://evil.example/"}
    away = await client.post("/integrity/checkpoint", data=elsewhere, headers=admin.headers | OWN)
    assert away.headers["location"] == "/integrity"


async def test_a_page_that_follows_the_log_is_told_of_more(
    client: httpx.AsyncClient, user: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_pages, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(log_pages, "LONGEST_TAIL", 2)
    answer = await client.get("/log/tail", headers=user.headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert ": still here" in answer.text
    assert (await client.get("/log/tail")).status_code == 303


async def test_two_administrators_take_a_value_out_of_an_event_and_open_a_period(
    client: httpx.AsyncClient, admin: Person, mnemon: Mnemon, tenant: UUID
) -> None:
    page = await see(client, admin, "/approvals")
    assert "Nobody waits to be forgotten" in page
    asked = {"act": "periods.open", "period": "2026-03", "reason": "An invoice was booked twice"}
    made = await client.post("/approvals", data=asked, headers=admin.headers | OWN)
    assert made.status_code == 303, made.text
    page = await see(client, admin, "/approvals")
    assert "Someone else must agree." in page
    [approval] = re.findall(r'action="(/approvals/[0-9a-f-]{36})/decline"', page)
    own = await client.post(f"{approval}/approve", headers=admin.headers | OWN)
    assert own.status_code in (403, 409)
    other = await person(mnemon, tenant, Role.ADMIN, "second@example.org")
    waiting = await see(client, other, "/approvals")
    assert f'action="{approval}/approve"' in waiting
    assert f"user {str(admin.user_id)[:8]}" not in waiting, "a second person is told by name who asks"
    assert (await client.post(f"{approval}/approve", headers=other.headers | OWN)).status_code == 303
    assert "approved" in await see(client, admin, "/approvals")
    wrong = {"event_id": "01KJQ6Y0Q5M8ZQ3T3M6S8V4X2B", "fields": "/data/email", "reason": "legacy_data"}
    refused = await client.post("/approvals/redactions", data=wrong, headers=admin.headers | OWN)
    assert (refused.status_code, 'role="alert"' in refused.text) == (404, True)
    note = {"content": "Eve likes tea.", "subject_id": "customer-17"}
    await client.post("/memory", data=note, headers=admin.headers | OWN)
    whom = {"subject_id": "customer-17", "reason": "subject_request"}
    await client.post("/privacy/erasures", data=whom, headers=admin.headers | OWN)
    assert "Forget for good" in await see(client, other, "/approvals")


async def test_what_is_tied_in_memory_is_drawn_and_listed(client: httpx.AsyncClient, user: Person) -> None:
    headers = user.headers | OWN
    assert "Nothing is tied to anything yet" in await see(client, user, "/memory/graph")
    first, second = [
        (await client.post("/memory", data={"content": content}, headers=headers)).headers["location"]
        for content in ("The archive is in Paris.", "Paris has a <b>river</b>.")
    ]
    other = second.rpartition("/")[2]
    tied = await client.post(f"{first}/link", data={"kind": "emo", "ref": other}, headers=headers)
    assert tied.status_code == 303, tied.text
    page = await see(client, user, "/memory/graph")
    assert page.count("<circle") >= 2
    assert "The archive is in Paris." in page
    assert "<b>river" not in page
    around = await see(client, user, f"/memory/graph?emo_id={other}")
    assert "Around one object" in around
    assert 'role="alert"' in await see(client, user, "/memory/graph?branch=nowhere", 404)


def test_a_line_of_causes_goes_down_and_a_fork_goes_inward() -> None:
    def event(name: str, cause: str | None) -> dict[str, object]:
        return {"id": name, "caused_by": cause, "type": "x", "recorded_at": "2026-01-01T00:00:00Z"}

    told = [event("a", "gone"), event("b", "a"), event("c", "b"), event("d", "b"), event("e", "c")]
    picture = lineage_picture("b", told)
    assert picture
    assert [one.event["id"] for one in picture.nodes] == ["a", "b", "c", "e", "d"]
    assert [one.x for one in picture.nodes][:2] == [12, 12]
    assert len({one.x for one in picture.nodes[2:]}) == 1
    assert [one.is_here for one in picture.nodes].count(True) == 1
    assert lineage_picture("a", [event("a", None)]) is None


def test_a_great_graph_is_drawn_in_part_and_says_so() -> None:
    ids = [f"018f4d1e-0000-7000-8000-{number:012d}" for number in range(100)]
    nodes = [{"emo_id": one, "emo_type": "note", "emo_version": 1, "tags": [], "deleted": False} for one in ids]
    edges = [{"kind": "LINKS_TO", "source": ids[0], "target": one, "properties": {}} for one in ids[1:]]
    graph = GraphOut.model_validate({"graph": "g", "nodes": nodes, "edges": edges, "cut_short": False})
    picture = graph_picture(graph, {ids[0]: "The middle"})
    assert picture
    assert (len(picture.nodes), picture.left_out) == (60, 40)
    assert picture.nodes[0].label == "The middle"
    assert graph_picture(graph.model_copy(update={"edges": []}), {}) is None
