"""Coverage: how much of a partition the lenses need no longer, so that its payloads may go to the archive."""

from collections.abc import Iterable
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.partitions import list_partitions
from mnemon.log.project.lens import Lens, LiveLens
from mnemon.log.project.lens_states import version_in
from mnemon.log.project.snapshots import snapshot_positions_in
from mnemon.log.subscribe.positions import positions_in


async def covered_in(connection: Connection, tenant: UUID, partition_id: int, lenses: Iterable[Lens | LiveLens]) -> int:
    """The sequence up to which each of the lenses has what it needs of the partition."""
    partition = next(one for one in await list_partitions(connection, tenant) if one.partition_id == partition_id)
    covered = partition.sequence
    for lens in lenses:
        if lens.pattern.wants_partition(partition.legal_entity):
            covered = min(covered, await _covered_by(connection, tenant, lens, partition_id, partition.sequence))
    return covered


async def _covered_by(connection: Connection, tenant: UUID, lens: Lens | LiveLens, partition_id: int, head: int) -> int:
    if lens.snapshot_every:
        last = await snapshot_positions_in(connection, tenant, lens.name, lens.version)
        return last[0].get(partition_id, 0) if last else 0
    assert isinstance(lens, Lens)
    if await version_in(connection, tenant, lens.name) != lens.version:
        return 0
    if lens.lifecycle == "inline":
        return head
    positions = await positions_in(connection, tenant, lens.subscription_id, lens.pattern)
    return next((one.sequence for one in positions if one.partition_id == partition_id), 0)
