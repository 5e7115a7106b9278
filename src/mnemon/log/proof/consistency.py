"""Consistency: proof that a log which had one root grew into one with another, and lost or changed nothing (RFC 6962).

Whoever kept a root asks for it at the next read: a log that was cut or rewritten meanwhile cannot give it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.errors import CheckpointRefused, NothingToAttest
from mnemon.log.partitions import list_partitions
from mnemon.log.proof.checkpoint import Checkpoint
from mnemon.log.proof.merkle import node
from mnemon.log.proof.tree_nodes import root_over

FORMAT = "mnemon/consistency/1"


@dataclass(frozen=True, slots=True)
class ConsistencyProof:
    """From the root over the first `count` events to the root that a checkpoint attests."""

    count: int
    path: tuple[bytes, ...]
    checkpoint: Checkpoint

    def as_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "count": str(self.count),
            "path": [one.hex() for one in self.path],
            "checkpoint": self.checkpoint.as_json(),
        }


async def make_consistency_proof(
    connection: Connection, tenant: UUID, legal_entity: str, count: int, checkpoint: Checkpoint
) -> ConsistencyProof:
    found = await list_partitions(connection, tenant)
    partition = next((one for one in found if one.legal_entity == legal_entity), None)
    if partition is None or not 0 < count <= checkpoint.sequence:
        raise NothingToAttest(
            f"The log of {legal_entity} is attested up to {checkpoint.sequence} events, not {count}: sign it first, or "
            "ask about fewer.",
            legal_entity=legal_entity,
        )
    place = connection, tenant, partition.partition_id
    path = tuple([await root_over(*place, *one) for one in proof_ranges(count, checkpoint.sequence)])
    first = await root_over(*place, 0, count)
    if not is_consistent(count, first, checkpoint.sequence, checkpoint.root, path):
        raise CheckpointRefused(f"The log no longer leads to the checkpoint at {checkpoint.sequence}: run verify.")
    return ConsistencyProof(count, path, checkpoint)


def proof_ranges(first: int, second: int) -> list[tuple[int, int]]:
    """The ranges of leaves whose roots lead from the tree of `first` leaves to that of `second`, in their order."""
    if first == second:
        return []
    return _ranges(first, 0, second, known=True)


def _ranges(first: int, start: int, end: int, *, known: bool) -> list[tuple[int, int]]:
    """SUBPROOF of RFC 6962, for the leaves [start, end) of which the first tree has `first`."""
    if first == end - start:
        return [] if known else [(start, end)]
    half = 1 << ((end - start - 1).bit_length() - 1)
    if first <= half:
        return [*_ranges(first, start, start + half, known=known), (start + half, end)]
    return [*_ranges(first - half, start + half, end, known=False), (start, start + half)]


def is_consistent(first: int, first_root: bytes, second: int, second_root: bytes, path: Sequence[bytes]) -> bool:
    """Whether a path proves that the tree with the second root has grown out of the one with the first."""
    if first == second:
        return not path and first_root == second_root
    if not 0 < first < second or not path:
        return False
    steps = list(path)
    # A whole subtree of the second tree: its root is the first root, and the path leaves it out.
    if first & (first - 1) == 0:
        steps.insert(0, first_root)
    place, last = first - 1, second - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    old = new = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            old, new = node(step, old), node(step, new)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            new = node(new, step)
        place, last = place >> 1, last >> 1
    return last == 0 and old == first_root and new == second_root


def verify_consistency(count: int, root: bytes, proof: dict[str, Any]) -> bool:
    """For whoever kept a root: whether the log that gave this proof still holds all that it was of.

    Who signed the checkpoint, and whether that is someone to trust, is another question.
    """
    checkpoint = Checkpoint.from_json(proof["checkpoint"])
    path = [bytes.fromhex(one) for one in proof["path"]]
    return int(proof["count"]) == count and is_consistent(count, root, checkpoint.sequence, checkpoint.root, path)
