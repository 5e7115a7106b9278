"""After a restore: what was signed beyond the backup is set aside, the log says so, and signing goes on from there."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from mnemon.db.database import Database
from mnemon.errors import MnemonError, TenantMoved
from mnemon.log.events import MAIN, Actor, EntityReference, NewEvent
from mnemon.log.proof.checkpoint import Checkpoint
from mnemon.log.proof.checkpoint_files import CheckpointFiles
from mnemon.log.proof.checkpoint_store import CheckpointStore
from mnemon.log.proof.integrity import Integrity
from mnemon.log.proof.recorded import SignedRecord, recorded_in
from mnemon.log.store import EventLog
from mnemon.log.types.builtin import LOG_RESTORED

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


class AfterRestore:
    """Only what a restore does, on the word of whoever owns the machine: a log that is cut is never signed again."""

    def __init__(self, database: Database, events: EventLog, integrity: Integrity, beside: CheckpointFiles) -> None:
        self._database = database
        self._events = events
        self._integrity = integrity
        # The checkpoints that the backup holds, for a home that has none of its own.
        self._beside = beside

    async def resume(self, taken_at: str, actor: Actor, gone: Sequence[UUID] = ()) -> list[RestoredPartition]:
        """Every partition goes on from the backup, with an event and a checkpoint that say so.

        Of tenants that are `gone`, since they are newer than the backup, what was signed is set aside."""
        async with self._database.owner() as owner:
            rows = await (await owner.execute(PARTITIONS)).fetchall()
        store = self._integrity.checkpoints
        stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        found = [
            await self._set_back(row["tenant_id"], row["legal_entity"], int(row["sequence"]), stamp) for row in rows
        ]
        known = {(one.tenant, one.legal_entity) for one in found}
        for tenant in dict.fromkeys([*(one.tenant for one in found), *gone]):
            for name in await asyncio.to_thread(_named, store, tenant):
                if (tenant, name) not in known:
                    await asyncio.to_thread(store.set_back, tenant, name, [], stamp)
        for tenant in dict.fromkeys(one.tenant for one in found):
            await self._tell(tenant, [one for one in found if one.tenant == tenant], taken_at, actor)
        return [await self._signed(one) for one in found]

    async def _set_back(self, tenant: UUID, legal_entity: str, sequence: int, stamp: str) -> RestoredPartition:
        store = self._integrity.checkpoints
        async with self._database.transaction(tenant) as connection:
            recorded = await recorded_in(connection, tenant, legal_entity)
        try:
            furthest = (await asyncio.to_thread(store.newest, tenant, legal_entity)).furthest
            here = await asyncio.to_thread(store.list, tenant, legal_entity)
            packed = await asyncio.to_thread(self._beside.list, tenant, legal_entity)
        except ValueError as failure:
            return RestoredPartition(tenant, legal_entity, sequence, refused=f"The checkpoints are damaged: {failure}.")
        attested = furthest.sequence if furthest else 0
        lines = _told_of(here, recorded.checkpoints)
        if lines is None:
            lines = _told_of(packed, recorded.checkpoints)
        if lines is None:
            return RestoredPartition(
                tenant, legal_entity, sequence, attested,
                f"The {len(recorded.checkpoints)} checkpoints of the backup are not here: put the folder `checkpoints` "
                "of the home that made it in place, and restore again.",
            )  # fmt: skip
        await asyncio.to_thread(store.set_back, tenant, legal_entity, lines, stamp)
        return RestoredPartition(tenant, legal_entity, sequence, attested)

    async def _tell(self, tenant: UUID, partitions: Sequence[RestoredPartition], taken_at: str, actor: Actor) -> None:
        told = [
            {"legal_entity": one.legal_entity, "sequence": str(one.sequence), "attested": str(one.attested)}
            for one in partitions
        ]
        data = {"taken_at": taken_at, "partitions": told}
        event = NewEvent(type=LOG_RESTORED.type, data=data, actor=actor, entities=[EntityReference("log", MAIN)])
        # A tenant that has moved away takes no events: where it is now, nothing was restored.
        with suppress(TenantMoved):
            await self._events.append(tenant, [event])

    async def _signed(self, one: RestoredPartition) -> RestoredPartition:
        if one.refused:
            return one
        try:
            await self._integrity.checkpoint(one.tenant, one.legal_entity)
        except MnemonError as refusal:
            return RestoredPartition(one.tenant, one.legal_entity, one.sequence, one.attested, refusal.message)
        return one


def _told_of(known: Sequence[Checkpoint], recorded: Sequence[SignedRecord]) -> Sequence[Checkpoint] | None:
    """Those that the restored database tells of, if they are the first of these."""
    present = known[: len(recorded)]
    return present if [one.digest for one in present] == [one.digest for one in recorded] else None


def _named(store: CheckpointStore, tenant: UUID) -> list[str]:
    return [*store.legal_entities(tenant)]
