"""Words of every length and script: pages hold them, on a phone too, and each runs its own way."""

import pytest
from playwright.async_api import Browser, Page, expect

from mnemon.app import Mnemon

from .browser import needs_chromium
from .conftest import PATIENCE
from .furnish import send, settled

pytestmark = [pytest.mark.browser, needs_chromium]
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 4
ARABIC = "# سياسة الحجوزات\n\nتُحفظ الحجوزات لمدة 12 شهرًا.\n\n- الأولى\n- الثانية\n\nThis paragraph runs the other way."
JAPANESE = "# 予約データの保存方針\n\n予約は出発の夜から12か月間保存されます。"
TEXTS = {
    LONG[:300]: f"Decision: the {LONG} is painted by 9 May 2026.", "سياسة الحجوزات": ARABIC, "予約データ": JAPANESE,
    "A title that goes on and on " * 12: "Nils Wintergreen will write the index by 12 March 2026.",
    "One list": "The floating crane is rented for 3 days.", "Another": "The floating crane is rented for 5 days.",
}  # fmt: skip


@pytest.fixture(scope="module")
async def shelf(site: Mnemon, browser: Browser, session: str) -> dict[str, str]:
    """The addresses of documents and of a note, by what is odd about them."""
    expect.set_options(timeout=PATIENCE)
    context = await browser.new_context(base_url=site.url)
    await context.add_cookies([{"name": "mnemon_session", "value": session, "url": site.url}])
    page = await context.new_page()
    found = {}
    for number, (title, text) in enumerate(TEXTS.items()):
        file = {"file": {"name": f"{number}.md", "mimeType": "text/markdown", "buffer": text.encode()}}
        sent = await page.request.post(
            "/v1/ingest", multipart=file | {"title": title, "tags": LONG[:60]}, headers={"Origin": site.url}
        )
        found[title] = f"/documents/{(await sent.json())['doc_id']}"
    note = await send(site, page, "/v1/memory/objects", {"content": f"{LONG} is a word.", "rationale": LONG})
    await send(site, page, "/v1/users", {"email": "max@example.org", "name": LONG[:150], "role": "user"})
    await settled(site)
    await context.close()
    return found | {"note": f"/memory/{note['emo_id']}"}


async def test_no_word_is_too_long_for_a_phone(page: Page, shelf: dict[str, str]) -> None:
    await page.set_viewport_size({"width": 390, "height": 844})
    wide = []
    for path in (
        "/", f"/?question=Who+painted+the+{LONG[:200]}%3F", "/?question=" + "w" * 1990, "/search?query=word+painted",
        "/events", "/events/commitments", "/events/people", "/documents", "/runs", "/memory", "/memory/graph", "/log",
        "/users", "/users/changes", "/privacy", "/approvals", *shelf.values(),
    ):  # fmt: skip
        await page.goto(path)
        if await page.evaluate("document.documentElement.scrollWidth") > 390:
            wide.append(path)
    assert not wide


async def test_each_paragraph_runs_its_own_way(page: Page, shelf: dict[str, str]) -> None:
    await page.goto(shelf["سياسة الحجوزات"])
    article = page.locator("article.prose")
    whole = await article.bounding_box()
    assert whole

    async def middle_of(words: str) -> float:
        """Where the letters themselves stand, from 0 at the left to 1 at the right."""
        at = await article.evaluate(
            """(all, words) => {
              const walk = document.createTreeWalker(all, NodeFilter.SHOW_TEXT);
              while (walk.nextNode()) if (walk.currentNode.textContent.includes(words)) {
                const range = document.createRange();
                range.selectNodeContents(walk.currentNode);
                const box = range.getBoundingClientRect();
                return box.x + box.width / 2;
              }
            }""",
            words,
        )
        return float((at - whole["x"]) / whole["width"])

    assert await middle_of("تُحفظ") > 0.5
    assert await middle_of("الأولى") > 0.5
    assert await middle_of("This paragraph") < 0.5
    await expect(article.locator("ul")).to_have_css("direction", "rtl")
    await page.goto(shelf["予約データ"])
    await expect(page.locator("article.prose")).to_contain_text("12か月間保存されます。")


async def test_what_an_answer_rests_on_stands_beside_it_or_below_and_is_whole(
    page: Page, shelf: dict[str, str]
) -> None:
    question = "Who will write the index?"
    for width, is_beside in ((1280, True), (390, False)):
        await page.set_viewport_size({"width": width, "height": 844})
        await page.goto("/")
        await page.fill("#question", question)
        await page.press("#question", "Enter")
        await expect(page.locator("h1")).to_have_text(question)
        await expect(page.locator(".answer")).to_contain_text("Nils Wintergreen")
        answer, sources = page.locator(".answer"), page.locator(".sources")
        first, second = await answer.bounding_box(), await sources.bounding_box()
        assert first and second
        assert (second["x"] > first["x"] + first["width"]) == is_beside
        assert (second["y"] > first["y"] + first["height"]) != is_beside
        last, end = await sources.locator("li").last.bounding_box(), await page.locator("#answer").bounding_box()
        assert last and end
        assert last["y"] + last["height"] <= end["y"] + end["height"] + 1, "nothing is cut off"


async def test_what_we_say_of_a_sentence_is_set_apart_from_what_was_said(page: Page, shelf: dict[str, str]) -> None:
    await page.goto("/?question=For+how+long+is+the+floating+crane+rented%3F")
    second = page.locator(".answer p").nth(1)
    await expect(second.locator(".note")).to_have_text("The sources disagree; another says:")
    await expect(page.locator(".sources li")).to_have_count(2)
    letters = "one => getComputedStyle(one).fontFamily"
    assert await second.evaluate(letters) != await second.locator(".note").evaluate(letters)
