"""Witnesses: the newest checkpoint or seal of every partition goes to places outside, and is compared with them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

import httpx2
import psycopg

from mnemon.errors import MnemonError
from mnemon.log.partitions import list_partitions
from mnemon.log.proof.checkpoint import Checkpoint
from mnemon.log.proof.consistency import make_consistency_proof
from mnemon.log.proof.integrity import Integrity
from mnemon.log.proof.tree_nodes import root_over
from mnemon.log.proof.witness_places import Witness
from mnemon.log.read.reader import LogReader
from mnemon.tasks import end
from mnemon.telemetry import counter, logger

SENT = counter("mnemon_witness_checkpoints_total", "Checkpoints and seals that a witness took.", ["witness"])
FAILED = counter("mnemon_witness_failures_total", "Checkpoints and seals that a witness did not take.", ["witness"])
TROUBLE = (httpx2.HTTPError, OSError, ValueError, LookupError, MnemonError)

log = logger(__name__)


@dataclass
class Witnesses:
    """The places of this home. One that does not answer holds up no other; it gets the newest at the next turn."""

    integrity: Integrity
    reader: LogReader
    places: Sequence[Witness]
    _sent: dict[tuple[str, UUID, str], int] = field(default_factory=dict)

    async def send_new(self) -> int:
        """Give every witness what it has not got; how many it took."""
        if not self.places:
            return 0
        newest = await asyncio.to_thread(self._newest)
        taken = [await self._send(place, *one) for place in self.places for one in newest]
        return sum(taken)

    def _newest(self) -> list[tuple[UUID, str, Checkpoint]]:
        store = self.integrity.checkpoints
        named = [(tenant, name) for tenant in store.tenants() for name in store.legal_entities(tenant)]
        return [(*one, signed) for one in named if (signed := store.newest(*one).furthest)]

    async def _send(self, place: Witness, tenant: UUID, name: str, made: Checkpoint) -> bool:
        if self._sent.get((place.name, tenant, name), 0) >= made.sequence:
            return False

        async def prove(count: int) -> list[str]:
            async with self.reader.transaction(tenant) as connection:
                proof = await make_consistency_proof(connection, tenant, name, count, made)
            return [one.hex() for one in proof.path]

        try:
            await place.put(tenant, name, made, prove)
        except TROUBLE as failure:
            FAILED.labels(place.name).inc()
            log.warning("witness.refused", witness=place.name, tenant_id=str(tenant), error=str(failure).strip())
            return False
        self._sent[place.name, tenant, name] = made.sequence
        SENT.labels(place.name).inc()
        return True

    async def contradictions(self, tenant: UUID, legal_entity: str) -> AsyncIterator[str]:
        """Where this log is not the one that a witness saw. One that cannot be asked says nothing."""
        for place in self.places:
            try:
                seen = await place.last(tenant, legal_entity)
            except TROUBLE as failure:
                log.warning("witness.silent", witness=place.name, error=str(failure).strip())
                continue
            if seen is not None and (reason := await self._contradicts(tenant, legal_entity, seen)):
                yield f"The witness {place.name} saw a log of {seen.sequence} events: {reason}."

    async def _contradicts(self, tenant: UUID, legal_entity: str, seen: Checkpoint) -> str | None:
        async with self.reader.transaction(tenant) as connection:
            found = [one for one in await list_partitions(connection, tenant) if one.legal_entity == legal_entity]
            if not found or found[0].sequence < seen.sequence:
                return f"here it ends at {found[0].sequence if found else 0}"
            try:
                root = await root_over(connection, tenant, found[0].partition_id, 0, seen.sequence)
            except MnemonError:
                return "here some of them are missing"
        return None if root == seen.root else "here they are others"


@asynccontextmanager
async def witnessed(witnesses: Witnesses, every: float) -> AsyncIterator[None]:
    """In the background, and once more at the end."""
    if not witnesses.places or not every:
        yield
        return
    task = asyncio.create_task(_send_for_ever(witnesses, every))
    try:
        yield
    finally:
        await end(task)
        await _send_once(witnesses)


async def _send_for_ever(witnesses: Witnesses, every: float) -> None:
    while True:
        await asyncio.sleep(every)
        await _send_once(witnesses)


async def _send_once(witnesses: Witnesses) -> None:
    try:
        await witnesses.send_new()
    except (psycopg.Error, *TROUBLE) as failure:
        log.warning("witness.not_sent", error=str(failure).strip())
