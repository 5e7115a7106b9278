"""Claims about forms that were refused: what was written stands in them again, as words and in the right form."""

from collections.abc import Awaitable, Callable

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser
from starlette.datastructures import FormData

from mnemon.web.refilling import refilled
from tests.api.conftest import Person, admin, caller_address, client, mnemon, person
from tests.semantics.conftest import all_done, quick_retries, settings, work
from tests.work.conftest import eventually

__all__ = [
    "admin", "all_done", "caller_address", "client", "eventually", "mnemon", "person", "quick_retries", "settings",
    "work",
]  # fmt: skip
ATTACK = '"></textarea><script>alert(1)</script>'
OWN = {"Origin": "http://127.0.0.1:8787"}
PAGE = """<!doctype html><main><details><summary>One</summary><form method="post" action="/a#one">
<input type="hidden" name="id" value="1"><input name="words" value="old"><textarea name="text">old</textarea>
<select name="kind"><option>note</option><option value="f" selected>fact</option></select>
<input type="checkbox" name="box" value="x" checked><input type="checkbox" name="box" value="y">
<input type="password" name="secret"></form></details>
<form method="post" action="/a"><input type="hidden" name="id" value="2"><input name="words" value="kept">
</form></main>"""


def test_what_was_written_stands_again_in_the_form_that_was_sent() -> None:
    sent = [("id", "1"), ("words", ATTACK), ("text", ATTACK), ("kind", "note"), ("box", "y"), ("secret", "hush")]
    page = refilled(PAGE, "/a", FormData(sent))
    assert "<script>" not in page
    assert "hush" not in page
    tree = LexborHTMLParser(page)
    assert [one.attributes["value"] for one in tree.css('[name="words"]')] == [ATTACK, "kept"]
    assert [one.text() for one in tree.css("textarea")] == [ATTACK]
    assert [one.text() for one in tree.css("option[selected]")] == ["note"]
    assert [one.attributes["value"] for one in tree.css('[name="box"][checked]')] == ["y"]
    assert len(tree.css("details[open]")) == 1


def test_a_page_without_the_form_stays_as_it_is() -> None:
    assert refilled(PAGE, "/b", FormData([("words", "new")])) == PAGE
    assert refilled(PAGE, "/a", FormData([("id", "3"), ("words", "new")])) == PAGE


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/users", {"email": "no address", "name": "Ada Byron", "role": "admin"}),
        ("/account/tokens", {"name": "a bot", "scope": "write", "days": "99999"}),
        ("/privacy/erasures", {"subject_id": "customer-17", "reason": "Not a code word!", "reference": "T-1"}),
        ("/approvals", {"act": "periods.open", "period": "2026-03", "reason": "   "}),
        ("/approvals/redactions", {"event_id": "nothing", "fields": "/data/email", "reason": "legacy_data"}),
        ("/memory/branches", {"branch": "No Name", "purpose": "Prices"}),
        ("/memory", {"content": "   ", "tags": "a, b", "rationale": "because"}),
        ("/sources", {"location": "nowhere at all", "name": "policies", "include": "*.pdf", "region": "eu"}),
        ("/lists/sources", {"location": "ftp://example.org/x", "name": "dev"}),
        ("/lists/webhooks", {"url": "ftp://example.org", "name": "chat", "event_types": "report.#"}),
    ],
)
async def test_a_refused_form_keeps_what_was_written(
    client: httpx.AsyncClient, admin: Person, path: str, sent: dict[str, str]
) -> None:
    answer = await client.post(path, data=sent, headers=admin.headers | OWN)
    assert 400 <= answer.status_code < 500
    tree = LexborHTMLParser(answer.text)
    assert [one.text(strip=True) for one in tree.css('[role="alert"]')] != []
    [form] = [one for one in tree.css("form") if one.attributes.get("action") == path]
    for name, value in sent.items():
        [field] = form.css(f'[name="{name}"]')
        chosen = field.css_first("option[selected]")
        shown = field.text() if field.tag == "textarea" else field.attributes.get("value")
        assert (chosen.attributes.get("value", chosen.text()) if chosen else shown) == value, name


async def test_words_for_an_event_that_do_not_fit_stay_on_its_page(
    client: httpx.AsyncClient, admin: Person, all_done: Callable[[], Awaitable[None]]
) -> None:
    about = {"artifact_type": "note", "source_system": "test", "ts": "2026-03-02T09:00:00Z", "visibility_scope": "org"}
    text = {"content": "We decided to use Postgres for the ledger.", "title": "Notes"}
    assert (await client.post("/v1/artifacts", json=about | text, headers=admin.headers)).status_code == 202
    await all_done()
    [event] = (await client.get("/v1/semantic-events", headers=admin.headers)).json()["events"]
    place = f"/events/{event['event_id']}"
    refused = await client.post(f"{place}/split", data={"quotes": "We never said this."}, headers=admin.headers | OWN)
    assert refused.status_code == 422
    assert 'role="alert"' in refused.text
    [form] = LexborHTMLParser(refused.text).css(f'form[action="{place}/split"]')
    assert form.css_first("textarea").text() == "We never said this."


async def test_asking_to_forget_leads_to_a_page_that_can_be_loaded_anew(
    client: httpx.AsyncClient, admin: Person
) -> None:
    known = {"content": "Eve likes tea.", "subject_id": "customer-17"}
    assert (await client.post("/v1/memory/objects", json=known, headers=admin.headers)).status_code == 201
    asked = {"subject_id": "customer-17", "reason": "subject_request"}
    done = await client.post("/privacy/erasures", data=asked, headers=admin.headers | OWN)
    assert (done.status_code, done.headers["location"]) == (303, "/privacy#erasures")
    assert "customer-17" in (await client.get("/privacy", headers=admin.headers)).text
