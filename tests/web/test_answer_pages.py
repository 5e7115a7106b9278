"""An answer in a real browser: it comes into a page that is there already, and every number opens its words."""

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from mnemon.app import Mnemon
from mnemon.beside import working_inside
from mnemon.errors import MnemonError
from mnemon.web.rendering import PROBLEMS

from .browser import needs_chromium
from .conftest import PATIENCE
from .furnish import send
from .test_whole_house import SHIFTS

pytestmark = [pytest.mark.browser, needs_chromium]
FERRY = "The ferry to Marstal leaves at 07:15 on weekdays."
ASKED = "/?question=When+does+the+ferry+to+Marstal+leave%3F"
NOTE = "The keys of the boat shed hang behind the tide table. Nobody else knows."


@pytest.fixture(scope="module")
async def filled(site: Mnemon, browser: Browser, session: str) -> None:
    expect.set_options(timeout=PATIENCE)
    context = await browser.new_context(base_url=site.url)
    await context.add_cookies([{"name": "mnemon_session", "value": session, "url": site.url}])
    page = await context.new_page()
    about = {"artifact_type": "note", "source_system": "test", "visibility_scope": "org", "title": "Tides"}
    text = f"{FERRY}\n\nDogs travel free of charge."
    await send(site, page, "/v1/artifacts", about | {"content": text, "ts": "2026-03-01T09:00:00Z"})
    await send(site, page, "/v1/memory/objects", {"content": NOTE})
    async with working_inside(site):
        await page.goto("/runs")
        await expect(page.locator("tbody .state").first).to_have_text("succeeded")
    await context.close()


class Held:
    """Answers that wait until they are let go."""

    def __init__(self, site: Mnemon, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ask, self.gate = site.asking.ask, asyncio.Event()
        monkeypatch.setattr(site.asking, "ask", self.ask)

    async def ask(self, *values: Any) -> Any:
        await self.gate.wait()
        return await self._ask(*values)


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.usefixtures("filled")
async def test_the_page_of_a_question_is_there_before_its_answer_and_does_not_move(
    site: Mnemon, browser: Browser, session: str, monkeypatch: pytest.MonkeyPatch, scripts: bool
) -> None:
    held = Held(site, monkeypatch)
    context = await browser.new_context(base_url=site.url, java_script_enabled=scripts)
    await context.add_cookies([{"name": "mnemon_session", "value": session, "url": site.url}])
    page = await context.new_page()
    page.set_default_timeout(PATIENCE)
    await page.goto(ASKED, wait_until="commit")
    await expect(page.locator("#question")).to_have_value("When does the ferry to Marstal leave?")
    await expect(page.locator(".steps")).to_contain_text("Searching")
    await expect(page.locator("body")).to_have_css("margin", "0px")  # the stylesheet has come
    before = await page.locator("#question").bounding_box()
    await expect(page.locator(".answer")).to_have_count(0)
    held.gate.set()
    await expect(page.locator(".answer")).to_contain_text("leaves at 07:15 on weekdays.")
    await expect(page.locator(".steps p").first).to_be_hidden()
    await expect(page.locator("#progress")).to_contain_text("In the sources’ own words")
    await expect(page.locator("footer")).to_be_visible()
    assert await page.locator("#question").bounding_box() == before
    if scripts:
        assert await page.evaluate(SHIFTS) < 0.01
    await context.close()


@pytest.mark.usefixtures("filled")
async def test_an_answer_that_fails_on_its_way_is_said_in_the_page(
    site: Mnemon, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*values: Any) -> Any:
        raise MnemonError("The shelf is empty.")

    monkeypatch.setattr(site.asking, "ask", fail)
    await page.goto(ASKED)
    await expect(page.locator("#answer [role=alert]")).to_have_text("The shelf is empty.")
    await expect(page.locator("footer")).to_be_visible()


@pytest.mark.usefixtures("filled")
async def test_an_answer_is_shown_whole_though_the_earlier_questions_cannot_be_read(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*values: Any) -> Any:
        raise RuntimeError("the log is out of reach")

    monkeypatch.setattr("mnemon.web.asking.streamed.own_questions", fail)
    await page.goto(ASKED)
    await expect(page.locator(".answer")).to_contain_text("leaves at 07:15 on weekdays.")
    await expect(page.locator(".history")).to_contain_text("cannot be read just now")
    await expect(page.locator("footer")).to_be_visible()


@pytest.mark.parametrize("address", [f"{ASKED}&artifact_uid=uid_nobody", "/search?query=ferry&artifact_uid=uid_nobody"])
@pytest.mark.usefixtures("filled")
async def test_an_artifact_that_nobody_knows_is_not_found_and_can_be_corrected(page: Page, address: str) -> None:
    told = await page.context.request.get(address, headers={"Accept": "text/html"})
    assert told.status == 404
    await page.set_content(await told.text())
    await expect(page.locator("[role=alert]")).to_contain_text("uid_nobody not found")
    await expect(page.locator("[name=artifact_uid]")).to_have_value("uid_nobody")


@pytest.mark.usefixtures("filled")
async def test_an_answer_is_recorded_though_its_reader_has_left(
    site: Mnemon, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(site, monkeypatch)
    question = "Do dogs travel free of charge?"
    await page.goto(f"/?question={question.replace(' ', '+')}", wait_until="commit")
    await expect(page.locator(".steps")).to_contain_text("Searching")
    await page.goto("/help")
    held.gate.set()
    await site.asking.close()
    await page.goto("/")
    await expect(page.locator(".history")).to_contain_text(question)


@pytest.mark.usefixtures("filled")
async def test_a_number_shows_its_quote_to_the_pointer_and_to_the_keyboard(page: Page) -> None:
    await page.goto(ASKED)
    number, card = page.locator(".answer .cite").first, page.locator(".answer .quote-card").first
    await expect(card).to_be_hidden()
    await number.hover()
    await expect(card).to_be_visible()
    await expect(card.locator("q")).to_have_text(FERRY)
    await page.mouse.move(0, 0)
    await expect(card).to_be_hidden()
    await page.locator("#ask details summary").focus()
    await page.keyboard.press("Tab")
    await expect(number).to_be_focused()
    await expect(card).to_be_visible()
    for width in (1280, 390):
        await page.set_viewport_size({"width": width, "height": 800})
        box = await card.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


@pytest.mark.usefixtures("filled")
async def test_what_memory_says_is_cited_and_opens_with_its_words_marked(page: Page) -> None:
    await page.goto("/?question=Where+do+the+keys+of+the+boat+shed+hang%3F")
    await expect(page.locator(".answer")).to_contain_text("behind the tide table")
    quote = await page.locator(".sources blockquote").first.inner_text()
    await page.locator(".answer .cite").first.click()
    marked = page.locator("#beside mark#cited")
    await expect(marked).to_have_text(quote)
    await page.click("#beside .heading a")
    await page.wait_for_url(re.compile("/memory/.*#cited$"))
    await expect(page.locator("mark#cited")).to_have_text(quote)
    await expect(page.locator(".cited-note")).to_contain_text("in version 1")
    await page.goto("/search?query=keys+of+the+boat+shed")
    await expect(page.locator(".remembered")).to_contain_text("hang behind the tide table")
    await page.click(".remembered a")
    await expect(page.locator("article")).to_have_text(NOTE)


@pytest.mark.usefixtures("filled")
async def test_what_was_read_from_the_question_is_shown_and_can_be_taken_back(page: Page) -> None:
    await page.goto("/?question=What+was+decided+in+March+2026%3F")
    read = page.locator("#understood")
    await expect(read).to_contain_text("Read from the question:")
    await expect(read).to_contain_text("March 2026")
    await expect(read).not_to_contain_text("Asked as")
    await read.get_by_role("link").click()
    await expect(page.locator("#ask [name=question]")).to_have_value("What was decided in March 2026?")
    await expect(read).to_have_count(0)


@pytest.mark.usefixtures("filled")
async def test_a_page_whose_answer_cannot_be_shown_says_so_and_is_whole(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Any) -> Any:
        raise LookupError("the sentences of an answer")

    monkeypatch.setattr("mnemon.web.asking.streamed.cited_sentences", broken)
    told = await page.context.request.get(ASKED, headers={"Accept": "text/html"})
    page_told = await told.text()
    assert PROBLEMS[500][0] in page_told
    assert page_told.rstrip().endswith("</html>")
