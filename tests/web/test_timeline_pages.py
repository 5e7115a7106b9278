"""Claims about the timeline: the picture counts what the list shows, a day can be gone back to, people and versions."""

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from html import unescape
from typing import Any

import httpx

from mnemon.semantics.outputs import EventDensity
from mnemon.web.correction_pages import in_order
from mnemon.web.pictures.density import density_picture, following
from mnemon.web.pictures.stages import stages_of
from mnemon.web.pictures.ties import ties_picture
from tests.api.conftest import Person, admin, caller_address, client, mnemon, user
from tests.semantics.conftest import all_done, quick_retries, settings, work
from tests.work.conftest import eventually

__all__ = [
    "admin", "all_done", "caller_address", "client", "eventually", "mnemon", "quick_retries", "settings", "user",
    "work",
]  # fmt: skip
Done = Callable[[], Awaitable[None]]


async def take(client: httpx.AsyncClient, whose: Person, content: str, **fields: Any) -> str:
    about = {
        "artifact_type": "note", "source_system": "test", "ts": "2026-03-02T09:00:00Z", "visibility_scope": "org",
    }  # fmt: skip
    answer = await client.post("/v1/artifacts", json=about | {"content": content} | fields, headers=whose.headers)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["artifact_uid"])


async def test_the_timeline_counts_shows_goes_back_and_follows_what_was_replaced(
    client: httpx.AsyncClient, user: Person, admin: Person, all_done: Done
) -> None:
    async def see(path: str, whose: Person = user, status: int = 200) -> str:
        answer = await client.get(path, headers=whose.headers)
        assert answer.status_code == status, answer.text
        return answer.text

    assert '<figure class="density">' not in await see("/events")
    assert "No event names anybody yet" in await see("/events/people")
    for text, day in (
        ("We decided to use MySQL for the ledger.", "2026-01-05"),
        ("We decided to use Postgres instead of MySQL.", "2026-03-09"),
        ("Ada Byron will move the ledger by 9 April 2026.", "2026-03-10"),
    ):
        await take(client, user, text, ts=f"{day}T09:00:00Z")
        await all_done()
    await take(client, user, "We decided to sell the zeppelin.", visibility_scope="me")
    await all_done()

    page = await see("/events")
    assert "Events by week: 4 from" in page
    assert "Decision <small>3</small>" in page
    assert "Decision <small>2</small>" in await see("/events", admin)
    links = [unescape(one) for one in re.findall(r'<a href="([^"]+)" aria-label="week of 5 Jan', page)]
    assert links == ["/events?time_from=2026-01-05&time_to=2026-01-11"]
    assert re.findall(r"<h2>.*?“(.*?)”", await see(links[0])) == ["We decided to use MySQL for the ledger."]
    assert 'name="as_of"' in page
    then = await see("/events?as_of=2026-02-01")
    assert 'value="2026-02-01"' in then
    assert "Postgres" not in re.sub(r"<figure.*?</figure>", "", then, flags=re.DOTALL)
    counted = (await client.get("/v1/semantic-events/density?category=Decision", headers=user.headers)).json()
    assert (counted["counted"], counted["complete"]) == (3, True)
    assert {one["category"] for one in counted["counts"]} == {"Decision"}

    event = re.findall(r'href="(/events/evt_[^"]+)"', await see("/events?query=Postgres"))[0]
    chain = re.search(r'<ol class="chain">(.*?)</ol>', await see(event), re.DOTALL)
    assert chain
    assert chain[1].index("MySQL for the ledger") < chain[1].index('aria-current="true"')

    people = await see("/events/people")
    assert re.search(r'<a href="/events\?actor=Ada\+Byron">Ada Byron</a>', people)
    assert re.search(r"<path d=\"M[^\"]+\" stroke-width=\"[\d.]+\"><title>Ada Byron and ", people)
    assert "Nobody fits" in await see("/events/people?person=Nobody")


async def test_two_versions_of_a_document_tell_what_changed(
    client: httpx.AsyncClient, user: Person, all_done: Done
) -> None:
    uid = ""
    for text in ("We keep bookings.\n\nWe decided to use MySQL.", "We keep bookings.\n\nWe decided to sell the boat."):
        uid = await take(client, user, text, source_id="policy-1", title="Policy")
        await all_done()
    page = (await client.get(f"/events?artifact_uid={uid}", headers=user.headers)).text
    document = re.findall(r'href="(/documents/[0-9a-f-]{36})"', page)[0]
    assert f'href="{document}/changes"' in (await client.get(document, headers=user.headers)).text
    compared = (await client.get(f"{document}/changes", headers=user.headers)).text
    assert re.search(r"New</h2>.*?sell the boat.*?No longer said</h2>.*?MySQL", compared, re.DOTALL)
    assert "<td>We decided to <del>use MySQL</del>.</td>" in compared
    assert "<td>We decided to <ins>sell the boat</ins>.</td>" in compared
    wrong = await client.get(f"{document}/changes?before=7&after=9", headers=user.headers)
    assert wrong.status_code == 404
    nonsense = await client.get(f"{document}/changes?after=abc", headers=user.headers)
    assert (nonsense.status_code, "This document has no version abc." in nonsense.text) == (404, True)


def test_what_was_replaced_stands_before_what_replaced_it_though_both_are_of_one_day() -> None:
    days = (("evt_0", "2026-05-18"), ("evt_a", "2026-05-18"), ("evt_b", "2026-05-18"), ("evt_c", None))
    known = {name: {"event_id": name, "happened_at": day} for name, day in days}
    ends = {("evt_b", "evt_a"), ("evt_a", "evt_0")}
    assert [one["event_id"] for one in in_order(known, ends)] == ["evt_c", "evt_b", "evt_a", "evt_0"]
    circle = {("evt_a", "evt_b"), ("evt_b", "evt_a")}
    assert len(in_order(known, circle)) == 4


def counted(unit: str, *counts: tuple[str, str, int]) -> EventDensity:
    rows = [
        {"since": datetime.fromisoformat(day).replace(tzinfo=UTC), "category": category, "events": events}
        for day, category, events in counts
    ]
    return EventDensity.model_validate(
        {"unit": unit, "counts": rows, "counted": sum(one[2] for one in counts), "complete": True}
    )


def test_gaps_are_drawn_and_the_tallest_column_fills_the_height() -> None:
    picture = density_picture(counted("month", ("2025-11-01", "Decision", 2), ("2026-02-01", "Feedback", 3),
                                      ("2026-02-01", "Decision", 1)))  # fmt: skip
    assert picture
    assert [column.events for column in picture.columns] == [2, 0, 0, 4]
    assert (picture.first.isoformat(), picture.last.isoformat()) == ("2025-11-01", "2026-02-28")
    assert [(one.category, one.height) for one in picture.columns[-1].stacks] == [("Decision", 30), ("Feedback", 90)]
    assert picture.columns[-1].stacks[-1].top == 0
    assert density_picture(counted("day")) is None
    assert following(following(picture.first, "quarter"), "year").isoformat() == "2027-02-01"


def test_ties_join_the_busiest_names_and_nothing_else() -> None:
    pairs = [(f"Person {one}", f"Topic {one % 3}", 30 - one) for one in range(30)]
    picture = ties_picture(pairs)
    assert picture
    assert [one.name for one in picture.left][:2] == ["Person 0", "Person 1"]
    assert len(picture.left) == 14
    names = {one.name for one in (*picture.left, *picture.right)}
    assert all(tie.left in names and tie.right in names for tie in picture.ties)
    assert ties_picture([]) is None


def test_the_stages_of_a_run_fill_its_line_in_order() -> None:
    drawn = stages_of({"extract_ms": 300, "chunks_created": 4, "embed_ms": 900, "store_ms": 0})
    assert [(one.name, one.seconds, one.left, one.width) for one in drawn] == [
        ("extract", 0.3, 0.0, 30.0), ("embed", 0.9, 30.0, 90.0),
    ]  # fmt: skip
    assert stages_of(None) == []
