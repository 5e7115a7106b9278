"""A log that was brought back to an earlier moment on purpose: what was signed of the lost part is set aside, and the
log says so. Until then it looks like one that somebody cut, which it also may be."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.errors import CheckpointRefused
from mnemon.log.events import SYSTEM, NewEvent
from mnemon.log.partitions import list_partitions
from mnemon.log.proof.checkpoint import Checkpoint
from mnemon.log.proof.recorded import recorded_in
from mnemon.log.types.builtin import RESTORE_ADOPTED

HEADS = """
SELECT sequence, hash FROM mnemon.events WHERE tenant_id = %s AND partition_id = %s AND sequence = ANY(%s)
"""


@dataclass(frozen=True, slots=True)
class SignedBeyond:
    """What was signed of a log and does not fit it any more."""

    legal_entity: str
    # How many checkpoints it still fits, and where it ends.
    kept: int
    ends_at: int
    lost: Sequence[Checkpoint]

    @property
    def furthest(self) -> Checkpoint:
        return max(self.lost, key=lambda one: one.sequence)

    def as_event(self) -> NewEvent:
        data: dict[str, object] = {
            "legal_entity": self.legal_entity, "ends_at": self.ends_at, "attested": self.furthest.sequence,
            "set_aside": len(self.lost), "digest": self.furthest.digest,
        }  # fmt: skip
        return NewEvent(type=RESTORE_ADOPTED.type, data=data, actor=SYSTEM)


async def signed_beyond(
    connection: Connection, tenant: UUID, legal_entity: str, kept: Sequence[Checkpoint], seal: Checkpoint | None
) -> SignedBeyond | None:
    """None where the log fits all that was signed of it. A database that itself says that more was signed than its log
    has was not brought back: its log was cut."""
    found = [one for one in await list_partitions(connection, tenant) if one.legal_entity == legal_entity]
    ends_at = found[0].sequence if found else 0
    known = [*kept, *([seal] if seal is not None else [])]
    heads: dict[int, bytes] = {}
    if found:
        values = (tenant, found[0].partition_id, [one.sequence for one in known])
        rows = await (await connection.execute(HEADS, values)).fetchall()
        heads = {row["sequence"]: row["hash"] for row in rows}
    fitting = 0
    while fitting < len(kept) and heads.get(kept[fitting].sequence) == kept[fitting].head:
        fitting += 1
    lost = [*kept[fitting:], *([seal] if seal is not None and heads.get(seal.sequence) != seal.head else [])]
    if not lost:
        return None
    recorded = await recorded_in(connection, tenant, legal_entity)
    signed = [*recorded.checkpoints, *([recorded.newest] if recorded.newest else [])]
    # A log that was brought back has no row of what was signed after it, however far it has grown since.
    is_told = {one.digest for one in signed} & {one.digest for one in lost}
    if len(recorded.checkpoints) > fitting or is_told or any(one.sequence > ends_at for one in signed):
        raise CheckpointRefused(
            f"The database itself says that {legal_entity} was signed up to {max(one.sequence for one in signed)}, and "
            f"its log ends at {ends_at} or is another: nobody brought it back, it was changed. Run verify.",
            legal_entity=legal_entity,
        )
    return SignedBeyond(legal_entity, fitting, ends_at, lost)
