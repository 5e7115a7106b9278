"""Verifying: recomputes a partition's chain from what is stored, and names every place where it does not hold."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any
from uuid import UUID

from psycopg.rows import tuple_row

from mnemon.db.database import Connection
from mnemon.log.events import MAIN
from mnemon.log.partitions import Partition, list_partitions
from mnemon.log.proof import chain
from mnemon.log.proof.checkpoint import Checkpoint, faults_of
from mnemon.log.proof.merkle import Frontier
from mnemon.log.proof.side_tables import SideRow, side_rows, wrong_versions
from mnemon.log.proof.walk import COLUMNS, PAYLOAD, ChainPosition, ChainRow, Fault, Walk
from mnemon.log.read.reader import ITEMS_PER_TURN, LogReader, pages_ahead

BATCH = 1_000

ROWS = f"""
SELECT {COLUMNS}
  FROM mnemon.events e
 WHERE e.tenant_id = %(tenant)s AND e.partition_id = %(partition)s AND e.sequence > %(after)s AND e.sequence <= %(to)s
 ORDER BY e.sequence
 LIMIT %(limit)s
"""
END = """
SELECT (SELECT min(e.sequence) FROM mnemon.events e
         WHERE e.tenant_id = %(tenant)s AND e.partition_id = %(partition)s AND e.sequence > p.sequence) AS beyond
  FROM mnemon.partitions p
 WHERE p.tenant_id = %(tenant)s AND p.partition_id = %(partition)s
"""


@dataclass
class ChainReport:
    """What a verification found. `position` is how far it came; `total` where the partition ends."""

    position: ChainPosition
    total: int
    checked: int = 0
    # Payloads that something was taken out of, as events of the same chain attest.
    redacted: int = 0
    # The last event that a checkpoint or seal attests; what came after it could still be cut unnoticed.
    sealed: int = 0
    faults: list[Fault] = field(default_factory=list)

    @property
    def unsealed(self) -> int:
        return max(self.total - self.sealed, 0)

    @property
    def intact(self) -> bool:
        return not self.faults

    def as_json(self) -> dict[str, Any]:
        return {
            "intact": self.intact,
            "checked": str(self.checked),
            "total": str(self.total),
            "redacted": str(self.redacted),
            "unsealed": str(self.unsealed),
            "position": {"sequence": str(self.position.sequence), "hash": self.position.hash.hex()},
            "faults": [
                {"sequence": str(one.sequence), "kind": one.kind, "message": one.message} for one in self.faults
            ],
        }


async def verify(
    reader: LogReader,
    tenant: UUID,
    legal_entity: str = MAIN,
    *,
    checkpoints: Sequence[Checkpoint] = (),
    known_faults: Iterable[tuple[int, str, str]] = (),
    since: Checkpoint | ChainPosition | None = None,
    upto: int | None = None,
    progress: Callable[[ChainReport], None] | None = None,
) -> ChainReport:
    """Check a partition, whole or from a checkpoint or earlier position on, against itself and its checkpoints.

    With `upto`, which a checkpoint attests, no further. `known_faults` are what was found before the log was read, as
    (sequence, kind, message).
    """
    async with reader.transaction(tenant) as connection:
        found = [one for one in await list_partitions(connection, tenant) if one.legal_entity == legal_entity]
        if upto is not None:
            found = [replace(one, sequence=upto) for one in found]
        last = await _last(connection, tenant, found[0]) if found and upto is None else None
    walk = _start(tenant, legal_entity, since, {one.sequence for one in checkpoints})
    begun = walk.position.sequence
    for fault in known_faults:
        walk.fault(*fault)
    for sequence, reason in faults_of(checkpoints, tenant, legal_entity):
        walk.fault(sequence, "checkpoint", f"Of the checkpoint at {sequence}, {reason}.")
    report = ChainReport(walk.position, found[0].sequence if found else 0, faults=walk.faults)
    report.sealed = max((one.sequence for one in checkpoints), default=0)
    if found:
        counted = asyncio.create_task(_wrong_versions(reader, tenant, found[0], begun))
        try:
            await _go_along(reader, tenant, found[0], walk, report, progress)
            report.redacted = walk.check_payloads()
            if upto is None:
                _check_head(walk, found[0])
            for fault in [*([last] if last else ()), *await counted]:
                walk.fault(*fault)
        finally:
            counted.cancel()
            await asyncio.gather(counted, return_exceptions=True)
    _check_checkpoints(walk, checkpoints, begun)
    report.faults.sort(key=lambda one: one.sequence)
    return report


async def _go_along(
    reader: LogReader,
    tenant: UUID,
    partition: Partition,
    walk: Walk,
    report: ChainReport,
    progress: Callable[[ChainReport], None] | None,
) -> None:
    """Check event after event, with the side rows beside them."""
    begun = walk.position.sequence
    async with (
        side_rows(reader, tenant, partition, begun) as beside,
        aclosing(_batches(reader, tenant, partition, begun)) as batches,
    ):
        async for rows in batches:
            wanted: set[SideRow] = set()
            for start in range(0, len(rows), ITEMS_PER_TURN):
                await asyncio.sleep(0)
                walk.check(rows[start : start + ITEMS_PER_TURN], wanted)
            walk.check_streams(rows, await beside.upto(walk.position.sequence), wanted)
            report.position, report.checked = walk.position, walk.position.sequence - begun
            if progress:
                progress(report)
        walk.check_strays(await beside.upto(partition.sequence))


async def _wrong_versions(
    reader: LogReader, tenant: UUID, partition: Partition, begun: int
) -> list[tuple[int, str, str]]:
    async with reader.transaction(tenant) as connection:
        return await wrong_versions(connection, tenant, partition, begun)


async def _last(connection: Connection, tenant: UUID, partition: Partition) -> tuple[int, str, str] | None:
    """An event beyond the head, which no append put there. Head and end are read in one snapshot."""
    row = await (await connection.execute(END, {"tenant": tenant, "partition": partition.partition_id})).fetchone()
    if row is None or row["beyond"] is None:
        return None
    return row["beyond"], "head", f"Event {row['beyond']} stands beyond the partition's head."


def _start(tenant: UUID, legal_entity: str, since: Checkpoint | ChainPosition | None, attested: set[int]) -> Walk:
    if since is None:
        genesis = ChainPosition(0, chain.genesis(tenant, legal_entity))
        return Walk(str(tenant), legal_entity, genesis, Frontier(), attested)
    if isinstance(since, Checkpoint):
        return Walk(str(tenant), legal_entity, ChainPosition(since.sequence, since.head), since.tree, attested)
    return Walk(str(tenant), legal_entity, since, None, attested)


def _batches(reader: LogReader, tenant: UUID, partition: Partition, after: int) -> AsyncGenerator[list[ChainRow], None]:
    async def rows_after(sequence: int) -> list[ChainRow]:
        async with reader.transaction(tenant) as connection:
            rows = await _rows(connection, tenant, partition, sequence)
        return await _with_archived(reader, tenant, partition, rows)

    return pages_ahead(rows_after, itemgetter(0), after, BATCH)


async def _with_archived(reader: LogReader, tenant: UUID, partition: Partition, rows: list[ChainRow]) -> list[ChainRow]:
    """The rows with the payloads that were moved to the archive."""
    moved = [row[0] for row in rows if row[PAYLOAD] is None]
    if not moved:
        return rows
    texts = await reader.archived(tenant, partition.partition_id, moved)
    return [(*row[:PAYLOAD], texts[row[0]].encode(), *row[PAYLOAD + 1 :]) if row[0] in texts else row for row in rows]


async def _rows(connection: Connection, tenant: UUID, partition: Partition, after: int) -> list[ChainRow]:
    values = {
        "tenant": tenant,
        "partition": partition.partition_id,
        "after": after,
        "to": partition.sequence,
        "limit": BATCH,
    }
    async with connection.cursor(binary=True, row_factory=tuple_row) as cursor:
        await cursor.execute(ROWS, values)
        return await cursor.fetchall()


def _check_head(walk: Walk, partition: Partition) -> None:
    if walk.position != ChainPosition(partition.sequence, partition.hash):
        walk.fault(
            walk.position.sequence + 1,
            "head",
            f"The log ends at event {walk.position.sequence}, the partition's head is at {partition.sequence}"
            f"{' with another hash' if walk.position.sequence == partition.sequence else ''}.",
        )


def _check_checkpoints(walk: Walk, checkpoints: Sequence[Checkpoint], begun: int) -> None:
    """What was signed must still be there. From the first checkpoint that fails back to the last that holds."""
    holds = begun
    for one in checkpoints:
        if one.sequence <= begun:
            continue
        if one.sequence not in walk.roots:
            walk.fault(
                walk.position.sequence + 1,
                "truncated",
                f"A checkpoint of {one.says['signed_at']} attests {one.sequence} events; "
                f"the log ends at {walk.position.sequence}.",
            )
            return
        own, root = walk.roots[one.sequence]
        if own != one.head or (root is not None and root != one.root):
            walk.fault(
                holds + 1,
                "rewritten",
                f"Between events {holds + 1} and {one.sequence} the log is not the one that the checkpoint of "
                f"{one.says['signed_at']} attests.",
            )
            return
        holds = one.sequence
