"""Checkpoints: signed statements of how far a partition had come, kept in a file outside the database."""

import asyncio
import fcntl
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from uuid import UUID

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from psycopg.rows import tuple_row

from mnemon.db.database import Connection
from mnemon.log.errors import CheckpointRefused, NothingToAttest
from mnemon.log.events import MAIN
from mnemon.log.moments import now, written
from mnemon.log.partitions import Partition, list_partitions
from mnemon.log.proof.handover import Handover, handovers, keys_after
from mnemon.log.proof.merkle import Frontier, fold
from mnemon.log.proof.signing import is_signed, public_hex, signing_key
from mnemon.log.read.reader import LogReader

FORMAT = "mnemon/checkpoint/1"
NO_PREVIOUS = "0" * 64
BATCH = 10_000
# Smaller subtrees are quicker to compute again than to look up.
LOWEST_KEPT_LEVEL = 8

HASHES = """
SELECT sequence, hash FROM mnemon.events
 WHERE tenant_id = %s AND partition_id = %s AND sequence > %s AND sequence <= %s
 ORDER BY sequence
"""
KEEP = """
INSERT INTO mnemon.merkle_nodes (tenant_id, partition_id, level, place, hash)
SELECT %s, %s, * FROM unnest(%s::integer[], %s::bigint[], %s::bytea[])
ON CONFLICT DO NOTHING
"""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A signed statement. `frontier` lets the next one be made without reading the log from its beginning; `keys`
    leads from every earlier signing key to this one."""

    statement: str
    public_key: str
    signature: str
    frontier: tuple[bytes, ...]
    keys: tuple[Handover, ...] = ()

    @property
    def says(self) -> dict[str, Any]:
        decoded: dict[str, Any] = orjson.loads(self.statement)
        return decoded

    @property
    def sequence(self) -> int:
        return int(self.says["sequence"])

    @property
    def head(self) -> bytes:
        return bytes.fromhex(self.says["head"])

    @property
    def root(self) -> bytes:
        return bytes.fromhex(self.says["root"])

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.statement.encode()).hexdigest()

    @property
    def tree(self) -> Frontier:
        return Frontier(self.sequence, list(self.frontier))

    def as_json(self) -> dict[str, Any]:
        shown = {
            "statement": self.statement,
            "public_key": self.public_key,
            "signature": self.signature,
            "frontier": [root.hex() for root in self.frontier],
        }
        return shown | ({"keys": [one.as_json() for one in self.keys]} if self.keys else {})

    @classmethod
    def from_json(cls, line: dict[str, Any]) -> Self:
        frontier = tuple(bytes.fromhex(root) for root in line["frontier"])
        keys = tuple(Handover(**one) for one in line.get("keys", ()))
        return cls(line["statement"], line["public_key"], line["signature"], frontier, keys)


class Checkpoints:
    """Signs and keeps the checkpoints of one home folder, a file per partition."""

    def __init__(self, reader: LogReader, home: Path) -> None:
        self._reader = reader
        self._home = home

    def file_of(self, tenant: UUID, legal_entity: str) -> Path:
        name = hashlib.sha256(legal_entity.encode()).hexdigest()[:16]
        return self._home / "checkpoints" / str(tenant) / f"{name}.jsonl"

    def list(self, tenant: UUID, legal_entity: str = MAIN) -> list[Checkpoint]:
        """All checkpoints of a partition, the oldest first. A line cut short by a crash is no checkpoint."""
        try:
            content = self.file_of(tenant, legal_entity).read_bytes()
        except FileNotFoundError:
            return []
        lines = content.split(b"\n")[:-1]
        return [Checkpoint.from_json(orjson.loads(line)) for line in lines]

    async def sign(self, tenant: UUID, legal_entity: str = MAIN) -> Checkpoint:
        """Attest the partition as it is now; the last checkpoint again if neither log nor key changed since."""
        file = self.file_of(tenant, legal_entity)
        await asyncio.to_thread(file.parent.mkdir, mode=0o700, parents=True, exist_ok=True)
        with file.open("ab") as opened:
            # One signer at a time per partition, or the file's own chain would fork.
            await asyncio.to_thread(fcntl.flock, opened, fcntl.LOCK_EX)
            known = self.list(tenant, legal_entity)
            made = await self._next(tenant, legal_entity, known[-1] if known else None)
            if not known or made is not known[-1]:
                _drop_torn_line(file)
                opened.write(orjson.dumps(made.as_json()) + b"\n")
                opened.flush()
                await asyncio.to_thread(os.fsync, opened.fileno())
        return made

    async def _next(self, tenant: UUID, legal_entity: str, last: Checkpoint | None) -> Checkpoint:
        tree = last.tree if last else Frontier()
        key = await asyncio.to_thread(signing_key, self._home)
        async with self._reader.transaction(tenant) as connection:
            partition = await _partition(connection, tenant, legal_entity)
            if last is not None:
                await _refuse_contradiction(connection, tenant, partition, last)
                if last.sequence == partition.sequence and last.public_key == public_hex(key):
                    return last
            await self._grow(connection, tenant, partition, tree)
        says = {
            "format": FORMAT,
            "tenant_id": str(tenant),
            "legal_entity": legal_entity,
            "sequence": str(partition.sequence),
            "count": str(tree.count),
            "head": partition.hash.hex(),
            "root": tree.root().hex(),
            "previous": last.digest if last else NO_PREVIOUS,
            "signed_at": written(now()),
        }
        return _signed(key, orjson.dumps(says, option=orjson.OPT_SORT_KEYS).decode(), tree, handovers(self._home))

    async def _grow(self, connection: Connection, tenant: UUID, partition: Partition, tree: Frontier) -> None:
        """Take in the hashes since the last checkpoint, and keep the larger subtrees that become complete."""
        while tree.count < partition.sequence:
            upto = min(tree.count + BATCH, partition.sequence)
            complete = [
                one
                for _, event_hash in await hashes(connection, tenant, partition.partition_id, tree.count, upto)
                for one in tree.add(event_hash)
                if one[0] >= LOWEST_KEPT_LEVEL
            ]
            if complete:
                levels, places, found = zip(*complete, strict=True)
                values = (tenant, partition.partition_id, list(levels), list(places), list(found))
                await connection.execute(KEEP, values)


async def hashes(
    connection: Connection, tenant: UUID, partition_id: int, after: int, upto: int
) -> list[tuple[int, bytes]]:
    """The hashes in (after, upto]."""
    async with connection.cursor(binary=True, row_factory=tuple_row) as cursor:
        await cursor.execute(HASHES, (tenant, partition_id, after, upto))
        found = await cursor.fetchall()
    if len(found) != upto - after:
        raise CheckpointRefused(f"Of the events {after + 1} to {upto}, {upto - after - len(found)} are missing.")
    return found


async def _partition(connection: Connection, tenant: UUID, legal_entity: str) -> Partition:
    for one in await list_partitions(connection, tenant):
        if one.legal_entity == legal_entity and one.sequence:
            return one
    raise NothingToAttest(f"The partition {legal_entity} has no events yet.", legal_entity=legal_entity)


async def _refuse_contradiction(connection: Connection, tenant: UUID, partition: Partition, last: Checkpoint) -> None:
    """A log that was cut or rewritten must not get a fresh signature over the change."""
    if partition.sequence < last.sequence:
        raise CheckpointRefused(
            f"The partition ends at {partition.sequence}, but a checkpoint attests {last.sequence}: run verify."
        )
    found = await hashes(connection, tenant, partition.partition_id, last.sequence - 1, last.sequence)
    if found[0][1] != last.head:
        raise CheckpointRefused(f"Event {last.sequence} is not the one that the last checkpoint attests: run verify.")


def _signed(key: Ed25519PrivateKey, statement: str, tree: Frontier, keys: tuple[Handover, ...]) -> Checkpoint:
    return Checkpoint(statement, public_hex(key), key.sign(statement.encode()).hex(), tuple(tree.roots), keys)


def _drop_torn_line(file: Path) -> None:
    content = file.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole != len(content):
        os.truncate(file, whole)


def faults_of(known: list[Checkpoint], tenant: UUID, legal_entity: str) -> Iterator[tuple[int, str]]:
    """What is wrong with the checkpoints in themselves, as (sequence, reason)."""
    before: Checkpoint | None = None
    for one in known:
        says = one.says
        if not is_signed(one.public_key, one.signature, one.statement):
            yield one.sequence, "the signature does not fit the statement"
        if before and one.public_key not in keys_after(before.public_key, one.keys):
            yield one.sequence, f"it was signed with another key, {one.public_key}"
        if (says["tenant_id"], says["legal_entity"]) != (str(tenant), legal_entity):
            yield one.sequence, "it is about another partition"
        if says["previous"] != (before.digest if before else NO_PREVIOUS):
            yield one.sequence, "the checkpoint before it is missing or was changed"
        if not _follows(before, one) or says["count"] != says["sequence"]:
            yield one.sequence, "it goes back"
        if len(one.frontier) != one.sequence.bit_count() or fold(one.frontier) != one.root:
            yield one.sequence, "its frontier does not lead to its root"
        before = one


def _follows(before: Checkpoint | None, one: Checkpoint) -> bool:
    """Further on; or at the same place, saying the same, signed with the next key."""
    if before is None or one.sequence != before.sequence:
        return one.sequence > (before.sequence if before else 0)
    return one.public_key != before.public_key and (one.head, one.root) == (before.head, before.root)
