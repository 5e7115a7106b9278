"""Published reports to an HTTP address: one job for each, signed, with a key by which a repeated one is known.

The job is the delivery: it waits longer after each failure, is dead after the last, and `mnemon jobs retry` replays it.
"""

import asyncio
import hashlib
import hmac
import ipaddress
import socket
import time
from dataclasses import dataclass
from typing import Any, Protocol, cast
from urllib.parse import urlsplit
from uuid import UUID

import httpx
import orjson
from pydantic import BaseModel

from mnemon.bus.envelope import outward
from mnemon.db.database import Connection
from mnemon.errors import MnemonError
from mnemon.log.store import EventLog
from mnemon.reports.catalogue import PUBLISHED
from mnemon.reports.digest import tenant_has_slug
from mnemon.reports.library import ONE_REPORT, find_stored, read_stored
from mnemon.reports.writing import write_report
from mnemon.settings import Settings
from mnemon.telemetry import counter
from mnemon.work.enqueue import enqueue
from mnemon.work.job import Job
from mnemon.work.kinds import Backoff, JobKind

SECONDS = 20.0
PUBLISHED_AS = "SELECT event_id FROM mnemon.mail_reports WHERE tenant_id = mnemon.current_tenant() AND report_id = %s"
SENT = counter("mnemon_webhook_deliveries", "Reports that were sent to the webhook, by what came of it.", ["outcome"])


class WebhookRefused(MnemonError):
    """The receiver of a webhook refuses it for good, or its address may not be called."""

    code = "WEBHOOK_REFUSED"
    status = 502
    retry = False


class WebhookUndelivered(MnemonError):
    """The receiver of a webhook did not answer, or asked to come again."""

    code = "WEBHOOK_UNDELIVERED"
    status = 502
    retry = True


class WebhookToCall(BaseModel):
    """Which report."""

    report_id: str
    summary_id: str


class WebhookContext(Protocol):
    """What the worker hands to the handler, as far as it needs it."""

    @property
    def settings(self) -> Settings: ...
    @property
    def log(self) -> EventLog: ...


@dataclass(frozen=True, slots=True)
class Receiver:
    """An address that was looked up once: what is called is what was checked."""

    url: str
    host: str
    address: str


WEBHOOK = JobKind("reports.webhook", WebhookToCall, attempts=8, time_limit=120, backoff=Backoff(30, 3600))


async def enqueue_webhook(tx: Connection, settings: Settings, report_id: str, summary_id: UUID) -> bool:
    """Whether anybody is called."""
    if settings.webhook_url is None or not await tenant_has_slug(tx, settings.webhook_tenant):
        return False
    wanted = WebhookToCall(report_id=report_id, summary_id=str(summary_id))
    await enqueue(tx, WEBHOOK, wanted, dedupe_key=report_id)
    return True


def signature(secret: str, moment: int, body: bytes) -> str:
    """Over the moment too, so that an old delivery cannot be sent again by somebody who overheard it."""
    return hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256).hexdigest()


@WEBHOOK.handler
async def call_webhook(job: Job[WebhookToCall]) -> dict[str, str]:
    context, wanted = cast(WebhookContext, job.context), job.payload
    settings = context.settings
    if settings.webhook_url is None:
        return {"outcome": "not wanted any more"}
    async with job.transaction() as tx:
        row = await find_stored(tx, ONE_REPORT, wanted.report_id)
        report = await read_stored(context.log, tx, job.tenant_id, row)
        published = await (await tx.execute(PUBLISHED_AS, (wanted.report_id,))).fetchone()
    assert published is not None
    event = await context.log.read_event(job.tenant_id, published["event_id"])
    body = orjson.dumps(outward(event, PUBLISHED) | {"content_markdown": write_report(report, "markdown")})
    try:
        receiver = await find_receiver(settings.webhook_url, settings.webhook_private)
        secret = settings.webhook_secret.get_secret_value() if settings.webhook_secret else None
        status = await _post(receiver, _headers(event.id, body, secret), body)
        _judge(status)
    except MnemonError:
        SENT.labels("failed").inc()
        raise
    SENT.labels("sent").inc()
    return {"outcome": "sent"}


def _headers(event_id: str, body: bytes, secret: str | None) -> dict[str, str]:
    moment = int(time.time())
    headers = {
        "Content-Type": "application/json", "User-Agent": "Mnemon", "Idempotency-Key": event_id,
        "Mnemon-Event-Type": PUBLISHED.type, "Mnemon-Timestamp": str(moment),
    }  # fmt: skip
    return headers | ({"Mnemon-Signature": f"v1={signature(secret, moment, body)}"} if secret else {})


async def find_receiver(url: str, private: bool) -> Receiver:
    """Where the name leads. Unless it is allowed, nobody is sent into networks that only this machine reaches."""
    place = urlsplit(url)
    host, port = place.hostname or "", place.port or (443 if place.scheme == "https" else 80)
    if place.scheme not in ("http", "https") or not host or place.username:
        raise WebhookRefused("webhook_url is not an http(s) address without a user in it.")
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise WebhookUndelivered(f"{host} has no address.", host=host) from None
    addresses = [str(one[4][0]) for one in found]
    inner = [one for one in addresses if not ipaddress.ip_address(one.partition("%")[0]).is_global]
    if inner and not private:
        raise WebhookRefused(
            f"{host} is {inner[0]}, in a network of your own: set MNEMON_WEBHOOK_PRIVATE=true if that is meant.",
            host=host,
        )
    return Receiver(url, host, addresses[0])


async def _post(receiver: Receiver, headers: dict[str, str], body: bytes) -> int:
    """To the address that was checked, under the name that was given; nobody is followed elsewhere."""
    place = urlsplit(receiver.url)
    shown = f"[{receiver.address}]" if ":" in receiver.address else receiver.address
    target = place._replace(netloc=f"{shown}:{place.port}" if place.port else shown).geturl()
    extensions: dict[str, Any] = {"sni_hostname": receiver.host}
    try:
        async with (
            asyncio.timeout(SECONDS),
            httpx.AsyncClient(timeout=SECONDS, follow_redirects=False, trust_env=False) as client,
            client.stream(
                "POST", target, content=body, headers={"Host": place.netloc} | headers, extensions=extensions
            ) as answer,
        ):
            return answer.status_code
    except (httpx.HTTPError, TimeoutError) as failure:
        raise WebhookUndelivered(f"{receiver.host} did not answer: {type(failure).__name__}.") from None


def _judge(status: int) -> None:
    """410 says that nobody is there any more; other refusals may be a mistake that somebody mends."""
    if 200 <= status < 300:
        return
    if status == 410:
        raise WebhookRefused("The receiver is gone (410): take webhook_url out of the settings, or change it.")
    raise WebhookUndelivered(f"The receiver answered {status}.", status=status)
