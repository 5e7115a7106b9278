"""An S3-compatible store inside the test's process, and a bucket in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

KEYS = ("test-access", "test-secret")
REGION = "eu-central-1"


@dataclass(frozen=True)
class ObjectStore:
    """Where it is, and a client of it."""

    endpoint: str
    bucket: str

    def client(self, service: str = "s3") -> Any:
        return _client(self.endpoint, service)

    def put(self, key: str, content: str | bytes) -> None:
        body = content.encode() if isinstance(content, str) else content
        self.client().put_object(Bucket=self.bucket, Key=key, Body=body)

    def remove(self, key: str) -> None:
        self.client().delete_object(Bucket=self.bucket, Key=key)

    @property
    def place(self) -> str:
        return f"s3://{self.bucket}/here?endpoint={self.endpoint}&region={REGION}"


@cache
def _client(endpoint: str, service: str) -> Any:
    """One for all tests: to make one reads a large description of the service."""
    return boto3.client(
        service, endpoint_url=endpoint, region_name=REGION, aws_access_key_id=KEYS[0], aws_secret_access_key=KEYS[1]
    )


@contextmanager
def object_server() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        _, port = server.get_host_and_port()
        yield f"http://127.0.0.1:{port}"
    finally:
        server.stop()


@pytest.fixture(scope="session")
def store_address() -> Iterator[str]:
    with object_server() as address:
        yield address


@pytest.fixture
def store(store_address: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> ObjectStore:
    """A bucket of the test's own; the environment has the keys that the server itself would use."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS[0])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS[1])
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    name = f"bucket-{abs(hash(request.node.nodeid)):x}"
    made = ObjectStore(store_address, name)
    made.client().create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    return made
