"""Roots over ranges of a partition's hashes, from the nodes that are kept or from the events below them."""

from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.proof.merkle import Frontier, fold, subtrees
from mnemon.log.proof.signer import LOWEST_KEPT_LEVEL, hashes

NODE = """
SELECT hash FROM mnemon.merkle_nodes
 WHERE tenant_id = %s AND partition_id = %s AND level = %s AND place = %s
"""


async def root_over(connection: Connection, tenant: UUID, partition_id: int, start: int, end: int) -> bytes:
    """The root over the leaves [start, end), where `start` begins a subtree."""
    return fold([await _subtree(connection, tenant, partition_id, *one) for one in subtrees(start, end)])


async def _subtree(connection: Connection, tenant: UUID, partition_id: int, level: int, place: int) -> bytes:
    """The root of a complete subtree: kept, or computed from what is below it."""
    if level >= LOWEST_KEPT_LEVEL:
        kept = await (await connection.execute(NODE, (tenant, partition_id, level, place))).fetchone()
        if kept is not None:
            return bytes(kept["hash"])
    start, end = place << level, (place + 1) << level
    tree = Frontier()
    for _, event_hash in await hashes(connection, tenant, partition_id, start, end):
        tree.add(event_hash)
    return tree.root()
