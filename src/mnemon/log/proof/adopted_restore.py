"""A log that was brought back to an earlier moment on purpose: what was signed of the lost part is set aside, and the
log says so. Until then it looks like one that somebody cut, which it also may be."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.errors import CheckpointRefused
from mnemon.log.events import SYSTEM, NewEvent
from mnemon.log.partitions import list_partitions
from mnemon.log.proof.checkpoint import Checkpoint, faults_of
from mnemon.log.proof.recorded import SignedRecords, recorded_in
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
    # What a backup had in the place of these. With nothing lost, it was being put there when somebody died.
    instead: Sequence[Checkpoint] = ()

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
    connection: Connection,
    tenant: UUID,
    legal_entity: str,
    kept: Sequence[Checkpoint],
    seal: Checkpoint | None,
    restored: Sequence[Checkpoint] = (),
) -> SignedBeyond | None:
    """None where the log fits all that was signed of it. A database that itself says that more was signed than its log
    has was not brought back: its log was cut. `restored` are the checkpoints that a backup had: where the home has
    signed another history since, what the database says is held against these."""
    found = [one for one in await list_partitions(connection, tenant) if one.legal_entity == legal_entity]
    ends_at = found[0].sequence if found else 0
    recorded = await recorded_in(connection, tenant, legal_entity)
    heads: dict[int, bytes] = {}
    if found:
        attested = [one.sequence for one in (*kept, *([seal] if seal is not None else []))]
        rows = await (await connection.execute(HEADS, (tenant, found[0].partition_id, attested))).fetchall()
        heads = {row["sequence"]: row["hash"] for row in rows}
    fitting = 0
    while fitting < len(kept) and heads.get(kept[fitting].sequence) == kept[fitting].head:
        fitting += 1
    instead: Sequence[Checkpoint] = ()
    if may_stand_for(restored, recorded, tenant, legal_entity) and (common := _in_common(kept, restored)) < len(
        restored
    ):
        fitting, instead = common, restored[common:]
    lost = [*kept[fitting:], *([seal] if seal is not None and heads.get(seal.sequence) != seal.head else [])]
    if not lost and not instead:
        return None
    signed = [*recorded.checkpoints, *([recorded.newest] if recorded.newest else [])]
    # A log that was brought back has no row of what was signed after it, however far it has grown since.
    is_told = {one.digest for one in signed} & {one.digest for one in lost}
    is_longer = len(recorded.checkpoints) > fitting + len(instead)
    if is_longer or is_told or any(one.sequence > ends_at for one in signed):
        raise CheckpointRefused(
            f"The database itself says that {legal_entity} was signed up to {max(one.sequence for one in signed)}, and "
            f"its log ends at {ends_at} or is another: nobody brought it back, it was changed. Run verify.",
            legal_entity=legal_entity,
        )
    return SignedBeyond(legal_entity, fitting, ends_at, lost, instead)


def may_stand_for(lines: Sequence[Checkpoint], recorded: SignedRecords, tenant: UUID, legal_entity: str) -> bool:
    """Whether these begin with what the database says was signed of this log, and are whole in themselves."""
    signed = [one.digest for one in recorded.checkpoints]
    begin = [one.digest for one in lines[: len(signed)]]
    return bool(lines) and begin == signed and not any(faults_of(lines, tenant, legal_entity))


def _in_common(kept: Sequence[Checkpoint], restored: Sequence[Checkpoint]) -> int:
    both = 0
    while both < min(len(kept), len(restored)) and kept[both].digest == restored[both].digest:
        both += 1
    return both
