"""The bus on NATS JetStream: one stream for what leaves, one for what comes, one for dead letters."""

import asyncio
import contextlib
from typing import Any
from uuid import UUID

from mnemon.brokers import nats_connected, stream_declared
from mnemon.bus.carrier import DELIVERIES, BusUnavailable, EnvelopeRefused, EnvelopeTooLarge, OnEnvelope

STREAM, DEAD_STREAM = "MNEMON_EVENTS", "MNEMON_EVENTS_DEAD"
CONFIRMED_WITHIN = 10.0
PATIENCE = 2.0
# What the headers of a message may take; the broker counts them too.
HEADERS = 512


class _NotTaken(Exception):
    """The handler failed, and not the broker."""


class NatsCarrier:
    """An event's subject is the exchange's name and its routing key; its tenant and id keep the broker from taking it
    twice."""

    name = "nats"

    def __init__(self, url: str, exchange: str, replicas: int = 1) -> None:
        self._servers = [one.strip() for one in url.split(",")]
        self._prefix = exchange
        self._replicas = replicas
        self._client: Any = None
        self._turn = asyncio.Lock()

    async def publish(self, tenant: UUID, routing_key: str, event_id: str, body: bytes) -> None:
        try:
            streams = await self._opened()
            self._refuse_too_large(body)
            subject, headers = f"{self._prefix}.{routing_key}", {"Nats-Msg-Id": f"{tenant}/{event_id}"}
            await streams.publish(subject, body, timeout=CONFIRMED_WITHIN, headers=headers)
        except EnvelopeTooLarge:
            raise
        except Exception as failure:
            await self.close()
            raise BusUnavailable(f"NATS does not confirm: {failure or type(failure).__name__}") from failure

    def _refuse_too_large(self, body: bytes) -> None:
        """Told here: a server that is sent more than it takes closes the connection, for all who use it."""
        if len(body) + HEADERS > (most := self._client.max_payload):
            raise EnvelopeTooLarge(
                f"The envelope has {len(body):,} bytes, and NATS takes messages of {most:,}: raise max_payload of its "
                "servers. Until then the envelope waits, and what comes after it.",
                limit=most,
            )

    async def receive(self, queue: str, handler: OnEnvelope) -> None:
        try:
            streams = await self._opened()
            subject = f"{self._prefix}-inbound.{queue}"
            await stream_declared(
                streams, name=f"MNEMON_INBOUND_{queue}".replace(".", "_"), subjects=[subject],
                num_replicas=self._replicas,
            )  # fmt: skip
            wanted = await streams.pull_subscribe(subject, durable="mnemon")
            while True:
                await self._one(streams, wanted, queue, handler)
        except _NotTaken as failure:
            raise failure.__cause__ or failure from None
        except Exception as failure:
            await self.close()
            raise BusUnavailable(f"NATS went away: {failure or type(failure).__name__}") from failure

    async def _one(self, streams: Any, wanted: Any, queue: str, handler: OnEnvelope) -> None:
        try:
            [message] = await wanted.fetch(1, timeout=PATIENCE)
        except TimeoutError:
            return
        try:
            await handler(message.data)
        except EnvelopeRefused:
            await self._bury(streams, queue, message)
        except Exception as failure:
            if message.metadata.num_delivered >= DELIVERIES:
                await self._bury(streams, queue, message)
            else:
                await message.nak()
            raise _NotTaken from failure
        else:
            await message.ack()

    async def _bury(self, streams: Any, queue: str, message: Any) -> None:
        await streams.publish(f"{self._prefix}-dead.{queue}", message.data, timeout=CONFIRMED_WITHIN)
        await message.term()

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            # A broker that is gone cannot be taken leave of.
            with contextlib.suppress(Exception):
                await client.close()

    async def _opened(self) -> Any:
        async with self._turn:
            if self._client is None or self._client.is_closed:
                self._client = await nats_connected(self._servers)
                streams = self._client.jetstream()
                kept = {"num_replicas": self._replicas}
                await stream_declared(streams, name=STREAM, subjects=[f"{self._prefix}.>"], **kept)
                await stream_declared(streams, name=DEAD_STREAM, subjects=[f"{self._prefix}-dead.>"], **kept)
            return self._client.jetstream()
