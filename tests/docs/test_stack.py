"""The stack of compose with the same settings and commands, as processes on real brokers and a store."""

import asyncio
import base64
import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from tests.brokers import RabbitServer, free_port, nats_server, rabbit_server
from tests.object_store import KEYS, REGION, ObjectStore, object_server
from tests.patience import PATIENCE, until

from mnemon.db.external import ExternalServer

DEPLOY = Path(__file__).parents[2] / "deploy"
NOTE = b"The board of Kestrel decided on 3 March 2026 to move the archive to Bergen.\n"


class Stack:
    """What compose would start of Mnemon, against services that are started here."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self._compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
        self._told, self._folder = environment, folder
        self.port = free_port()

    @contextmanager
    def running(self, service: str) -> Iterator[subprocess.Popen[bytes]]:
        told = self._compose["services"][service]
        environment = {name: self._filled(str(value)) for name, value in told["environment"].items()}
        # Here a tenant's first words would have to be fetched, and the address of a container is not ours.
        own = {
            "MNEMON_HOST": "127.0.0.1", "MNEMON_PORT": str(self.port), "MNEMON_AUTH_ENABLED": "false",
            "MNEMON_HOME": str(self._folder / service), "MNEMON_EMBEDDER": "none", "AWS_EC2_METADATA_DISABLED": "true",
        }  # fmt: skip
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMON_", "AWS_"))}
        command = [sys.executable, "-m", "mnemon", *told["command"]]
        with subprocess.Popen(command, env=kept | environment | own, stdout=subprocess.DEVNULL) as process:
            try:
                yield process
                process.send_signal(signal.SIGINT)
                assert process.wait(timeout=PATIENCE) == 0
            finally:
                process.kill()

    def _filled(self, value: str) -> str:
        for written, here in self._told.items():
            value = value.replace(written, here)
        assert not re.search(r"\$\{|//(postgres|nats|rabbitmq|store)\b|@(postgres|rabbitmq)\b", value), value
        return value


@pytest.fixture
def store() -> Iterator[ObjectStore]:
    with object_server() as address:
        made = ObjectStore(address, "mnemon")
        made.client().create_bucket(Bucket="mnemon", CreateBucketConfiguration={"LocationConstraint": REGION})
        yield made


@pytest.fixture
def rabbit(open_folder: Path) -> Iterator[RabbitServer]:
    with rabbit_server(open_folder / "rabbit-of-stack") as server:
        yield server


@pytest.mark.slow
def test_what_compose_starts_reads_a_document_and_tells_the_bus(
    empty_server: ExternalServer, store: ObjectStore, rabbit: RabbitServer, tmp_path: Path
) -> None:
    with ExitStack() as services:
        nats = services.enter_context(nats_server(tmp_path))
        key = base64.b64encode(secrets.token_bytes(32)).decode()
        stack = Stack(
            {
                "postgresql://mnemon:${POSTGRES_PASSWORD:?}@postgres:5432/mnemon": empty_server.owner_conninfo,
                "nats://nats:4222": nats.url,
                "amqp://mnemon:${RABBITMQ_PASSWORD:?}@rabbitmq:5672/": rabbit.url,
                "http://store:9000&region=us-east-1": f"{store.endpoint}&region={REGION}",
                "${HOME_STORE_SECRET:?}": key,
                "${KEK:?}": key,
                "${JWT_SECRET:?}": secrets.token_hex(32),
                "${STORE_ACCESS_KEY:?}": KEYS[0],
                "${STORE_SECRET_KEY:?}": KEYS[1],
            },
            tmp_path,
        )
        services.enter_context(stack.running("gateway"))
        client = services.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{stack.port}", timeout=PATIENCE))
        until(lambda: _answers(client), "the gateway")
        services.enter_context(stack.running("worker"))
        told = client.post("/v1/ingest", files={"file": ("minutes.txt", NOTE)})
        assert told.status_code in (200, 201, 202), told.text
        until(lambda: _runs(client) == ["succeeded"], "the document to be read")
        found = client.get("/v1/search", params={"query": "archive Bergen"}).json()
        assert "Bergen" in str(found), found
        sent = asyncio.run(_sent_until(rabbit, "document."))
        assert sent[0]["position"]["sequence"] == "1"
    keys = [one["Key"] for one in store.client().list_objects_v2(Bucket="mnemon")["Contents"]]
    assert {key.partition("/")[0] for key in keys} >= {"files", "home"}, "no container owns a disk"


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/ready").status_code == 200
    except httpx.HTTPError:
        return False


def _runs(client: httpx.Client) -> list[str]:
    return [one["status"] for one in client.get("/v1/ingestion-runs").json()["items"]]


async def _sent_until(rabbit: RabbitServer, kind: str) -> list[dict[str, Any]]:
    """What a consumer of the queue `all` gets, up to an event of this kind."""
    found: list[dict[str, Any]] = []
    while not any(one["routing_key"].startswith(kind) for one in found):
        found += await rabbit.messages("all", 1)
    return found
