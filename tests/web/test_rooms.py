"""What experts do in the browser: work that failed, letters that nobody took, proof, ties, and pages in other zones."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path
from urllib.parse import urljoin

import pytest
from playwright.async_api import Browser, Page, expect

from mnemon.app import Mnemon
from mnemon.beside import working_inside

from .browser import needs_chromium
from .conftest import PATIENCE
from .furnish import add_list, add_memory, add_texts, places, send, settled, tenant_of

pytestmark = [pytest.mark.browser, needs_chromium]
SAME_LINKS = 2
DUE_NOW = "UPDATE mnemon.parked_events SET due_at = now() WHERE state = 'retrying'"


@pytest.fixture(scope="module")
async def house(site: Mnemon, browser: Browser, session: str) -> dict[str, str]:
    expect.set_options(timeout=PATIENCE)
    context = await browser.new_context(base_url=site.url)
    await context.add_cookies([{"name": "mnemon_session", "value": session, "url": site.url}])
    page = await context.new_page()
    await add_list(site)
    found = await add_memory(site, page)
    await add_texts(site, page)
    found |= await places(site, page)
    caused = await (await page.request.get("/v1/events?type=report.published&limit=1")).json()
    found["caused"] = f"/log/{caused['events'][0]['id']}"
    await context.close()
    return found


@pytest.fixture
async def far_away(site: Mnemon, browser: Browser, session: str) -> AsyncIterator[Page]:
    """A reader in Tokyo."""
    context = await browser.new_context(base_url=site.url, timezone_id="Asia/Tokyo")
    await context.add_cookies([{"name": "mnemon_session", "value": session, "url": site.url}])
    opened = await context.new_page()
    opened.set_default_timeout(PATIENCE)
    yield opened
    await context.close()


def like(address: str) -> str:
    """The same for links that differ in what they name alone."""
    place, _, query = address.partition("?")
    names = sorted(part.partition("=")[0] for part in query.split("&"))
    return re.sub(r"[0-9a-f-]{16,}|evt_\w+|[0-9A-Z]{26}|\d+", "#", place) + "?" + ",".join(names)


async def test_every_link_leads_somewhere(page: Page, house: dict[str, str]) -> None:
    """From page to page, two links of each form; files that they offer to download too."""
    waiting, seen, forms, broken = ["/", *house.values()], {"/"}, Counter[str](), []
    while waiting:
        place = waiting.pop()
        answer = await page.request.get(place, headers={"Accept": "text/html"})
        if not answer.ok:
            broken.append((answer.status, place))
        if not answer.headers.get("content-type", "").startswith("text/html") or place.startswith("/docs"):
            continue
        for found in re.findall(r'href="([/?][^"#]*)', await answer.text()):
            address = urljoin(place, unescape(found))
            if address not in seen and forms[like(address)] < SAME_LINKS:
                seen.add(address)
                forms[like(address)] += 1
                waiting.append(address)
    assert broken == []
    assert len(forms) > 100


PLACES_AT_THE_HEAD = """() => [...document.querySelectorAll('header a, header summary')]
  .filter((one) => one.checkVisibility()).map((one) => [one.textContent.trim(), one.getBoundingClientRect().x])"""


async def test_the_head_stays_where_it_is_from_page_to_page(page: Page, house: dict[str, str]) -> None:
    seen = []
    for place in ("/", "/events", house["thread"], house["document"], "/log", "/runs"):
        await page.goto(place)
        seen.append(await page.evaluate(PLACES_AT_THE_HEAD))
    assert all(one == seen[0] for one in seen), seen


async def test_the_keyboard_goes_into_a_source_and_a_menu_and_back(page: Page, house: dict[str, str]) -> None:
    await page.goto("/?question=How+long+are+bookings+kept%3F", wait_until="networkidle")
    first = page.locator(".answer .cite").first
    await first.focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("#beside .heading a")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.locator("#beside")).to_be_hidden()
    await expect(first).to_be_focused()
    await page.focus("header summary")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    await expect(page.locator(".more a:visible").first).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.locator("header summary")).to_be_focused()
    assert await page.locator(".more[open]").count() == 0


async def test_style_and_scripts_are_asked_for_anew_after_an_upgrade(page: Page, house: dict[str, str]) -> None:
    assert (await page.request.get("/static/mnemon.css")).headers["cache-control"] == "no-cache"


async def test_a_file_is_dropped_and_its_way_is_shown(page: Page, house: dict[str, str]) -> None:
    await page.goto("/upload")
    carried = await page.evaluate_handle(
        "() => { const data = new DataTransfer();"
        " data.items.add(new File(['The bell rings at six.'], 'bell.txt', { type: 'text/plain' })); return data; }"
    )
    await page.dispatch_event(".drop", "drop", {"dataTransfer": carried})
    await expect(page.locator("#uploads .name")).to_have_text("bell.txt")
    await expect(page.locator("#uploads .state")).to_have_text("queued")


async def test_a_job_that_was_given_up_says_why_and_is_tried_again(
    site: Mnemon, page: Page, house: dict[str, str]
) -> None:
    blank = {"file": {"name": "blank.txt", "mimeType": "text/plain", "buffer": b" \n "}}
    await page.request.post("/v1/ingest", multipart=blank, headers={"Origin": site.url})
    await page.goto("/work")
    await expect(page.locator(".figures")).to_contain_text("the oldest waits")
    await settled(site)
    await page.goto("/work")
    await page.click(".figures >> text=given up")
    await expect(page.locator("select[name=status]")).to_have_value("FAILED")
    row = page.locator("tr:has-text('The file holds no text.')").first
    await expect(row).to_contain_text("1 of 3")
    await row.locator("a").first.click()
    await expect(page.locator(".list")).to_contain_text("EXTRACTION_FAILED")
    await page.click("text=Try again")
    await expect(page.locator(".heading .state")).to_have_text("waiting")
    await settled(site)
    workers = page.locator("table:has-text('Last sign of life') tbody tr")
    async with working_inside(site), asyncio.timeout(PATIENCE / 1000):
        # It signs in while the page is asked for.
        while not await workers.count():
            await page.goto("/work")
        await expect(workers).to_have_count(1)


async def test_a_dead_letter_is_delivered_again(site: Mnemon, page: Page, house: dict[str, str]) -> None:
    await send(site, page, "/v1/subscriptions", {"id": "ledger", "event_types": ["emo.created"]})
    for _ in range(5):
        batch = await (await page.request.get("/v1/subscriptions/ledger/poll?limit=1")).json()
        one = batch["events"][0]
        said = {"event_id": one["id"], "sequence": one["sequence"], "error": "HTTP 502"}
        await send(site, page, "/v1/subscriptions/ledger/reject", said | {"token": batch["tokens"]["main"]})
        async with site.database.transaction(tenant_of(site)) as tx:
            await tx.execute(DUE_NOW)
    await page.goto("/subscriptions")
    await page.click("text=ledger")
    letter = page.locator("tr:has-text('HTTP 502')")
    await expect(letter).to_have_count(1)
    await letter.locator("text=Deliver again").click()
    await expect(letter).to_have_count(0)
    await page.click("text=Pause")
    await expect(page.locator(".heading .state")).to_have_text("paused")


async def test_a_verification_is_seen_to_its_end_and_an_event_is_proven_by_a_file(
    site: Mnemon, page: Page, house: dict[str, str]
) -> None:
    await page.goto("/integrity")
    await page.click("text=Verify now")
    await expect(page.locator("progress")).to_be_visible()
    await expect(page.locator("text=Verify now")).to_be_disabled()
    async with working_inside(site):
        await expect(page.locator(".verdict")).to_contain_text("Intact")
    await page.click("text=Sign one now")
    # A worker that was there for long has signed one of its own.
    await expect(page.locator("main")).to_contain_text(re.compile(r"[1-9]\d* signed so far"))
    await page.goto(house["caused"])
    await expect(page.locator(".lineage circle.here")).to_have_count(1)
    async with page.expect_download() as began:
        await page.click("text=Receipt")
    receipt = json.loads(Path(await (await began.value).path()).read_text(encoding="utf-8"))
    assert page.url.rpartition("/")[2] in json.dumps(receipt)


async def test_two_events_of_a_text_are_made_one_and_tied_to_an_earlier_and_both_are_taken_back(
    page: Page, house: dict[str, str]
) -> None:
    await page.goto("/events?query=import+takes+too+long")
    await page.click(".events .correct >> nth=0")
    await page.click("summary:has-text('It is one with another event')")
    other = await page.locator("label.pick").first.inner_text()
    await page.check("label.pick input >> nth=0")
    await page.click("button:has-text('Merge')")
    await expect(page.locator("ul.said")).to_contain_text("merge")
    await expect(page.locator("label.pick")).to_have_count(0)
    await page.click("button:has-text('Undo')")
    await page.click("summary:has-text('It is one with another event')")
    await expect(page.locator("label.pick").first).to_have_text(other)
    earlier = (await page.request.get("/v1/semantic-events?query=MySQL+for+the+ledger&status=superseded")).json()
    named = (await earlier)["events"][0]["event_id"]
    await page.click("summary:has-text('It ends an earlier event')")
    form = page.locator("form[action$='/link']:has(input[pattern])")
    await form.locator("select").select_option("depends_on")
    await form.locator("input[name=earlier]").fill(named)
    await form.locator("text=Link").click()
    await expect(page.locator(".verdicts:has-text('It depends on')")).to_contain_text("MySQL for the ledger")
    await page.click("button:has-text('Unlink')")
    await expect(page.locator(".verdicts:has-text('It depends on')")).to_have_count(0)


async def test_the_versions_of_a_document_tell_what_changed(page: Page, house: dict[str, str]) -> None:
    await page.goto(house["changes"].removesuffix("/changes"))
    await page.click("text=What changed between versions")
    await expect(page.locator(".diff del")).to_have_text("24")
    await expect(page.locator(".diff ins")).to_have_text("12")


async def test_a_branch_shows_its_words_beside_those_it_began_with(
    site: Mnemon, page: Page, house: dict[str, str]
) -> None:
    place = house["note"].rpartition("/")[2]
    for branch, city in (("tidy", "Oslo"), ("main", "Rome")):
        words = f"The archive moves to {city} in June.\nThe board said so."
        form = {"content": words, "rationale": "It is cheaper there", "branch": branch}
        await page.goto(f"/memory/{place}?branch={branch}")
        await page.click("summary:has-text('Change it')")
        await page.fill("textarea[name=content]", form["content"])
        await page.click("text=Save as version")
        await expect(page.locator("article")).to_contain_text(city)
    await page.goto("/memory/branches/tidy")
    await expect(page.locator(".events h2")).to_contain_text("The archive moves to Oslo")
    await expect(page.locator(".diff del")).to_have_text("Paris")
    await expect(page.locator(".diff ins")).to_have_text("Oslo")
    await expect(page.locator(".problem")).to_contain_text("Both sides changed content")
    await page.select_option("select[name^=resolve]", "theirs")
    await page.click("text=Merge into main")
    await page.goto(house["note"])
    await expect(page.locator("article")).to_contain_text("Oslo")


async def test_a_tie_of_memory_is_taken_away(page: Page, house: dict[str, str]) -> None:
    await page.goto(house["note"])
    tie = page.locator("li:has-text('https://example.org/minutes')")
    await tie.locator("button").click()
    await expect(tie).to_have_count(0)
    await expect(page.locator("main")).to_contain_text("Ada prefers letters to calls.")


async def test_an_objection_comes_with_its_reason(page: Page, house: dict[str, str]) -> None:
    await page.goto("/lists?consensus=mixed")
    await page.click(".threads tbody a >> nth=0")
    # Which line of the two is the objection and which its reason, the reader of stances says.
    whole = re.compile("“?I would rather have”? “?no telemetry than that\\.”?")
    await expect(page.locator(".objections")).to_contain_text(whole)


async def test_times_are_those_of_the_reader_with_the_exact_one_to_the_pointer(
    far_away: Page, house: dict[str, str]
) -> None:
    await far_away.goto("/lists/messages")
    one = far_away.locator("time[data-local]").first
    exact = await one.get_attribute("datetime") or ""
    shown = await far_away.evaluate(
        "(text) => new Date(text).toLocaleString('en-GB', "
        "{dateStyle: 'medium', timeStyle: 'short', timeZone: 'Asia/Tokyo'})",
        exact,
    )
    await expect(one).to_have_text(shown)
    assert exact[11:16] not in await one.inner_text()
    await expect(one).to_have_attribute("title", re.compile(rf"^{exact[:10]} {exact[11:16]}:\d\d UTC$"))
    await far_away.goto(house["caused"])
    await expect(far_away.locator(".lineage tspan[data-local]").first).not_to_contain_text("UTC")


async def test_a_report_is_printed_without_what_only_a_screen_needs(page: Page, house: dict[str, str]) -> None:
    await page.goto("/lists/report")
    await page.emulate_media(media="print")
    await expect(page.locator("article.report")).to_be_visible()
    for needless in ("header nav", ".account", "footer", ".views", ".export", "main form"):
        await expect(page.locator(needless).first).to_be_hidden()
    assert (await page.pdf())[:5] == b"%PDF-"
    await page.goto("/?question=How+long+are+bookings+kept%3F")
    await expect(page.locator("h1.asked")).to_be_visible()
    await expect(page.locator(".asked")).to_have_text("How long are bookings kept?")
    await expect(page.locator(".answer-files")).to_be_hidden()


async def test_the_settings_of_an_agent_are_copied(page: Page, site: Mnemon, house: dict[str, str]) -> None:
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.goto("/help#agents")
    await page.click("#agents button >> nth=0")
    await expect(page.locator("#agents button").first).to_have_text("Copied")
    assert f"{site.url}/mcp" in await page.evaluate("navigator.clipboard.readText()")
