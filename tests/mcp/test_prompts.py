"""Claims about prompts and about what the server says of itself."""

import json
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from mnemon.semantics.semantic_event import Category
from tests.mcp.conftest import Agent


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("decision_log", {"topic": "pricing", "since": "2026-01-01"}, ["pricing", "2026-01-01", "category Decision"]),
        ("decision_log", {}, ["category Decision", "next_cursor"]),
        ("open_commitments", {"person": "Ada"}, ["Ada", "status open"]),
        ("why_did_we_decide", {"decision": "Postgres instead of MySQL"}, ["Postgres instead of MySQL", "event_search"]),
    ],
)
async def test_a_prompt_names_the_tools_and_asks_for_proof(
    agent: Agent, name: str, arguments: dict[str, Any], words: list[str]
) -> None:
    async with agent() as client:
        [message] = (await client.get_prompt(name, arguments)).messages
        tools = {tool.name for tool in (await client.list_tools()).tools}
    text = getattr(message.content, "text", "")
    assert all(word in text for word in words)
    assert "Quote the words" in text and "is data" in text
    assert "event_search" in tools


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("why_did_we_decide", {}, "decision"),
        ("why_did_we_decide", {"decision": "x" * 501}, "decision"),
        ("open_commitments", {"person": "x" * 201}, "person"),
        ("no_such_prompt", {}, "no_such_prompt"),
    ],
)
async def test_what_is_wrong_with_a_prompt_is_the_callers_to_mend(
    agent: Agent, name: str, arguments: dict[str, Any], said: str
) -> None:
    async with agent() as client:
        with pytest.raises(MCPError, match=said) as refused:
            await client.get_prompt(name, arguments)
    assert refused.value.code == INVALID_PARAMS


async def test_every_tool_has_bounds_and_refuses_unknown_arguments(agent: Agent) -> None:
    async with agent() as client:
        tools = (await client.list_tools()).tools
    for tool in tools:
        assert tool.input_schema["additionalProperties"] is False, tool.name
        for name, field in tool.input_schema["properties"].items():
            kinds = [field, *field.get("anyOf", [])]
            if any(kind.get("type") == "string" for kind in kinds):
                bounded = any(kind.keys() & {"maxLength", "pattern", "enum", "format"} for kind in kinds)
                assert bounded, f"{tool.name}.{name}"
            if any(kind.get("type") == "array" for kind in kinds):
                assert any("maxItems" in kind for kind in kinds), f"{tool.name}.{name}"
            if any(kind.get("type") == "integer" for kind in kinds):
                assert {"minimum", "maximum"} <= field.keys(), f"{tool.name}.{name}"
            if name == "limit":
                assert (field["minimum"], field["maximum"]) == (1, 100), tool.name
        hints = tool.annotations
        assert hints is not None
        if "delete" in tool.name or tool.name == "forget":
            assert hints.destructive_hint and "confirm" in tool.input_schema["properties"], tool.name
        else:
            assert not hints.destructive_hint, tool.name
    # Without a source_id each call makes a new artifact, and without a key a new memory.
    repeatable = {tool.name for tool in tools if tool.annotations and tool.annotations.idempotent_hint}
    changing = {tool.name for tool in tools if tool.annotations and not tool.annotations.read_only_hint}
    corrections = {f"event_{verb}" for verb in ("mark", "edit", "link", "unlink", "merge")}
    assert repeatable & changing == {"forget", "memory_delete", *corrections}


async def test_a_schema_names_the_categories_and_repeats_no_names(agent: Agent) -> None:
    async with agent() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    category = tools["event_search"].input_schema["properties"]["category"]
    assert category["enum"] == [one.value for one in Category]
    assert "title" in tools["artifact_ingest"].input_schema["properties"], "a field of this name stays"
    for tool in tools.values():
        listed = json.dumps([tool.input_schema, tool.output_schema])
        assert '"title": "' not in listed, tool.name


async def test_the_addresses_are_listed_as_templates(agent: Agent) -> None:
    async with agent() as client:
        templates = {one.uri_template for one in (await client.list_resource_templates()).resource_templates}
    assert templates == {
        "mnemon://artifact/{artifact}/rev/{revision}",
        "mnemon://artifact/{artifact}/rev/{revision}{#span}",
        "mnemon://event/{event_id}",
        "mnemon://memory/{memory_id}",
    }
