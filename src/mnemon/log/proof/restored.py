"""After a restore: the backup's checkpoints are put back, and each log goes on from there and is signed."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from mnemon.db.database import Database
from mnemon.errors import MnemonError
from mnemon.ids import new_ulid
from mnemon.log.proof.checkpoint_files import CheckpointFiles
from mnemon.log.proof.integrity import Integrity
from mnemon.log.proof.recorded import recorded_in

PARTITIONS = "SELECT tenant_id, legal_entity, sequence FROM mnemon.partitions WHERE sequence > 0 ORDER BY partition_id"


@dataclass(frozen=True, slots=True)
class RestoredPartition:
    """How far a partition of the backup goes, and how far what was signed here before went."""

    tenant: UUID
    legal_entity: str
    sequence: int
    attested: int = 0
    # Why it could not be signed again; empty if it was.
    refused: str = ""

    @property
    def given_up(self) -> int:
        return max(self.attested - self.sequence, 0)


async def go_on_after_restore(
    database: Database, integrity: Integrity, packed: CheckpointFiles, gone: Sequence[UUID] = ()
) -> list[RestoredPartition]:
    """On the word of whoever owns the machine. `packed` are the checkpoints of the backup, `gone` the tenants that are
    newer than it."""
    async with database.owner() as owner:
        rows = await (await owner.execute(PARTITIONS)).fetchall()
    found = [RestoredPartition(row["tenant_id"], row["legal_entity"], int(row["sequence"])) for row in rows]
    if isinstance(integrity.checkpoints, CheckpointFiles):
        for tenant in gone:
            await asyncio.to_thread(integrity.checkpoints.set_tenant_aside, tenant, new_ulid())
    for one in found:
        await _put_back(database, integrity, packed, one)
    beyond: dict[tuple[UUID, str], int] = {}
    refused: dict[UUID, str] = {}
    for tenant in dict.fromkeys(one.tenant for one in found):
        try:
            adopted = await integrity.adopt_restore(tenant)
        except MnemonError as refusal:
            refused[tenant] = refusal.message
            continue
        beyond |= {(tenant, one.legal_entity): one.furthest.sequence for one in adopted}
    ended = [
        replace(one, attested=beyond.get((one.tenant, one.legal_entity), 0), refused=refused.get(one.tenant, ""))
        for one in found
    ]
    return [await _signed(integrity, one) for one in ended]


async def _put_back(database: Database, integrity: Integrity, packed: CheckpointFiles, one: RestoredPartition) -> None:
    """Those that the restored database tells of, where this home has lost them or is a new one."""
    async with database.transaction(one.tenant) as connection:
        recorded = (await recorded_in(connection, one.tenant, one.legal_entity)).checkpoints
    try:
        here = await asyncio.to_thread(integrity.checkpoints.list, one.tenant, one.legal_entity)
        lines = (await asyncio.to_thread(packed.list, one.tenant, one.legal_entity))[: len(recorded)]
    except ValueError:
        return  # What is damaged is told when it is to be signed.
    if [line.digest for line in lines] != [line.digest for line in recorded] or here != lines[: len(here)]:
        return
    async with integrity.checkpoints.alone(one.tenant, one.legal_entity):
        for number, line in enumerate(lines[len(here) :], len(here) + 1):
            await asyncio.to_thread(integrity.checkpoints.add, one.tenant, one.legal_entity, line, number)


async def _signed(integrity: Integrity, one: RestoredPartition) -> RestoredPartition:
    if one.refused:
        return one
    try:
        await integrity.checkpoint(one.tenant, one.legal_entity)
    except MnemonError as refusal:
        return replace(one, refused=refusal.message)
    return one
