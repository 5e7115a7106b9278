"""Receipts: proof that one event stands in the log that a checkpoint attests, without the rest of the log."""

import asyncio
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.errors import CheckpointRefused, NothingToAttest
from mnemon.log.events import Event
from mnemon.log.proof.chain import Redacted, digest, is_attested, note_redaction
from mnemon.log.proof.checkpoint import Checkpoint
from mnemon.log.proof.checkpoint_store import CheckpointStore
from mnemon.log.proof.export import exported, with_archived
from mnemon.log.proof.merkle import path_ranges, root_from_path
from mnemon.log.proof.tree_nodes import root_over
from mnemon.log.read.reader import LogReader

FORMAT = "mnemon/receipt/1"

ATTESTING = """
SELECT attested_by FROM mnemon.redactions
 WHERE tenant_id = %s AND partition_id = %s AND sequence = %s ORDER BY number
"""


@dataclass(frozen=True, slots=True)
class Proven:
    """An event as stored, and the path from it to a root."""

    event: Event
    path: tuple[bytes, ...]

    def as_json(self) -> dict[str, Any]:
        return {"event": exported(self.event), "path": [sibling.hex() for sibling in self.path]}


@dataclass(frozen=True, slots=True)
class Receipt:
    """A proven event and the checkpoint that signs the root. If something was taken out of its payload, the events
    that attest it are proven too, by the same checkpoint."""

    proven: Proven
    checkpoint: Checkpoint
    redactions: tuple[Proven, ...] = ()

    def as_json(self) -> dict[str, Any]:
        shown = {"format": FORMAT, **self.proven.as_json(), "checkpoint": self.checkpoint.as_json()}
        return shown | ({"redactions": [one.as_json() for one in self.redactions]} if self.redactions else {})


async def make_receipt(
    reader: LogReader, checkpoints: CheckpointStore, tenant: UUID, event_id: str, legal_entity: str | None = None
) -> Receipt:
    """Prove an event against the first checkpoint of the present key that covers it."""
    event = await _stored(reader, tenant, event_id, legal_entity)
    attesting = await _attesting(reader, tenant, event)
    last = max(one.sequence for one in (event, *attesting))
    covering = await asyncio.to_thread(checkpoints.covering, tenant, event.legal_entity, last)
    if covering is None:
        raise NothingToAttest(f"No checkpoint covers event {event_id} yet: sign one first.", id=event_id)
    async with reader.transaction(tenant) as connection:
        proven, *redactions = [await _proven(connection, one, covering) for one in (event, *attesting)]
    return Receipt(proven, covering, tuple(redactions))


async def _stored(reader: LogReader, tenant: UUID, event_id: str, legal_entity: str | None) -> Event:
    event = await reader.by_id(tenant, event_id, legal_entity, opened=False)
    return (await with_archived(reader, tenant, [event]))[0]


async def _attesting(reader: LogReader, tenant: UUID, event: Event) -> list[Event]:
    """The events that say what was taken out of the payload; none if it is as it was recorded."""
    present = digest((event.payload_text or "").encode())
    if event.payload_text is None or present == event.payload_digest:
        return []
    async with reader.transaction(tenant) as connection:
        place = (tenant, event.partition_id, event.sequence)
        rows = await (await connection.execute(ATTESTING, place)).fetchall()
    found = [await _stored(reader, tenant, row["attested_by"], event.legal_entity) for row in rows]
    said: Redacted = {}
    for one in found:
        if one.payload_text is not None and digest(one.payload_text.encode()) == one.payload_digest:
            note_redaction(said, one.payload_text.encode())
    if not is_attested(said, event.sequence, event.payload_digest, present):
        raise CheckpointRefused(f"The payload of event {event.id} is not the one that was recorded: run verify.")
    return found


async def _proven(connection: Connection, event: Event, checkpoint: Checkpoint) -> Proven:
    ranges = path_ranges(event.sequence - 1, checkpoint.sequence)
    place = connection, event.tenant_id, event.partition_id
    path = tuple([await root_over(*place, start, end) for start, end in ranges])
    if root_from_path(event.hash, event.sequence - 1, checkpoint.sequence, path) != checkpoint.root:
        raise CheckpointRefused(f"The log no longer leads to the checkpoint at {checkpoint.sequence}: run verify.")
    return Proven(event, path)
