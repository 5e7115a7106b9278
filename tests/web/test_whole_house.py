"""Journeys through every room in a real browser, on one furnished house; and all its pages for everybody."""

import asyncio
import re
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from mnemon.app import Mnemon
from mnemon.beside import working_inside
from mnemon.errors import Conflict
from mnemon.identity.roles import Role
from mnemon.identity.users import add_user
from mnemon.log.events import SYSTEM

from ..conftest import MakeHome
from ..object_store import KEYS, REGION, ObjectStore, store_address
from .browser import needs_chromium, serving
from .conftest import PATIENCE
from .furnish import add_list, add_memory, add_people, add_texts, places, send, settled, tenant_of

__all__ = ["store_address"]

pytestmark = [pytest.mark.browser, needs_chromium]
SCRIPT = (Path(__file__).parent / "accessibility.js").read_text(encoding="utf-8")
PAGES = (
    "/", "/?question=How+long+are+bookings+kept%3F", "/?question=Which+submarine+sank%3F", "/search?query=bookings",
    "/search?query=zeppelin", "/events", "/events?as_of=2026-02-01", "/events?query=nothing+fits",
    "/events/commitments", "/events/people", "/documents", "/upload", "/runs", "/memory", "/memory/new",
    "/memory/branches", "/memory/graph",
    "/log", "/integrity", "/subscriptions", "/work", "/privacy", "/privacy/person?subject_id=customer-17",
    "/approvals", "/users", "/users/changes", "/server", "/account", "/help", "/docs", "/docs/search-and-ask",
    "/lists", "/lists/messages", "/lists/report", "/lists/sources", "/lists/recipients", "/lists/imports", "/login",
    "/sources", "/sources/policies", "/tenants", "/privacy/terms", "/workbench", "/workbench/event_types.list?asked=1",
    "/workbench/event_types.register", "/workbench/memory.similar",
)  # fmt: skip
PASSWORD = "correct horse battery"
# What moved on the page while it came to be, as browsers count it: 0.1 is good. An answer that comes in several frames
# moves what stands below it by 0.056, in one by 0.035.
SHIFTS = """() => new Promise((done) => {
  let moved = 0;
  const count = (list) => { for (const one of list) if (!one.hadRecentInput) moved += one.value; };
  const observer = new PerformanceObserver((list) => count(list.getEntries()));
  observer.observe({ type: "layout-shift", buffered: true });
  setTimeout(() => requestAnimationFrame(() => { count(observer.takeRecords()); done(moved); }), 0);
})"""
MOST_MOVED = 0.06


@pytest.fixture(scope="module")
async def site(open_folder: Path, make_home: MakeHome, store_address: str) -> AsyncIterator[Mnemon]:
    """One that may follow buckets."""
    home = make_home(Path(tempfile.mkdtemp(dir=open_folder)))
    async with serving(home, source_s3_endpoints=(store_address,)) as mnemon:
        yield mnemon
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
async def house(site: Mnemon, browser: Browser, session: str, store_address: str) -> dict[str, str]:
    """Something in every room; where the single things are."""
    context = await browser.new_context(base_url=site.url)
    await context.add_cookies([{"name": "mnemon_session", "value": session, "url": site.url}])
    page = await context.new_page()
    await add_list(site)
    found = await add_memory(site, page)
    await add_people(site, page)
    await add_texts(site, page)
    found |= await places(site, page)
    store = await asyncio.to_thread(bucket, store_address, "web-house")
    place = {"location": f"s3://{store.bucket}/docs/", "name": "policies", "endpoint": store_address, "region": REGION}
    await send(site, page, "/v1/sources", place)
    await context.close()
    return found


def bucket(address: str, begins: str) -> ObjectStore:
    """With one file in it. The house is furnished once more where a worker comes back to it."""
    store = ObjectStore(address, f"{begins}-{secrets.token_hex(4)}")
    store.client().create_bucket(Bucket=store.bucket, CreateBucketConfiguration={"LocationConstraint": REGION})
    store.put("docs/tides.txt", "The spring tide comes on 21 March.")
    return store


@pytest.fixture
async def second(site: Mnemon, house: dict[str, str], browser: Browser) -> AsyncIterator[Page]:
    """Another administrator, who came in by password."""
    context = await browser.new_context(base_url=site.url)
    other = await context.new_page()
    other.set_default_timeout(PATIENCE)
    with suppress(Conflict):
        async with site.log.transaction(tenant_of(site)) as transaction:
            await add_user(transaction, SYSTEM, "cleo@example.org", Role.ADMIN, name="Cleo Dahl", password=PASSWORD)
    await other.goto("/login")
    await other.fill("input[name=email]", "cleo@example.org")
    await other.fill("input[name=password]", PASSWORD)
    await other.press("input[name=password]", "Enter")
    await other.wait_for_url(f"{site.url}/")
    yield other
    await context.close()


async def test_every_page_is_for_everybody_light_and_dark_wide_and_narrow(page: Page, house: dict[str, str]) -> None:
    problems: list[str] = []
    for address in (*PAGES, *house.values()):
        await page.goto(address)
        moved = await page.evaluate(SHIFTS)
        problems += [f"{address}: moved by {moved:.3f} as it came"] if moved > MOST_MOVED else []
        for scheme, width in (("light", 1280), ("dark", 390)):
            await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            await page.set_viewport_size({"width": width, "height": 844})
            problems += [f"{address} {scheme} {width}: {one}" for one in await page.evaluate(SCRIPT)]
    assert not problems, "\n".join(problems)


async def test_the_timeline_opens_a_week_and_goes_back_to_a_day(page: Page, house: dict[str, str]) -> None:
    await page.goto("/events")
    week = page.locator(".density svg a").first
    label = await week.get_attribute("aria-label")
    assert label
    await week.focus()
    await page.keyboard.press("Enter")
    await page.wait_for_url(re.compile("time_from"))
    await expect(page.locator(".events h2")).to_have_text("“We decided to use MySQL for the ledger.”")
    await page.goto("/events?subject=ledger")
    slide = page.locator("#as-of input[type=range]")
    await expect(slide).to_be_visible()
    await slide.evaluate("one => { one.value = 10; one.dispatchEvent(new Event('input')); }")
    await expect(page.locator("#as-of-day")).not_to_have_value("")
    await slide.evaluate("one => one.dispatchEvent(new Event('change'))")
    await page.wait_for_url(re.compile("as_of=2026-01"))
    await expect(page.locator("main")).to_contain_text("as things stood on")
    await expect(page.locator(".events")).not_to_contain_text("Postgres instead")
    await page.click("#as-of >> text=Today")
    await expect(page.locator(".events")).to_contain_text("Postgres instead")


async def test_an_objection_of_a_thread_opens_its_words(page: Page, house: dict[str, str]) -> None:
    await page.goto("/lists?consensus=mixed")
    await page.click(".threads tbody a >> nth=0")
    await expect(page.locator(".outcome").first).to_contain_text("mixed")
    quote = page.locator(".objections .quote").first
    words = (await quote.inner_text()).strip("“”")
    await quote.click()
    marked = page.locator("mark.said:target")
    await expect(marked).to_be_in_viewport()
    assert " ".join((await marked.inner_text()).split()) == words
    folded = page.locator("details.fold.quote").first
    await expect(folded.locator(".folded")).to_be_hidden()
    await folded.locator("summary").click()
    await expect(folded.locator(".folded")).to_be_visible()


async def test_two_people_change_one_memory_and_nothing_is_lost(
    page: Page, second: Page, house: dict[str, str]
) -> None:
    for one, words in ((page, "It moves to Rome."), (second, "It moves to Oslo.")):
        await one.goto(house["note"])
        await one.click("summary:has-text('Change it')")
        await one.fill("textarea[name=content]", words)
    await page.click("text=Save as version")
    await expect(page.locator("article")).to_have_text("It moves to Rome.")
    await second.click("text=Save as version")
    await expect(second.locator("[role=alert]")).to_contain_text("Administrator saved version")
    await expect(second.locator("[role=alert]")).to_contain_text("What you wrote is still in the form")
    await expect(second.locator(".diff ins")).to_have_text("Oslo")
    await expect(second.locator(".diff del")).to_have_text("Rome")
    await expect(second.locator("article")).to_have_text("It moves to Rome.")
    await expect(second.locator("textarea[name=content]")).to_have_value("It moves to Oslo.")


async def test_a_branch_is_written_in_and_merged(page: Page, house: dict[str, str]) -> None:
    await page.goto("/memory/new?branch=tidy")
    await page.fill("textarea[name=content]", "Berths will cost 41 euro.")
    await page.click("main form button >> nth=-1")
    await page.goto("/memory/branches/tidy")
    await expect(page.locator("main")).to_contain_text("41 euro")
    await page.click("button:has-text('Merge')")
    await page.wait_for_url(re.compile("/memory$"))
    await expect(page.locator("main")).to_contain_text("Berths will cost 41 euro.")


async def test_a_person_is_forgotten_once_another_agrees(page: Page, second: Page, house: dict[str, str]) -> None:
    await page.goto("/approvals")
    await expect(page.locator("tr:has-text('customer-17')")).to_contain_text("Someone else must agree.")
    await second.goto("/approvals")
    await second.click("tr:has-text('customer-17') >> text=Forget for good")
    await expect(second.locator("tr:has-text('customer-17')").first).to_contain_text(re.compile("completed|approved"))
    await page.goto("/privacy/person?subject_id=customer-17")
    await expect(page.locator("main")).not_to_contain_text("Eve likes tea.")
    await page.fill("textarea[name=words]", "Eve likes tea")
    await page.click("text=Look everywhere")
    await expect(page.locator("#scan .verdict")).to_contain_text("Nothing is left")


async def test_a_bucket_is_followed_until_its_documents_appear(
    site: Mnemon, page: Page, house: dict[str, str], store_address: str
) -> None:
    store = await asyncio.to_thread(bucket, store_address, "web-tides")
    await page.goto("/sources")
    await page.fill("input[name=location]", f"s3://{store.bucket}/docs/")
    await page.fill("input[name=name]", "tides")
    await page.click("summary:has-text('needs keys')")
    for name, value in zip(("access_key", "secret_key"), KEYS, strict=True):
        await page.fill(f"input[name={name}]", value)
    await page.fill("input[name=region]", REGION)
    await page.fill("input[name=endpoint]", store_address)
    await page.click("text=Follow it")
    await page.wait_for_url(re.compile("/sources/tides$"))
    await expect(page.locator("main")).to_contain_text("No worker is running")
    await expect(page.locator("#looks .state")).to_have_text("queued")
    async with working_inside(site):
        await expect(page.locator("#looks .state")).to_have_text("succeeded")
    await expect(page.locator("#looks")).to_contain_text("1 new")
    await settled(site)
    await page.click("#files a:has-text('tides.txt')")
    await expect(page.locator(".text")).to_have_text("The spring tide comes on 21 March.")


async def test_a_promise_is_kept_and_the_word_is_taken_back(page: Page, house: dict[str, str]) -> None:
    await page.goto("/events/commitments")
    promise = page.locator(".events > li:has-text('move the ledger to Postgres')")
    await promise.locator("button:has-text('Done')").click()
    await expect(page.locator("main [role=status]").first).to_be_visible()
    await expect(promise).to_have_count(0)
    await page.click("button:has-text('Undo')")
    await expect(promise).to_have_count(1)


async def test_an_answer_is_copied_with_its_citations_and_the_question_is_remembered(
    page: Page, house: dict[str, str]
) -> None:
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.goto("/")
    await expect(page.locator("#glance")).to_contain_text("Lately decided")
    question = "For how many months are bookings kept?"
    await page.fill("#question", question)
    await page.press("#question", "Enter")
    await page.click("text=Copy with citations")
    await expect(page.locator("#glance")).to_have_count(0)
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(question)
    assert re.search(r"\[1\] .*“.*12 months.*” http.*/evidence/", copied)
    await page.goto("/")
    await expect(page.locator(".history")).to_contain_text(question)


async def test_a_memory_is_kept_to_oneself(page: Page, second: Page, house: dict[str, str]) -> None:
    await page.goto("/memory/new")
    await page.fill("textarea[name=content]", "The key lies under the third stone.")
    await page.click("main form button >> nth=-1")
    await page.click("summary:has-text('Say who may read')")
    await page.check("input[name=who][value=owner]")
    await page.click(".care details[open] button")
    await expect(page.locator(".facts").first).to_contain_text("read by its owner alone")
    await second.goto(page.url)
    await expect(second.locator("h1")).to_have_text("There is nothing here")


async def test_a_token_is_made_and_shown_once(page: Page, house: dict[str, str]) -> None:
    await page.goto("/account")
    await page.fill("input[name=name]", "My script")
    await page.press("input[name=name]", "Enter")
    await expect(page.locator(".made code")).to_contain_text("mnm_")
    await page.goto("/account")
    await expect(page.locator("main")).to_contain_text("My script")
    await expect(page.locator("main")).not_to_contain_text("mnm_")


async def test_the_keyboard_is_enough(page: Page, house: dict[str, str]) -> None:
    await page.goto("/events")
    await page.keyboard.press("j")
    await expect(page.locator(".events > li >> nth=0 >> a >> nth=0")).to_be_focused()
    await page.keyboard.press("j")
    await expect(page.locator(".events > li >> nth=1 >> a >> nth=0")).to_be_focused()
    await page.keyboard.press("k")
    await expect(page.locator(".events > li >> nth=0 >> a >> nth=0")).to_be_focused()
    await page.keyboard.press("?")
    await expect(page.locator("#keys")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.locator("#keys")).to_be_hidden()
    await page.keyboard.press("/")
    await expect(page.locator("#words")).to_be_focused()
    await page.locator("#words").blur()
    await page.keyboard.press("g")
    await page.keyboard.press("t")
    await page.wait_for_url(re.compile("/lists$"))
    await page.keyboard.press("g")
    await page.keyboard.press("a")
    await page.wait_for_url(re.compile("/$"))
    await page.keyboard.press("/")
    await page.keyboard.type("How long are bookings kept?")
    await page.keyboard.press("Enter")
    await expect(page.locator(".answer")).to_contain_text("12 months")


async def test_the_log_is_followed_as_it_grows(page: Page, site: Mnemon, house: dict[str, str]) -> None:
    await page.goto("/log")
    await page.click("#follow")
    await expect(page.locator("#following")).to_contain_text("Following")
    made = await page.request.post(
        "/v1/memory/objects", data={"content": "Something new."}, headers={"Origin": site.url}
    )
    assert made.ok
    await expect(page.locator("tr.fresh").first).to_be_visible()
    await page.click("#follow")
    await expect(page.locator("#follow")).to_have_text("Follow")


async def test_the_house_reads_without_scripts_in_the_dark_on_a_phone(
    site: Mnemon, browser: Browser, session: str, house: dict[str, str]
) -> None:
    context = await browser.new_context(
        base_url=site.url, java_script_enabled=False, viewport={"width": 390, "height": 844}, color_scheme="dark"
    )
    await context.add_cookies([{"name": "mnemon_session", "value": session, "url": site.url}])
    plain = await context.new_page()
    plain.set_default_timeout(PATIENCE)
    await plain.goto("/events")
    await plain.fill("#as-of-day", "2026-02-01")
    await plain.click("#as-of button")
    await expect(plain.locator(".events")).to_contain_text("MySQL for the ledger")
    await expect(plain.locator(".events")).not_to_contain_text("Postgres instead")
    await plain.goto(house["thread"])
    await expect(plain.locator(".tree article").first).to_be_visible()
    await plain.click("details.fold summary >> nth=0")
    await expect(plain.locator(".folded").first).to_be_visible()
    await plain.goto("/?question=How+long+are+bookings+kept%3F")
    await plain.click(".answer .cite >> nth=0")
    await expect(plain.locator("#cited").first).to_be_visible()
    await context.close()
