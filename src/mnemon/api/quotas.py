"""Quotas: how much one address and one credential may ask for in a minute, and how many streams it may hold."""

import hashlib
import math
import re
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from fastapi import Request
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from mnemon.api import artifacts, ingest
from mnemon.api.access import SESSION_COOKIE, address_of
from mnemon.errors import TooManyRequests
from mnemon.settings import Settings
from mnemon.telemetry import counter

# Whoever was not seen for longest is forgotten: their minute is long over where so many others came.
REMEMBERED = 20_000
HELD_SECONDS = 1
UNCOUNTED = frozenset({"/health", "/ready"})
UPLOADS = ingest.PATHS | artifacts.PATHS
SEARCHES = frozenset(
    {f"/{base}/{name}" for base in ("v1", "api") for name in ("search", "ask", "semantic-events", "memory/objects")}
    | {"/search", "/ask", "/events"}
)
# A call of a tool may be a search; what an agent keeps open to be told of changes is a live subscription.
TOOLS = "/mcp"
LIVE = re.compile(r"/(v1|api)/subscriptions/[^/]+/events")

REFUSED = counter("mnemon_http_refused_by_quota", "Requests that were refused because of a quota, by quota.", ["quota"])


@dataclass(slots=True)
class Bucket:
    """What is left of a quota, and when that was so."""

    left: float
    at: float


class Quota:
    """So many in a minute for each caller, all at once or spread; 0 is no limit."""

    def __init__(self, name: str, most: int, setting: str) -> None:
        self.name, self.most, self.setting = name, most, setting
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, who: str, now: float) -> None:
        """Count one, or say how long to wait."""
        if not self.most:
            return
        bucket = self._buckets.pop(who, None) or Bucket(self.most, now)
        rate = self.most / 60
        bucket.left = min(self.most, bucket.left + (now - bucket.at) * rate)
        bucket.at = now
        self._buckets[who] = bucket
        if len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
        if bucket.left < 1:
            wait = max(1, math.ceil((1 - bucket.left) / rate))
            REFUSED.labels(self.name).inc()
            raise TooManyRequests(
                f"More than {self.most} {self.name} in a minute: wait {wait} s and try again, or have {self.setting} "
                "raised.",
                retry_after_seconds=wait,
            )
        bucket.left -= 1


class Held:
    """So many at the same time for each caller; 0 is no limit. Who gave up waiting still holds what is worked on."""

    def __init__(self, name: str, most: int, setting: str) -> None:
        self.name, self.most, self.setting = name, most, setting
        self.by_credential: Counter[str] = Counter()

    def check(self, credential: str) -> None:
        if self.most and self.by_credential[credential] >= self.most:
            REFUSED.labels(self.name).inc()
            raise TooManyRequests(
                f"This credential has {self.most} {self.name}: wait until one ends, or have {self.setting} raised.",
                retry_after_seconds=HELD_SECONDS,
            )

    @contextmanager
    def one_more(self, credential: str) -> Iterator[None]:
        self.by_credential[credential] += 1
        try:
            yield
        finally:
            self.by_credential[credential] -= 1
            if not self.by_credential[credential]:
                del self.by_credential[credential]


class QuotaLimit:
    """Refuses, before anything else is done, what is over a quota. Each process counts for itself."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self._requests = Quota("requests with one credential", settings.quota_requests, "MNEMON_QUOTA_REQUESTS")
        self._addresses = Quota(
            "requests from one address", settings.quota_address_requests, "MNEMON_QUOTA_ADDRESS_REQUESTS"
        )
        self._uploads = Quota("uploads with one credential", settings.quota_uploads, "MNEMON_QUOTA_UPLOADS")
        self._searches = Quota("searches with one credential", settings.quota_searches, "MNEMON_QUOTA_SEARCHES")
        self._live = Held("live subscriptions", settings.quota_live, "MNEMON_QUOTA_LIVE")
        self._at_once = Held("searches at once", settings.quota_at_once, "MNEMON_QUOTA_AT_ONCE")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in UNCOUNTED:
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        credential = _credential_of(request)
        held = self._held_of(request) if credential else None
        try:
            self._count(request, credential)
            if held is not None:
                held.check(credential)
        except TooManyRequests as failure:
            await _refuse(failure, scope, receive, send)
            return
        with held.one_more(credential) if held is not None else nullcontext():
            await self.app(scope, receive, send)

    def _count(self, request: Request, credential: str) -> None:
        now = time.monotonic()
        self._addresses.take(address_of(request), now)
        if credential:
            for quota in self._quotas_of(request):
                quota.take(credential, now)

    def _quotas_of(self, request: Request) -> Iterator[Quota]:
        yield self._requests
        path = request.url.path
        if path in UPLOADS and request.method == "POST":
            yield self._uploads
        if path in SEARCHES or _is_tool_call(request):
            yield self._searches

    def _held_of(self, request: Request) -> "Held | None":
        path = request.url.path
        if LIVE.fullmatch(path) or (path == TOOLS and request.method == "GET"):
            return self._live
        return self._at_once if path in SEARCHES or _is_tool_call(request) else None


def _is_tool_call(request: Request) -> bool:
    return request.url.path == TOOLS and request.method == "POST"


def _credential_of(request: Request) -> str:
    """A name for what the caller shows, whether or not it is valid: who invents some is counted by address."""
    shown = request.headers.get("authorization") or request.cookies.get(SESSION_COOKIE) or ""
    return hashlib.sha256(shown.encode()).hexdigest() if shown else ""


async def _refuse(failure: TooManyRequests, scope: Scope, receive: Receive, send: Send) -> None:
    # The rest of an unread body would be taken for the next request.
    headers = {"Retry-After": str(failure.details["retry_after_seconds"]), "Connection": "close"}
    await JSONResponse(failure.as_json(), failure.status, headers)(scope, receive, send)
