"""Verifying: recomputes a partition's chain from what is stored, and names every place where it does not hold."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import date, datetime
from hashlib import sha256
from operator import itemgetter
from typing import Any
from uuid import UUID

import orjson
from psycopg.rows import tuple_row

from mnemon.db.database import Connection
from mnemon.log import chain
from mnemon.log.ahead import ITEMS_PER_TURN, pages_ahead
from mnemon.log.checkpoint import Checkpoint, faults_of
from mnemon.log.events import MAIN
from mnemon.log.merkle import Frontier
from mnemon.log.partitions import Partition, list_partitions
from mnemon.log.privacy_events import PAYLOAD_REDACTED
from mnemon.log.read import Reader
from mnemon.log.redacted import Redacted, is_attested, note_redaction
from mnemon.log.sidetables import Row, attested_rows, side_rows, wrong_versions

BATCH = 500
PAYLOAD = 6
# A log that is wrong throughout would fill the report; the first places are what matters.
MOST_FAULTS = 1_000

ROWS = """
SELECT e.sequence, e.recorded_at, e.previous_hash, e.hash, e.payload_digest, convert_to(e.envelope, 'UTF8'),
       (SELECT convert_to(p.payload, 'UTF8') FROM mnemon.event_payloads p
         WHERE p.tenant_id = %(tenant)s AND p.partition_id = %(partition)s AND p.sequence = e.sequence),
       e.id, e.type, e.occurred_at, e.effective_date, e.actor_id, e.correlation_id, e.caused_by
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


# Sequence, digest as recorded, digest as found.
Changed = tuple[int, bytes, bytes]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as it was recorded, and where."""

    sequence: int
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Position:
    """Where a verification can be taken up again."""

    sequence: int
    hash: bytes


@dataclass
class Report:
    """What a verification found. `position` is how far it came; `total` where the partition ends."""

    position: Position
    total: int
    checked: int = 0
    # Payloads that something was taken out of, as events of the same chain attest.
    redacted: int = 0
    faults: list[Fault] = field(default_factory=list)

    @property
    def intact(self) -> bool:
        return not self.faults

    def as_json(self) -> dict[str, Any]:
        return {
            "intact": self.intact,
            "checked": str(self.checked),
            "total": str(self.total),
            "redacted": str(self.redacted),
            "position": {"sequence": str(self.position.sequence), "hash": self.position.hash.hex()},
            "faults": [
                {"sequence": str(one.sequence), "kind": one.kind, "message": one.message} for one in self.faults
            ],
        }


@dataclass
class _Walk:
    """The state of the walk along the chain."""

    tenant_text: str
    legal_entity: str
    position: Position
    tree: Frontier | None
    roots: dict[int, tuple[bytes, bytes | None]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)
    redactions: Redacted = field(default_factory=dict)

    def fault(self, sequence: int, kind: str, message: str) -> None:
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(Fault(sequence, kind, message))


async def verify(
    reader: Reader,
    tenant: UUID,
    legal_entity: str = MAIN,
    *,
    checkpoints: Sequence[Checkpoint] = (),
    since: Checkpoint | Position | None = None,
    progress: Callable[[Report], None] | None = None,
) -> Report:
    """Check a partition, whole or from a checkpoint or earlier position on, against itself and its checkpoints."""
    async with reader.transaction(tenant) as connection:
        found = [one for one in await list_partitions(connection, tenant) if one.legal_entity == legal_entity]
        last = await _last(connection, tenant, found[0]) if found else None
    walk = _start(tenant, legal_entity, since)
    begun = walk.position.sequence
    for sequence, reason in faults_of(list(checkpoints), tenant, legal_entity):
        walk.fault(sequence, "checkpoint", f"Of the checkpoint at {sequence}, {reason}.")
    report = Report(walk.position, found[0].sequence if found else 0, faults=walk.faults)
    if found:
        attested = {one.sequence for one in checkpoints}
        async with (
            side_rows(reader, tenant, found[0], begun) as beside,
            aclosing(_batches(reader, tenant, found[0], begun)) as batches,
        ):
            async for rows in batches:
                streams = await beside.upto(rows[-1][0])
                for number, row in enumerate(rows):
                    if number % ITEMS_PER_TURN == 0:
                        await asyncio.sleep(0)
                    _check_row(walk, row, streams.pop(row[0], []), attested)
                _check_strays(walk, streams)
                report.position, report.checked = walk.position, walk.position.sequence - begun
                if progress:
                    progress(report)
            _check_strays(walk, await beside.upto(found[0].sequence))
        report.redacted = _check_payloads(walk)
        _check_head(walk, found[0])
        if last is not None:
            walk.fault(*last)
        async with reader.transaction(tenant) as connection:
            for fault in await wrong_versions(connection, tenant, found[0], begun):
                walk.fault(*fault)
    _check_checkpoints(walk, checkpoints, begun)
    report.faults.sort(key=lambda one: one.sequence)
    return report


async def _last(connection: Connection, tenant: UUID, partition: Partition) -> tuple[int, str, str] | None:
    """An event beyond the head, which no append put there. Head and end are read in one snapshot."""
    row = await (await connection.execute(END, {"tenant": tenant, "partition": partition.partition_id})).fetchone()
    if row is None or row["beyond"] is None:
        return None
    return row["beyond"], "head", f"Event {row['beyond']} stands beyond the partition's head."


def _start(tenant: UUID, legal_entity: str, since: Checkpoint | Position | None) -> _Walk:
    if since is None:
        return _Walk(str(tenant), legal_entity, Position(0, chain.genesis(tenant, legal_entity)), Frontier())
    if isinstance(since, Checkpoint):
        return _Walk(str(tenant), legal_entity, Position(since.sequence, since.head), since.tree)
    return _Walk(str(tenant), legal_entity, since, None)


def _batches(
    reader: Reader, tenant: UUID, partition: Partition, after: int
) -> AsyncGenerator[Sequence[tuple[Any, ...]], None]:
    async def rows_after(sequence: int) -> list[tuple[Any, ...]]:
        async with reader.transaction(tenant) as connection:
            rows = await _rows(connection, tenant, partition, sequence)
        return await _with_archived(reader, tenant, partition, rows)

    return pages_ahead(rows_after, itemgetter(0), after, BATCH)


async def _with_archived(
    reader: Reader, tenant: UUID, partition: Partition, rows: list[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """The rows with the payloads that were moved to the archive."""
    moved = [row[0] for row in rows if row[PAYLOAD] is None]
    if not moved:
        return rows
    texts = await reader.archived(tenant, partition.partition_id, moved)
    return [(*row[:PAYLOAD], texts[row[0]].encode(), *row[PAYLOAD + 1 :]) if row[0] in texts else row for row in rows]


async def _rows(connection: Connection, tenant: UUID, partition: Partition, after: int) -> list[tuple[Any, ...]]:
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


def _check_row(walk: _Walk, row: tuple[Any, ...], streams: list[Row], attested: set[int]) -> None:
    sequence, recorded_at, previous, own, payload_digest, envelope, payload, *columns = row
    if sequence != walk.position.sequence + 1:
        first, last = walk.position.sequence + 1, sequence - 1
        which = f"event {first} is" if first == last else f"events {first} to {last} are"
        walk.fault(first, "missing", f"Before {sequence}, {which} missing.")
    elif previous != walk.position.hash:
        walk.fault(sequence, "link", f"Event {sequence} does not link to the event before it.")
    if payload is None:
        walk.fault(sequence, "missing", f"The payload of event {sequence} is neither here nor in the archive.")
    elif (found := sha256(payload).digest()) != payload_digest:
        walk.changed.append((sequence, payload_digest, found))
    elif columns[1] == PAYLOAD_REDACTED.type:
        note_redaction(walk.redactions, payload)
    if chain.link(previous, sequence, recorded_at, sha256(envelope).digest(), payload_digest) != own:
        walk.fault(sequence, "hash", f"The envelope, place, recorded time or digests of event {sequence} were changed.")
    _check_copies(walk, sequence, envelope, columns, streams)
    if walk.tree is not None:
        walk.tree.add(own)
    if sequence in attested:
        walk.roots[sequence] = own, walk.tree.root() if walk.tree is not None else None
    walk.position = Position(sequence, own)


def _check_copies(walk: _Walk, sequence: int, envelope: bytes, columns: list[Any], streams: list[Row]) -> None:
    """What columns and side tables repeat of the envelope must be what it says."""
    try:
        said = orjson.loads(envelope)
        difference = _difference(walk, said, columns)
        wanted = attested_rows(said)
    except (ValueError, KeyError, TypeError, AttributeError):
        walk.fault(sequence, "columns", f"The envelope of event {sequence} is not one that Mnemon writes.")
        return
    if difference:
        walk.fault(sequence, "columns", f"The column {difference} of event {sequence} differs from its envelope.")
    if len(streams) != len(wanted) or not wanted.issuperset(streams):
        walk.fault(sequence, "stream", f"The streams of event {sequence} differ from its envelope.")


def _difference(walk: _Walk, said: dict[str, Any], columns: list[Any]) -> str | None:
    """The first column that says something else than the attested text."""
    event_id, kind, occurred_at, effective_date, actor_id, correlation_id, caused_by = columns
    scope = said["scope"]
    if (said["id"], said["type"], said["correlation_id"]) != (event_id, kind, correlation_id):
        return "id, type or correlation_id"
    if (said["actor"]["id"], said.get("caused_by")) != (actor_id, caused_by):
        return "actor_id or caused_by"
    if (scope["tenant_id"], scope["legal_entity"]) != (walk.tenant_text, walk.legal_entity):
        return "partition"
    if datetime.fromisoformat(said["occurred_at"]) != occurred_at:
        return "occurred_at"
    return "effective_date" if date.fromisoformat(said["effective_date"]) != effective_date else None


def _check_strays(walk: _Walk, streams: dict[int, list[Row]]) -> None:
    for sequence in streams:
        walk.fault(sequence, "stream", f"A stream names event {sequence}, which is not there.")


def _check_payloads(walk: _Walk) -> int:
    """A payload that is not the one recorded must be what later events say was left of it."""
    redacted = 0
    for sequence, recorded, found in walk.changed:
        if is_attested(walk.redactions, sequence, recorded, found):
            redacted += 1
        else:
            walk.fault(sequence, "payload", f"The payload of event {sequence} is not the one that was recorded.")
    return redacted


def _check_head(walk: _Walk, partition: Partition) -> None:
    if walk.position != Position(partition.sequence, partition.hash):
        walk.fault(
            walk.position.sequence + 1,
            "head",
            f"The log ends at event {walk.position.sequence}, the partition's head is at {partition.sequence}"
            f"{' with another hash' if walk.position.sequence == partition.sequence else ''}.",
        )


def _check_checkpoints(walk: _Walk, checkpoints: Sequence[Checkpoint], begun: int) -> None:
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
