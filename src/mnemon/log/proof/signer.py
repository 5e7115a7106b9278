"""Signing: checkpoints that are kept for good, and seals over what came since; in files, with a record of each."""

import asyncio
import fcntl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

from psycopg.rows import tuple_row

from mnemon.db.database import Connection
from mnemon.log.errors import CheckpointRefused, NothingToAttest
from mnemon.log.events import MAIN
from mnemon.log.partitions import Partition, list_partitions
from mnemon.log.proof.checkpoint import Checkpoint, signed_checkpoint
from mnemon.log.proof.checkpoint_files import CheckpointFiles
from mnemon.log.proof.handover import handovers
from mnemon.log.proof.merkle import Frontier
from mnemon.log.proof.pinned_keys import pin_in
from mnemon.log.proof.signing import public_hex, signing_key
from mnemon.log.read.reader import LogReader

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
RECORDED = """
SELECT coalesce(max(number), 0) AS number FROM mnemon.checkpoints WHERE tenant_id = %s AND legal_entity = %s
"""
RECORD = """
INSERT INTO mnemon.checkpoints (tenant_id, legal_entity, number, sequence, digest) VALUES (%s, %s, %s, %s, %s)
"""
RECORD_SEAL = """
INSERT INTO mnemon.seals AS s (tenant_id, legal_entity, sequence, digest) VALUES (%s, %s, %s, %s)
ON CONFLICT (tenant_id, legal_entity) DO UPDATE SET sequence = excluded.sequence, digest = excluded.digest
"""


class Checkpoints(CheckpointFiles):
    """Signs with the key of one home folder, and keeps what it signed there."""

    def __init__(self, reader: LogReader, home: Path) -> None:
        super().__init__(home)
        self._reader = reader
        self._home = home

    async def sign(self, tenant: UUID, legal_entity: str = MAIN) -> Checkpoint:
        """Attest the partition as it is now; the last checkpoint again if neither log nor key changed since."""
        return await self._sign(tenant, legal_entity, for_good=True)

    async def sign_seal(self, tenant: UUID, legal_entity: str = MAIN) -> Checkpoint:
        """The same between two checkpoints: it takes the place of the seal before it, so that nothing piles up."""
        return await self._sign(tenant, legal_entity, for_good=False)

    async def _sign(self, tenant: UUID, legal_entity: str, *, for_good: bool) -> Checkpoint:
        key = await asyncio.to_thread(signing_key, self._home)
        announced = await asyncio.to_thread(handovers, self._home)
        async with self._alone(tenant, legal_entity), self._reader.transaction(tenant) as connection:
            kept, seal = await asyncio.to_thread(self._newest, tenant, legal_entity)
            partition = await _partition(connection, tenant, legal_entity)
            await pin_in(connection, tenant, public_hex(key), announced)
            for earlier in (kept, seal):
                if earlier is not None:
                    await _refuse_contradiction(connection, tenant, partition, earlier)
            newest = seal if seal and (kept is None or seal.sequence > kept.sequence) else kept
            present = kept if for_good else newest
            if present and present.sequence == partition.sequence and present.public_key == public_hex(key):
                return present
            tree = newest.tree if newest else Frontier()
            await self._grow(connection, tenant, partition, tree)
            made = signed_checkpoint(key, tenant, partition, tree, kept, announced)
            # The file within the transaction: if we die between the two, the file is ahead by one line, which the next
            # call makes up for; the record is never ahead of the file.
            if for_good:
                await self._record(connection, tenant, legal_entity, made)
            await connection.execute(RECORD_SEAL, (tenant, legal_entity, made.sequence, bytes.fromhex(made.digest)))
            await asyncio.to_thread(self.add if for_good else self.put_seal, tenant, legal_entity, made)
        return made

    @asynccontextmanager
    async def _alone(self, tenant: UUID, legal_entity: str) -> AsyncIterator[None]:
        """One signer at a time per partition, or the file's own chain would fork."""
        file = self.file_of(tenant, legal_entity)
        await asyncio.to_thread(file.parent.mkdir, mode=0o700, parents=True, exist_ok=True)
        with file.with_suffix(".lock").open("ab") as lock:
            await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
            yield

    def _newest(self, tenant: UUID, legal_entity: str) -> tuple[Checkpoint | None, Checkpoint | None]:
        try:
            return self.last(tenant, legal_entity), self.seal(tenant, legal_entity)
        except ValueError as failure:
            raise CheckpointRefused(
                f"The checkpoints of {legal_entity} cannot be read ({failure}): run verify.", legal_entity=legal_entity
            ) from None

    async def _record(self, connection: Connection, tenant: UUID, legal_entity: str, made: Checkpoint) -> None:
        """Say which checkpoints there are; refuse to go on from a file that was shortened."""
        row = await (await connection.execute(RECORDED, (tenant, legal_entity))).fetchone()
        assert row is not None
        in_file = await asyncio.to_thread(self.list, tenant, legal_entity)
        if len(in_file) < row["number"]:
            raise CheckpointRefused(
                f"{self.file_of(tenant, legal_entity)} has {len(in_file)} checkpoints where {row['number']} were "
                "signed: put the file back from a copy or a witness, then run verify.",
                legal_entity=legal_entity,
            )
        for number, one in enumerate([*in_file[row["number"] :], made], row["number"] + 1):
            await connection.execute(RECORD, (tenant, legal_entity, number, one.sequence, bytes.fromhex(one.digest)))

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
