"""After a restore: the backup's checkpoints are put back where the home has none, and each log that fits what was
signed is signed. One that does not fit is left as it is: whether it was brought back or cut, only its owner knows."""

import asyncio
from dataclasses import dataclass, replace
from uuid import UUID

from mnemon.db.database import Database
from mnemon.errors import MnemonError
from mnemon.log.proof.checkpoint_files import CheckpointFiles
from mnemon.log.proof.integrity import Integrity
from mnemon.log.proof.recorded import recorded_in

TENANTS = "SELECT tenant_id, slug FROM mnemon.tenants ORDER BY slug"
PARTITIONS = "SELECT tenant_id, legal_entity, sequence FROM mnemon.partitions WHERE sequence > 0"


@dataclass(frozen=True, slots=True)
class RestoredPartition:
    """How far a partition of the backup goes, and how far what was signed here before goes where it does not fit."""

    tenant: UUID
    slug: str
    legal_entity: str
    sequence: int
    attested: int = 0
    # Why it could not be signed again; empty if it was, or does not fit.
    refused: str = ""

    @property
    def beyond(self) -> int:
        return max(self.attested - self.sequence, 0)

    @property
    def signed(self) -> bool:
        return not self.attested and not self.refused


async def go_on_after_restore(
    database: Database, integrity: Integrity, packed: CheckpointFiles
) -> list[RestoredPartition]:
    """`packed` are the checkpoints of the backup."""
    async with database.owner() as owner:
        tenants = await (await owner.execute(TENANTS)).fetchall()
        rows = await (await owner.execute(PARTITIONS)).fetchall()
    ends_at = {(row["tenant_id"], row["legal_entity"]): int(row["sequence"]) for row in rows}
    found = []
    for tenant, slug in [(row["tenant_id"], row["slug"]) for row in tenants]:
        for name in await integrity.legal_entities(tenant):
            one = RestoredPartition(tenant, slug, name, ends_at.get((tenant, name), 0))
            await _put_back(database, integrity, packed, one)
            ended = await _signed(integrity, one)
            if ended.sequence or not ended.signed:
                found.append(ended)
    return found


async def _put_back(database: Database, integrity: Integrity, packed: CheckpointFiles, one: RestoredPartition) -> None:
    """All of them, also those that the restored database does not tell of: it may be one that was cut before."""
    async with database.transaction(one.tenant) as connection:
        recorded = (await recorded_in(connection, one.tenant, one.legal_entity)).checkpoints
    try:
        here = await asyncio.to_thread(integrity.checkpoints.list, one.tenant, one.legal_entity)
        lines = await asyncio.to_thread(packed.list, one.tenant, one.legal_entity)
    except ValueError:
        return  # What is damaged is told when it is to be signed.
    if here or [line.digest for line in lines[: len(recorded)]] != [line.digest for line in recorded]:
        return
    async with integrity.checkpoints.alone(one.tenant, one.legal_entity):
        for number, line in enumerate(lines, 1):
            await asyncio.to_thread(integrity.checkpoints.add, one.tenant, one.legal_entity, line, number)


async def _signed(integrity: Integrity, one: RestoredPartition) -> RestoredPartition:
    try:
        beyond = await integrity.signed_beyond(one.tenant, one.legal_entity)
        if beyond is not None:
            return replace(one, attested=beyond.furthest.sequence)
        if one.sequence:
            await integrity.checkpoint(one.tenant, one.legal_entity)
    except MnemonError as refusal:
        return replace(one, refused=refusal.message)
    return one
