"""What once kept people from trusting the pages, each in a real browser: it must not come back."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from mnemon.app import Mnemon
from mnemon.identity.roles import Role
from mnemon.identity.users import add_user
from mnemon.log.events import SYSTEM

from .browser import needs_chromium, problems_of
from .conftest import PATIENCE
from .furnish import send, settled, tenant_of

pytestmark = [pytest.mark.browser, needs_chromium]
PASSWORD, NEXT_PASSWORD = "correct horse battery", "staple correct horse"
PROMISE = "Ada Byron will move the ledger to Postgres by 9 April 2026."
NOTES = "# Harbour notes\n\n## Prices\n\nBerths cost **39 euro** a night.\n\n- Dogs travel free\n- Cats do not"
POLICY = next((Path(__file__).parents[2] / "examples" / "kestrel" / "policy").glob("*v2.pdf"))


@pytest.fixture(scope="module")
async def filled(site: Mnemon, browser: Browser, session: str) -> dict[str, str]:
    """A promise, a text in Markdown, a PDF and an ordinary user; the addresses of the documents."""
    expect.set_options(timeout=PATIENCE)
    context = await browser.new_context(base_url=site.url)
    await context.add_cookies([{"name": "mnemon_session", "value": session, "url": site.url}])
    page = await context.new_page()
    about = {"artifact_type": "note", "source_system": "test", "visibility_scope": "org", "ts": "2026-03-01T09:00:00Z"}
    await send(site, page, "/v1/artifacts", about | {"content": PROMISE, "title": "Minutes"})
    places = {}
    for name, kind, content in (
        ("notes.md", "text/markdown", NOTES.encode()),
        ("policy.pdf", "application/pdf", POLICY.read_bytes()),
    ):
        file = {"file": {"name": name, "mimeType": kind, "buffer": content}}
        sent = await page.request.post("/v1/ingest", multipart=file, headers={"Origin": site.url})
        places[name] = f"/documents/{(await sent.json())['doc_id']}"
    await settled(site)
    async with site.log.transaction(tenant_of(site)) as transaction:
        await add_user(transaction, SYSTEM, "bo@example.org", Role.USER, name="Bo", password=PASSWORD)
    await context.close()
    return places


@pytest.fixture
async def bo(site: Mnemon, browser: Browser, filled: dict[str, str]) -> Page:
    """An ordinary user, before the login."""
    context = await browser.new_context(base_url=site.url)
    opened = await context.new_page()
    opened.set_default_timeout(PATIENCE)
    return opened


async def log_in(page: Page, password: str = PASSWORD) -> None:
    await page.fill("input[name=email]", "bo@example.org")
    await page.fill("input[name=password]", password)
    await page.press("input[name=password]", "Enter")


async def test_an_unknown_address_is_a_page_that_leads_on(page: Page, filled: dict[str, str]) -> None:
    answer = await page.context.request.get("/nowhere", headers={"Accept": "text/html"})
    assert answer.status == 404
    await page.set_content(await answer.text())
    await expect(page.locator("h1")).to_have_text("There is nothing here")
    await expect(page.locator("main a[href='/documents']")).to_be_visible()


async def test_a_deep_link_is_opened_after_the_login(site: Mnemon, bo: Page) -> None:
    await bo.goto("/events?query=ledger&category=Commitment")
    await expect(bo.locator("h1")).to_have_text("Log in")
    await log_in(bo)
    await bo.wait_for_url(f"{site.url}/events?query=ledger&category=Commitment")
    await expect(bo.locator(".events h2")).to_contain_text("move the ledger")


async def test_a_password_is_set_on_a_page_and_lets_in(site: Mnemon, bo: Page) -> None:
    await bo.goto("/login")
    await log_in(bo)
    await bo.wait_for_url(f"{site.url}/")
    for old, new in ((PASSWORD, NEXT_PASSWORD), (NEXT_PASSWORD, PASSWORD)):
        await bo.goto("/account")
        await bo.fill("input[name=old_password]", old)
        await bo.fill("input[name=new_password]", new)
        await bo.fill("input[name=again]", new)
        await bo.click("text=Set password")
        await expect(bo.locator("[role=status]")).to_contain_text("Your password is set")
        await bo.click("text=Log out")
        await log_in(bo, new)
        await bo.wait_for_url(f"{site.url}/")


async def test_a_question_is_asked_of_some_documents_only(page: Page, filled: dict[str, str]) -> None:
    await page.goto("/")
    await page.fill("#question", "What do berths cost a night?")
    await page.click("#ask summary")
    await page.fill("#ask input[name=tag]", "none")
    await page.click("text=Ask only these")
    await expect(page.locator(".refusal")).to_contain_text("Nothing passes the filters")
    await page.click("text=ask without filters")
    await expect(page.locator(".answer")).to_contain_text("39 euro")


async def test_a_search_marks_its_words_and_says_when_there_is_nothing(page: Page, filled: dict[str, str]) -> None:
    await page.goto("/search")
    await page.fill("#words", "berths cost")
    await page.press("#words", "Enter")
    await expect(page.locator(".hits mark").first).to_have_text("Berths")
    await expect(page.locator(".hits")).not_to_contain_text("##")
    await page.goto("/search?query=zeppelin&tag=none")
    await expect(page.locator(".empty")).to_contain_text("Nothing found for “zeppelin”.")


async def test_markdown_reads_as_it_was_meant(page: Page, filled: dict[str, str]) -> None:
    await page.goto(filled["notes.md"])
    await expect(page.locator("article h3")).to_have_text("Prices")
    await expect(page.locator("article strong").first).to_have_text("39 euro")
    await expect(page.locator("article li")).to_have_count(2)
    await expect(page.locator("article")).not_to_contain_text("**")


async def test_a_pdf_is_a_picture_and_the_marks_lie_on_the_cited_words(page: Page, filled: dict[str, str]) -> None:
    await page.goto("/?question=How+long+are+bookings+kept%3F")
    await expect(page.locator(".answer")).to_contain_text("12 months")
    await page.set_viewport_size({"width": 1000, "height": 900})
    await page.click(".answer .cite >> nth=0")
    picture, mark = page.locator(".sheet image"), page.locator(".sheet rect").first
    drawn = await page.request.get(await picture.get_attribute("href") or "")
    assert drawn.headers["content-type"] == "image/png"
    inside, outside = await mark.bounding_box(), await picture.bounding_box()
    assert inside and outside
    assert outside["x"] < inside["x"] < inside["x"] + inside["width"] < outside["x"] + outside["width"]
    assert outside["y"] < inside["y"] < inside["y"] + inside["height"] < outside["y"] + outside["height"]
    # The marked words are a line of letters and not a page of them.
    assert inside["height"] < outside["height"] / 20
    await expect(page.locator("mark#cited")).to_have_text(re.compile("^Bookings are kept for 12 months"))


async def test_a_commitment_is_corrected_dismissed_and_both_are_taken_back(page: Page, filled: dict[str, str]) -> None:
    await page.goto("/events/commitments")
    card = page.locator(".events > li:has-text('move the ledger')")
    await card.locator("text=Correct").click()
    await page.fill("input[name=owner]", "Ben Okafor")
    await page.click("main >> text=Save")
    await expect(page.locator(".events .from")).to_contain_text("Ben Okafor (owner)")
    # What was left as it was is nobody's word.
    await expect(page.locator(".verdicts .hint").first).to_have_text(re.compile("^owner by you on"))
    await page.click("main >> text=Save")
    await expect(page.locator("ul.said li")).to_have_count(1)
    await page.click("button:has-text('Undo')")
    await expect(page.locator(".events .from")).to_contain_text("Ada Byron (owner)")
    await page.goto("/events/commitments")
    await card.locator("button:has-text('Dismiss')").click()
    await expect(page.locator(".notice.verdicts")).to_contain_text("dismissed by you")
    await expect(card).to_have_count(0)
    await page.click(".notice.verdicts >> text=Undo")
    await expect(card).to_have_count(1)


async def test_events_are_taken_away_as_a_file(page: Page, filled: dict[str, str]) -> None:
    await page.goto("/events?query=ledger")
    for name, ending in (("Markdown", ".md"), ("CSV", ".csv")):
        async with page.expect_download() as began:
            await page.click(f".export >> text={name}")
        file = await began.value
        assert file.suggested_filename.endswith(ending)
        assert "move the ledger to Postgres" in Path(await file.path()).read_text(encoding="utf-8")


async def test_the_servers_page_is_not_for_everyone_and_whole_on_a_phone(site: Mnemon, page: Page, bo: Page) -> None:
    problems = problems_of(bo)
    await bo.goto("/login")
    await log_in(bo)
    await bo.wait_for_url(f"{site.url}/")
    await bo.click(".more summary")
    await expect(bo.locator(".more a[href='/help']")).to_be_visible()
    await expect(bo.locator(".more a[href='/server']")).to_have_count(0)
    assert problems == []
    await bo.goto("/server")
    await expect(bo.locator("h1")).to_have_text("You may not do that")
    await expect(bo.locator("header nav a[href='/documents']")).to_be_visible()
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.goto("/server")
    await page.click("main summary")
    for one in await page.locator("main code").all():
        box = await one.bounding_box()
        assert box is None or box["x"] + box["width"] <= 390, await one.inner_text()
