"""How a function becomes a tool: who calls is proven, what they may do is decided, failures become results."""

import functools
import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, TextContent, ToolAnnotations

from mnemon.app import Mnemon
from mnemon.errors import MnemonError, NotAuthenticated
from mnemon.identity.roles import Action, Principal, authorise
from mnemon.telemetry import bind, counter

Profile = Literal["core", "full"]
Tool = Callable[..., Awaitable[Any]]

# Where the HTTP side leaves the caller that it has authenticated.
PRINCIPAL_KEY = "mnemon.principal"

calls_total = counter("mnemon_mcp_calls", "Calls of MCP tools by outcome.", ["tool", "outcome"])


@dataclass(frozen=True)
class Caller:
    """Who calls a tool, and the way back to their client."""

    mnemon: Mnemon
    principal: Principal
    context: Context[Any, Any]

    async def progress(self, done: float, total: float | None, message: str) -> None:
        """Shown by clients that asked for it; others never hear of it."""
        await self.context.report_progress(done, total, message)


class Door:
    """Tools are added to it; each becomes part of the server if the chosen profile has it."""

    def __init__(self, mnemon: Mnemon, server: MCPServer[Any], profile: Profile, local: Principal | None) -> None:
        self.mnemon = mnemon
        self.server = server
        self.profile = profile
        # On stdio the caller is whoever started the program; over HTTP each request proves its own.
        self.local = local

    def tool(
        self,
        action: Action,
        *,
        title: str,
        core: bool = False,
        read_only: bool = False,
        destructive: bool = False,
        idempotent: bool = False,
    ) -> Callable[[Tool], Tool]:
        """`async def name(caller: Caller, …) -> Model`: the rest of its parameters are the tool's input."""

        def add(function: Tool) -> Tool:
            if core or self.profile == "full":
                hints = ToolAnnotations(
                    title=title,
                    read_only_hint=read_only,
                    destructive_hint=destructive,
                    idempotent_hint=idempotent or read_only,
                    open_world_hint=False,
                )
                self.server.add_tool(self._guarded(function, action), title=title, annotations=hints)
            return function

        return add

    def caller(self, context: Context[Any, Any], action: Action) -> Caller:
        """The proven caller, if they may do this."""
        principal = self.local
        if principal is None:
            scope = getattr(context.request_context.request, "scope", {})
            principal = scope.get(PRINCIPAL_KEY)
        if principal is None:
            raise NotAuthenticated("Send an access token as 'Authorization: Bearer …'.")
        authorise(principal, action)
        bind(tenant_id=principal.tenant_id, user_id=principal.user_id)
        return Caller(self.mnemon, principal, context)

    def _guarded(self, function: Tool, action: Action) -> Tool:
        name = function.__name__

        @functools.wraps(function)
        async def guarded(context: Context[Any, Any], **arguments: Any) -> Any:
            try:
                answer = await function(self.caller(context, action), **arguments)
            except MnemonError as failure:
                calls_total.labels(name, failure.code).inc()
                return failed(failure)
            calls_total.labels(name, "ok").inc()
            return answer

        return _with_context_for_caller(guarded, function)


def failed(failure: MnemonError) -> CallToolResult:
    """An error is a result too: the model reads it, and can mend its call."""
    body = failure.as_json()
    text = json.dumps(body, ensure_ascii=False, default=str)
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=json.loads(text), is_error=True
    )


def _with_context_for_caller(guarded: Tool, function: Tool) -> Tool:
    """The SDK reads a tool's input from its signature, and hands the context to the parameter of that type."""
    signature = inspect.signature(function, eval_str=True)
    inputs = [one.replace(kind=one.KEYWORD_ONLY) for one in list(signature.parameters.values())[1:]]
    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=Context)
    guarded.__signature__ = signature.replace(parameters=[*inputs, context])  # type: ignore[attr-defined]
    guarded.__annotations__ = {one.name: one.annotation for one in [*inputs, context]} | {
        "return": signature.return_annotation
    }
    del guarded.__wrapped__  # type: ignore[attr-defined]
    return guarded
