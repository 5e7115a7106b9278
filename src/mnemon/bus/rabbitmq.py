"""The bus on RabbitMQ: a topic exchange, publisher confirms, quorum queues, an exchange for dead letters."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from mnemon.brokers import amqp_library
from mnemon.bus.carrier import DELIVERIES, BusUnavailable, EnvelopeRefused, OnEnvelope

CONFIRMED_WITHIN = 10.0


class RabbitCarrier:
    """Connects when first used, and again after the broker went away. `queues` have the routing keys that they want."""

    name = "rabbitmq"

    def __init__(self, url: str, exchange: str, queues: Mapping[str, Sequence[str]]) -> None:
        self._url = url
        self._exchange_name = exchange
        self._queues = queues
        self._connection: Any = None
        self._exchange: Any = None
        self._turn = asyncio.Lock()

    async def publish(self, tenant: UUID, routing_key: str, event_id: str, body: bytes) -> None:
        library = amqp_library()
        message = library.Message(
            body, message_id=event_id, content_type="application/json", app_id="mnemon",
            delivery_mode=library.DeliveryMode.PERSISTENT,
        )  # fmt: skip
        try:
            exchange = await self._opened()
            # A topic that no queue wants is nobody's loss: the log keeps it.
            await exchange.publish(message, routing_key, mandatory=False, timeout=CONFIRMED_WITHIN)
        except Exception as failure:
            await self.close()
            raise BusUnavailable(f"RabbitMQ does not confirm: {failure or type(failure).__name__}") from failure

    async def receive(self, queue: str, handler: OnEnvelope) -> None:
        try:
            await self._opened()
            async with self._connection.channel() as channel:
                await channel.set_qos(prefetch_count=1)
                wanted = await _quorum_queue(channel, queue, self._dead)
                async with wanted.iterator() as messages:
                    async for message in messages:
                        await _settled(message, handler)
        except (OSError, amqp_library().exceptions.AMQPError) as failure:
            await self.close()
            raise BusUnavailable(f"RabbitMQ went away: {failure or type(failure).__name__}") from failure
        raise BusUnavailable("RabbitMQ closed the queue.")

    async def close(self) -> None:
        connection, self._connection, self._exchange = self._connection, None, None
        if connection is not None:
            # A broker that is gone cannot be taken leave of.
            with contextlib.suppress(Exception):
                await connection.close()

    @property
    def _dead(self) -> str:
        return f"{self._exchange_name}.dead"

    async def _opened(self) -> Any:
        async with self._turn:
            if self._connection is None or self._connection.is_closed or self._exchange is None:
                self._connection = await amqp_library().connect(self._url, timeout=CONFIRMED_WITHIN)
                channel = await self._connection.channel(publisher_confirms=True, on_return_raises=False)
                self._exchange = await self._declared(channel)
            return self._exchange

    async def _declared(self, channel: Any) -> Any:
        """Exchanges and queues as they should be; declaring them again changes nothing."""
        kinds = amqp_library().ExchangeType
        exchange = await channel.declare_exchange(self._exchange_name, kinds.TOPIC, durable=True)
        dead = await channel.declare_exchange(self._dead, kinds.FANOUT, durable=True)
        await (await _quorum_queue(channel, self._dead)).bind(dead)
        for name, keys in self._queues.items():
            queue = await _quorum_queue(channel, name, self._dead)
            for key in keys:
                await queue.bind(exchange, key)
        return exchange


async def _quorum_queue(channel: Any, name: str, dead: str | None = None) -> Any:
    arguments: dict[str, Any] = {"x-queue-type": "quorum"}
    if dead is not None:
        arguments |= {"x-dead-letter-exchange": dead, "x-delivery-limit": DELIVERIES}
    return await channel.declare_queue(name, durable=True, arguments=arguments)


async def _settled(message: Any, handler: OnEnvelope) -> None:
    """What the handler could not take goes back to its queue when the channel is closed: handed back before that, it
    would come again at once, to nobody, and the broker would count it twice."""
    try:
        await handler(message.body)
    except EnvelopeRefused:
        await message.reject(requeue=False)
    else:
        await message.ack()
