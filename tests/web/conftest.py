"""One server and one browser for all journeys of a module, and the administrator's page."""

import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from mnemon.app import Mnemon

from ..conftest import MakeHome
from .browser import chromium, problems_of, serving

# A busy machine may take long to read a file.
PATIENCE = 300_000


@pytest.fixture(scope="module")
async def site(open_folder: Path, make_home: MakeHome) -> AsyncIterator[Mnemon]:
    """With no worker unless a test starts one."""
    home = make_home(Path(tempfile.mkdtemp(dir=open_folder)))
    async with serving(home) as mnemon:
        yield mnemon
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
async def session(site: Mnemon, browser: Browser) -> str:
    """The administrator's cookie: the link of the first start lets in once."""
    assert site.first_start is not None
    page = await browser.new_page()
    page.set_default_timeout(PATIENCE)
    await page.goto(site.login_url(site.first_start.link_secret))
    await page.wait_for_url(f"{site.url}/")
    [cookie] = await page.context.cookies()
    await page.context.close()
    return str(cookie["value"])


@pytest.fixture
async def page(site: Mnemon, browser: Browser, session: str) -> AsyncIterator[Page]:
    expect.set_options(timeout=PATIENCE)
    context = await browser.new_context(base_url=site.url)
    await context.add_cookies([{"name": "mnemon_session", "value": session, "url": site.url}])
    opened = await context.new_page()
    opened.set_default_timeout(PATIENCE)
    problems = problems_of(opened)
    yield opened
    assert problems == []
    await context.close()
