"""`make screenshots`: every page, light and dark, wide and narrow, as pictures to look at."""

import asyncio
import sys
import tempfile
from pathlib import Path

from playwright.async_api import Browser, Page

from mnemon.app import Mnemon

from .browser import chromium, serving
from .furnish import add_list, add_memory, add_people, places, settled

PAGES = {
    "ask": "/", "answer": "/?question=How+long+are+bookings+kept%3F",
    "cited": "/?question=How+long+are+bookings+kept%3F", "decided": "/?question=What+did+we+decide+about+pricing%3F",
    "refusal": "/?question=How+many+people+work+in+the+Berlin+office%3F",
    "search": "/search?query=pricing", "nothing": "/search?query=zeppelin&tag=none", "events": "/events",
    "commitments": "/events/commitments", "documents": "/documents", "upload": "/upload", "runs": "/runs",
    "memory": "/memory", "memory-new": "/memory/new", "branches": "/memory/branches", "log": "/log",
    "integrity": "/integrity", "subscriptions": "/subscriptions", "work": "/work", "privacy": "/privacy",
    "users": "/users", "server": "/server", "account": "/account", "help": "/help", "api": "/docs",
    "api-group": "/docs/search-and-ask", "unknown": "/nowhere", "people": "/events/people", "lists": "/lists",
    "report": "/lists/report", "sources": "/lists/sources", "imports": "/lists/imports", "graph": "/memory/graph",
    "approvals": "/approvals", "messages": "/lists/messages", "then": "/events?as_of=2026-04-01",
    "timeline": "/events?time_to=2026-07-01", "places": "/sources", "tenants": "/tenants", "terms": "/privacy/terms",
    "workbench": "/workbench", "workbench-list": "/workbench/event_types.list?asked=1",
    "workbench-form": "/workbench/event_types.register",
}  # fmt: skip
SIZES = {"wide": (1280, 900), "narrow": (390, 844)}


async def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="mnemon-pictures-") as home:
        async with serving(Path(home)) as mnemon, chromium() as browser:
            cookie = await log_in(mnemon, browser)
            await picture(mnemon, browser, {"empty": "/", "login": "/login"}, folder, cookie)
            page = await opened(mnemon, browser, cookie, "light", SIZES["wide"])
            more = await fill(mnemon, page)
            await page.context.close()
            await picture(mnemon, browser, PAGES | more, folder, cookie)


async def log_in(mnemon: Mnemon, browser: Browser) -> str:
    assert mnemon.first_start is not None
    page = await browser.new_page()
    await page.goto(mnemon.login_url(mnemon.first_start.link_secret))
    await page.wait_for_url(f"{mnemon.url}/")
    [cookie] = await page.context.cookies()
    await page.context.close()
    return str(cookie["value"])


async def fill(mnemon: Mnemon, page: Page) -> dict[str, str]:
    """The sample corpus and some memory; the addresses of single things."""
    await page.goto("/")
    await page.click("text=Take in the sample")
    await page.wait_for_url("**/runs?*")
    await add_list(mnemon)
    more = await add_memory(mnemon, page)
    await add_people(mnemon, page)
    await settled(mnemon)
    found = (await (await page.request.get("/v1/documents?limit=100")).json())["items"]
    pdf = next(one["doc_id"] for one in found if one["media_type"] == "application/pdf")
    prose = next(one["doc_id"] for one in found if one["media_type"] == "text/markdown")
    named = {"document": f"/documents/{prose}", "pdf": f"/documents/{pdf}?start=100&end=260"}
    return more | await places(mnemon, page) | named


async def opened(mnemon: Mnemon, browser: Browser, cookie: str, scheme: str, size: tuple[int, int]) -> Page:
    context = await browser.new_context(
        base_url=mnemon.url, color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": size[0], "height": size[1]},
    )  # fmt: skip
    await context.add_cookies([{"name": "mnemon_session", "value": cookie, "url": mnemon.url}])
    page = await context.new_page()
    page.set_default_timeout(300_000)
    return page


async def picture(mnemon: Mnemon, browser: Browser, pages: dict[str, str], folder: Path, cookie: str) -> None:
    for scheme in ("light", "dark"):
        for width, size in SIZES.items():
            page = await opened(mnemon, browser, cookie, scheme, size)
            for name, address in pages.items():
                await page.goto(address)
                if name == "cited":
                    await open_source(page)
                await page.screenshot(path=folder / f"{name}-{scheme}-{width}.png", full_page=width == "narrow")
            await page.context.close()


async def open_source(page: Page) -> None:
    """The words that an answer rests on, beside it or on a page of their own."""
    await page.locator(".answer .cite").first.click()
    await page.locator("mark#cited").first.wait_for()
    await page.wait_for_load_state("networkidle")


if __name__ == "__main__":
    target = Path(sys.argv[1]).resolve()
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(target))
    sys.stdout.write(f"{len(list(target.glob('*.png')))} pictures in {target}\n")
