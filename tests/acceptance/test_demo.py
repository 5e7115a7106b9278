"""The demo of the installed wheel: its story, the pages with what it took in, and that nothing is left of it."""

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.conftest import new_folder
from tests.patience import PATIENCE
from tests.web.browser import needs_chromium, problems_of
from tests.web.conftest import PATIENCE as PATIENCE_OF_PAGES


@dataclass(frozen=True)
class Demo:
    """A demo that has told its story and shows its pages now."""

    process: Process
    story: str
    link: str
    folder: Path


# Says first which package it is.
COMMAND = "import mnemon; print(mnemon.__file__, flush=True); from mnemon.cli.main import run; run()"


@pytest.fixture(scope="module")
async def demo(installed: Path, open_folder: Path) -> AsyncIterator[Demo]:
    folder = new_folder(open_folder, "demo")
    environment = {
        "PATH": f"{installed / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(installed), "PYTHONUNBUFFERED": "1",
        "HOME": str(folder), "TMPDIR": str(folder), "COLUMNS": "80",
    }  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", COMMAND, "demo", "--serve", env=environment, cwd=folder, stdout=asyncio.subprocess.PIPE,
        # A shell's background job ignores Ctrl-C, and its children would too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    try:
        assert process.stdout is not None
        where = (await process.stdout.readline()).decode()
        assert where.startswith(str(installed))
        story = ""
        async with asyncio.timeout(4 * PATIENCE):
            async for line in process.stdout:
                story += line.decode()
                if link := re.search(r"http://\S+/login#\S+", line.decode()):
                    break
        assert link, story
        yield Demo(process, story, link[0], folder)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_the_demo_of_the_wheel_alone_tells_its_story(demo: Demo) -> None:
    in_one_line = " ".join(demo.story.split())
    assert "All of it works." in demo.story
    assert "26 files" in demo.story
    assert "already ingested, no changes" in demo.story
    assert "→ Bookings are kept for 12 months after the night of departure. [1]" in demo.story
    assert "by version 2: Bookings are kept for 24 months after" in in_one_line
    assert "→ Priya revoked the key at 16:44 and issued a new one. [1]" in demo.story
    assert "→ Decision: We leave Paynet and use Nordpay for payments. [1]" in demo.story
    assert "→ Replaced on 20 April 2026: Decision: Payments go through Paynet. [2]" in demo.story
    assert "Replaced on 11 May 2026: Decision: Berthline costs a flat fee" in in_one_line
    assert 'guest berth and year.” (names what it replaces: "the flat fee")' in in_one_line
    assert "none has berlin" in demo.story
    assert "No answer. Nothing is stored here yet." in demo.story
    assert "first try: UPDATE on mnemon.event_payloads" in demo.story
    assert demo.story.count("caught: ") == 1
    assert [line for line in demo.story.splitlines() if len(line) > 80] == []


@pytest.mark.browser
@needs_chromium
async def test_a_newcomer_reaches_the_marked_words_in_the_pages_of_the_demo(demo: Demo, browser: Browser) -> None:
    expect.set_options(timeout=PATIENCE_OF_PAGES)
    page = await browser.new_page()
    problems = problems_of(page)
    page.set_default_timeout(PATIENCE_OF_PAGES)
    await page.goto(demo.link)
    await page.fill("#question", "How long are bookings kept?")
    await page.press("#question", "Enter")
    quote = await page.locator(".sources blockquote").first.inner_text()
    # Beside the answer, or on a page of its own where the page's script is not there yet.
    await page.click(".answer .cite >> nth=0")
    await expect(page.locator("mark#cited").first).to_have_text(quote)
    assert "12 months" in quote
    assert problems == []
    await page.context.close()


async def test_ctrl_c_ends_the_demo_and_nothing_is_left_of_it(demo: Demo) -> None:
    """The last one: it ends what the others look at."""
    assert list(demo.folder.glob("mnemon-demo-*")) != []
    demo.process.send_signal(signal.SIGINT)
    assert demo.process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        rest = (await demo.process.stdout.read()).decode()
        assert await demo.process.wait() == 0
    _, ended, farewell = rest.partition("All of it works. The demo's data is gone again.")
    assert ended, rest
    assert [line for line in farewell.splitlines() if len(line) > 80 and "mnemon add /" not in line] == []
    assert list(demo.folder.glob("mnemon-demo-*")) == []
