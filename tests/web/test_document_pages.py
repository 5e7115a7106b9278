"""Claims about the page of a document: Markdown as it reads, a PDF as it looks, and searches that lead there."""

import re
import struct
from collections.abc import Awaitable, Callable
from html import unescape
from pathlib import Path

import httpx
import pytest

from tests.api.conftest import Person, admin, caller_address, client, mnemon, user
from tests.semantics.conftest import all_done, quick_retries, settings, work
from tests.work.conftest import eventually

__all__ = [
    "admin", "all_done", "caller_address", "client", "eventually", "mnemon", "quick_retries", "settings", "user",
    "work",
]  # fmt: skip
Done = Callable[[], Awaitable[None]]
Store = Callable[..., Awaitable[str]]
POLICY = next((Path(__file__).parents[2] / "examples" / "kestrel" / "policy").glob("*.pdf"))
NOTES = "# Harbour notes\n\n## Prices\n\nBerths cost **39 euro** a night.\n\n| berth | price |\n|---|---|\n| A | 39 |\n"


@pytest.fixture
def store(client: httpx.AsyncClient, user: Person, all_done: Done) -> Store:
    """Its id, once it is read."""

    async def send(name: str, content: bytes, **fields: str) -> str:
        sent = await client.post("/v1/ingest", files={"file": (name, content)}, data=fields, headers=user.headers)
        assert sent.status_code == 202, sent.text
        await all_done()
        return str(sent.json()["doc_id"])

    return send


async def test_markdown_is_shown_as_it_reads_and_letter_by_letter(
    client: httpx.AsyncClient, user: Person, store: Store
) -> None:
    doc_id = await store("notes.md", NOTES.encode())
    start = NOTES.index("Berths")
    place = f"/documents/{doc_id}?start={start}&end={start + len('Berths cost **39 euro** a night.')}"
    page = (await client.get(place, headers=user.headers)).text
    assert "<h3>Prices</h3>" in page
    assert "<td>A</td><td>39</td>" in page
    assert "".join(re.findall(r"<mark[^>]*>(.*?)</mark>", page)) == "Berths cost 39 euro a night."
    exact = re.search(r'<a href="([^"]*exact=1[^"]*)#cited">letter by letter', page)
    assert exact
    letters = (await client.get(f"/documents/{doc_id}{unescape(exact[1])}", headers=user.headers)).text
    assert re.findall(r'<mark id="cited">(.*?)</mark>', letters) == ["Berths cost **39 euro** a night."]
    assert "## Prices" in letters


async def test_a_search_marks_its_words_and_shows_no_signs(
    client: httpx.AsyncClient, user: Person, store: Store
) -> None:
    await store("notes.md", NOTES.encode())
    page = (await client.get("/search?query=what+do+berths+cost", headers=user.headers)).text
    assert "<mark>Berths</mark> <mark>cost</mark> 39 euro a night." in page
    assert "##" not in page
    # The document is called as its first heading: the line below its name begins with the next one.
    assert re.search(r"Harbour notes</a>\s*<small>Prices", page)
    nothing = (await client.get("/search?query=<b>zeppelin&tag=none", headers=user.headers)).text
    assert "Nothing found for “&lt;b&gt;zeppelin”." in nothing
    assert 'href="/search?query=%3Cb%3Ezeppelin">search without them' in nothing


async def test_a_pdf_is_a_picture_with_the_cited_words_marked(
    client: httpx.AsyncClient, user: Person, admin: Person, store: Store
) -> None:
    doc_id = await store("policy.pdf", POLICY.read_bytes(), visibility_scope="me")
    text = (await client.get(f"/v1/documents/{doc_id}/text", headers=user.headers)).json()["text"]
    quote = text.split(".")[2].strip()
    start = text.index(quote)
    place = f"/documents/{doc_id}?start={start}&end={start + len(quote)}"
    page = (await client.get(place, headers=user.headers)).text
    assert "with the cited words marked" in page
    assert page.count("<rect ") >= 1
    [picture] = re.findall(r'<image href="([^"]+)"', page)
    drawn = await client.get(picture, headers=user.headers)
    assert (drawn.status_code, drawn.headers["content-type"]) == (200, "image/png")
    assert drawn.headers["cache-control"] == "private, max-age=600"
    assert drawn.content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", drawn.content[16:24])[0] == 1240
    assert (await client.get(picture, headers=admin.headers)).status_code == 404
    beyond = await client.get(re.sub(r"/pages/\d+/", "/pages/999/", picture), headers=user.headers)
    assert (beyond.status_code, "there is no page 999" in beyond.text) == (404, True)


async def test_only_a_pdf_has_pictures(client: httpx.AsyncClient, user: Person, store: Store) -> None:
    doc_id = await store("notes.md", NOTES.encode())
    refused = await client.get(f"/v1/documents/{doc_id}/pages/1/picture", headers=user.headers)
    assert (refused.status_code, "Only pages of a PDF" in refused.text) == (422, True)


async def test_the_events_that_fit_are_exported(client: httpx.AsyncClient, user: Person, store: Store) -> None:
    await store("minutes.txt", b"We decided to close the Bergen office.\n\nWe decided to paint the shed.")
    page = (await client.get("/events?query=Bergen", headers=user.headers)).text
    links = [unescape(one) for one in re.findall(r'href="(/events/export[^"]+)"', page)]
    for link in links:
        file = await client.get(link, headers=user.headers)
        assert file.headers["content-disposition"].startswith("attachment")
        assert "Bergen" in file.text
        assert "shed" not in file.text
    assert len(links) == 2


async def test_a_file_of_any_name_is_sent_as_the_new_version_of_a_document(
    client: httpx.AsyncClient, admin: Person, user: Person, store: Store, all_done: Done
) -> None:
    doc_id = await store("notes.md", NOTES.encode())
    link = f"/upload?new_version_of={doc_id}"
    assert link in (await client.get(f"/documents/{doc_id}", headers=user.headers)).text
    page = (await client.get(link, headers=user.headers)).text
    assert "New version of Harbour notes" in page and f'name="new_version_of" value="{doc_id}"' in page
    assert 'type="file" accept' in page, "one file, and not several"
    assert await store("prices, final.txt", b"Berths cost 45 euro a night.", new_version_of=doc_id) == doc_id
    known = (await client.get(f"/v1/documents/{doc_id}", headers=user.headers)).json()
    assert (known["title"], known["version_number"], known["original_filename"]) == (
        "Harbour notes",
        2,
        "prices, final.txt",
    )
    # What is not for its sender looks as if it were not there.
    hidden = await store("diary.txt", b"Only for me: the crane is sold.", visibility_scope="me")
    told = await client.post(
        "/v1/ingest", files={"file": ("a.txt", b"Text.")}, data={"new_version_of": hidden}, headers=admin.headers
    )
    assert (told.status_code, told.json()["error_code"]) == (404, "NOT_FOUND")
    both = {"new_version_of": doc_id, "source_uri": "file:///a.txt"}
    told = await client.post("/v1/ingest", files={"file": ("a.txt", b"T.")}, data=both, headers=user.headers)
    assert (told.status_code, told.json()["error_code"]) == (400, "UNFIT_FIELD")
