"""Claims about the pages of what was decided and promised, as the server makes them."""

import re
from collections.abc import Awaitable, Callable
from html import unescape
from typing import Any
from uuid import UUID

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.semantics.extract import job
from mnemon.semantics.link.supersession import EventLink
from mnemon.web.event_pages import ON_A_PAGE
from tests.api.conftest import Person, admin, caller_address, client, mnemon, user
from tests.documents.conftest import rows
from tests.semantics.conftest import all_done, quick_retries, settings, work
from tests.work.conftest import eventually

__all__ = [
    "admin", "all_done", "caller_address", "client", "eventually", "mnemon", "quick_retries", "settings", "user",
    "work",
]  # fmt: skip

Done = Callable[[], Awaitable[None]]
Take = Callable[..., Awaitable[str]]
See = Callable[..., Awaitable[str]]
ATTACK = '<img src=x onerror=alert(1)> & "quotes"'


@pytest.fixture
def take(client: httpx.AsyncClient, user: Person) -> Take:
    """The user's text, for everyone unless told; its uid."""

    async def send(content: str, **fields: Any) -> str:
        about = {
            "artifact_type": "note", "source_system": "test", "ts": "2026-03-02T09:00:00Z", "visibility_scope": "org",
        }  # fmt: skip
        answer = await client.post("/v1/artifacts", json=about | {"content": content} | fields, headers=user.headers)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["artifact_uid"])

    return send


@pytest.fixture
def see(client: httpx.AsyncClient, user: Person) -> See:
    async def get(path: str, whose: Person = user, answers: int = 200, **asked: str) -> str:
        answer = await client.get(path, params=asked or None, headers=whose.headers, follow_redirects=True)
        assert answer.status_code == answers, answer.text
        assert answer.headers["content-type"].startswith("text/html")
        return answer.text

    return get


def told(page: str) -> list[str]:
    """What the events on a page say."""
    return [unescape(re.sub("<[^>]+>", "", one)).strip("“”") for one in re.findall(r"<h2>(.*?)</h2>", page, re.DOTALL)]


async def test_a_newcomer_is_told_what_to_do(see: See, take: Take, all_done: Done) -> None:
    for path in ("/events", "/events/commitments"):
        page = await see(path)
        assert "Nothing is stored here yet" in page
        assert 'href="/upload"' in page
    await take("The sky over the harbour is blue.")
    await all_done()
    assert "Nothing was found in your 1 document yet" in await see("/events")
    assert "Nothing that was promised is open" in await see("/events/commitments")
    assert "No event fits" in await see("/events", query="zeppelin")


async def test_the_quote_of_a_decision_opens_exactly_those_words(see: See, take: Take, all_done: Done) -> None:
    decision = "We decided to close the Bergen office."
    await take(f"Minutes 𝄞\n\nIt rained. {decision} Then we ate.", title="Board meeting")
    await all_done()
    page = await see("/events", query="Bergen", category="Decision")
    assert told(page) == [decision]
    assert "1 event, the best first" in page
    assert "2 March 2026" in page
    [address] = re.findall(r'class="quote" href="([^"]+)"', page)
    assert re.fullmatch(r"/evidence/[0-9a-f-]{36}/\d+-\d+", address)
    opened = await see(address)
    assert re.findall(r'<mark id="cited">(.*?)</mark>', opened) == [decision]
    assert "Board meeting" in page


async def test_a_narrative_in_other_words_stands_beside_its_quote(see: See, take: Take, all_done: Done) -> None:
    await take("[09:00] Ada Byron: I will send the budget by 9 March 2026.", artifact_type="chat")
    await all_done()
    page = await see("/events")
    assert told(page) == ["Ada Byron: “I will send the budget by 9 March 2026."]
    assert 'href="/events?actor=Ada+Byron">Ada Byron</a> (owner)' in page
    assert "due <time" in page
    assert '<span class="state">open</span>' in page


async def test_what_was_replaced_and_what_replaced_it_name_each_other(see: See, take: Take, all_done: Done) -> None:
    first, second = "We decided to use MySQL for the ledger.", "We decided to use Postgres instead of MySQL."
    await take(first, title="January")
    await all_done()
    await take(second, ts="2026-05-04T09:00:00Z", title="May")
    await all_done()
    page = await see("/events", status="superseded")
    assert told(page) == [first]
    assert re.search(rf"Replaced by:</span> <a href=\"/evidence/[^\"]+\">{second}</a>", page)
    assert re.search(
        rf"Replaces:</span> <a href=\"/evidence/[^\"]+\">{first}</a>", await see("/events", query="Postgres")
    )
    then = await see("/events", as_of="2026-04-01")
    assert told(then) == [first]
    assert "as things stood on 1 April 2026" in then
    assert '<span class="state">stands</span>' in then
    assert "Replaced by" not in then


async def test_what_may_have_been_replaced_is_asked_where_it_is_listed(
    see: See, take: Take, all_done: Done, client: httpx.AsyncClient, user: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    promise, later = "Ada Byron will move the ledger to MySQL by 9 March 2026.", "We decided to buy a ledger."
    await take(promise, title="January")
    await all_done()
    [earlier] = re.findall(r'<li id="(evt_\w+)">', await see("/events/commitments"))

    async def suggested(tx: Any, source: Any, events: Any, *more: Any) -> list[EventLink]:
        return [EventLink("supersedes", events[0].event_id, earlier, "the same ledger", suggested=True)]

    monkeypatch.setattr(job, "links_of", suggested)
    await take(later, ts="2026-05-04T09:00:00Z", title="May")
    await all_done()
    page = await see("/events/commitments")
    assert re.search(rf"Perhaps replaced by:</span> <a href=\"/evidence/[^\"]+\">{later}</a>", page)
    [decision] = re.findall(r'action="/events/(evt_\w+)/link"', page)
    assert later in await see(f"/events/{decision}")
    said = {"earlier": earlier, "kind": "supersedes", "back": "/events/commitments"}
    done = await client.post(
        f"/events/{decision}/link", data=said, headers=user.headers | {"Origin": "http://127.0.0.1:8787"}
    )
    assert done.status_code == 303, done.text
    assert promise not in told(await see("/events/commitments"))
    replaced = await see("/events", status="superseded")
    assert (told(replaced), "Perhaps" in replaced) == ([promise], False)


async def test_what_is_private_is_on_nobody_elses_page(
    see: See, take: Take, all_done: Done, user: Person, admin: Person
) -> None:
    secret = "Ada Byron will buy the zeppelin factory by 9 March 2026."
    uid = await take(secret, visibility_scope="me", title="Hush")
    await all_done()
    asked: list[tuple[str, dict[str, str]]] = [
        ("/events", {}), ("/events", {"query": "zeppelin"}), ("/events", {"artifact_uid": uid}),
        ("/events", {"actor": "Ada"}), ("/events/commitments", {}),
    ]  # fmt: skip
    for path, values in asked:
        assert told(await see(path, user, **values)) == [secret], path
        seen = await see(path, admin, **values)
        assert told(seen) == []
        assert "factory" not in seen
        assert "Hush" not in seen
    assert "Nothing is stored here yet" in await see("/events", admin)


async def test_pages_follow_each_other_and_show_everything_once(see: See, take: Take, all_done: Done) -> None:
    promises = [f"Ada Byron will paint boat number {one} by {one} March 2026." for one in range(3, 28)]
    await take("\n\n".join(f"- {one}" for one in promises))
    await all_done()
    for path, name, asked in (
        ("/events", "Older", {"category": "Commitment", "time_from": "2026-01-01", "actor": "ada"}),
        ("/events", "More", {"query": "boat"}),
        ("/events/commitments", "More", {"owner": "Ada Byron", "overdue": "1"}),
    ):
        page = await see(path, **asked)
        assert "25 " in page
        assert "First page" not in page
        [onward] = re.findall(rf'<a href="([^"]+)" rel="next">{name} →</a>', page)
        following = await see(unescape(onward))
        assert len(told(page)) == ON_A_PAGE
        assert sorted([*told(page), *told(following)]) == sorted(promises)
        assert 'rel="next"' not in following
        [back] = re.findall(r'<a href="([^"]+)">← First page</a>', following)
        assert told(await see(unescape(back))) == told(page)


async def test_open_commitments_say_in_words_how_late_they_are(see: See, take: Take, all_done: Done) -> None:
    late, later = "Ada Byron will send the budget by 9 March 2026.", "Ben Okafor will paint the shed by 9 March 2090."
    await take(f"{later}\n\n{late}")
    await all_done()
    page = await see("/events/commitments")
    assert told(page) == [late, later]
    assert re.search(r"overdue by \d+ days", page)
    assert re.search(r"in \d+ days", page)
    assert told(await see("/events/commitments", owner="ben")) == [later]
    assert told(await see("/events/commitments", overdue="1")) == [late]
    asked = await see("/events/commitments", due_before="2090-01-01")
    assert told(asked) == [late]
    assert re.search(r'name="due_before" type="\w+" value="2090-01-01"', asked), "and is sent with the next Show"
    assert 'name="due_before"' not in page
    assert "Nothing is open for “Nobody”" in await see("/events/commitments", owner="Nobody")


async def test_a_wrong_filter_is_answered_on_the_page_that_asked(see: See) -> None:
    for asked, said in (
        ({"time_from": "yesterday", "query": "boats"}, "'yesterday' is neither a day"),
        ({"as_of": "2026-02-30", "query": "boats"}, "'2026-02-30' is neither a day"),
        ({"category": "Song", "query": "boats"}, "Invalid category: Song"),
        ({"status": "asleep", "query": "boats"}, "status: must be one of 'open', 'superseded', 'done' or 'dismissed'"),
        ({"cursor": "x", "query": "boats"}, "The cursor is not one of ours"),
        ({"query": "boats" * 300}, "query: has at most 1,000 characters"),
    ):
        page = unescape(await see("/events", answers=422, **asked))
        assert said in page
        assert 'role="alert"' in page
        assert f'value="{asked["query"]}"' in page
    assert "The cursor is not one of ours" in await see("/events/commitments", answers=422, cursor="x")
    for path, name in (("/events", "actor"), ("/events/commitments", "owner"), ("/documents", "search")):
        assert "A value cannot be used" in await see(path, answers=422, **{name: "zero \0 byte"})


async def test_hostile_words_and_titles_are_shown_and_are_no_markup(see: See, take: Take, all_done: Done) -> None:
    decision = f"We decided to buy {ATTACK} for the harbour."
    await take(decision, title=f"Minutes {ATTACK}")
    await all_done()
    for asked in ({}, {"query": ATTACK, "actor": ATTACK, "artifact_uid": ATTACK, "category": ATTACK}):
        page = await see("/events", answers=422 if asked else 200, **asked)
        assert "<img src=x" not in page
        assert "&lt;img src=x onerror=alert(1)&gt; &amp; &#34;quotes&#34;" in page
    assert told(await see("/events")) == [decision]


async def test_a_documents_page_leads_to_its_events(see: See, take: Take, all_done: Done) -> None:
    uid = await take("We decided to close the Bergen office.\n\nAda Byron will send the budget by 9 March 2026.")
    await take("We decided to paint the shed.")
    await take("The sky over the harbour is blue.", title="Weather")
    await all_done()
    page = await see("/events", artifact_uid=uid)
    assert len(told(page)) == 2
    document = await see(re.findall(r'href="(/documents/[0-9a-f-]{36})"', page)[0])
    assert f'<a href="/events?artifact_uid={uid}">2 events</a>' in document
    listed = await see("/documents", search="Weather")
    quiet = await see(re.findall(r'href="(/documents/[0-9a-f-]{36})"', listed)[0])
    assert "/events?artifact" not in quiet


async def test_events_of_one_document_are_asked_for_by_its_name(see: See, take: Take, all_done: Done) -> None:
    await take("We decided to close the Bergen office.", title="Minutes of March")
    await take("We decided to paint the shed.", title="Minutes of April")
    await all_done()
    page = await see("/events", document="Minutes of March", category="Decision")
    assert told(page) == ["We decided to close the Bergen office."]
    assert "Only from" in page
    missing = await see("/events", answers=404, document="Minutes of <b>May</b>")
    assert 'role="alert"' in missing
    assert 'value="Minutes of &lt;b&gt;May&lt;/b&gt;"' in missing


async def test_people_correct_events_with_plain_forms_and_take_it_back(
    client: httpx.AsyncClient, user: Person, see: See, take: Take, all_done: Done
) -> None:
    await take("Ada Byron will send the budget by 9 March 2026. We decided to close the Bergen office.")
    await all_done()

    def forms(page: str) -> list[str]:
        return re.findall(r'<form method="post" action="(/events/evt_[^"]+)">', page)

    async def send(address: str, **given: str) -> str:
        answer = await client.post(address, data=given, headers=user.headers)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    page = await see("/events", category="Commitment")
    [event] = {one.split("/")[2] for one in forms(page)}
    back = await send(f"/events/{event}/mark", verdict="dismiss", back="/events?category=Commitment")
    assert back == f"/events?category=Commitment&said={event}#{event}"
    page = await see(back.partition("#")[0])
    assert told(page) == []
    assert "dismissed by you" in page
    assert forms(page) == [f"/events/{event}/undo"]
    await send(f"/events/{event}/undo")

    assert (
        await send(f"/events/{event}/edit", owner="Ben Okafor", due="", back="https://elsewhere") == f"/events/{event}"
    )
    page = await see(f"/events/{event}")
    assert "owner by you" in page
    assert "Ben Okafor" in page
    await send(f"/events/{event}/mark", verdict="done", back="/events/commitments")
    page = await see("/events/commitments", said=event)
    assert told(page) == []
    assert "done by you" in page

    foreign = {**user.headers, "origin": "https://elsewhere"}
    refused = await client.post(f"/events/{event}/mark", data={"verdict": "spin"}, headers=foreign)
    assert (refused.status_code, "verdict" in refused.text) == (422, True)


async def test_the_first_page_shows_facts_alone_and_tells_what_is_late(
    see: See, take: Take, all_done: Done, mnemon: Mnemon, tenant: UUID
) -> None:
    await take("We decided to close the Bergen office.")
    await take("Ada Byron will send the budget by 9 March 2099.")
    await take("Ada Byron will paint the boat by 9 March 2020.")
    await all_done()
    page = await see("/")
    assert "Lately decided" in page and "Due next" in page and "send the budget" in page
    assert "paint the boat" not in page
    assert '<a href="/events/commitments?overdue=true">1 overdue</a>' in page
    assert "paint the boat" in await see("/events/commitments", overdue="true")
    await rows(mnemon, tenant, "UPDATE mnemon.semantic_events SET confidence = 0.4 RETURNING event_id")
    page = await see("/")
    assert "Lately read" in page
    assert not any(one in page for one in ("Lately decided", "Due next", "overdue"))
