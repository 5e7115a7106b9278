"""Claims about artifacts and semantic events over REST."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import orjson
import pytest

from mnemon.semantics.search import collect
from tests.api.conftest import Person
from tests.semantics.conftest import all_done, quick_retries, settings, work
from tests.work.conftest import eventually

__all__ = ["all_done", "eventually", "quick_retries", "settings", "work"]

Done = Callable[[], Awaitable[None]]
NOTE = {"artifact_type": "note", "source_system": "test", "ts": "2026-03-02T09:00:00Z"}


@pytest.fixture
def call(client: httpx.AsyncClient, user: Person) -> Callable[..., Awaitable[httpx.Response]]:
    async def send(method: str, path: str, *, json_body: bool = False, **options: Any) -> httpx.Response:
        headers = user.headers | ({"Content-Type": "application/json"} if json_body else {})
        return await client.request(method, f"/v1{path}", headers=headers, **options)

    return send


async def test_an_artifact_goes_in_and_its_events_come_out(
    call: Callable[..., Awaitable[httpx.Response]], client: httpx.AsyncClient, admin: Person, all_done: Done
) -> None:
    first = "We decided to close the Bergen office.\n\nAda Byron will send the budget by 9 March 2026."
    answer = await call("POST", "/artifacts", json=NOTE | {"content": first, "source_id": "m"})
    assert answer.status_code == 202, answer.text
    uid = answer.json()["artifact_uid"]
    await call("POST", "/artifacts", json=NOTE | {"content": first.replace("9 March", "16 March"), "source_id": "m"})
    await all_done()

    found = (await call("GET", "/semantic-events", params={"query": "Bergen", "category": "Decision"})).json()
    assert found["total"] == 1
    event_id = found["events"][0]["event_id"]
    assert (await call("GET", f"/semantic-events/{event_id}")).json()["evidence"][0]["artifact_id"].startswith("art_")
    assert (await call("GET", "/semantic-events/commitments")).json()["commitments"][0]["overdue"]
    due = {"due_before": "2026-03-17", "kind": "promise"}
    assert (await call("GET", "/semantic-events", params=due)).json()["total"] == 1
    assert (await call("GET", "/semantic-events", params=due | {"due_before": "2026-03-16"})).json()["total"] == 0
    assert (await call("GET", "/semantic-events", params=due | {"kind": "request"})).json()["total"] == 0
    assert (await call("GET", "/semantic-events/people")).json()["people"][0]["person"] == "Ada Byron"
    csv = await call("GET", "/semantic-events/export", params={"format": "csv"})
    assert csv.headers["content-type"].startswith("text/csv")
    assert event_id in csv.text
    assert (await call("GET", f"/artifacts/{uid}", params={"include_text": True})).json()["text"].startswith("We dec")
    assert (await call("GET", f"/artifacts/{uid}/revisions")).json()["total"] == 2
    assert (await call("GET", f"/artifacts/{uid}/events")).json()["total"] == 2
    assert len((await call("GET", f"/artifacts/{uid}/changes")).json()["changed"]) == 1
    assert (await call("GET", f"/artifacts/{uid}/job")).json()["status"] == "DONE"
    assert (await call("POST", f"/artifacts/{uid}/reextract")).json()["status"] == "DONE"
    # Its default is private: another person does not find it, nor may they delete it.
    hidden = await client.get(f"/v1/artifacts/{uid}", headers=admin.headers)
    assert (hidden.status_code, hidden.json()["error_code"]) == (404, "ARTIFACT_NOT_FOUND")
    assert (await client.delete(f"/v1/artifacts/{uid}", headers=admin.headers)).status_code == 404
    assert (await call("DELETE", f"/artifacts/{uid}")).json()["deleted"]
    assert (await call("GET", "/semantic-events")).json()["total"] == 0


async def test_an_export_that_leaves_events_out_says_so(
    call: Callable[..., Awaitable[httpx.Response]], all_done: Done, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = "We decided to close the Bergen office.\n\nWe decided to keep the Oslo office."
    await call("POST", "/artifacts", json=NOTE | {"content": content})
    await all_done()
    monkeypatch.setattr(collect, "MOST", 1)
    for most, complete in ((2, "true"), (1, "false")):
        monkeypatch.setattr(collect, "MOST_COLLECTED", most)
        for form in ("csv", "markdown"):
            export = await call("GET", "/semantic-events/export", params={"format": form})
            assert (export.headers["x-mnemon-complete"], export.text.count("evt_")) == (complete, most)
            assert ("There are more events" in export.text) == (form == "markdown" and complete == "false")


async def test_a_bare_day_is_meant_from_its_first_moment_or_to_its_last(
    call: Callable[..., Awaitable[httpx.Response]], all_done: Done
) -> None:
    day = NOTE | {"ts": "2026-03-02", "retention_policy": "custom", "retain_until": "2999-12-30"}
    uid = (await call("POST", "/artifacts", json=day | {"content": "We decided to use Postgres."})).json()[
        "artifact_uid"
    ]
    await all_done()
    kept = (await call("GET", f"/artifacts/{uid}")).json()
    assert (kept["source_ts"], kept["retain_until"][:19]) == ("2026-03-02T00:00:00Z", "2999-12-30T23:59:59")
    for asked, total in (({"time_from": "2026-03-02", "time_to": "2026-03-02"}, 1), ({"time_from": "2026-03-03"}, 0)):
        assert (await call("GET", "/semantic-events", params=asked)).json()["total"] == total
    for asked, total in (({"as_of": "2026-03-02"}, 1), ({"as_of": "2026-03-01"}, 0), ({"known_at": "2999-01-01"}, 1)):
        assert (await call("GET", "/semantic-events", params=asked)).json()["total"] == total
    number = await call("POST", "/artifacts", json=NOTE | {"content": "We decided.", "ts": 2026})
    assert (number.status_code, number.json()["error"][:10]) == (422, "ts: '2026'")


async def test_an_unknown_category_is_refused(call: Callable[..., Awaitable[httpx.Response]]) -> None:
    answer = await call("GET", "/semantic-events", params={"category": "Song"})
    assert answer.status_code == 422
    assert "Must be one of: Commitment" in answer.json()["error"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"query": "x" * 1001}, "query: "),
        ({"actor": "zero \0 byte"}, "cannot be used"),
        ({"as_of": "2026"}, "as_of: '2026' is neither a day like"),
        ({"known_at": "1772000000"}, "known_at: '1772000000' is neither"),
        ({"time_to": "2026-03-02T09:00:00"}, "time_to: '2026-03-02T09:00:00' has no time zone"),
        ({"cursor": "eyJhZnRlcl90aW1lIjogIjAwMDEtMDEtMDFUMDA6MDA6MDArMjM6NTkiLCAiYWZ0ZXJfaWQiOiAieCJ9"}, "time zone"),
    ],
)
async def test_a_refusal_names_the_field_and_never_the_statement(
    call: Callable[..., Awaitable[httpx.Response]], asked: dict[str, str], said: str
) -> None:
    answer = await call("GET", "/semantic-events", params=asked)
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert said in error
    assert not any(word in error for word in ("LINE", "SELECT", "portal", "CONTEXT", "e.active"))


@pytest.mark.parametrize("content", ["Wir beschließen es. " * 200_000, "決" * 4_999_999])
async def test_the_longest_text_that_the_schema_allows_can_be_sent(
    call: Callable[..., Awaitable[httpx.Response]], content: str
) -> None:
    sent = orjson.dumps(NOTE | {"content": content})
    answer = await call("POST", "/artifacts", content=sent, json_body=True)
    assert answer.status_code == 202, answer.text
    uid = answer.json()["artifact_uid"]
    kept = (await call("GET", f"/artifacts/{uid}", params={"include_text": True})).json()
    assert kept["char_count"] == len(content)
    # Else the next worker of any test would read it for minutes.
    assert (await call("DELETE", f"/artifacts/{uid}")).status_code == 200


async def test_a_body_that_no_artifact_can_be_is_refused_before_it_is_read_to_the_end(
    client: httpx.AsyncClient, user: Person
) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(100):
            sent += 1 << 20
            yield b"x" * (1 << 20)

    headers = user.headers | {"Content-Type": "application/json"}
    answer = await client.post("/v1/artifacts", content=endless(), headers=headers)
    assert (answer.status_code, answer.json()["error_code"]) == (413, "REQUEST_TOO_LARGE")
    assert answer.headers["connection"] == "close"
    assert sent < 40 << 20
    stranger = {"Content-Type": "application/json"}
    sent = 0
    assert (await client.post("/v1/artifacts", content=endless(), headers=stranger)).status_code == 401
    assert sent <= 1 << 20, "nothing is read for a stranger"
    form = await client.post("/v1/artifacts", content=b"{}", headers=user.headers | {"Content-Type": "text/plain"})
    assert (form.status_code, "application/json" in form.json()["error"]) == (422, True)
    for body, says in ((b"{", "not JSON"), (b"{}", "source_system: is missing")):
        bad = await client.post("/v1/artifacts", content=body, headers=headers)
        assert (bad.status_code, says in bad.json()["error"]) == (422, True), bad.text


async def test_names_that_would_colour_a_terminal_are_refused(call: Callable[..., Awaitable[httpx.Response]]) -> None:
    for field in ("title", "author", "source_id"):
        answer = await call("POST", "/artifacts", json=NOTE | {"content": "We decided.", field: "red\x1b[31m"})
        assert (answer.status_code, answer.json()["details"]["field"]) == (422, field)
