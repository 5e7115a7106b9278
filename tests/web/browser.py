"""A real browser and a real server for the tests of pages."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, ConsoleMessage, Page, async_playwright

from mnemon.app import Mnemon, open_mnemon
from mnemon.settings import Settings
from mnemon.web.site import listening_socket, site_server

# The shell lays out and runs pages as the whole browser does, and costs the processor less than half of it.
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="Debian's chromium is not installed: apt-get install chromium-headless-shell"
)


@asynccontextmanager
async def serving(home: Path, **more: Any) -> AsyncIterator[Mnemon]:
    """The server on a real port, on a home of its own, as `mnemon serve --no-worker` runs it."""
    # Journeys count what pages show: what the learned reader sees besides is looked at by its own tests.
    settings = Settings(home=home, port=0, database_linger_seconds=0, extraction_engine="rules", **more)
    with listening_socket(settings) as listener:
        chosen = settings.model_copy(update={"port": listener.getsockname()[1]})
        async with open_mnemon(chosen) as mnemon:
            server = site_server(mnemon)
            task = asyncio.create_task(server.serve(sockets=[listener]))
            yield mnemon
            server.should_exit = True
            await task


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        await browser.close()


def problems_of(page: Page) -> list[str]:
    """What goes wrong in the page, script errors and breaches of its policy included, from now on."""
    problems: list[str] = []

    def note(line: ConsoleMessage) -> None:
        if line.type == "error":
            problems.append(line.text)

    page.on("pageerror", lambda failure: problems.append(str(failure)))
    page.on("console", note)
    page.on("dialog", lambda dialog: problems.append(f"dialog: {dialog.message}"))
    return problems
