"""Where checkpoints go: a folder, a bucket, an address, another Mnemon. Each keeps the newest and tells it."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import UUID

import httpx2
import orjson

from mnemon.errors import BadSettings
from mnemon.log.proof.checkpoint import Checkpoint
from mnemon.log.proof.checkpoint_files import CheckpointFiles
from mnemon.log.proof.s3_requests import signed_headers
from mnemon.log.proof.signing import public_hex
from mnemon.log.proof.signing_keys import signing_keys
from mnemon.shared_home import Home

PATIENCE = 10.0
# Gives the path from a sequence that the witness has to the checkpoint.
Prove = Callable[[int], Awaitable[list[str]]]


class Witness(Protocol):
    """A place outside."""

    name: str

    async def put(self, tenant: UUID, legal_entity: str, made: Checkpoint, prove: Prove) -> None: ...

    async def last(self, tenant: UUID, legal_entity: str) -> Checkpoint | None: ...


class FileWitness:
    """A folder, on another disk or another machine's share: one file per partition, which only grows."""

    def __init__(self, folder: Path) -> None:
        self.name = f"file {folder}"
        self._files = CheckpointFiles(folder)

    async def put(self, tenant: UUID, legal_entity: str, made: Checkpoint, prove: Prove) -> None:
        await asyncio.to_thread(self._put, tenant, legal_entity, made)

    def _put(self, tenant: UUID, legal_entity: str, made: Checkpoint) -> None:
        self._files.file_of(tenant, legal_entity).parent.mkdir(parents=True, exist_ok=True)
        last = self._files.last(tenant, legal_entity)
        if last is None or last.sequence < made.sequence:
            self._files.add(tenant, legal_entity, made)

    async def last(self, tenant: UUID, legal_entity: str) -> Checkpoint | None:
        return await asyncio.to_thread(self._files.last, tenant, legal_entity)


class S3Witness:
    """A bucket: an object per checkpoint, and one that is the newest. Give it a lock that outlasts an attacker."""

    def __init__(
        self, bucket: str, prefix: str, endpoint: str, region: str, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        self._transport = transport
        self.name = f"s3 {bucket}/{prefix}".rstrip("/")
        self._base = f"{endpoint.rstrip('/')}/{bucket}/{prefix.strip('/')}".rstrip("/")
        self._region = region

    async def put(self, tenant: UUID, legal_entity: str, made: Checkpoint, prove: Prove) -> None:
        body = orjson.dumps(made.as_json())
        for name in (f"{made.sequence:020}", "newest"):
            (await self._send("PUT", self._address(tenant, legal_entity, name), body)).raise_for_status()

    async def last(self, tenant: UUID, legal_entity: str) -> Checkpoint | None:
        answer = await self._send("GET", self._address(tenant, legal_entity, "newest"), b"")
        if answer.status_code == httpx2.codes.NOT_FOUND:
            return None
        return Checkpoint.from_json(orjson.loads(answer.raise_for_status().content))

    def _address(self, tenant: UUID, legal_entity: str, name: str) -> str:
        return f"{self._base}/{tenant}/{legal_entity.encode().hex()}/{name}.json"

    async def _send(self, method: str, address: str, body: bytes) -> httpx2.Response:
        access = os.environ.get("AWS_ACCESS_KEY_ID", ""), os.environ.get("AWS_SECRET_ACCESS_KEY", "")
        headers = signed_headers(method, address, body, self._region, *access)
        async with httpx2.AsyncClient(timeout=PATIENCE, transport=self._transport) as client:
            return await client.request(method, address, content=body, headers=headers)


class HttpWitness:
    """Any address that takes a POST of the checkpoint; the body is signed once more with the same key."""

    def __init__(self, address: str, home: Home, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._transport = transport
        self.name = f"http {urlsplit(address).hostname}"
        self._address = address
        self._keys = signing_keys(home)

    async def put(self, tenant: UUID, legal_entity: str, made: Checkpoint, prove: Prove) -> None:
        body = orjson.dumps(made.as_json())
        key = await asyncio.to_thread(self._keys.current)
        headers = {
            "Content-Type": "application/json",
            "Mnemon-Key": public_hex(key),
            "Mnemon-Signature": key.sign(body).hex(),
        }
        async with httpx2.AsyncClient(timeout=PATIENCE, transport=self._transport) as client:
            (await client.post(self._address, content=body, headers=headers)).raise_for_status()

    async def last(self, tenant: UUID, legal_entity: str) -> Checkpoint | None:
        """Where the address answers a GET with what it kept; else nobody can be asked."""
        query = {"tenant_id": str(tenant), "legal_entity": legal_entity}
        async with httpx2.AsyncClient(timeout=PATIENCE, transport=self._transport) as client:
            answer = await client.get(self._address, params=query)
        if answer.status_code in (httpx2.codes.NOT_FOUND, httpx2.codes.METHOD_NOT_ALLOWED):
            return None
        return Checkpoint.from_json(orjson.loads(answer.raise_for_status().content))


class MnemonWitness:
    """Another Mnemon: it keeps a root only with a proof that it grew out of the one before."""

    def __init__(self, address: str, token: str, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self.name = f"mnemon {urlsplit(address).hostname}"
        self._address = f"{address.rstrip('/')}/v1/witness/checkpoints"
        self._headers = {"Authorization": f"Bearer {token}"}
        self._transport = transport

    async def put(self, tenant: UUID, legal_entity: str, made: Checkpoint, prove: Prove) -> None:
        last = await self.last(tenant, legal_entity)
        if last is not None and last.sequence >= made.sequence:
            return
        path = await prove(last.sequence) if last else []
        body = {"checkpoint": made.as_json(), "path": path}
        async with self._client() as client:
            (await client.post(self._address, json=body)).raise_for_status()

    async def last(self, tenant: UUID, legal_entity: str) -> Checkpoint | None:
        query = {"origin": str(tenant), "legal_entity": legal_entity}
        async with self._client() as client:
            answer = await client.get(f"{self._address}/last", params=query)
        if answer.status_code == httpx2.codes.NOT_FOUND:
            return None
        return Checkpoint.from_json(answer.raise_for_status().json()["checkpoint"])

    def _client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(timeout=PATIENCE, headers=self._headers, transport=self._transport)


def witness_at(place: str, home: Home) -> Witness:
    """The witness that a setting names."""
    parts = urlsplit(place)
    options: dict[str, Any] = {name: values[0] for name, values in parse_qs(parts.query).items()}
    if parts.scheme == "file" and parts.path:
        return FileWitness(Path(unquote(parts.path)))
    if parts.scheme == "s3" and parts.netloc:
        region = options.get("region", "us-east-1")
        endpoint = options.get("endpoint", f"https://s3.{region}.amazonaws.com")
        return S3Witness(parts.netloc, parts.path.strip("/"), endpoint, region)
    if parts.scheme in ("mnemon+http", "mnemon+https") and parts.hostname and parts.username:
        port = f":{parts.port}" if parts.port else ""
        return MnemonWitness(f"{parts.scheme.removeprefix('mnemon+')}://{parts.hostname}{port}", parts.username)
    if parts.scheme in ("http", "https") and parts.hostname:
        return HttpWitness(place, home)
    raise BadSettings(
        "MNEMON_LOG_WITNESSES does not accept one of its places: give file:///folder, s3://bucket/prefix, "
        "https://address or mnemon+https://TOKEN@host."
    )
