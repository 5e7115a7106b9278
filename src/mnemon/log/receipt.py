"""Receipts: proof that one event stands in the log that a checkpoint attests, without the rest of the log."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.checkpoint import LOWEST_KEPT_LEVEL, Checkpoint, Checkpoints, hashes
from mnemon.log.errors import CheckpointRefused, NothingToAttest
from mnemon.log.events import Event
from mnemon.log.export import exported
from mnemon.log.merkle import Frontier, fold, path_ranges, root_from_path, subtrees
from mnemon.log.read import Reader

FORMAT = "mnemon/receipt/1"

NODE = """
SELECT hash FROM mnemon.merkle_nodes
 WHERE tenant_id = %s AND partition_id = %s AND level = %s AND place = %s
"""


@dataclass(frozen=True, slots=True)
class Receipt:
    """An event as stored, the path from it to the root, and the checkpoint that signs the root."""

    event: Event
    path: tuple[bytes, ...]
    checkpoint: Checkpoint

    def as_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "event": exported(self.event),
            "path": [sibling.hex() for sibling in self.path],
            "checkpoint": self.checkpoint.as_json(),
        }


async def make_receipt(
    reader: Reader, checkpoints: Checkpoints, tenant: UUID, event_id: str, legal_entity: str | None = None
) -> Receipt:
    """Prove an event against the first checkpoint that covers it."""
    event = await reader.by_id(tenant, event_id, legal_entity, opened=False)
    covering = [one for one in checkpoints.list(tenant, event.legal_entity) if one.sequence >= event.sequence]
    if not covering:
        raise NothingToAttest(f"No checkpoint covers event {event_id} yet: sign one first.", id=event_id)
    checkpoint = covering[0]
    async with reader.transaction(tenant) as connection:
        path = tuple(
            [
                await _root(connection, event, start, end)
                for start, end in path_ranges(event.sequence - 1, checkpoint.sequence)
            ]
        )
    if root_from_path(event.hash, event.sequence - 1, checkpoint.sequence, path) != checkpoint.root:
        raise CheckpointRefused(f"The log no longer leads to the checkpoint at {checkpoint.sequence}: run verify.")
    return Receipt(event, path, checkpoint)


async def _root(connection: Connection, event: Event, start: int, end: int) -> bytes:
    """The root over the leaves [start, end)."""
    return fold([await _subtree(connection, event, level, place) for level, place in subtrees(start, end)])


async def _subtree(connection: Connection, event: Event, level: int, place: int) -> bytes:
    """The root of a complete subtree: kept, or computed from what is below it."""
    if level >= LOWEST_KEPT_LEVEL:
        values = (event.tenant_id, event.partition_id, level, place)
        kept = await (await connection.execute(NODE, values)).fetchone()
        if kept is not None:
            return bytes(kept["hash"])
    start, end = place << level, (place + 1) << level
    tree = Frontier()
    for _, event_hash in await hashes(connection, event.tenant_id, event.partition_id, start, end):
        tree.add(event_hash)
    return tree.root()
