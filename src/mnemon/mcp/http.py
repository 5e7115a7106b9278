"""MCP over streamable HTTP at /mcp: every request proves its caller before the protocol sees it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mnemon.api.access import principal_of
from mnemon.api.failures import answer_failure
from mnemon.app import Mnemon
from mnemon.errors import MnemonError
from mnemon.identity.roles import Principal
from mnemon.mcp.door import PRINCIPAL_KEY
from mnemon.mcp.server import create_server
from mnemon.settings import is_loopback

PATH = "/mcp"
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")


def add_mcp(site: FastAPI, mnemon: Mnemon) -> None:
    """Puts the MCP server on the site's own port."""
    server = create_server(mnemon)
    server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=mnemon.settings.request_max_bytes,
        transport_security=_security(mnemon),
    )
    site.router.routes.append(Route(PATH, endpoint=Proven(server.session_manager.asgi_app)))
    site.router.lifespan_context = _running(server)


class Proven:
    """Refuses who has no valid credential, and binds a session to the credential that opened it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            principal = await principal_of(request)
        except MnemonError as failure:
            await (await answer_failure(request, failure))(scope, receive, send)
            return
        scope[PRINCIPAL_KEY] = principal
        scope["user"] = AuthenticatedUser(_access(principal))
        await self.app(scope, receive, send)


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
