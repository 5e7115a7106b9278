"""Archiving: moves old payloads to the archive store and back. Envelopes and chain stay where they are."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from mnemon.db.database import Connection, Database
from mnemon.log.errors import ArchiveDamaged, ArchiveRefused
from mnemon.log.events import MAIN, Actor, EntityReference, NewEvent, Scope
from mnemon.log.partitions import Partition, list_partitions
from mnemon.log.privacy.archive_objects import ArchiveObject, pack, unpack
from mnemon.log.privacy.archive_store import ArchiveStore
from mnemon.log.privacy.privacy_events import PAYLOADS_ARCHIVED, PAYLOADS_RESTORED
from mnemon.log.proof.chain import digest
from mnemon.log.store import EventLog
from mnemon.log.types.event_type import EventType
from mnemon.telemetry import counter

ARCHIVED = counter("mnemon_log_archived_payloads_total", "Payloads that were moved to the archive store.")

OBJECT_PAYLOADS = 1_000
COLUMNS = "first_sequence, last_sequence, object_key, object_digest, object_bytes, payload_bytes, state, changed_at"
ONE_ARCHIVER = "SELECT pg_try_advisory_lock(hashtextextended('archive of partition ' || %s, 0)) AS free"
LIMIT_OF = "SELECT mnemon.sequence_at(%s, %s) AS sequence"
OLDEST = """
SELECT p.sequence, p.payload,
       mnemon.attested_digest(%(tenant)s, %(partition)s, p.sequence) AS digest
  FROM mnemon.event_payloads p
 WHERE p.tenant_id = %(tenant)s AND p.partition_id = %(partition)s AND p.sequence > %(after)s AND p.sequence <= %(to)s
   AND p.payload IS NOT NULL
 ORDER BY p.sequence LIMIT %(limit)s
"""
BEGIN = """
INSERT INTO mnemon.archives (tenant_id, partition_id, first_sequence, last_sequence, object_key, object_digest,
                             object_bytes, payload_bytes, state)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, 'writing')
"""
STATE = """
UPDATE mnemon.archives SET state = %s, changed_at = now()
 WHERE tenant_id = %s AND partition_id = %s AND first_sequence = %s
"""
# Only what is in the object byte by byte: a payload that was redacted meanwhile must not come back from there.
EMPTY = """
UPDATE mnemon.event_payloads p SET payload = NULL
  FROM unnest(%s::bigint[], %s::text[]) AS row (sequence, payload)
 WHERE p.tenant_id = %s AND p.partition_id = %s AND p.sequence = row.sequence AND p.payload = row.payload
"""
FILL = """
UPDATE mnemon.event_payloads p SET payload = row.payload
  FROM unnest(%s::bigint[], %s::text[]) AS row (sequence, payload)
 WHERE p.tenant_id = %s AND p.partition_id = %s AND p.sequence = row.sequence AND p.payload IS NULL
"""
REMOVE = "DELETE FROM mnemon.archives WHERE tenant_id = %s AND partition_id = %s AND first_sequence = %s"
UNFINISHED = f"""
SELECT {COLUMNS} FROM mnemon.archives WHERE tenant_id = %s AND partition_id = %s AND state <> 'stored'
"""
STORED = f"""
SELECT {COLUMNS} FROM mnemon.archives
 WHERE tenant_id = %s AND partition_id = %s AND state = 'stored' ORDER BY first_sequence
"""

# The last sequence of a partition that a dependent's snapshots cover; None if it depends on nothing here. Nothing
# beyond the lowest answer is archived, so that the present state never needs the archive.
Coverage = Callable[[UUID, int], Awaitable[int | None]]


@dataclass(frozen=True, slots=True)
class Archived:
    """One object of the archive, and the range of events whose payloads are in it."""

    first_sequence: int
    last_sequence: int
    object_key: str
    object_digest: bytes
    object_bytes: int
    payload_bytes: int
    state: str
    changed_at: datetime


class Archive:
    """For operators: works as the schema's owner, the one role that may move a payload out of the database."""

    def __init__(self, database: Database, log: EventLog, store: ArchiveStore) -> None:
        self._database = database
        self._log = log
        self._store = store
        self.coverage: list[Coverage] = []

    async def objects(self, tenant: UUID, legal_entity: str = MAIN) -> list[Archived]:
        """What is in the archive, by sequence."""
        async with self._database.transaction(tenant) as connection:
            partition = await _partition(connection, tenant, legal_entity)
            return await _archives(connection, STORED, tenant, partition)

    async def archive(
        self, tenant: UUID, before: datetime, *, actor: Actor, legal_entity: str = MAIN
    ) -> list[Archived]:
        """Move the payloads recorded before a moment to the store, object by object; returns what was moved.

        Each object is announced, written, read back, and only then are its payloads let go: whoever kills this loses
        nothing, and the next call clears away what was half done.
        """
        async with self._alone(tenant, legal_entity) as (owner, partition):
            row = await (await owner.execute(LIMIT_OF, (partition.partition_id, before))).fetchone()
            limit = int(row["sequence"]) if row else 0
            await self._refuse_uncovered(tenant, partition, limit)
            moved, after = [], 0
            while (made := await self._next_object(owner, tenant, partition, after, limit)) is not None:
                await self._move(owner, tenant, partition, made, actor)
                moved.append(made)
                after = made.last
            done = {one.first for one in moved}
            return [one for one in await _archives(owner, STORED, tenant, partition) if one.first_sequence in done]

    async def restore(
        self, tenant: UUID, *, actor: Actor, legal_entity: str = MAIN, first: int = 1, last: int | None = None
    ) -> list[Archived]:
        """Bring back every object that has a payload from `first` to `last`, and delete it from the store."""
        async with self._alone(tenant, legal_entity) as (owner, partition):
            stored = await _archives(owner, STORED, tenant, partition)
            wanted = [
                one for one in stored if one.last_sequence >= first and (last is None or one.first_sequence <= last)
            ]
            for one in wanted:
                await self._bring_back(owner, tenant, partition, one, actor)
            return wanted

    async def _refuse_uncovered(self, tenant: UUID, partition: Partition, limit: int) -> None:
        for coverage in self.coverage:
            covered = await coverage(tenant, partition.partition_id)
            if covered is not None and covered < limit:
                raise ArchiveRefused(
                    f"Payloads up to event {limit} would be archived, but snapshots cover only {covered}: "
                    "take snapshots first, or choose an earlier date.",
                    wanted=str(limit),
                    covered=str(covered),
                )

    async def _next_object(
        self, owner: Connection, tenant: UUID, partition: Partition, after: int, limit: int
    ) -> ArchiveObject | None:
        """The next payloads without a gap, each found to be what was recorded."""
        values = {"tenant": tenant, "partition": partition.partition_id, "after": after, "to": limit}
        rows = await (await owner.execute(OLDEST, values | {"limit": OBJECT_PAYLOADS})).fetchall()
        payloads: list[tuple[int, str]] = []
        for row in rows:
            if payloads and row["sequence"] != payloads[-1][0] + 1:
                break
            if digest(row["payload"].encode()) != row["digest"]:
                raise ArchiveDamaged(
                    f"The payload of event {row['sequence']} is not the one that was recorded: verify the log.",
                    sequence=str(row["sequence"]),
                )
            payloads.append((row["sequence"], row["payload"]))
        return pack(tenant, partition.partition_id, payloads) if payloads else None

    async def _move(
        self, owner: Connection, tenant: UUID, partition: Partition, made: ArchiveObject, actor: Actor
    ) -> None:
        place = (tenant, partition.partition_id, made.first)
        facts = (made.last, made.key, made.digest, len(made.content), made.payload_bytes)
        await owner.execute(BEGIN, (*place, *facts))
        await self._store.put(made.key, made.content)
        payloads = unpack(made.key, await self._store.get(made.key), made.digest)
        event = _moved(PAYLOADS_ARCHIVED, partition, made.first, made.last, made.key, made.digest, actor)
        async with owner.transaction():
            # The append first, as a redaction does: both then wait for the other in the same order.
            await self._log.append_in(owner, tenant, [event])
            await owner.execute(STATE, ("stored", *place))
            values = (list(payloads), list(payloads.values()), *place[:2])
            emptied = (await owner.execute(EMPTY, values)).rowcount
            if emptied != len(payloads):
                raise ArchiveRefused("A payload was redacted while it was being archived: archive again.")
        ARCHIVED.inc(len(payloads))

    async def _bring_back(
        self, owner: Connection, tenant: UUID, partition: Partition, one: Archived, actor: Actor
    ) -> None:
        payloads = unpack(one.object_key, await self._store.get(one.object_key), one.object_digest)
        event = _moved(PAYLOADS_RESTORED, partition, one.first_sequence, one.last_sequence, one.object_key,
                       one.object_digest, actor)  # fmt: skip
        async with owner.transaction():
            await self._log.append_in(owner, tenant, [event])
            # The guard of the table takes only the text that was recorded.
            values = (list(payloads), list(payloads.values()), tenant, partition.partition_id)
            await owner.execute(FILL, values)
            await owner.execute(STATE, ("restored", tenant, partition.partition_id, one.first_sequence))
        await self._clear(owner, tenant, partition, one)

    async def _clear(self, owner: Connection, tenant: UUID, partition: Partition, one: Archived) -> None:
        """The object first: a row without an object is found again, an object without a row is not."""
        await self._store.delete(one.object_key)
        await owner.execute(REMOVE, (tenant, partition.partition_id, one.first_sequence))

    @asynccontextmanager
    async def _alone(self, tenant: UUID, legal_entity: str) -> AsyncIterator[tuple[Connection, Partition]]:
        """The owner's connection, with the partition to itself and nothing half done in it."""
        async with self._database.owner() as owner:
            await owner.execute("SELECT set_config('mnemon.tenant', %s, false)", (str(tenant),))
            partition = await _partition(owner, tenant, legal_entity)
            row = await (await owner.execute(ONE_ARCHIVER, (str(partition.partition_id),))).fetchone()
            if row is None or not row["free"]:
                raise ArchiveRefused(f"Another process is archiving or restoring {legal_entity}: wait for it.")
            for one in await _archives(owner, UNFINISHED, tenant, partition):
                await self._clear(owner, tenant, partition, one)
            yield owner, partition


async def _partition(connection: Connection, tenant: UUID, legal_entity: str) -> Partition:
    for one in await list_partitions(connection, tenant):
        if one.legal_entity == legal_entity:
            return one
    raise ArchiveRefused(f"There are no events of {legal_entity} to archive.", legal_entity=legal_entity)


async def _archives(connection: Connection, statement: str, tenant: UUID, partition: Partition) -> list[Archived]:
    cursor = connection.cursor(row_factory=class_row(Archived))
    return await (await cursor.execute(statement, (tenant, partition.partition_id))).fetchall()


def _moved(
    kind: EventType, partition: Partition, first: int, last: int, key: str, own: bytes, actor: Actor
) -> NewEvent:
    data: dict[str, Any] = {
        "first_sequence": str(first),
        "last_sequence": str(last),
        "object_key": key,
        "object_digest": own.hex(),
    }
    return NewEvent(
        type=kind.type,
        data=data,
        actor=actor,
        scope=Scope(partition.legal_entity),
        entities=[EntityReference("archive", key)],
    )
