"""Services that benches need, each a process of its own on a port that was free: a NATS server, moto's S3 and SQS."""

import os
import socket
import subprocess
import sys
import sysconfig
import time
from contextlib import contextmanager
from pathlib import Path

import boto3

KEYS = {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench-secret", "AWS_EC2_METADATA_DISABLED": "true"}
REGION = "eu-central-1"
SCRIPTS = Path(sysconfig.get_path("scripts"))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def wait_for_port(port: int, what: str) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert time.monotonic() < deadline, f"{what} did not start"
            time.sleep(0.05)


class LocalService:
    """One process that listens, and can be killed and started again."""

    def __init__(self, what: str, port: int, command: list[str]) -> None:
        self.what, self.port, self._command = what, port, command
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(self._command, stdout=quiet, stderr=quiet, env=os.environ | KEYS)
        wait_for_port(self.port, self.what)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def restart(self) -> None:
        self.kill()
        self.start()


@contextmanager
def running(service: LocalService):
    service.start()
    try:
        yield service
    finally:
        service.kill()


def nats_service(folder: Path) -> LocalService:
    port = free_port()
    command = [str(SCRIPTS / "nats-server"), "-a", "127.0.0.1", "-p", str(port), "-js", "-sd", str(folder)]
    return LocalService("NATS", port, command)


def amazon_service() -> LocalService:
    port = free_port()
    return LocalService("moto", port, [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)])


def amazon_client(service: str, port: int):
    return boto3.client(
        service, endpoint_url=f"http://127.0.0.1:{port}", region_name=REGION,
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"], aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
    )  # fmt: skip
