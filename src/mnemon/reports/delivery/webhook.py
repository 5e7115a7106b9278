"""By webhook: an envelope to an HTTP address, signed, with a key by which a repeated one is known."""

import asyncio
import hashlib
import hmac
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
import orjson

from mnemon.reach import find_addresses, inner_of
from mnemon.reports.delivery.errors import DeliveryRefused, Undelivered

SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Receiver:
    """An address that was looked up once: what is called is what was checked."""

    url: str
    host: str
    address: str


def signature(secret: str, moment: int, body: bytes) -> str:
    """Over the moment too, so that an old delivery cannot be sent again by somebody who overheard it."""
    return hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256).hexdigest()


async def call_webhook(url: str, secret: str | None, envelope: dict[str, Any], *, private: bool) -> int:
    """The status that it was answered with. The envelope's id is the key: a second try is known as one."""
    body = orjson.dumps(envelope)
    receiver = await find_receiver(url, private)
    status = await _post(receiver, _headers(envelope, body, secret), body)
    _judge(status)
    return status


def _headers(envelope: dict[str, Any], body: bytes, secret: str | None) -> dict[str, str]:
    moment = int(time.time())
    headers = {
        "Content-Type": "application/json", "User-Agent": "Mnemon", "Idempotency-Key": envelope["event_id"],
        "Mnemon-Event-Type": envelope["routing_key"], "Mnemon-Timestamp": str(moment),
    }  # fmt: skip
    return headers | ({"Mnemon-Signature": f"v1={signature(secret, moment, body)}"} if secret else {})


async def find_receiver(url: str, private: bool) -> Receiver:
    """Where the name leads. Unless it is allowed, nobody is sent into networks that only this machine reaches."""
    place = urlsplit(url)
    host = place.hostname or ""
    if place.scheme not in ("http", "https") or not host or place.username:
        raise DeliveryRefused("A webhook is an http(s) address without a user in it, such as https://example.org/hook.")
    addresses = await find_addresses(host)
    if not addresses:
        raise Undelivered(f"{host} has no address.", host=host)
    inner = inner_of(addresses)
    if inner and not private:
        raise DeliveryRefused(
            f"{host} is {inner}, in a network of your own: set MNEMON_WEBHOOK_PRIVATE=true if that is meant.",
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
            httpx2.AsyncClient(timeout=SECONDS, follow_redirects=False, trust_env=False) as client,
            client.stream(
                "POST", target, content=body, headers={"Host": place.netloc} | headers, extensions=extensions
            ) as answer,
        ):
            return answer.status_code
    except (httpx2.HTTPError, TimeoutError) as failure:
        raise Undelivered(f"{receiver.host} did not answer: {type(failure).__name__}.") from None


def _judge(status: int) -> None:
    """410 says that nobody is there any more; other refusals may be a mistake that somebody mends."""
    if 200 <= status < 300:
        return
    if status == 410:
        raise DeliveryRefused("The receiver is gone (410): remove the webhook, or add it with another address.")
    raise Undelivered(f"The receiver answered {status}.", status=status)
