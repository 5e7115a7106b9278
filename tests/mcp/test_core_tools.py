"""The short list of tools says the same in few words: a text, one line that says where it stands, and what it opens."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp_types import TextContent

from mnemon.identity.roles import Principal
from mnemon.ids import new_uuid
from mnemon.settings import Settings
from tests.mcp.conftest import Agent, refusal

Done = Callable[[], Awaitable[None]]
MINUTES = "Date: 2026-03-02\n\nDecisions\n- We decided to use MySQL for event storage.\n"
LATER = "Date: 2026-04-02\n\nDecisions\n- We decided to use Postgres instead of MySQL for event storage.\n"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, embedder="none", mcp_tools="core")


def said(result: Any) -> str:
    """The one text of a result, with no second copy of it beside."""
    assert not result.is_error, result.content
    assert result.structured_content is None
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


async def test_a_text_is_added_found_opened_and_says_what_replaced_it(agent: Agent, all_done: Done) -> None:
    async with agent() as client:
        added = said(await client.call_tool("add", {"content": MINUTES, "title": "Minutes of March"}))
        assert re.fullmatch(r"new \[uid_\w+\]", added)
        await client.call_tool("add", {"content": LATER, "title": "Minutes of April"})
        await all_done()
        found = said(await client.call_tool("search", {"query": "MySQL event storage"}))
        first = next(one for one in found.split("\n\n") if "Minutes of March" in one)
        assert "“We decided to use MySQL for event storage.”, now: " in found
        assert found.count("mnemon://") == 0
        source = re.search(r"\[(uid_\w+#\d+-\d+)\]", first)
        assert source is not None
        opened = said(await client.call_tool("open", {"source": source[1]}))
        assert MINUTES.strip() in opened
        assert opened.startswith("Minutes of March [")
        whole = said(await client.call_tool("open", {"source": source[1].partition("#")[0], "max_chars": 10}))
        assert whole.endswith("goes on at start_char 10")
        events = said(await client.call_tool("event_search", {"query": "What was decided about event storage?"}))
        assert events.startswith("Decision, open 2026-04-02: We decided to use Postgres")
        assert "Replaced 2026-04-02 by: We decided to use Postgres" in events
        past = await client.call_tool("open", {"source": f"{source[1].partition('#')[0]}#9000-9999"})
        assert past.is_error and "The text ends before" in str(past.content)
        wrong = await client.call_tool("open", {"source": "minutes"})
        assert wrong.is_error


async def test_a_changed_text_of_one_name_is_a_new_version(agent: Agent, all_done: Done) -> None:
    async with agent() as client:
        first = said(await client.call_tool("add", {"content": "The office is in Marstal.", "name": "office"}))
        again = said(await client.call_tool("add", {"content": "The office is in Skagen.", "name": "office"}))
        assert again.split() == ["new_revision", first.split()[1]]
        await all_done()
        answer = said(await client.call_tool("ask", {"question": "Where is the office?"}))
        assert "The office is in Skagen." in answer
        assert "Marstal" not in answer


async def test_a_memory_is_kept_and_found_in_one_line(agent: Agent) -> None:
    async with agent() as client:
        kept = said(await client.call_tool("remember", {"content": "Refunds need Ada.", "readers": ["me"]}))
        found = said(await client.call_tool("recall", {"query": "refunds"}))
        assert re.fullmatch(r"Refunds need Ada\. \d{4}-\d\d-\d\d \[[0-9a-f-]{36}\]", found)
        assert kept == f"Kept: {found.rpartition(' ')[2]}"
        assert said(await client.call_tool("recall", {"query": "marmots"})) == "Nothing of that was remembered."
        nothing = await client.call_tool("remember", {"content": "  "})
        assert "There is nothing to remember" in str(refusal(nothing))
        nobody = await client.call_tool("forget", {"memory_id": "nonsense", "confirm": True})
        assert "“nonsense” is not the id" in str(refusal(nobody))


async def test_resources_list_the_documents_that_are_there_for_the_caller(
    agent: Agent, all_done: Done, person: Principal
) -> None:
    async with agent() as client:
        assert (await client.list_resources()).resources == []
        await client.call_tool("add", {"content": "For all.", "title": "Shared"})
        await client.call_tool("add", {"content": "For me.", "title": "Own", "visibility_scope": "me"})
        await all_done()
        listed = (await client.list_resources()).resources
        assert {one.name for one in listed} == {"Shared", "Own"}
        read = await client.read_resource(next(one.uri for one in listed if one.name == "Own"))
        assert read.contents[0].text == "For me."
    async with agent(replace(person, user_id=new_uuid())) as other:
        assert [one.name for one in (await other.list_resources()).resources] == ["Shared"]
