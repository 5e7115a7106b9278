"""Claims about all pages at once: each answers, each is safe against hostile names and words, each has its forms."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import UUID

import httpx

from mnemon.api.access import SESSION_COOKIE
from mnemon.app import Mnemon
from mnemon.identity.roles import Role
from mnemon.web.pages import PARTS
from tests.api.conftest import Person, admin, caller_address, client, mnemon, person, user
from tests.semantics.conftest import all_done, quick_retries, settings, work
from tests.work.conftest import eventually

__all__ = [
    "admin", "all_done", "caller_address", "client", "eventually", "mnemon", "quick_retries", "settings", "user",
    "work",
]  # fmt: skip
ATTACK = "<img src=x onerror=alert(1)>\"'<script>alert(2)</script>"
OWN = {"Origin": "http://127.0.0.1:8787"}
STATIC = Path(__file__).parents[2] / "src" / "mnemon" / "web" / "static"


async def hostile_content(client: httpx.AsyncClient, whose: Person) -> dict[str, str]:
    """Titles, texts, tags, names and reasons that try to be markup; where each can be seen."""
    text = f"# {ATTACK}\n\nWe decided to buy {ATTACK} for the harbour.\n\n{ATTACK} will paint it by 9 March 2026."
    sent = await client.post(
        "/v1/ingest", files={"file": (f"{ATTACK}.md", text.encode())}, data={"title": ATTACK, "tags": ATTACK},
        headers=whose.headers,
    )  # fmt: skip
    kept = await client.post(
        "/v1/memory/objects", headers=whose.headers,
        json={"content": text, "tags": [ATTACK], "rationale": ATTACK, "facets": {ATTACK: ATTACK}},
    )  # fmt: skip
    await client.post("/v1/memory/branches", headers=whose.headers, json={"branch": "hostile", "purpose": ATTACK})
    await client.post("/v1/tokens", headers=whose.headers, json={"name": ATTACK})
    await client.post(
        "/v1/users", headers=whose.headers, json={"email": "x@example.org", "name": ATTACK, "role": "user"}
    )
    assert (sent.status_code, kept.status_code) == (202, 201), (sent.text, kept.text)
    return {"doc_id": sent.json()["doc_id"], "emo_id": kept.json()["emo_id"]}


async def test_every_page_shows_hostile_words_as_words(
    client: httpx.AsyncClient, admin: Person, all_done: Callable[[], Awaitable[None]]
) -> None:
    known = await hostile_content(client, admin)
    await all_done()
    events = (await client.get("/v1/events?direction=backward", headers=admin.headers)).json()["events"]
    jobs = (await client.get("/v1/jobs", headers=admin.headers)).json()["items"]
    shown = {ATTACK: 0}
    for path in (
        "/", "/?question=What+did+we+decide+about+the+harbour%3F", f"/?question={ATTACK}&tag={ATTACK}",
        "/search?query=harbour", f"/search?query={ATTACK}", "/events", "/events/commitments", "/events/people",
        f"/events?query={ATTACK}&as_of=2026-05-01", f"/events/people?topic={ATTACK}", "/documents?status=all",
        f"/documents/{known['doc_id']}", f"/documents/{known['doc_id']}?exact=1", "/upload", "/runs", "/work",
        f"/work/{jobs[0]['job_id']}", "/memory", f"/memory?query={ATTACK}", "/memory/new",
        f"/memory/{known['emo_id']}", "/memory/branches", "/memory/branches/hostile", "/memory/graph", "/log",
        f"/log?stream_type=entity&entity_type=x&stream_id={ATTACK}", *(f"/log/{one['id']}" for one in events[:12]),
        "/integrity", "/subscriptions", "/privacy", f"/privacy/person?subject_id={ATTACK}", "/approvals", "/users",
        "/users/changes", "/server", "/account", "/help", "/docs", "/docs/account", "/sources", "/tenants",
        "/workbench", "/privacy/terms",
        f"/nowhere/{ATTACK}", f"/log/{ATTACK}",
    ):  # fmt: skip
        answer = await client.get(path, headers=admin.headers | {"Accept": "text/html"})
        assert answer.status_code in (200, 404, 422), (path, answer.text)
        assert answer.headers["content-type"].startswith("text/html"), path
        assert "<img src=x" not in answer.text, path
        assert "<script>alert" not in answer.text, path
        assert answer.headers["content-security-policy"].startswith("default-src 'self'")
        assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=\"|\sstyle=\"|javascript:", answer.text), path
        shown[ATTACK] += "&lt;img src=x" in answer.text
    assert shown[ATTACK] > 15


def test_every_address_of_a_page_is_looked_at() -> None:
    here = Path(__file__)
    files = [here, *(here.with_name(f"test_{one}_pages.py") for one in ("list", "timeline", "workbench"))]
    looked = "".join(file.read_text(encoding="utf-8") for file in files)
    for part in PARTS:
        for route in part.routes:
            path = getattr(route, "path", "")
            on_the_bench = path.startswith("/workbench/")
            if "GET" in getattr(route, "methods", ()) and path not in NO_PAGES and not on_the_bench:
                begins = path.partition("{")[0].rstrip("/") or "/"
                assert f'"{begins}' in looked or f"({begins}/" in looked, path


# Files, redirects and answers for scripts.
NO_PAGES = frozenset({
    "/login", "/account/file", "/account/tokens", "/events/export", "/upload/worker", "/log/{event_id}/receipt",
    "/evidence/{doc_version_id}/{start}-{end}", "/memory/{emo_id}/diff",
    "/lists/report/file", "/log/tail", "/documents/{doc_id}/changes",
    "/answers/{query_id}/file",
})  # fmt: skip


async def test_pages_for_administrators_refuse_others_in_words(client: httpx.AsyncClient, user: Person) -> None:
    for path in (
        "/users", "/users/changes", "/privacy", "/privacy/person?subject_id=x", "/privacy/terms", "/approvals",
        "/server", "/tenants", "/sources",
    ):  # fmt: skip
        refused = await client.get(path, headers=user.headers)
        assert (refused.status_code, "You may not do that" in refused.text) == (403, True), path
        assert f'href="{path}"' not in refused.text
    for path in ("/work", "/log", "/memory", "/subscriptions", "/integrity"):
        assert (await client.get(path, headers=user.headers)).status_code == 200, path


async def test_a_memory_is_written_changed_compared_deleted_and_restored(
    client: httpx.AsyncClient, user: Person
) -> None:
    headers = user.headers | OWN
    made = await client.post(
        "/memory", data={"content": "The archive is in Paris.\nIt is big.", "emo_type": "fact", "tags": "a, b"},
        headers=headers,
    )  # fmt: skip
    place = made.headers["location"]
    changed = {"content": "The archive is in Rome.\nIt is big.", "rationale": "It moved", "expected_version": "1"}
    assert (await client.post(f"{place}/update", data=changed, headers=headers)).status_code == 303
    page = (await client.get(place, headers=headers)).text
    assert "version 2" in page
    assert "It moved" in page
    late = await client.post(f"{place}/update", data=changed | {"content": "It burnt down."}, headers=headers)
    assert late.status_code == 409
    assert "It burnt down." in late.text
    assert "The archive is in Rome." in late.text
    compared = (await client.get(f"{place}/diff?before=1&after=2", headers=headers)).text
    assert "<td>The archive is in <del>Paris</del>.</td>" in compared
    assert "<td>The archive is in <ins>Rome</ins>.</td>" in compared
    assert "<td>It is big.</td><td>It is big.</td>" in compared
    tied = {"kind": "uri", "ref": "https://example.org/minutes"}
    assert (await client.post(f"{place}/link", data=tied, headers=headers)).status_code == 303
    assert "https://example.org/minutes" in (await client.get(place, headers=headers)).text
    assert (await client.post(f"{place}/delete", headers=headers)).status_code == 303
    assert "Bring it back" in (await client.get(place, headers=headers)).text
    assert "Rome" not in (await client.get("/memory", headers=headers)).text
    assert (await client.post(f"{place}/restore", headers=headers)).status_code == 303
    assert "Rome" in (await client.get("/memory?query=archive", headers=headers)).text


async def test_a_page_past_the_last_says_so_and_no_id_of_ours_is_told(
    client: httpx.AsyncClient, user: Person, all_done: Callable[[], Awaitable[None]]
) -> None:
    sent = {"file": ("bell.txt", b"The bell rings at six.")}
    assert (await client.post("/v1/ingest", files=sent, headers=user.headers)).status_code == 202
    await all_done()
    for place in ("/documents?page=7", "/runs?page=7"):
        page = (await client.get(place, headers=user.headers)).text
        assert "There are not so many pages." in page, place
        assert "yet" not in page.partition("<main")[2].partition("</main>")[0], place
    nowhere = await client.get("/memory?branch=nowhere", headers=user.headers)
    assert "There is no branch &#39;nowhere&#39;: create it first." in nowhere.text


async def test_a_branch_with_a_conflict_is_merged_as_chosen(client: httpx.AsyncClient, user: Person) -> None:
    headers = user.headers | OWN
    place = (await client.post("/memory", data={"content": "Berths cost 30."}, headers=headers)).headers["location"]
    begun = await client.post("/memory/branches", data={"branch": "tidy", "purpose": "prices"}, headers=headers)
    assert begun.headers["location"] == "/memory/branches/tidy"
    for branch, price in (("tidy", "39"), ("main", "35")):
        content = {"content": f"Berths cost {price}.", "branch": branch}
        assert (await client.post(f"{place}/update", data=content, headers=headers)).status_code == 303
    page = (await client.get("/memory/branches/tidy", headers=headers)).text
    assert "Both sides changed content" in page
    refused = await client.post("/memory/branches/tidy/merge", headers=headers)
    assert (refused.status_code, 'role="alert"' in refused.text) == (409, True)
    chosen = {f"resolve-{place.rpartition('/')[2]}": "theirs", "rationale": "the new list"}
    assert (await client.post("/memory/branches/tidy/merge", data=chosen, headers=headers)).status_code == 303
    assert "Berths cost 39." in (await client.get(place, headers=headers)).text


async def test_a_subject_with_an_odd_name_is_shown_once(client: httpx.AsyncClient, admin: Person) -> None:
    for subject in ("R&D", f"user:{admin.user_id}"):
        note = {"content": "They like tea.", "subject_id": subject}
        assert (await client.post("/memory", data=note, headers=admin.headers | OWN)).status_code == 303
    page = (await client.get("/privacy", headers=admin.headers)).text
    assert ">R&amp;D</a>" in page
    assert '<small class="id">R&amp;D' not in page
    assert f'<small class="id">user:{admin.user_id}' in page, "who has a name is shown with the id"


async def test_two_administrators_forget_a_person(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, admin: Person
) -> None:
    note = {"content": "Eve likes tea.", "subject_id": "customer-17"}
    assert (await client.post("/memory", data=note, headers=admin.headers | OWN)).status_code == 303
    assert "customer-17" in (await client.get("/privacy", headers=admin.headers)).text
    assert "Eve likes tea." in (await client.get("/privacy/person?subject_id=customer-17", headers=admin.headers)).text
    asked = {"subject_id": "customer-17", "reason": "subject_request"}
    assert (await client.post("/privacy/erasures", data=asked, headers=admin.headers | OWN)).status_code == 303
    page = await client.get("/privacy", headers=admin.headers)
    assert "Someone else must agree." in page.text
    [erasure] = re.findall(r'action="/privacy/erasures/([^/"]+)/decline"', page.text)
    own = await client.post(f"/privacy/erasures/{erasure}/approve", headers=admin.headers | OWN)
    assert own.status_code in (403, 409), own.text
    other = await person(mnemon, tenant, Role.ADMIN, "second@example.org")
    assert "Forget for good" in (await client.get("/privacy", headers=other.headers)).text
    done = await client.post(f"/privacy/erasures/{erasure}/approve", headers=other.headers | OWN)
    assert done.status_code == 303, done.text
    gone = await client.get("/privacy/person?subject_id=customer-17", headers=admin.headers)
    assert "Eve likes tea." not in gone.text


async def test_a_scan_finds_what_is_left_of_a_person_and_nothing_of_other_tenants(
    client: httpx.AsyncClient, mnemon: Mnemon, admin: Person, other_tenant: UUID
) -> None:
    stranger = await person(mnemon, other_tenant, Role.ADMIN)
    words = {"subject_id": "customer-17", "words": "Zebulon Quist\n\nZQ-4471"}
    note = {"content": "Zebulon Quist wants a letter."}
    made = await client.post("/memory", data=note, headers=admin.headers | OWN)
    before = await client.post("/privacy/person", data=words, headers=admin.headers | OWN)
    assert "Found in" in before.text
    assert "<code>mnemon.emo_history.content</code>" in before.text, before.text
    assert "Zebulon" not in before.text, "the words are not shown again"
    elsewhere = await client.post("/privacy/person", data=words, headers=stranger.headers | OWN)
    assert "Nothing is left" in elsewhere.text, elsewhere.text
    assert made.status_code == 303
    short = await client.post("/privacy/person", data=words | {"words": "Q"}, headers=admin.headers | OWN)
    assert short.status_code == 422
    bare = await client.post("/privacy/person", data=words | {"words": ""}, headers=admin.headers | OWN)
    assert "Nothing was looked for" in bare.text


async def test_someone_is_let_in_promoted_and_locked_out(client: httpx.AsyncClient, admin: Person) -> None:
    headers = admin.headers | OWN
    added = await client.post(
        "/users", data={"email": "ana@example.org", "name": "Ana", "role": "user"}, headers=headers
    )
    assert "/login#" in added.text
    again = await client.post("/users", data={"email": "ana@example.org", "role": "user"}, headers=headers)
    assert (again.status_code, 'role="alert"' in again.text) == (409, True)
    row = re.search(r"<tr>(?:(?!</tr>).)*ana@example\.org.*?</tr>", added.text, re.DOTALL)
    assert row
    [place] = set(re.findall(r'action="(/users/[0-9a-f-]+)"', row[0]))
    assert (await client.post(place, data={"role": "admin"}, headers=headers)).status_code == 303
    assert (await client.post(place, data={"disabled": "true"}, headers=headers)).status_code == 303
    page = (await client.get("/users", headers=headers)).text
    assert "locked out" in page
    assert "disabled" in (await client.get("/users/changes", headers=headers)).text


async def test_an_event_of_the_log_has_a_page_and_a_receipt(client: httpx.AsyncClient, admin: Person) -> None:
    await client.post("/memory", data={"content": "A note."}, headers=admin.headers | OWN)
    listed = (await client.get("/log", headers=admin.headers)).text
    place = re.findall(r'<a href="(/log/[0-9A-Z]{26})">', listed)[0]
    page = (await client.get(place, headers=admin.headers)).text
    assert "Hash before it" in page
    made = await client.post("/v1/integrity/checkpoints", headers=admin.headers)
    assert made.status_code < 300, made.text
    receipt = await client.get(f"{place}/receipt", headers=admin.headers)
    assert receipt.status_code == 200, receipt.text
    assert place.rpartition("/")[2] in receipt.text
    assert receipt.headers["content-disposition"].startswith("attachment")
    wrong = await client.get("/log?from_date=yesterday", headers=admin.headers)
    assert (wrong.status_code, "neither a day" in wrong.text) == (422, True)


async def test_the_question_and_its_answer_read_without_a_script(
    client: httpx.AsyncClient, user: Person, admin: Person, all_done: Callable[[], Awaitable[None]]
) -> None:
    file = {"file": ("ferry.txt", b"The ferry to Marstal leaves at 07:15 on weekdays.\n\nDogs travel free.")}
    await client.post("/v1/ingest", files=file, headers=user.headers)
    await all_done()
    question = "When does the ferry to Marstal leave?"
    page = (await client.get("/", params={"question": question}, headers=user.headers)).text
    answer = re.search(r'<div class="answer">(.*?)</div>', page, re.DOTALL)
    assert answer
    assert "leaves at 07:15 on weekdays." in answer[1]
    link = re.findall(r'class="cite" href="([^"]+)#cited"', answer[1])[0].replace("&amp;", "&")
    opened = (await client.get(link, headers=user.headers)).text
    assert re.findall(r'<mark id="cited">(.*?)</mark>', opened) == ["The ferry to Marstal leaves at 07:15 on weekdays."]
    assert re.search(r'<pre id="copied-answer" hidden>.*\[1\].*/evidence/', page, re.DOTALL)
    conversation = re.findall(r'name="conversation_id" value="([^"]+)"', page)
    first = {"question": question, "conversation_id": conversation}
    await client.get("/", params=first, headers=user.headers)
    follow_up = (await client.get("/", params=first | {"question": "and on weekdays?"}, headers=user.headers)).text
    assert "Asked as: When does the ferry to Marstal leave on weekdays?" in follow_up
    refused = (await client.get("/?question=Which+submarine+sank+near+Peru", headers=user.headers)).text
    assert "<strong>No answer.</strong>" in refused
    nothing = (await client.get("/", params={"question": question, "tag": "none"}, headers=user.headers)).text
    assert "Nothing passes the filters" in nothing
    history = (await client.get("/", headers=user.headers)).text
    assert question in history
    assert question not in (await client.get("/", headers=admin.headers)).text


async def test_a_newcomer_takes_the_sample_in_one_click(
    client: httpx.AsyncClient, mnemon: Mnemon, tenant: UUID, user: Person
) -> None:
    page = (await client.get("/", headers=user.headers)).text
    assert 'action="/sample"' in page
    assert (await client.post("/sample", headers=user.headers | OWN)).headers["location"] == "/runs?sample=1"
    next_step = (await client.get("/runs?sample=1", headers=user.headers)).text
    assert 'href="/?question=How+long+are+bookings+kept%3F"' in next_step
    assert "The sample is being read" in next_step
    runs = (await client.get("/v1/ingestion-runs?limit=100", headers=user.headers)).json()
    assert runs["total"] > 5
    named = [one["config"]["original_filename"] for one in runs["items"]]
    # Several are read at once, and the one that is done last is in service.
    assert ("-v2." in named[0], "-v1." in named[-1]) == (True, True), named
    assert len({one["doc_id"] for one in runs["items"]}) == len(named) - 1
    async with mnemon.database.owner() as owner:
        await owner.execute(
            "UPDATE mnemon.ingestion_runs SET status = 'succeeded', started_at = now(), finished_at = now()"
            " WHERE tenant_id = %s",
            (tenant,),
        )
    done = (await client.get("/runs?sample=1", headers=user.headers)).text
    assert "The sample is being read" not in done
    assert 'href="/?question=How+long+are+bookings+kept%3F"' in done


async def test_a_file_is_uploaded_by_a_plain_form(client: httpx.AsyncClient, user: Person) -> None:
    client.cookies.set(SESSION_COOKIE, user.session)
    page = (await client.get("/upload")).text
    form = re.search(r'<form[^>]*action="/upload" enctype="multipart/form-data"[^>]*>.*?</form>', page, re.DOTALL)
    assert form
    assert "<noscript><button>" in form[0]
    [token] = re.findall(r'name="form_token" value="([0-9a-f]+)"', form[0])
    file = {"file": ("tide.txt", b"The tide comes at noon.")}
    given = {"tags": "harbour, tide", "visibility_scope": "", "retention_policy": "", "new_version_of": ""}
    sent = await client.post("/upload", files=file, data=given | {"form_token": token}, headers=OWN)
    assert (sent.status_code, sent.headers.get("location")) == (303, "/runs"), sent.text
    [run] = (await client.get("/v1/ingestion-runs")).json()["items"]
    assert run["config"]["original_filename"] == "tide.txt"
    foreign = await client.post("/upload", files=file, data=given | {"form_token": "0" * 40}, headers=OWN)
    assert (foreign.status_code, "not made for your present session" in foreign.text) == (403, True)
    wrong = await client.post(
        "/upload", files={"file": ("tide.exe", b"MZ")}, data=given | {"form_token": token}, headers=OWN
    )
    assert (wrong.status_code, "tide.exe" in wrong.text) == (422, True), wrong.text
    assert (await client.get("/v1/ingestion-runs")).json()["total"] == 1


def test_the_scripts_are_small() -> None:
    assert sum(file.stat().st_size for file in STATIC.glob("*.js")) < 40_000
