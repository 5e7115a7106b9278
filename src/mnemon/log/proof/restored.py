"""After a restore: the backup's checkpoints are put back where the home lacks them, and each log that fits what was
signed is signed. One that does not fit is left as it is: whether it was brought back or cut, only its owner knows."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from mnemon.db.database import Database
from mnemon.errors import MnemonError
from mnemon.log.proof.adopted_restore import may_stand_for
from mnemon.log.proof.checkpoint import Checkpoint
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
    # It fits what was signed here before, and is in a database that was empty: it may be a rehearsal.
    put_off: bool = False

    @property
    def beyond(self) -> int:
        return max(self.attested - self.sequence, 0)

    @property
    def signed(self) -> bool:
        return not self.attested and not self.refused and not self.put_off


class GoingOn:
    """`packed` are the checkpoints of the backup. `replaced` where the database held tenants before."""

    def __init__(
        self, database: Database, integrity: Integrity, packed: CheckpointFiles, *, replaced: bool = True
    ) -> None:
        self._database = database
        self._integrity = integrity
        self._packed = packed
        self._replaced = replaced

    async def done(self) -> list[RestoredPartition]:
        async with self._database.owner() as owner:
            tenants = await (await owner.execute(TENANTS)).fetchall()
            rows = await (await owner.execute(PARTITIONS)).fetchall()
        ends_at = {(row["tenant_id"], row["legal_entity"]): int(row["sequence"]) for row in rows}
        found = []
        for tenant, slug in [(row["tenant_id"], row["slug"]) for row in tenants]:
            for name in await self._integrity.legal_entities(tenant):
                ended = await self._ended(RestoredPartition(tenant, slug, name, ends_at.get((tenant, name), 0)))
                if ended.sequence or not ended.signed:
                    found.append(ended)
        return found

    async def _ended(self, one: RestoredPartition) -> RestoredPartition:
        store, place = self._integrity.checkpoints, (one.tenant, one.legal_entity)
        try:
            here = await asyncio.to_thread(store.list, *place)
            await self._put_back(one, here)
            beyond = await self._integrity.signed_beyond(*place)
            if beyond is not None:
                return replace(one, attested=beyond.furthest.sequence)
            await asyncio.to_thread(self._packed.drop, *place)
            if one.sequence and (self._replaced or not here):
                await self._integrity.checkpoint(*place)
        except ValueError:
            # What is damaged is told as what is to be signed is.
            return replace(one, refused=f"The checkpoints of {one.legal_entity} cannot be read: run verify.")
        except MnemonError as refusal:
            return replace(one, refused=refusal.message)
        return replace(one, put_off=bool(one.sequence and here and not self._replaced))

    async def _put_back(self, one: RestoredPartition, here: Sequence[Checkpoint]) -> None:
        """All that the home lacks, also those that the restored database does not tell of: it may be one that was cut
        before. Where the home has signed another history they are left for whoever adopts this one."""
        store, place = self._integrity.checkpoints, (one.tenant, one.legal_entity)
        async with self._database.transaction(one.tenant) as connection:
            recorded = await recorded_in(connection, *place)
        packed = await asyncio.to_thread(self._packed.list, *place)
        lines, kept = [line.digest for line in packed], [line.digest for line in here]
        may_stand = may_stand_for(packed, recorded, *place)
        if may_stand and lines[: len(kept)] == kept:
            async with store.alone(*place):
                for number, line in enumerate(packed[len(kept) :], len(kept) + 1):
                    await asyncio.to_thread(store.add, *place, line, number)
        elif may_stand and kept[: len(lines)] != lines:
            return
        await asyncio.to_thread(self._packed.drop, *place)
