"""What happens around every request: an id, a size limit, safe headers, a log line and a metric."""

import asyncio
import contextlib
import re
import time
from typing import Any

from fastapi.responses import JSONResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnemon.errors import InvalidRequest, MnemonError, RequestTooLarge
from mnemon.ids import new_ulid
from mnemon.settings import is_loopback
from mnemon.telemetry import bind, counter, histogram, logger, unbind_all
from mnemon.tracing import HEADER, span

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
# Of a body that is refused: as much is read, for as long, so that its sender gets the answer.
DRAIN_BYTES = 8 << 20
DRAIN_SECONDS = 10.0
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
QUIET_PATHS = frozenset({"/health", "/ready", "/metrics"})
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
}

requests_total = counter("mnemon_http_requests", "HTTP requests by route and status.", ["method", "route", "status"])
request_seconds = histogram(
    "mnemon_http_request_seconds", "Time from request to answer, by route.", ["method", "route"]
)
log = logger(__name__)

REFUSED_STATUS = 429
REFUSAL_LINE_SECONDS = 10.0


class Watch:
    """Gives each request an id, measures it, writes one log line, and puts the safe headers on the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = _request_id(Headers(scope=scope))
        scope.setdefault("state", {})["request_id"] = request_id
        unbind_all()
        bind(request_id=request_id)
        started, status = time.perf_counter(), 500

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = request_id
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        parent = Headers(scope=scope).get(HEADER)
        with span(scope["method"], parent, request_id=request_id) as current:
            try:
                await self.app(scope, receive, send_with_headers)
            except Exception:
                log.exception("request_failed", method=scope["method"], path=scope["path"])
                raise
            finally:
                _measure(scope, status, time.perf_counter() - started)
                if current is not None:
                    _name(current, scope, status)


class Refusals:
    """Requests over a quota make one line now and then: who floods the server does not fill its disk."""

    def __init__(self) -> None:
        self._since = 0
        self._told_at = -REFUSAL_LINE_SECONDS

    def count(self) -> None:
        self._since += 1
        if time.monotonic() - self._told_at >= REFUSAL_LINE_SECONDS:
            log.warning("requests_refused", count=self._since)
            self._since, self._told_at = 0, time.monotonic()


refusals = Refusals()


class BodyLimit:
    """Refuses a body over the limit: at once when its length is announced, else as soon as it is passed."""

    def __init__(self, app: ASGIApp, most: int, *, apart: frozenset[str] = frozenset()) -> None:
        self.app = app
        self.most = most
        self.apart = apart

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self.apart:
            await self.app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        if not announced.isdecimal():
            await _refuse(InvalidRequest(f"Content-Length is not a number: {announced!r}."), scope, receive, send)
        elif int(announced) > self.most:
            worth_reading = int(announced) <= DRAIN_BYTES
            await _refuse(self._too_large(), scope, receive if worth_reading else _gone, send)
        else:
            await self._pass_on(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count what arrives; past the limit, our refusal takes the place of whatever the route would answer."""
        seen, started, ended = 0, False, False

        async def receive_counted() -> Message:
            nonlocal seen, ended
            message = await receive()
            seen += len(message.get("body", b""))
            ended = not message.get("more_body", False)
            if seen > self.most:
                raise self._too_large()
            return message

        async def send_unless_refused(message: Message) -> None:
            nonlocal started
            if seen <= self.most or started:
                started = True
                await send(message)
            elif message["type"] == "http.response.start":
                await _refuse(self._too_large(), scope, _nothing_more if ended else receive, send)

        await self.app(scope, receive_counted, send_unless_refused)

    def _too_large(self) -> RequestTooLarge:
        return RequestTooLarge(f"The request body is over {self.most} bytes.", most_bytes=self.most)


class LocalHostsOnly:
    """With authentication off, refuses names that a hostile page could have pointed at this machine."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            host = Headers(scope=scope).get("host", "")
            name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
            if not is_loopback(name):
                refusal = InvalidRequest(f"Without authentication Mnemon answers only to localhost, not to {host!r}.")
                await _refuse(refusal, scope, receive, send)
                return
        await self.app(scope, receive, send)


async def _refuse(failure: MnemonError, scope: Scope, receive: Receive, send: Send) -> None:
    """Who still sends reads no answer, and a connection that is closed under them loses it: what is left of the body is
    read first. Where it is too much, it would be taken for the next request, so the connection ends."""
    headers = {} if await drained(receive) else {"Connection": "close"}
    await JSONResponse(failure.as_json(), failure.status, headers)(scope, receive, send)


async def _nothing_more() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _gone() -> Message:
    return {"type": "http.disconnect"}


async def drained(receive: Receive) -> bool:
    """Read the rest of a body and keep nothing of it; False if it is more than is worth reading."""
    seen = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while seen <= DRAIN_BYTES:
                message = await receive()
                seen += len(message.get("body", b""))
                if message["type"] != "http.request":
                    return False
                if not message.get("more_body", False):
                    return True
    return False


def _request_id(headers: Headers) -> str:
    """The caller's own id where it is harmless, so that lines can be joined across systems."""
    given = headers.get("x-request-id", "")
    return given if REQUEST_ID.fullmatch(given) else new_ulid()


def _name(current: Any, scope: Scope, status: int) -> None:
    """By its route: a path has ids, and who looks at traces looks for what is alike."""
    route = getattr(scope.get("route"), "path", "unknown")
    current.update_name(f"{scope['method']} {route}")
    told = {"http.request.method": scope["method"], "http.route": route, "http.response.status_code": status}
    current.set_attributes(told)


def _measure(scope: Scope, status: int, seconds: float) -> None:
    route = getattr(scope.get("route"), "path", "unknown")
    # A caller may invent methods; each would stay in memory as a series of its own.
    method = scope["method"] if scope["method"] in METHODS else "other"
    requests_total.labels(method, route, status).inc()
    request_seconds.labels(method, route).observe(seconds)
    if status == REFUSED_STATUS:
        refusals.count()
    elif scope["path"] not in QUIET_PATHS:
        log.info(
            "request", method=scope["method"], path=scope["path"], status=status, duration_ms=round(seconds * 1000, 1)
        )
