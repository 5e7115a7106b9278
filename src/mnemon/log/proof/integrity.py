"""Integrity in one place: sign, prove, export and verify a tenant's partitions."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from uuid import UUID

from mnemon.db.database import Database
from mnemon.log.errors import CheckpointRefused, NothingToAttest
from mnemon.log.events import MAIN
from mnemon.log.proof.checkpoint import Checkpoint, Checkpoints
from mnemon.log.proof.export import export_lines
from mnemon.log.proof.handover import rotate_signing_key
from mnemon.log.proof.receipt import Receipt, make_receipt
from mnemon.log.proof.verify import ChainReport, verify
from mnemon.log.proof.walk import ChainPosition
from mnemon.log.read.reader import LogReader
from mnemon.telemetry import counter, logger

SIGNED = counter("mnemon_log_checkpoints_total", "Checkpoints signed.")
FAULTS = counter("mnemon_log_verify_faults_total", "Places where a verification found the log changed.")

GROWN = "SELECT tenant_id, legal_entity FROM mnemon.partitions WHERE sequence > 0 ORDER BY partition_id"

log = logger(__name__)


class Integrity:
    """Proof for and against the log. `home` is where keys and checkpoints are kept."""

    def __init__(self, database: Database, reader: LogReader, home: Path) -> None:
        self._database = database
        self._reader = reader
        self._home = home
        self.checkpoints = Checkpoints(reader, home)

    async def checkpoint(self, tenant: UUID, legal_entity: str = MAIN) -> Checkpoint:
        """Sign how far the partition has come."""
        made = await self.checkpoints.sign(tenant, legal_entity)
        SIGNED.inc()
        return made

    async def checkpoint_all(self) -> list[Checkpoint]:
        """Sign every partition of every tenant; report and pass over one that contradicts its last checkpoint."""
        async with self._database.owner() as owner:
            rows = await (await owner.execute(GROWN)).fetchall()
        made = []
        for row in rows:
            try:
                made.append(await self.checkpoint(row["tenant_id"], row["legal_entity"]))
            except CheckpointRefused as refusal:
                FAULTS.inc()
                log.error("log.checkpoint_refused", tenant_id=str(row["tenant_id"]), reason=refusal.message)
        return made

    async def rotate_key(self) -> str:
        """Change the signing key; every partition is signed anew, so that the new key alone vouches for all of it."""
        key = await asyncio.to_thread(rotate_signing_key, self._home)
        await self.checkpoint_all()
        return key

    async def receipt(self, tenant: UUID, event_id: str, legal_entity: str | None = None) -> Receipt:
        """Prove that one event is in the log."""
        return await make_receipt(self._reader, self.checkpoints, tenant, event_id, legal_entity)

    def export(self, tenant: UUID, legal_entity: str = MAIN) -> AsyncIterator[bytes]:
        return export_lines(self._reader, tenant, legal_entity)

    async def verify(
        self,
        tenant: UUID,
        legal_entity: str = MAIN,
        *,
        since_checkpoint: bool = False,
        resume: ChainPosition | None = None,
        progress: Callable[[ChainReport], None] | None = None,
    ) -> ChainReport:
        """Check the whole partition, or what came after the last checkpoint or an earlier run's position."""
        known = self.checkpoints.list(tenant, legal_entity)
        if since_checkpoint and not known:
            raise NothingToAttest(f"The partition {legal_entity} has no checkpoint yet: verify the whole of it.")
        since = known[-1] if since_checkpoint else resume
        report = await verify(self._reader, tenant, legal_entity, checkpoints=known, since=since, progress=progress)
        if not report.total and not report.faults:
            # To call nothing intact would hide that its name was misspelt.
            raise NothingToAttest(f"The partition {legal_entity} has no events to verify.", legal_entity=legal_entity)
        FAULTS.inc(len(report.faults))
        for fault in report.faults[:10]:
            log.error("log.fault", tenant_id=str(tenant), sequence=fault.sequence, kind=fault.kind)
        return report
