"""The list of all tools, resources and prompts, for the documentation and the test that keeps it true."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from mcp_types import Tool

from mnemon.app import Mnemon
from mnemon.identity.roles import Action
from mnemon.mcp.door import AgentDoor
from mnemon.mcp.server import AgentServer, furnish
from mnemon.operations import Bound


@dataclass(frozen=True)
class ToolLine:
    """One tool, as a reader of the documentation wants to know it."""

    name: str
    profile: str
    action: Action
    hints: str
    inputs: str
    meaning: str
    bound: Bound | None
    schema: dict[str, Any]


def tools() -> Iterator[ToolLine]:
    door = _furnished()
    listed = {tool.name: tool for tool in asyncio.run(door.server.list_tools())}
    for one in door.offered:
        tool = listed[one.name]
        meaning = " ".join((tool.description or "").split())
        yield ToolLine(
            one.name, "core" if one.core else "full", one.action, _hints(tool), _inputs(tool), meaning, one.bound,
            tool.input_schema,
        )  # fmt: skip


def resources() -> Iterator[tuple[str, str, str]]:
    for one in asyncio.run(_furnished().server.list_resource_templates()):
        yield one.uri_template, one.mime_type or "", one.description or ""


def prompts() -> Iterator[tuple[str, str, str]]:
    for one in asyncio.run(_furnished().server.list_prompts()):
        names = [f"`{given.name}`{'*' if given.required else ''}" for given in one.arguments or ()]
        yield one.name, ", ".join(names), one.description or ""


def _furnished() -> AgentDoor:
    """Nothing runs: tools look at Mnemon only when they are called."""
    door = AgentDoor(cast(Mnemon, None), AgentServer(), "full", None)
    furnish(door)
    return door


def _hints(tool: Tool) -> str:
    hints = tool.annotations
    assert hints is not None
    if hints.read_only_hint:
        return "read-only"
    names = {"destructive": hints.destructive_hint, "idempotent": hints.idempotent_hint}
    return ", ".join(name for name, holds in names.items() if holds) or "-"


def _inputs(tool: Tool) -> str:
    required = tool.input_schema.get("required", ())
    names = tool.input_schema.get("properties", {})
    return ", ".join(f"`{name}`{'*' if name in required else ''}" for name in names) or "-"
