"""Signing: checkpoints that are kept for good, and seals over what came since; kept outside, with a record of each."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from psycopg.rows import tuple_row

from mnemon.db.database import Connection
from mnemon.log.errors import CheckpointRefused, NothingToAttest
from mnemon.log.events import MAIN
from mnemon.log.partitions import Partition, list_partitions
from mnemon.log.proof.checkpoint import Checkpoint, NewestSigned, signed_checkpoint
from mnemon.log.proof.checkpoint_store import CheckpointStore
from mnemon.log.proof.merkle import Frontier
from mnemon.log.proof.pinned_keys import pin_in
from mnemon.log.proof.signing import public_hex
from mnemon.log.proof.signing_keys import SigningKeys
from mnemon.log.read.reader import LogReader

BATCH = 10_000
# Smaller subtrees are quicker to compute again than to look up.
LOWEST_KEPT_LEVEL = 8
WHAT_THEN = "run verify; if you brought the log back to an earlier moment, say so by `mnemon log adopt-restore`."

# One signer at a time per partition, on whatever machine, or the chain of checkpoints would fork. While the key is
# changed nobody signs: who had read the old one would find the new one pinned.
TAKE_TURN = """
SELECT pg_advisory_xact_lock_shared(hashtextextended('mnemon signing key', 0)),
       pg_advisory_xact_lock(hashtextextended('mnemon checkpoint ' || %s || ' ' || %s, 0))
"""
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
# What was signed further than that is still missed.
RECORD_SEAL_UP_TO = f"{RECORD_SEAL} WHERE s.sequence <= excluded.sequence"


class Signer:
    """Signs with the key of a home, and keeps what it signed there."""

    def __init__(self, reader: LogReader, keys: SigningKeys, store: CheckpointStore) -> None:
        self._reader = reader
        self._keys = keys
        self._store = store

    async def sign(self, tenant: UUID, legal_entity: str = MAIN) -> Checkpoint:
        """Attest the partition as it is now; the last checkpoint again if neither log nor key changed since."""
        return await self._sign(tenant, legal_entity, for_good=True)

    async def sign_seal(self, tenant: UUID, legal_entity: str = MAIN) -> Checkpoint:
        """The same between two checkpoints: it takes the place of the seal before it, so that nothing piles up."""
        return await self._sign(tenant, legal_entity, for_good=False)

    async def _sign(self, tenant: UUID, legal_entity: str, *, for_good: bool) -> Checkpoint:
        async with self._store.alone(tenant, legal_entity), self._reader.transaction(tenant) as connection:
            await connection.execute(TAKE_TURN, (str(tenant), legal_entity))
            key = await asyncio.to_thread(self._keys.current)
            announced = await asyncio.to_thread(self._keys.handovers)
            signed = await asyncio.to_thread(self._newest, tenant, legal_entity)
            kept, newest = signed.kept, signed.furthest
            partition = await _partition(connection, tenant, legal_entity)
            await pin_in(connection, tenant, public_hex(key), announced)
            for earlier in (kept, signed.seal):
                if earlier is not None:
                    await _refuse_contradiction(connection, tenant, partition, earlier)
            present = kept if for_good else newest
            if present and present.sequence == partition.sequence and present.public_key == public_hex(key):
                if for_good:
                    # A database that was restored may tell of fewer than are kept, or of a seal that is not.
                    await self._record(connection, tenant, legal_entity)
                    said = (present.sequence, bytes.fromhex(present.digest))
                    await connection.execute(RECORD_SEAL_UP_TO, (tenant, legal_entity, *said))
                return present
            tree = newest.tree if newest else Frontier()
            await self._grow(connection, tenant, partition, tree)
            made = signed_checkpoint(key, tenant, partition, tree, kept, announced)
            # Kept within the transaction: if we die between the two, what is kept is ahead by one, which the next call
            # makes up for; the record is never ahead of it.
            number = await self._record(connection, tenant, legal_entity, [made]) if for_good else 0
            await connection.execute(RECORD_SEAL, (tenant, legal_entity, made.sequence, bytes.fromhex(made.digest)))
            if for_good:
                await asyncio.to_thread(self._store.add, tenant, legal_entity, made, number)
            else:
                await asyncio.to_thread(self._store.put_seal, tenant, legal_entity, made, signed.mark)
        return made

    def _newest(self, tenant: UUID, legal_entity: str) -> NewestSigned:
        try:
            return self._store.newest(tenant, legal_entity)
        except ValueError as failure:
            raise CheckpointRefused(
                f"The checkpoints of {legal_entity} cannot be read ({failure}): run verify.", legal_entity=legal_entity
            ) from None

    async def _record(
        self, connection: Connection, tenant: UUID, legal_entity: str, made: Sequence[Checkpoint] = ()
    ) -> int:
        """Say which checkpoints there are, and the number of the last; refuse to go on from what was shortened."""
        row = await (await connection.execute(RECORDED, (tenant, legal_entity))).fetchone()
        assert row is not None
        recorded = int(row["number"])
        count, new = await asyncio.to_thread(self._store.since, tenant, legal_entity, recorded)
        if count < recorded:
            raise CheckpointRefused(
                f"{self._store.where(tenant, legal_entity)} has {count} checkpoints where {recorded} were signed: put "
                "them back from a copy or a witness, then run verify. If another gateway has them in a home of its "
                "own, share them by MNEMON_HOME_STORE.",
                legal_entity=legal_entity,
            )
        for number, one in enumerate([*new, *made], recorded + 1):
            await connection.execute(RECORD, (tenant, legal_entity, number, one.sequence, bytes.fromhex(one.digest)))
        return recorded + len(new) + len(made)

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
            f"The partition ends at {partition.sequence}, but a checkpoint attests {last.sequence}: {WHAT_THEN}"
        )
    found = await hashes(connection, tenant, partition.partition_id, last.sequence - 1, last.sequence)
    if found[0][1] != last.head:
        raise CheckpointRefused(f"Event {last.sequence} is not the one that the last checkpoint attests: {WHAT_THEN}")
