"""Fixtures of the conformance suite for the protocol itself: capabilities, lists that change, schemas, headers."""

import warnings
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    ClientCapabilities,
    ElicitResult,
    InputRequiredResult,
    MissingRequiredClientCapabilityErrorData,
    SamplingCapability,
    TextContent,
)
from pydantic import Field

from mnemon.mcp.door import AgentDoor
from tests.mcp.conformance_questions import form

# The schema as the suite prescribes it: keywords that no type of ours makes must come through a listing unchanged.
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def add(door: AgentDoor) -> None:
    _add_capabilities(door)
    _add_changes(door)
    _add_schemas(door)


def _add_capabilities(door: AgentDoor) -> None:
    tool = door.server.tool

    @tool()
    async def test_missing_capability(context: Context[Any, Any]) -> str:
        """Fixture: needs the client's model."""
        able = context.client_capabilities
        if able is not None and able.sampling is not None:
            return "The client can sample."
        needed = MissingRequiredClientCapabilityErrorData(
            required_capabilities=ClientCapabilities(sampling=SamplingCapability())
        )
        raise MCPError(
            code=MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="This tool needs the capability sampling.",
            data=needed.model_dump(by_alias=True, mode="json", exclude_none=True),
        )

    @tool()
    async def test_streaming_elicitation(context: Context[Any, Any]) -> TextContent | InputRequiredResult:
        """Fixture: reports progress, then asks."""
        await context.report_progress(1, 2, "About to ask")
        if not isinstance((context.input_responses or {}).get("user_name"), ElicitResult):
            return InputRequiredResult(input_requests={"user_name": form("What is your name?", name="string")})
        return TextContent(text="The answer is in.")

    @tool()
    async def test_logging_tool(context: Context[Any, Any]) -> str:
        """Fixture: logs, which only a client that asked for it hears."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            await context.log("info", "A message")
        return "Something was logged."


def _add_changes(door: AgentDoor) -> None:
    tool = door.server.tool

    @tool()
    async def test_trigger_tool_change(context: Context[Any, Any]) -> str:
        """Fixture: says that the list of tools has changed."""
        await context.notify_tools_changed()
        return "Said."

    @tool()
    async def test_trigger_prompt_change(context: Context[Any, Any]) -> str:
        """Fixture: says that the list of prompts has changed."""
        await context.notify_prompts_changed()
        return "Said."


def _add_schemas(door: AgentDoor) -> None:
    server = door.server

    @server.tool()
    async def json_schema_2020_12_tool(
        name: str | None = None,
        address: dict[str, str] | None = None,
        contactMethod: str | None = None,  # noqa: N803
        phone: str | None = None,
        email: str | None = None,
    ) -> str:
        """Fixture: a schema with every keyword."""
        return "ok"

    tool = server._tool_manager.get_tool("json_schema_2020_12_tool")
    assert tool is not None
    tool.parameters = SCHEMA

    @server.tool()
    async def test_custom_headers(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
    ) -> str:
        """Fixture: an argument that also stands in a header."""
        return f"The region is {region}."
