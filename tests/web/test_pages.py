"""The pages in a real browser: log in by link and by password, see the state, log out."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from mnemon.app import Mnemon
from mnemon.identity.roles import Role
from mnemon.identity.users import add_user
from mnemon.ids import new_uuid
from mnemon.log.events import SYSTEM

from .browser import chromium, needs_chromium, problems_of, serving


@pytest.fixture
async def site(home: Path) -> AsyncIterator[Mnemon]:
    async with serving(home) as mnemon:
        yield mnemon


@pytest.mark.browser
@needs_chromium
async def test_a_newcomer_logs_in_by_the_printed_link_and_later_by_password(site: Mnemon) -> None:
    assert site.first_start is not None
    async with site.log.transaction(site.first_start.tenant_id) as transaction:
        await add_user(
            transaction, SYSTEM, "ana@example.org", Role.USER, name="<b>Ana</b>", password="correct horse battery"
        )
    async with chromium() as browser:
        page = await browser.new_page()
        problems = problems_of(page)
        await page.goto(f"{site.url}/login")
        await page.goto(site.login_url(site.first_start.link_secret))
        await page.wait_for_url(f"{site.url}/")
        assert "Administrator" in await page.inner_text("header")
        assert "Nothing is stored here yet" in await page.inner_text("main")
        await page.click("nav >> text=More")
        await page.click("nav >> text=Server")
        assert "works" in await page.inner_text("tr:has-text('database')")
        await page.click("main >> text=How to let an agent or a script in")
        await page.locator(f"main >> text={site.url}/mcp").first.wait_for()
        await page.click("text=Log out")
        await page.fill("input[name=email]", "ana@example.org")
        await page.fill("input[name=password]", "wrong password")
        await page.click("form#login button")
        assert "password is wrong" in await page.inner_text("[role=alert]")
        problems.clear()  # The browser itself reports the 401 of the wrong password.
        await page.fill("input[name=password]", "correct horse battery")
        await page.click("form#login button")
        await page.wait_for_url(f"{site.url}/")
        assert "<b>Ana</b>" in await page.inner_text("header")
        assert problems == []


async def test_pages_without_a_session_lead_to_the_login_and_a_used_link_says_so(site: Mnemon) -> None:
    async with httpx.AsyncClient(base_url=site.url, timeout=60) as client:
        for path in (
            "/",
            "/search",
            "/events",
            "/events/commitments",
            "/documents",
            f"/documents/{new_uuid()}",
            "/upload",
            "/runs",
            "/server",
            "/account",
            "/docs",
            "/help",
        ):
            asked = await client.get(path)
            wanted = "/login" if path == "/" else f"/login?next={path}"
            assert (asked.status_code, asked.headers["location"]) == (303, wanted), path
        own = {"Origin": site.url}
        used = await client.post("/login", data={"link": "never-existed"}, headers=own)
        assert used.status_code == 401
        assert "used, has expired or never existed" in used.text
        for path in ("/login", "/logout"):
            foreign = await client.post(path, data={"link": "x"}, headers={"Origin": "https://evil.example"})
            assert foreign.status_code == 403


async def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(site: Mnemon) -> None:
    assert site.first_start is not None
    async with httpx.AsyncClient(base_url=site.url, timeout=60) as client:
        answer = await client.post("/login", data={"link": site.first_start.link_secret}, headers={"Origin": site.url})
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        home = await client.get("/")
        assert home.status_code == 200
        assert home.headers["cache-control"] == "no-store"
