"""The clients of brokers, which are extras and load late."""

import asyncio
from typing import Any

from mnemon.errors import BadSettings

# A client that finds a broker which came back by itself also looks for one that never was, for ever.
CONNECTED_WITHIN = 10.0


def amqp_library() -> Any:
    """The client of RabbitMQ, or a sentence that says how to get it."""
    try:
        import aio_pika
    except ModuleNotFoundError:
        raise BadSettings("RabbitMQ needs aio-pika: pip install 'mnemon[brokers]'.") from None
    return aio_pika


def nats_library() -> Any:
    """The client of NATS, or a sentence that says how to get it."""
    try:
        import nats
    except ModuleNotFoundError:
        raise BadSettings("NATS needs nats-py: pip install 'mnemon[brokers]'.") from None
    return nats


async def nats_connected(servers: list[str]) -> Any:
    """A connection that finds a broker which came back by itself, once there was one; else ConnectionError."""
    client, said = nats_library().NATS(), ""

    async def note(failure: Exception) -> None:
        """What goes wrong later is told by whoever asks for something."""
        nonlocal said
        said = str(failure) or type(failure).__name__

    try:
        async with asyncio.timeout(CONNECTED_WITHIN):
            await client.connect(
                servers, connect_timeout=2, max_reconnect_attempts=-1, reconnect_time_wait=0.2, allow_reconnect=True,
                error_cb=note,
            )  # fmt: skip
    except BaseException as failure:
        await client.close()
        if isinstance(failure, TimeoutError):
            raise ConnectionError(f"no server answered within {CONNECTED_WITHIN:g} s: {said or 'silence'}") from None
        raise
    return client


async def stream_declared(streams: Any, **config: Any) -> None:
    """A stream of JetStream as it should be; what else its owner has set, such as for how long it keeps what it has,
    stays."""
    from nats.js import api
    from nats.js.errors import BadRequestError

    try:
        await streams.add_stream(api.StreamConfig(**config))
    except BadRequestError:
        known = (await streams.stream_info(config["name"])).config
        await streams.update_stream(known.evolve(**config))
