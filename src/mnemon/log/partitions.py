"""Partitions: the number of each (tenant, legal entity), made on first use."""

import time
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import psycopg

from mnemon.db.database import Connection, Database
from mnemon.log.errors import TooManyLegalEntities

OPEN = "SELECT partition_id, created FROM mnemon.open_partition(%s, %s)"
FIND = """
SELECT partition_id, legal_entity, sequence, hash, nullif(recorded_at, '-infinity') AS recorded_at,
       pg_current_xact_id_if_assigned() IS NULL AS committed
  FROM mnemon.partitions
 WHERE tenant_id = %s
 ORDER BY legal_entity
"""
# Whoever is told of a partition looks into its tables next, which this connection's server process may not know yet.
KNOW_ALL = "SELECT mnemon.know_partitions()"

# How long a process may not know of a partition that another has opened.
LISTED_LIVES = 30.0
# A transaction that began before a partition was made, and with it before its connection was seen to know that, has
# ended after so long.
SETTLED = 60.0


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition and its head as of the moment it was read; `committed` if the reader surely did not make it."""

    partition_id: int
    legal_entity: str
    sequence: int
    hash: bytes
    recorded_at: datetime | None
    committed: bool


class Partitions:
    """Remembers the numbers of partitions, which never change once committed."""

    def __init__(self, database: Database, most: int = 100) -> None:
        self._database = database
        self._most = most
        self._numbers: dict[tuple[UUID, str], int] = {}
        # Those that a reader came upon, and when: a writer asks for them once more, since their tables may be a moment
        # behind, and so does a reader until they are settled.
        self._seen: dict[tuple[UUID, str], tuple[int, float]] = {}
        self._listed: dict[UUID, tuple[float, frozenset[int]]] = {}

    async def number(self, tenant: UUID, legal_entity: str) -> int:
        """The partition's number; a new partition is committed before this returns."""
        known = self._numbers.get((tenant, legal_entity))
        if known is None:
            async with self._database.transaction(tenant) as connection:
                known, _created = await _open(connection, legal_entity, self._most)
            self._numbers[tenant, legal_entity] = known
            self._listed.pop(tenant, None)
        return known

    async def number_in(self, connection: Connection, tenant: UUID, legal_entity: str) -> int:
        """The same within a caller's transaction, which may yet be rolled back."""
        known = self._numbers.get((tenant, legal_entity))
        if known is None:
            known, created = await _open(connection, legal_entity, self._most)
            if not created:
                self._numbers[tenant, legal_entity] = known
        return known

    async def names_in(self, connection: Connection, tenant: UUID, legal_entity: str | None) -> dict[int, str]:
        """The partitions to look in: that of a legal entity if it exists, or all of the tenant's."""
        number, since = self._seen.get((tenant, legal_entity or ""), (0, float("inf")))
        if legal_entity is not None and time.monotonic() - since > SETTLED:
            return {number: legal_entity}
        found = await list_partitions(connection, tenant)
        await connection.execute(KNOW_ALL)
        for one in found:
            if one.committed:
                self._seen.setdefault((tenant, one.legal_entity), (one.partition_id, time.monotonic()))
        return {one.partition_id: one.legal_entity for one in found if legal_entity in (None, one.legal_entity)}

    async def others(self, tenant: UUID, partition_id: int) -> frozenset[int]:
        """The tenant's other partitions, as of a short while ago: most have none, and need not ask each time."""
        asked_at, numbers = self._listed.get(tenant, (float("-inf"), frozenset()))
        if time.monotonic() - asked_at > LISTED_LIVES:
            async with self._database.transaction(tenant) as connection:
                numbers = frozenset(await self.names_in(connection, tenant, None))
            self._listed[tenant] = time.monotonic(), numbers
        return numbers - {partition_id}


async def _open(connection: Connection, legal_entity: str, most: int) -> tuple[int, bool]:
    try:
        row = await (await connection.execute(OPEN, (legal_entity, most))).fetchone()
    except psycopg.errors.ConfigurationLimitExceeded:
        raise TooManyLegalEntities(
            f"There is no legal entity {legal_entity!r}, and a tenant may have {most}: name one that exists, "
            "or have MNEMON_LOG_LEGAL_ENTITIES raised.",
            legal_entity=legal_entity,
            most=most,
        ) from None
    assert row is not None
    return row["partition_id"], row["created"]


async def list_partitions(connection: Connection, tenant: UUID) -> list[Partition]:
    """The tenant's partitions with their heads."""
    rows = await (await connection.execute(FIND, (tenant,))).fetchall()
    return [
        Partition(
            row["partition_id"],
            row["legal_entity"],
            row["sequence"],
            row["hash"],
            row["recorded_at"],
            row["committed"],
        )
        for row in rows
    ]
