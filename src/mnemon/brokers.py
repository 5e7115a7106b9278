"""The clients of brokers, which are extras and load late."""

from typing import Any

from mnemon.errors import BadSettings


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
    """A connection that finds a broker which came back by itself."""
    nats = nats_library()

    async def said(failure: Exception) -> None:
        """What goes wrong is told by whoever asks for something."""

    return await nats.connect(
        servers, connect_timeout=2, max_reconnect_attempts=-1, reconnect_time_wait=0.2, allow_reconnect=True,
        error_cb=said,
    )  # fmt: skip


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
