"""What a person does in the browser to see what was decided and promised."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
from playwright.async_api import Browser, Page, expect

from mnemon.app import Mnemon
from mnemon.beside import working_inside
from mnemon.identity.roles import Role
from mnemon.identity.users import add_user
from mnemon.log.events import SYSTEM
from tests.semantics.conftest import UNFINISHED

from .browser import needs_chromium, problems_of
from .conftest import PATIENCE

pytestmark = [pytest.mark.browser, needs_chromium]
PASSWORD = "correct horse battery"
ATTACK = "<img src=x onerror=alert(1)>"


@pytest.fixture
async def plain_page(site: Mnemon, browser: Browser, session: str) -> AsyncIterator[Page]:
    """On a phone, with no scripts."""
    context = await browser.new_context(
        base_url=site.url, java_script_enabled=False, viewport={"width": 390, "height": 800}
    )
    await context.add_cookies([{"name": "mnemon_session", "value": session, "url": site.url}])
    opened = await context.new_page()
    opened.set_default_timeout(PATIENCE)
    yield opened
    await context.close()


async def store(site: Mnemon, page: Page, content: str, **fields: Any) -> None:
    """The administrator's text, for everyone unless told."""
    about = {"artifact_type": "note", "source_system": "test", "ts": "2026-03-02T09:00:00Z", "visibility_scope": "org"}
    answer = await page.request.post(
        "/v1/artifacts", data=about | {"content": content} | fields, headers={"Origin": site.url}
    )
    assert answer.status == 202, await answer.text()


async def read(site: Mnemon, page: Page, content: str, **fields: Any) -> None:
    """Store a text and have it read for what it decided and promised."""
    await store(site, page, content, **fields)
    assert site.first_start is not None
    async with working_inside(site), asyncio.timeout(PATIENCE / 1000):
        while await unfinished(site, site.first_start.tenant_id):  # noqa: ASYNC110  the database has no event for it
            await asyncio.sleep(0.05)


async def unfinished(site: Mnemon, tenant: UUID) -> int:
    async with site.database.transaction(tenant) as tx:
        row = await (await tx.execute(UNFINISHED)).fetchone()
    assert row is not None
    return int(row["n"])


async def test_a_newcomer_finds_the_page_and_is_told_what_is_missing(site: Mnemon, page: Page) -> None:
    await page.goto("/")
    await page.click("nav >> text=Events")
    await expect(page.locator("h1")).to_have_text("What was decided and promised")
    await page.click("text=Open commitments")
    await page.click(".empty >> text=Upload")
    await expect(page.locator("h1")).to_have_text("Upload")
    await store(site, page, "The sky over the harbour is blue.")
    for path in ("/events", "/events/commitments"):
        await page.goto(path)
        await expect(page.locator("main")).to_contain_text("No worker is running")


async def test_without_scripts_a_decision_is_found_and_its_quote_opens_those_words(
    site: Mnemon, page: Page, plain_page: Page
) -> None:
    decision = "We decided to close the Bergen office."
    before = "It rained all day in the harbour.\n\n" * 60
    await read(site, page, f"{before}{decision}\n\nBen Okafor will sell the chairs by 9 March 2026.")
    await plain_page.goto("/events")
    await expect(plain_page.locator(".events li")).to_have_count(2)
    await plain_page.fill("input[name=query]", "Bergen")
    await plain_page.click("main summary")
    await plain_page.select_option("select[name=category]", "Decision")
    await plain_page.press("input[name=query]", "Enter")
    await expect(plain_page.locator(".events li")).to_have_count(1)
    await expect(plain_page.locator("select[name=category]")).to_have_value("Decision")
    await plain_page.click(".events .quote")
    cited = plain_page.locator("mark#cited")
    await expect(cited).to_have_text(decision)
    await expect(cited).to_be_in_viewport()
    await plain_page.click("text=2 events")
    await expect(plain_page.locator(".events li")).to_have_count(2)
    await plain_page.click("text=Open commitments")
    await expect(plain_page.locator(".events .facts")).to_contain_text("overdue by")


async def test_a_private_promise_is_on_its_owners_page_alone(site: Mnemon, page: Page, browser: Browser) -> None:
    secret = "Ada Byron will buy the zeppelin factory by 9 March 2026."
    await read(site, page, secret, visibility_scope="me")
    assert site.first_start is not None
    async with site.log.transaction(site.first_start.tenant_id) as transaction:
        await add_user(transaction, SYSTEM, "bo@example.org", Role.USER, name="Bo", password=PASSWORD)
    context = await browser.new_context(base_url=site.url)
    other = await context.new_page()
    problems = problems_of(other)
    await other.goto("/login")
    await other.fill("input[name=email]", "bo@example.org")
    await other.fill("input[name=password]", PASSWORD)
    await other.press("input[name=password]", "Enter")
    await other.wait_for_url(f"{site.url}/")
    for path in ("/events?query=zeppelin", "/events/commitments?owner=Ada"):
        await page.goto(path)
        await expect(page.locator(".events")).to_contain_text(secret)
        await other.goto(path)
        await expect(other.locator(".empty")).to_be_visible()
        await expect(other.locator("main")).not_to_contain_text("factory")
    assert problems == []
    await context.close()


async def test_the_next_page_goes_on_where_the_first_ended(site: Mnemon, page: Page) -> None:
    promises = [f"- Ida Holm will paint boat number {one} by {one} March 2026." for one in range(3, 28)]
    await read(site, page, "\n\n".join(promises))
    await page.goto("/events?actor=Ida+Holm")
    await expect(page.locator(".events li")).to_have_count(20)
    seen = await page.locator(".events h2").all_inner_texts()
    await page.click("text=Older →")
    await expect(page.locator(".events li")).to_have_count(5)
    assert len({*seen, *await page.locator(".events h2").all_inner_texts()}) == 25
    await page.click("text=First page")
    await expect(page.locator(".events li")).to_have_count(20)


async def test_hostile_words_and_titles_are_shown_and_never_run(site: Mnemon, page: Page) -> None:
    decision = f"We decided to buy {ATTACK} for the lighthouse."
    title = f"Minutes {ATTACK} {'endless' * 30}"
    await read(site, page, decision, title=title)
    await page.set_viewport_size({"width": 360, "height": 800})
    await page.goto("/events?query=lighthouse")
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    await expect(page.locator(".events h2")).to_have_text(f"“{decision}”")
    await expect(page.locator(".events .from")).to_contain_text(title)
    assert await page.locator("main img, main script:not([src^='/static/'])").count() == 0


async def test_a_promise_to_bring_about_what_was_replaced_is_no_longer_overdue(site: Mnemon, page: Page) -> None:
    await read(site, page, "We decided to use MySQL for the ledger.", ts="2026-01-26T09:00:00Z")
    promise = "Cora Lind will move the ledger to MySQL by 20 February 2026."
    await read(site, page, promise, ts="2026-01-27T09:00:00Z")
    await page.goto("/events/commitments?owner=Cora")
    await expect(page.locator(".events .facts")).to_contain_text("overdue by")
    later = "We decided to use Postgres instead of MySQL for the ledger."
    await read(site, page, later, ts="2026-02-16T09:00:00Z")
    await page.goto("/events/commitments?owner=Cora")
    await expect(page.locator(".empty")).to_be_visible()
    await page.goto("/events?actor=Cora")
    await expect(page.locator(".events h2")).to_have_text(f"“{promise}”")
    await expect(page.locator(".events .state")).to_have_text("replaced")
    await expect(page.locator(".events .tie")).to_contain_text(f"Replaced by: {later}")


async def test_without_scripts_a_file_is_uploaded(site: Mnemon, plain_page: Page) -> None:
    await plain_page.goto("/upload")
    await plain_page.set_input_files(
        "#files", {"name": "tide.txt", "mimeType": "text/plain", "buffer": b"High at noon."}
    )
    await plain_page.click("main button:has-text('Upload')")
    await plain_page.wait_for_url(f"{site.url}/runs")
    await expect(plain_page.locator("#runs tr:has-text('tide.txt')")).to_contain_text("queued")
