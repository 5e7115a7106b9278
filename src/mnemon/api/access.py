"""Who is calling, and whether they may: every route declares one action, or that it is open to all."""

import ipaddress
from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from mnemon.app import Mnemon
from mnemon.errors import NotAllowed, NotAuthenticated
from mnemon.identity.bootstrap import administrator_without_login
from mnemon.identity.roles import Action, Principal, authorise
from mnemon.identity.secrets import TOKEN_PREFIX
from mnemon.identity.tokens import principal_of_token
from mnemon.telemetry import bind

SESSION_COOKIE = "mnemon_session"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

# Only tells OpenAPI how to log in; the decision is made below.
bearer = HTTPBearer(auto_error=False, description="A session from `/v1/auth/login`, or an access token.")


def mnemon_of(request: Request) -> Mnemon:
    mnemon: Mnemon = request.app.state.mnemon
    return mnemon


MnemonPart = Annotated[Mnemon, Depends(mnemon_of)]


async def principal_of(request: Request) -> Principal:
    """The caller, from the Authorization header or the session cookie; never from anything else in the request."""
    mnemon = mnemon_of(request)
    if not mnemon.settings.auth_enabled:
        if "origin" in request.headers:
            refuse_foreign_pages(request)
        principal = await administrator_without_login(mnemon.database)
    else:
        principal = await _principal_of_credential(mnemon, request)
    bind(tenant_id=principal.tenant_id, user_id=principal.user_id)
    return principal


async def _principal_of_credential(mnemon: Mnemon, request: Request) -> Principal:
    header = request.headers.get("authorization")
    if header is not None:
        scheme, _, credential = header.partition(" ")
        if scheme.lower() != "bearer" or not credential:
            raise NotAuthenticated("The Authorization header must be 'Bearer' and a session or access token.")
        credential = credential.strip()
        if credential.startswith(TOKEN_PREFIX):
            return await principal_of_token(mnemon.database, credential)
        return await mnemon.sessions.principal_of(credential)
    cookie = request.cookies.get(SESSION_COOKIE)
    if cookie is None:
        raise NotAuthenticated(
            "Log in first: with `mnemon login URL` for commands and programs (or connect(URL, token=…)), by an access "
            "token sent as 'Authorization: Bearer …', or with POST /v1/auth/login."
        )
    refuse_foreign_pages(request)
    return await mnemon.sessions.principal_of(cookie)


def refuse_foreign_pages(request: Request) -> None:
    """A browser sends the cookie along for any page: changes are taken only from our own."""
    if request.method in SAFE_METHODS:
        return
    origin = urlsplit(request.headers.get("origin", "")).netloc
    # A proxy may put another Host in place of the one that the browser asked for.
    own = {request.headers.get("host"), urlsplit(mnemon_of(request).url).netloc}
    if not origin or origin not in own:
        raise NotAllowed("This request came from another web page: send it from Mnemon's own, or with an access token.")


def allow(action: Action) -> Any:
    """`principal: Principal = allow(Action.QUERY)` lets the request through only if its caller may do this."""

    async def decide(request: Request) -> Principal:
        principal = await principal_of(request)
        authorise(principal, action)
        return principal

    decide.action = action  # type: ignore[attr-defined]
    return Depends(decide)


def declared_action(dependency: Callable[..., Any] | None) -> Action | None:
    """The action behind a route's dependency, for the test that covers every route."""
    return getattr(dependency, "action", None)


def address_of(request: Request) -> str:
    """The peer's own address, or behind a trusted proxy the one it names; anyone else's header can be forged."""
    peer = request.client.host if request.client else "unknown"
    trusted = mnemon_of(request).settings.trusted_proxies
    forwarded = request.headers.get("x-forwarded-for", "").split(",") if peer in trusted else []
    named = [hop.strip() for hop in forwarded if hop.strip() and hop.strip() not in trusted]
    return network_of(named[-1] if named else peer)


def network_of(address: str) -> str:
    """One household has a whole /64 of IPv6 addresses: they count as one."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((parsed, 64), strict=False)) if parsed.version == 6 else address
