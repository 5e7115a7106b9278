"""MCP over streamable HTTP at /mcp: every request proves its caller before the protocol sees it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, authorization_context
from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver import MCPServer
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from mnemon.api.access import principal_of
from mnemon.api.failures import answer_failure
from mnemon.app import Mnemon
from mnemon.documents.intake.text import LONGEST_TEXT
from mnemon.errors import MnemonError, TooManyRequests
from mnemon.identity.roles import Principal
from mnemon.mcp.door import PRINCIPAL_KEY
from mnemon.mcp.server import create_server
from mnemon.settings import is_loopback

PATH = "/mcp"
# Room for the longest text that a tool takes, in characters of four bytes, and for what stands around it.
LARGEST_CALL = 4 * LONGEST_TEXT + 1_048_576
# Of one credential, of the thousands that the server can hold in all; each takes some 40 KB while it is open.
MOST_SESSIONS = 200
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")


def add_mcp(site: FastAPI, mnemon: Mnemon) -> None:
    """Puts the MCP server on the site's own port."""
    server = create_server(mnemon)
    server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=max(LARGEST_CALL, mnemon.settings.request_max_bytes),
        transport_security=_security(mnemon),
    )
    site.router.routes.append(Route(PATH, endpoint=ProvenCaller(server.session_manager)))
    site.router.lifespan_context = _running(server)
    site.state.agents = server


class ProvenCaller:
    """Refuses who has no valid credential, and binds a session to the credential that opened it."""

    def __init__(self, sessions: StreamableHTTPSessionManager) -> None:
        self.sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            principal = await principal_of(request)
            user = AuthenticatedUser(_access(principal))
            self._refuse_one_too_many(request, user)
        except MnemonError as failure:
            await (await answer_failure(request, failure))(scope, receive, send)
            return
        scope[PRINCIPAL_KEY] = principal
        scope["user"] = user
        await self.sessions.asgi_app(scope, receive, send)

    def _refuse_one_too_many(self, request: Request, user: AuthenticatedUser) -> None:
        """All callers share the sessions that there can be: one who forgets to end theirs must not use them up."""
        version = request.headers.get(MCP_PROTOCOL_VERSION_HEADER, HANDSHAKE_PROTOCOL_VERSIONS[0])
        if MCP_SESSION_ID_HEADER in request.headers or version not in HANDSHAKE_PROTOCOL_VERSIONS:
            return
        owner = authorization_context(user)
        if sum(one == owner for one in self.sessions._session_owners.values()) >= MOST_SESSIONS:
            raise TooManyRequests(
                f"This credential has {MOST_SESSIONS} open sessions: end them with DELETE, or wait until they lapse."
            )


def _access(principal: Principal) -> AccessToken:
    """Who presents another token, or another person's, does not get into a session that was opened with this one."""
    credential = str(principal.token_id or principal.user_id)
    return AccessToken(token="", client_id=credential, scopes=[principal.scope], subject=str(principal.user_id))


def _security(mnemon: Mnemon) -> TransportSecuritySettings:
    """A page that points a name of its own at this machine is refused, as long as only this machine is served."""
    if not is_loopback(mnemon.settings.host):
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    public = urlsplit(mnemon.url).netloc
    return TransportSecuritySettings(
        allowed_hosts=[public, *LOCAL_HOSTS, *(f"{host}:*" for host in LOCAL_HOSTS)],
        allowed_origins=[
            mnemon.url,
            *(f"http://{host}:*" for host in LOCAL_HOSTS),
            *mnemon.settings.cors_origins,
        ],
    )


def _running(server: MCPServer[Any]) -> Any:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with server.session_manager.run():
            yield

    return lifespan
