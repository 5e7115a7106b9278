"""Jobs by NATS JetStream: one stream, one durable consumer that all workers share, a stream for what is unreadable."""

import asyncio
import contextlib
from typing import Any

from mnemon.brokers import nats_connected, stream_declared
from mnemon.work.transports.transport import JobDelivery, JobMessage, TransportUnavailable

STREAM, SUBJECT, CONSUMER = "MNEMON_JOBS", "mnemon.jobs", "mnemon-workers"
DEAD_STREAM, DEAD_SUBJECT = "MNEMON_JOBS_DEAD", "mnemon.dead-jobs"
ACKNOWLEDGED_WITHIN = 30.0
PATIENCE = 1.0
PUBLISHED_WITHIN = 5.0


class NatsTransport:
    """Connects when first used. The client finds a broker that came back by itself."""

    keep_seconds = ACKNOWLEDGED_WITHIN / 3

    def __init__(self, url: str, replicas: int = 1, prefix: str = "") -> None:
        self._servers = [one.strip() for one in url.split(",")]
        self._replicas = replicas
        # So that several installations share a broker.
        self._stream, self._subject = f"{prefix}{STREAM}", f"{prefix}{SUBJECT}"
        self._dead_stream, self._dead_subject = f"{prefix}{DEAD_STREAM}", f"{prefix}{DEAD_SUBJECT}"
        self._client: Any = None
        self._subscription: Any = None
        self._turn = asyncio.Lock()

    async def publish(self, message: JobMessage) -> None:
        try:
            stream = await self._opened()
            await stream.publish(self._subject, message.as_bytes(), timeout=PUBLISHED_WITHIN)
        except Exception as failure:
            await self._look_again(failure)
            raise TransportUnavailable(f"NATS does not take the job: {failure or type(failure).__name__}") from failure

    async def take(self, most: int) -> list[JobDelivery]:
        stream = await self._opened()
        try:
            if self._subscription is None:
                self._subscription = await stream.pull_subscribe_bind(CONSUMER, self._stream)
            found = await self._subscription.fetch(min(most, 100), timeout=PATIENCE)
        except TimeoutError:
            return []
        except Exception as failure:
            await self._look_again(failure)
            raise TransportUnavailable(f"NATS does not answer: {failure or type(failure).__name__}") from failure
        return [_NatsDelivery(self, one) for one in found]

    async def bury(self, body: bytes) -> None:
        await (await self._opened()).publish(self._dead_subject, body, timeout=PUBLISHED_WITHIN)

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
                self._subscription = None
                await self._declare()
            return self._client.jetstream()

    async def _declare(self) -> None:
        """Streams and consumer as they should be; declaring them again changes nothing."""
        from nats.js import api

        streams = self._client.jetstream()
        kept = {"storage": api.StorageType.FILE, "num_replicas": self._replicas}
        await stream_declared(
            streams, name=self._stream, subjects=[self._subject], retention=api.RetentionPolicy.WORK_QUEUE, **kept
        )
        await stream_declared(streams, name=self._dead_stream, subjects=[self._dead_subject], max_msgs=100_000, **kept)
        consumer = api.ConsumerConfig(
            durable_name=CONSUMER, ack_policy=api.AckPolicy.EXPLICIT, ack_wait=ACKNOWLEDGED_WITHIN,
            max_ack_pending=10_000, filter_subject=self._subject,
        )  # fmt: skip
        await streams.add_consumer(self._stream, consumer)

    async def _look_again(self, failure: Exception) -> None:
        """A broker that came back without its streams, or another one: connect and declare anew."""
        from nats.errors import Error

        self._subscription = None
        if isinstance(failure, Error | OSError) and not isinstance(failure, TimeoutError):
            async with self._turn:
                client, self._client = self._client, None
            if client is not None:
                # A broker that is gone cannot be taken leave of.
                with contextlib.suppress(Exception):
                    await client.close()


class _NatsDelivery:
    def __init__(self, transport: NatsTransport, raw: Any) -> None:
        self.message = JobMessage.read(raw.data)
        self._transport = transport
        self._raw = raw

    async def done(self) -> None:
        await self._raw.ack()

    async def keep(self) -> None:
        await self._raw.in_progress()

    async def reject(self) -> None:
        await self._transport.bury(self._raw.data)
        await self._raw.term()
