"""Integrity in one place: sign, prove, export and verify a tenant's partitions."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from mnemon.buckets import ObjectChanged
from mnemon.db.database import Connection, Database
from mnemon.errors import MnemonError
from mnemon.log.errors import CheckpointRefused, NothingToAttest
from mnemon.log.events import MAIN
from mnemon.log.proof.adopted_restore import SignedBeyond, signed_beyond
from mnemon.log.proof.checkpoint import Checkpoint
from mnemon.log.proof.checkpoint_files import RESTORED, CheckpointFiles
from mnemon.log.proof.checkpoint_store import checkpoint_store
from mnemon.log.proof.consistency import ConsistencyProof, make_consistency_proof
from mnemon.log.proof.export import export_lines
from mnemon.log.proof.pinned_keys import adopt_in, announce, key_faults, leads_to, pinned_by_log, pinned_in
from mnemon.log.proof.receipt import Receipt, make_receipt
from mnemon.log.proof.recorded import record_faults, recorded_in, signed_names_in
from mnemon.log.proof.signer import TAKE_TURN, Signer
from mnemon.log.proof.signing import public_hex
from mnemon.log.proof.signing_keys import signing_keys
from mnemon.log.proof.verify import ChainReport, verify
from mnemon.log.proof.walk import ChainPosition
from mnemon.log.read.reader import LogReader
from mnemon.log.store import EventLog
from mnemon.shared_home import Home
from mnemon.telemetry import counter, logger

SIGNED = counter("mnemon_log_checkpoints_total", "Checkpoints signed.")
SEALED = counter("mnemon_log_seals_total", "Seals signed over what came since the last checkpoint.")
FAULTS = counter("mnemon_log_verify_faults_total", "Places where a verification found the log changed.")

NOBODY_SIGNS = "SELECT pg_advisory_xact_lock(hashtextextended('mnemon signing key', 0))"
GROWN = "SELECT tenant_id, legal_entity FROM mnemon.partitions WHERE sequence > 0 ORDER BY partition_id"
TO_SEAL = "SELECT tenant_id, legal_entity FROM mnemon.partitions_to_seal()"

log = logger(__name__)


class Integrity:
    """Proof for and against the log. `home` is where keys and checkpoints are kept; with the `events` at hand, which
    keys may sign is recorded in the log itself. `told_key` is the key that the operator was told."""

    def __init__(
        self,
        database: Database,
        reader: LogReader,
        home: Home,
        events: EventLog | None = None,
        told_key: str | None = None,
    ) -> None:
        self._database = database
        self._reader = reader
        self._keys = signing_keys(home)
        self._events = events
        self._told_key = told_key
        self._refused: set[tuple[UUID, str]] = set()
        self.checkpoints = checkpoint_store(home)
        self._restored = CheckpointFiles(home if isinstance(home, Path) else home.folder, RESTORED)
        self.signer = Signer(reader, self._keys, self.checkpoints)

    @property
    def public_key(self) -> str:
        """What this home signs with."""
        return public_hex(self._keys.current())

    async def checkpoint(self, tenant: UUID, legal_entity: str = MAIN) -> Checkpoint:
        """Sign how far the partition has come."""
        made = await self.signer.sign(tenant, legal_entity)
        SIGNED.inc()
        return made

    async def checkpoint_all(self) -> list[Checkpoint]:
        """Sign every partition of every tenant; report and pass over one that contradicts its last checkpoint."""
        async with self._database.owner() as owner:
            rows = await (await owner.execute(GROWN)).fetchall()
        made = []
        for tenant, legal_entity in [(row["tenant_id"], row["legal_entity"]) for row in rows]:
            with self._passing_over(tenant, legal_entity):
                made.append(await self.checkpoint(tenant, legal_entity))
        for tenant in {row["tenant_id"] for row in rows}:
            await self._announce(tenant)
        return made

    async def seal_all(self) -> int:
        """Sign what nothing covers yet, of every tenant; how many partitions."""
        async with self._database.session() as session:
            rows = await (await session.execute(TO_SEAL)).fetchall()
        sealed = 0
        for tenant, legal_entity in [(row["tenant_id"], row["legal_entity"]) for row in rows]:
            with self._passing_over(tenant, legal_entity):
                await self.signer.sign_seal(tenant, legal_entity)
                sealed += 1
        SEALED.inc(sealed)
        return sealed

    async def rotate_key(self) -> str:
        """Change the signing key; every partition is signed anew, so that the new key alone vouches for all of it."""
        async with self._database.session() as session, session.transaction():
            await session.execute(NOBODY_SIGNS)
            key = await asyncio.to_thread(self._keys.rotate)
        await self.checkpoint_all()
        return key

    async def adopt_key(self, tenant: UUID) -> bool:
        """Let this home's key sign although no earlier one announced it; verification goes on to say so."""
        async with self._database.transaction(tenant) as connection:
            adopted = await adopt_in(connection, tenant, await asyncio.to_thread(lambda: self.public_key))
        await self._announce(tenant)
        return adopted

    async def adopt_restore(self, tenant: UUID) -> list[SignedBeyond]:
        """Go on from a log that was brought back to an earlier moment; what was set aside, by legal entity."""
        found = []
        for name in await self.legal_entities(tenant):
            # Twice where a backup has one that was signed while it was made.
            while (beyond := await self._adopted(tenant, name)) is not None:
                found += [beyond] if beyond.lost else []
        for name in [one.legal_entity for one in found if one.ends_at] + ([MAIN] if found else []):
            await self.checkpoint(tenant, name)
        return found

    async def _adopted(self, tenant: UUID, name: str) -> SignedBeyond | None:
        async with self.checkpoints.alone(tenant, name), self._reader.transaction(tenant) as connection:
            await connection.execute(TAKE_TURN, (str(tenant), name))
            seal, beyond = await self._beyond(connection, tenant, name)
            if beyond is None:
                return None
            if beyond.lost:
                assert self._events is not None
                # Said before it is done: what dies in between is said twice, and never done in silence.
                [said] = await self._events.append(tenant, [beyond.as_event()])
                aside = (beyond.kept, seal in beyond.lost, str(said.id))
                await asyncio.to_thread(self.checkpoints.set_aside, tenant, name, *aside)
            for number, one in enumerate(beyond.instead, beyond.kept + 1):
                await asyncio.to_thread(self.checkpoints.add, tenant, name, one, number)
            await asyncio.to_thread(self._restored.drop, tenant, name)
        self._refused.discard((tenant, name))
        return beyond

    async def signed_beyond(self, tenant: UUID, legal_entity: str) -> SignedBeyond | None:
        """What was signed of a log and does not fit it; refused where nobody can have brought it back."""
        async with self._reader.transaction(tenant) as connection:
            return (await self._beyond(connection, tenant, legal_entity))[1]

    async def _beyond(
        self, connection: Connection, tenant: UUID, legal_entity: str
    ) -> tuple[Checkpoint | None, SignedBeyond | None]:
        """With the seal that is there."""
        try:
            kept = await asyncio.to_thread(self.checkpoints.list, tenant, legal_entity)
            seal = (await asyncio.to_thread(self.checkpoints.newest, tenant, legal_entity)).seal
            restored = await asyncio.to_thread(self._restored.list, tenant, legal_entity)
        except ValueError as failure:
            raise CheckpointRefused(
                f"The checkpoints of {legal_entity} cannot be read ({failure}): run verify.", legal_entity=legal_entity
            ) from None
        return seal, await signed_beyond(connection, tenant, legal_entity, kept, seal, restored)

    async def receipt(self, tenant: UUID, event_id: str, legal_entity: str | None = None) -> Receipt:
        """Prove that one event is in the log."""
        return await make_receipt(self._reader, self.checkpoints, tenant, event_id, legal_entity)

    async def consistency(self, tenant: UUID, count: int, legal_entity: str = MAIN) -> ConsistencyProof:
        """Prove that the log of the first `count` events grew into the one that the newest seal attests."""
        signed = (await asyncio.to_thread(self.checkpoints.newest, tenant, legal_entity)).furthest
        if signed is None:
            raise NothingToAttest(f"The partition {legal_entity} has no checkpoint yet: sign one first.")
        async with self._reader.transaction(tenant) as connection:
            return await make_consistency_proof(connection, tenant, legal_entity, count, signed)

    def export(self, tenant: UUID, legal_entity: str = MAIN) -> AsyncIterator[bytes]:
        return export_lines(self._reader, tenant, legal_entity)

    async def legal_entities(self, tenant: UUID) -> list[str]:
        """Whose logs must be there: by the partitions, by what was signed, and by the files outside the database."""
        async with self._database.transaction(tenant) as connection:
            named = await signed_names_in(connection, tenant)
        return sorted(named.union(await asyncio.to_thread(lambda: set(self.checkpoints.legal_entities(tenant)))))

    async def verify(
        self,
        tenant: UUID,
        legal_entity: str = MAIN,
        *,
        since_checkpoint: bool = False,
        resume: ChainPosition | None = None,
        stretch: tuple[int, int] | None = None,
        progress: Callable[[ChainReport], None] | None = None,
    ) -> ChainReport:
        """Check the whole partition, or what came after the last checkpoint or an earlier run's position.

        `stretch` (n, of) checks one part of the old: what lies between the checkpoints that cut it into `of` parts.
        """
        known, faults = await self._signed(tenant, legal_entity)
        if since_checkpoint and not known:
            raise NothingToAttest(f"The partition {legal_entity} has no checkpoint yet: verify the whole of it.")
        since: Checkpoint | ChainPosition | None = known[-1] if since_checkpoint else resume
        upto = None
        if stretch is not None:
            since, upto = _stretch(known, *stretch)
            known = [one for one in known if one.sequence <= upto]
        report = await verify(
            self._reader, tenant, legal_entity,
            checkpoints=known, known_faults=faults, since=since, upto=upto, progress=progress,
        )  # fmt: skip
        if not report.total and not report.faults and stretch is None:
            # To call nothing intact would hide that its name was misspelt.
            raise NothingToAttest(f"The partition {legal_entity} has no events to verify.", legal_entity=legal_entity)
        FAULTS.inc(len(report.faults))
        for fault in report.faults[:10]:
            log.error("log.fault", tenant_id=str(tenant), sequence=fault.sequence, kind=fault.kind)
        return report

    async def _signed(self, tenant: UUID, legal_entity: str) -> tuple[list[Checkpoint], list[tuple[int, str, str]]]:
        """What was signed of a partition, and what is wrong with that before the log is even read."""
        async with self._database.transaction(tenant) as connection:
            recorded = await recorded_in(connection, tenant, legal_entity)
            by_database = await pinned_in(connection, tenant)
        try:
            kept = await asyncio.to_thread(self.checkpoints.list, tenant, legal_entity)
            seal = (await asyncio.to_thread(self.checkpoints.newest, tenant, legal_entity)).seal
        except ValueError as failure:
            return [], [(0, "checkpoint", f"The checkpoints of {legal_entity} cannot be read: {failure}.")]
        known = [*kept, seal] if seal and (not kept or seal.sequence > kept[-1].sequence) else kept
        faults = [
            (sequence, "checkpoint", f"Of the checkpoint at {sequence}, {reason}.")
            for sequence, reason in record_faults(kept, seal, recorded)
        ]
        try:
            by_log = await pinned_by_log(self._reader, tenant)
        except (MnemonError, ValueError, LookupError, TypeError) as failure:
            return known, [*faults, (0, "key", f"The events that name the signing keys cannot be read: {failure}.")]
        signers = {one.public_key for one in known}
        faults += [
            (sequence, "key", reason) for sequence, reason in key_faults(by_log, by_database, signers, self._told_key)
        ]
        return known, faults

    async def signing_fault(self, tenant: UUID) -> str | None:
        """Why this home signs no more of what this tenant records; None if it does, or has not yet begun to."""
        async with self._database.transaction(tenant) as connection:
            pinned = await pinned_in(connection, tenant)
        if not pinned:
            return None
        if not await asyncio.to_thread(self._keys.exists):
            return f"The key that checkpoints are signed with is gone: put back the copy of {pinned[-1].public_key}."
        key, words = await asyncio.to_thread(lambda: (self.public_key, self._keys.handovers()))
        if leads_to(pinned, words, key):
            return None
        return f"This home would sign with the key {key}, but {pinned[-1].public_key} is pinned: nothing is signed."

    async def _announce(self, tenant: UUID) -> None:
        if self._events is not None:
            await announce(self._events, tenant)

    @contextmanager
    def _passing_over(self, tenant: UUID, legal_entity: str) -> Iterator[None]:
        """What one partition refuses stops no other. Where another gateway wrote, or the answer to our own writing was
        lost, the next round finds what is there."""
        try:
            yield
        except CheckpointRefused as refusal:
            self._report_refusal(tenant, legal_entity, refusal)
        except ObjectChanged as crossed:
            log.warning(
                "log.checkpoint_crossed", tenant_id=str(tenant), legal_entity=legal_entity, reason=crossed.message
            )

    def _report_refusal(self, tenant: UUID, legal_entity: str, refusal: CheckpointRefused) -> None:
        """Once for each partition: the sealing comes by every few seconds."""
        if (tenant, legal_entity) not in self._refused:
            FAULTS.inc()
            self._refused.add((tenant, legal_entity))
            log.error(
                "log.checkpoint_refused", tenant_id=str(tenant), legal_entity=legal_entity, reason=refusal.message
            )


def _stretch(known: list[Checkpoint], number: int, of: int) -> tuple[Checkpoint | None, int]:
    """After which checkpoint, and up to which sequence. All numbers together cover what the checkpoints attest."""
    start, end = len(known) * number // of, len(known) * (number + 1) // of
    return (known[start - 1] if start else None), (known[end - 1].sequence if end else 0)
