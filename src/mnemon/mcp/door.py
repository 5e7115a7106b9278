"""How a function becomes a tool: who calls is proven, what they may do is decided, failures become results."""

import functools
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

import orjson
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ContentBlock, TextContent, ToolAnnotations
from mcp_types.version import is_version_at_least
from pydantic import BaseModel

from mnemon.app import Mnemon
from mnemon.errors import NotAuthenticated
from mnemon.identity.roles import Action, Principal, authorise
from mnemon.mcp.caller import AgentCaller, QuestionToPerson
from mnemon.mcp.links import Linked
from mnemon.mcp.refusals import as_mnemon_error, failed
from mnemon.mcp.schemas import drop_titles, shorten_optional, spare_bounds, spare_rare
from mnemon.operations import Bound, Output, as_json
from mnemon.telemetry import bind, counter

__all__ = ["PRINCIPAL_KEY", "AgentCaller", "AgentDoor", "Local", "Offered", "Profile"]

Profile = Literal["core", "full"]
Tool = Callable[..., Awaitable[Any]]
# The caller where the transport proves none: always the same, or proven anew for each call.
Local = Principal | Callable[[], Awaitable[Principal]]


# A client of an earlier revision does not know `resource_link`, and may refuse the whole result for it.
LINKS_SINCE = "2025-06-18"
# Where the HTTP side leaves the caller that it has authenticated.
PRINCIPAL_KEY = "mnemon.principal"

calls_total = counter("mnemon_mcp_calls", "Calls of MCP tools by outcome.", ["tool", "outcome"])


@dataclass(frozen=True)
class Offered:
    """A tool of the server, and what its caller needs."""

    name: str
    action: Action
    core: bool
    bound: Bound | None = None


class AgentDoor:
    """Tools are added to it; each becomes part of the server if the chosen profile has it."""

    def __init__(self, mnemon: Mnemon, server: MCPServer[Any], profile: Profile, local: Local | None) -> None:
        self.mnemon = mnemon
        self.server = server
        self.profile = profile
        # On stdio the caller is whoever started the program; over HTTP each request proves its own.
        self.local = local
        self.offered: list[Offered] = []

    def tool(
        self,
        action: Action,
        *,
        title: str,
        core: bool = False,
        read_only: bool = False,
        destructive: bool = False,
        idempotent: bool = False,
        bound: Bound | None = None,
    ) -> Callable[[Tool], Tool]:
        """`async def name(caller: AgentCaller, …) -> Model`: the rest of its parameters are the tool's input."""

        def add(function: Tool) -> Tool:
            if core or self.profile != "core":
                short = self.profile == "core"
                # What only reads destroys nothing and may be called again; no tool leaves Mnemon.
                hints = ToolAnnotations(
                    title=None if short else title,
                    read_only_hint=read_only,
                    destructive_hint=None if short and read_only else destructive,
                    idempotent_hint=None if short and (read_only or not idempotent) else idempotent or read_only,
                    open_world_hint=None if short else False,
                )
                # The schemas of answers cost every conversation more than the tools; who wants them asks for all tools.
                structured = False if self.profile == "core" else None
                guarded = self._guarded(function, action)
                self.server.add_tool(
                    guarded, title=None if short else title, annotations=hints, structured_output=structured
                )
                tool = self.server._tool_manager.get_tool(function.__name__)
                assert tool is not None
                tool.parameters["additionalProperties"] = False
                for schema in (tool.parameters, tool.output_schema or {}):
                    drop_titles(schema)
                shorten_optional(tool.parameters)
                if self.profile == "core":
                    spare_bounds(tool.parameters)
                    spare_rare(tool.parameters)
                self.offered.append(Offered(tool.name, action, core, bound))
            return function

        return add

    async def caller(self, context: Context[Any, Any], action: Action) -> AgentCaller:
        """The proven caller, if they may do this."""
        if self.local is None:
            scope = getattr(context.request_context.request, "scope", {})
            principal = scope.get(PRINCIPAL_KEY)
        else:
            principal = self.local if isinstance(self.local, Principal) else await self.local()
        if principal is None:
            raise NotAuthenticated("Send an access token as 'Authorization: Bearer …'.")
        authorise(principal, action)
        bind(tenant_id=principal.tenant_id, user_id=principal.user_id)
        return AgentCaller.known(self.mnemon, principal, context)

    def _guarded(self, function: Tool, action: Action) -> Tool:
        name = function.__name__

        @functools.wraps(function)
        async def guarded(context: Context[Any, Any], **arguments: Any) -> Any:
            try:
                answer = await function(await self.caller(context, action), **arguments)
            except QuestionToPerson as question:
                calls_total.labels(name, "asked").inc()
                return question.result
            except MCPError:
                raise
            except Exception as failure:
                known = as_mnemon_error(failure, name)
                calls_total.labels(name, known.code).inc()
                return failed(known)
            calls_total.labels(name, "ok").inc()
            return self._shown(answer, context.protocol_version)

        return _with_context_for_caller(guarded, function)

    def _shown(self, answer: Any, version: str | None) -> Any:
        """The structured answer, its text for older clients, and links to what it quotes for those that know of links.
        The short list of tools answers in few words, each source named once."""
        if not isinstance(answer, BaseModel):
            return answer
        if self.profile == "core" and isinstance(answer, Linked) and (brief := answer.brief()) is not None:
            return CallToolResult(content=[TextContent(type="text", text=brief)])
        structured = as_json(answer) if isinstance(answer, Output) else answer.model_dump(mode="json", by_alias=True)
        content: list[ContentBlock] = [TextContent(type="text", text=orjson.dumps(structured).decode())]
        if isinstance(answer, Linked) and (version is None or is_version_at_least(version, LINKS_SINCE)):
            content += answer.link_blocks()
        return CallToolResult(content=content, structured_content=structured)


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
