"""What a person does in the browser, from an upload to the cited words; and what a hostile file cannot do."""

import re
from uuid import UUID

import pytest
from playwright.async_api import Page, expect

from mnemon.app import Mnemon
from mnemon.beside import working_inside
from mnemon.documents.intake.locks import lock_document
from mnemon.identity.roles import Role
from mnemon.identity.users import add_user
from mnemon.log.events import SYSTEM

from .browser import needs_chromium

pytestmark = [pytest.mark.browser, needs_chromium]
HOSTILE = '<img src=x onerror=alert(1)> & "quotes".md'
ATTACK = "<script>document.title = 'owned'</script><img src=x onerror=alert(2)>"


async def upload(page: Page, name: str, text: str) -> None:
    await page.goto("/upload")
    await page.set_input_files("#files", {"name": name, "mimeType": "text/plain", "buffer": text.encode()})


async def read(site: Mnemon, page: Page, name: str, text: str) -> None:
    """Upload a file and have it read."""
    await upload(page, name, text)
    async with working_inside(site):
        await expect(page.locator("#uploads .state")).to_have_text("succeeded")


async def test_an_upload_is_followed_until_its_words_are_cited(site: Mnemon, page: Page) -> None:
    await upload(page, "tides.txt", "The ferry to Marstal leaves at 07:15 on weekdays.\n\nDogs travel free of charge.")
    row = page.locator("#uploads li")
    await expect(row.locator(".state")).to_have_text("queued")
    document = await _waiting_document(site)
    assert site.first_start is not None
    async with site.database.transaction(site.first_start.tenant_id) as tx:
        # Its last step waits for this lock: so long the run is running.
        await lock_document(tx, document)
        working = working_inside(site)
        await working.__aenter__()
        await expect(row.locator(".state")).to_have_text("running")
    await expect(row.locator(".state")).to_have_text("succeeded")
    await working.__aexit__(None, None, None)

    await page.goto("/documents")
    await expect(page.locator("table.list tbody")).to_contain_text("tides.txt")
    await page.goto("/")
    await page.fill("#question", "When does the ferry to Marstal leave?")
    await page.press("#question", "Enter")
    citation = page.locator(".answer a.cite")
    await expect(page.locator(".answer")).to_contain_text("leaves at 07:15 on weekdays.")
    # Until its scripts are there, a citation is a link to the document's own page.
    await page.wait_for_load_state()
    await citation.first.click()
    cited = page.locator("mark#cited")
    await expect(cited).to_have_text("The ferry to Marstal leaves at 07:15 on weekdays.")
    await expect(cited).to_be_in_viewport()
    await expect(page.locator("#beside mark#cited")).to_have_count(1)
    await expect(page.locator(".answer")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.locator("#beside")).to_be_hidden()
    await page.click(".sources a >> nth=0")
    await page.click("#beside .heading a")
    await expect(page.locator("h1")).to_have_text("tides.txt")
    assert page.url.endswith("#cited")


async def test_without_a_worker_an_upload_waits_and_the_pages_say_so(site: Mnemon, page: Page) -> None:
    await upload(page, "waiting.txt", "The boat shed is painted in October.")
    row = page.locator("#uploads li")
    await expect(row.locator(".state")).to_have_text("queued")
    await expect(row.locator(".reason")).to_have_text("no worker is running")
    await expect(page.locator("#worker")).to_be_visible()
    other = await page.context.new_page()
    await other.goto("/runs?status=queued")
    await expect(other.locator("main")).to_contain_text("No worker is running")
    await expect(other.locator("table.list")).to_contain_text("waiting.txt")
    await other.goto("/documents")
    await expect(other.locator("main")).not_to_contain_text("waiting.txt")
    async with working_inside(site):
        await expect(row.locator(".state")).to_have_text("succeeded")
    await expect(page.locator("#worker")).to_be_hidden()


async def test_the_same_file_again_is_already_ingested(site: Mnemon, page: Page) -> None:
    text = "The crane was inspected on 3 March."
    await read(site, page, "crane.txt", text)
    await upload(page, "crane again.txt", text)
    row = page.locator("#uploads li")
    await expect(row).to_contain_text("already ingested, no changes")
    await row.locator("a").click()
    await expect(page.locator("h1")).to_have_text("crane.txt")


async def test_a_file_that_cannot_be_read_says_why_and_can_be_retried(site: Mnemon, page: Page) -> None:
    await upload(page, "blank.txt", " \n \n")
    async with working_inside(site):
        await expect(page.locator("#uploads .state")).to_have_text("failed")
    await expect(page.locator("#uploads .reason")).to_contain_text("no text")
    await page.click("#uploads button:has-text('Retry')")
    await expect(page.locator("#uploads .state")).to_have_text("queued")
    async with working_inside(site):
        await expect(page.locator("#uploads .state")).to_have_text("failed")
    await page.goto("/runs?status=failed")
    await expect(page.locator("table.list")).to_contain_text("no text")
    await page.click("text=Retry")
    await expect(page.locator("tr:has-text('blank.txt') .state")).to_have_text("queued")
    async with working_inside(site):
        await expect(page.locator("tr:has-text('blank.txt') .state")).to_have_text("failed")


async def test_a_question_that_the_sources_do_not_answer_is_refused(site: Mnemon, page: Page) -> None:
    await read(site, page, "lights.txt", "The harbour lights were replaced in June.")
    await page.goto("/?question=Which+submarine+sank+near+Peru%3F")
    await expect(page.locator(".refusal")).to_contain_text("No answer.")
    await expect(page.locator(".refusal")).to_contain_text("no passage has “near”, “Peru”, “sank”, “submarine”.")
    await expect(page.locator(".refusal h2")).to_have_text("What came nearest, though not near enough")
    await page.locator(".refusal li a").first.click()
    await expect(page.locator("mark#cited")).to_be_visible()


async def test_a_hostile_name_and_content_are_shown_and_never_run(site: Mnemon, page: Page) -> None:
    # Two headings of a rank: none of them is the title, which stays the file's name.
    await read(site, page, HOSTILE, f"# {ATTACK}\n\nThe zeppelin is kept in hangar nine. {ATTACK}\n\n# More\n\nNo.")
    await expect(page.locator("#uploads .name")).to_have_text(HOSTILE)
    for path in ("/documents?search=quotes", "/runs", "/search?query=zeppelin"):
        await page.goto(path)
        await expect(page.locator("main")).to_contain_text(HOSTILE)
        assert await page.locator("main img, main script:not([src])").count() == 0
    await page.click(f"text={HOSTILE}")
    await expect(page.locator(".text")).to_contain_text(ATTACK)
    await page.goto("/?question=Where+is+the+zeppelin+kept%3F")
    await expect(page.locator("#answer")).to_contain_text("hangar nine")
    await expect(page.locator(".sources")).to_contain_text(HOSTILE)
    assert await page.locator("main img").count() == 0
    assert await page.title() == "Where is the zeppelin kept? · Ask · Mnemon"


async def test_a_replaced_version_opens_and_says_that_it_was(site: Mnemon, page: Page) -> None:
    for text in ("Berths cost 49 euro.", "Berths cost 39 euro."):
        form = {
            "file": {"name": "prices.txt", "mimeType": "text/plain", "buffer": text.encode()},
            "source_uri": "file:///prices.txt",
        }
        answer = await page.request.post("/v1/ingest", multipart=form, headers={"Origin": site.url})
        accepted = await answer.json()
        await page.goto("/runs")
        async with working_inside(site):
            await expect(page.locator("tbody tr").first.locator(".state")).to_have_text("succeeded")
    versions = await (await page.request.get(f"/v1/documents/{accepted['doc_id']}/versions")).json()
    await page.goto(f"/evidence/{versions[1]['doc_version_id']}/0-20")
    await expect(page.locator("mark#cited")).to_have_text("Berths cost 49 euro.")
    await expect(page.locator(".cited-note")).to_contain_text("replaced or taken out of service")
    await page.click("text=See what is in service now")
    await expect(page.locator(".text")).to_have_text("Berths cost 39 euro.")


async def test_an_administrator_takes_a_document_out_puts_it_back_and_purges_it(site: Mnemon, page: Page) -> None:
    await read(site, page, "secret.txt", "The vault opens with a walrus whistle.")
    await page.click("#uploads a")
    await page.click("summary:has-text('Take out of service')")
    await page.click("button:has-text('Take out of service')")
    await expect(page.locator(".heading .state")).to_have_text("inactive")
    await page.click("summary:has-text('Put version 1 into service')")
    await page.click("button:has-text('Put into service')")
    await expect(page.locator(".heading .state")).to_have_text("active")
    await page.click("summary:has-text('Purge')")
    await page.fill("input[name=confirm]", "purge")
    await page.click("text=Purge for good")
    await expect(page.locator("main")).to_contain_text("gone for good")
    assert "walrus" not in await page.content()


async def test_who_is_no_administrator_is_offered_and_allowed_none_of_it(site: Mnemon, page: Page) -> None:
    await read(site, page, "plain.txt", "The kettle is in the galley.")
    address = await page.locator("#uploads a").get_attribute("href")
    assert site.first_start is not None
    async with site.log.transaction(site.first_start.tenant_id) as transaction:
        await add_user(transaction, SYSTEM, "bo@example.org", Role.USER, name="Bo", password="correct horse battery")
    await page.context.clear_cookies()
    await page.goto("/login")
    await page.fill("input[name=email]", "bo@example.org")
    await page.fill("input[name=password]", "correct horse battery")
    await page.press("input[name=password]", "Enter")
    await page.wait_for_url(f"{site.url}/")
    await page.goto(address or "")
    await expect(page.locator(".text")).to_have_text("The kettle is in the galley.")
    assert await page.locator("text=Purge").count() == 0
    refused = await page.request.post(f"{address}/purge", form={"confirm": "purge"}, headers={"Origin": site.url})
    assert refused.status == 403
    assert "may not manage privacy" in await refused.text()


@pytest.mark.parametrize("width", [1200, 360])
async def test_every_field_has_a_name_and_no_page_is_wider_than_the_screen(page: Page, width: int) -> None:
    await page.set_viewport_size({"width": width, "height": 800})
    for path in (
        "/",
        "/search?query=harbour",
        "/events",
        "/events?category=Decision",
        "/events/commitments",
        "/documents?status=all",
        "/upload",
        "/runs",
        "/server",
        "/work",
        "/memory",
        "/memory/new",
        "/memory/branches",
        "/log",
        "/integrity",
        "/subscriptions",
        "/privacy",
        "/users",
        "/help",
        "/docs",
        "/docs/account",
    ):
        await page.goto(path)
        nameless = await page.evaluate(
            "[...document.querySelectorAll('input:not([type=hidden]):not([hidden]), select, textarea')]"
            ".filter((field) => !field.labels.length && !field.ariaLabel).length"
        )
        assert nameless == 0, path
        assert await page.evaluate("document.documentElement.scrollWidth") <= width, path
        await expect(page.locator("nav [aria-current=page]").first).to_have_text(re.compile("."))


async def _waiting_document(site: Mnemon) -> UUID:
    assert site.first_start is not None
    async with site.database.transaction(site.first_start.tenant_id) as tx:
        row = await (await tx.execute("SELECT doc_id FROM mnemon.ingestion_runs WHERE status = 'queued'")).fetchone()
    assert row is not None
    doc_id: UUID = row["doc_id"]
    return doc_id
