"""MCP on standard input and output for a server elsewhere: every message is passed on to it, and its answers back."""

from collections.abc import Mapping
from typing import Any

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.server.stdio import stdio_server
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import PROTOCOL_VERSION_META_KEY, JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from mnemon.mcp.stdio import pass_on

# An answer may take as long as a model does; whether there is a server at all shows at once.
LIMITS = httpx2.Timeout(600, connect=10)


class Bridge:
    """What one conversation has agreed on, and what of it is still to be answered."""

    def __init__(self) -> None:
        self._version: str | None = None
        self._begun: Any = None
        self._open: set[Any] = set()
        self._answered = anyio.Event()

    async def there(self, messages: Any, server: Any) -> None:
        """Until the client closes standard input, and all that it asked is answered."""
        async for one in messages:
            if isinstance(one.message, JSONRPCRequest):
                self._open.add(one.message.id)
                if one.message.method == "initialize":
                    self._begun = one.message.id
            headers = self.headers(one.message)
            await server.send(SessionMessage(one.message, metadata=ClientMessageMetadata(headers=headers)))
        while self._open:
            self._answered = anyio.Event()
            await self._answered.wait()

    async def back(self, server: Any, answers: Any) -> None:
        async for one in server:
            if isinstance(one, Exception):
                continue
            if isinstance(one.message, JSONRPCResponse | JSONRPCError):
                if one.message.id == self._begun and isinstance(one.message, JSONRPCResponse):
                    self._version = one.message.result.get("protocolVersion")
                self._open.discard(one.message.id)
            await answers.send(SessionMessage(one.message))
            self._answered.set()

    def headers(self, message: Any) -> dict[str, str]:
        """What stands in a message, as a server wants it beside the message too."""
        if not isinstance(message, JSONRPCRequest | JSONRPCNotification) or message.method == "initialize":
            return {}
        params: Mapping[str, Any] = message.params or {}
        # Each message of the stateless revisions says which it is; earlier ones have agreed on it.
        own = (params.get("_meta") or {}).get(PROTOCOL_VERSION_META_KEY)
        if own is None:
            return {MCP_PROTOCOL_VERSION_HEADER: self._version} if self._version else {}
        name = params.get(NAME_BEARING_METHODS.get(message.method, ""))
        named = {MCP_NAME_HEADER: encode_header_value(name)} if isinstance(name, str) else {}
        return {MCP_PROTOCOL_VERSION_HEADER: own, MCP_METHOD_HEADER: message.method, **named}


async def bridge_stdio(url: str, token: str) -> None:
    """Until the client closes standard input."""
    bridge = Bridge()
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=LIMITS) as http,
        streamable_http_client(f"{url}/mcp", http_client=http) as (from_server, to_server),
        stdio_server() as (lines, answers),
        anyio.create_task_group() as group,
    ):
        heard, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()
        group.start_soon(pass_on, lines, heard, answers)
        group.start_soon(bridge.back, from_server, answers)
        await bridge.there(messages, to_server)
        group.cancel_scope.cancel()
