"""MCP over standard input and output, where also a line that is no message gets an answer."""

import json
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

NO_MESSAGE = "This line is no JSON-RPC message in valid Unicode: send one request or notification per line."


async def serve_stdio(server: MCPServer[Any]) -> None:
    """Until the client closes standard input."""
    lowlevel = server._lowlevel_server
    async with stdio_server() as (lines, answers), anyio.create_task_group() as group:
        heard, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()
        group.start_soon(pass_on, lines, heard, answers)
        await lowlevel.run(messages, answers, lowlevel.create_initialization_options())
        group.cancel_scope.cancel()


async def pass_on(lines: Any, heard: MemoryObjectSendStream[SessionMessage | Exception], answers: Any) -> None:
    """The SDK passes over what it cannot read, and the sender of a request with half an emoji waits for ever."""
    async with heard:
        async for one in lines:
            if isinstance(one, ValidationError):
                error = JSONRPCError(
                    jsonrpc="2.0", id=_request_id(one), error=ErrorData(code=PARSE_ERROR, message=NO_MESSAGE)
                )
                await answers.send(SessionMessage(error))
            else:
                await heard.send(one)


def _request_id(failure: ValidationError) -> int | str | None:
    """The standard library reads what the SDK refuses: halves of surrogate pairs."""
    given = failure.errors(include_url=False)[0]["input"]
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return None
    known = given.get("id") if isinstance(given, dict) and "method" in given else None
    return known if isinstance(known, int | str) and not isinstance(known, bool) else None
