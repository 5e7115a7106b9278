"""The end of the demo: the pages with what it took in, and a link that lets in."""

import asyncio
import os
import re
import signal
import sys
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from .browser import needs_chromium, problems_of
from .conftest import PATIENCE

pytestmark = [pytest.mark.browser, needs_chromium]


async def test_the_demo_ends_with_pages_where_a_newcomer_reaches_the_marked_words(
    browser: Browser, tmp_path: Path
) -> None:
    expect.set_options(timeout=PATIENCE)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONUNBUFFERED": "1", "COLUMNS": "80"}
    command = (sys.executable, "-m", "mnemon", "demo", "--serve")
    demo = await asyncio.create_subprocess_exec(
        *command, env=environment, stdout=asyncio.subprocess.PIPE,
        # A shell's background job ignores Ctrl-C, and its children would too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert demo.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE / 1000):
            async for line in demo.stdout:
                if link := re.search(r"http://\S+/login#\S+", line.decode()):
                    break
        assert link
        page = await browser.new_page()
        problems = problems_of(page)
        page.set_default_timeout(PATIENCE)
        await page.goto(link[0])
        await page.fill("#question", "How long are bookings kept?")
        await page.press("#question", "Enter")
        quote = await page.locator(".sources blockquote").first.inner_text()
        # Beside the answer, or on a page of its own where the page's script is not there yet.
        await page.click(".answer .cite >> nth=0")
        await expect(page.locator("mark#cited").first).to_have_text(quote)
        assert "12 months" in quote
        assert problems == []
        await page.context.close()
        demo.send_signal(signal.SIGINT)
        async with asyncio.timeout(PATIENCE / 1000):
            rest = (await demo.stdout.read()).decode()
            assert await demo.wait() == 0
        assert "The demo's data is gone again." in rest
    finally:
        if demo.returncode is None:
            demo.kill()
