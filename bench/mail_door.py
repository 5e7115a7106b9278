"""Mail put into Mnemon as users put it there: by the operation behind every door, read by its own worker."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

from public_door import running_mnemon

from mnemon.app import Mnemon
from mnemon.beside import worker_of
from mnemon.cli.process import settle_memory
from mnemon.log.events import Actor
from mnemon.mail import inputs, operations, outputs
from mnemon.mail.consensus.job import READ_CONSENSUS
from mnemon.mail.consensus.operations import ConsensusAsked, consensus
from mnemon.mail.consensus.outputs import ConsensusShown
from mnemon.mail.jobs import KINDS
from mnemon.mail.sources.looking import LOOK
from mnemon.mail.storing.failures import RECORD_MAIL_FAILURE
from mnemon.mail.storing.importing import IMPORT_JOB
from mnemon.operations import Caller

OPERATOR = Actor("system", "operator:bench")
# Passages and vectors are measured apart.
STORING = (LOOK, IMPORT_JOB, RECORD_MAIL_FAILURE)
READING = (*STORING, READ_CONSENSUS)
# Rarely: what asking costs is counted with the import.
POLL = 1.0
LARGEST_MB = 4_000
WAITING = """
SELECT count(*) AS waiting FROM mnemon.jobs
 WHERE tenant_id = mnemon.current_tenant() AND kind = ANY(%s) AND status IN ('PENDING', 'PROCESSING')
"""


@dataclass(frozen=True)
class MailRoom:
    """A running Mnemon, and on whose behalf mail is put into it."""

    mnemon: Mnemon
    caller: Caller

    async def put_in(self, places: Sequence[Path], kinds: Sequence[Any] = READING) -> list[outputs.MailImportShown]:
        """Every place imported, one after another, and what follows done by a worker; the imports, oldest first."""
        worker = worker_of(self.mnemon, list(kinds))
        working = asyncio.create_task(worker.run())
        try:
            for place in places:
                asked = inputs.ImportAsked(location=str(place), name=place.name)
                await operations.import_mail(self.mnemon, self.caller, asked)
                await self._done([kind.name for kind in kinds])
        finally:
            worker.stop()
            await working
        found = await operations.imports(self.mnemon, self.caller, inputs.MailImportsAsked(limit=100))
        failed = [one for one in found.items if one.status != "succeeded"]
        if failed:
            raise RuntimeError(f"An archive could not be imported: {failed[0].error}")
        return found.items[::-1]

    async def _done(self, kinds: Sequence[str]) -> None:
        while True:
            async with self.mnemon.database.transaction(self.caller.tenant_id) as tx:
                row = await (await tx.execute(WAITING, (list(kinds),))).fetchone()
            if row is not None and not row["waiting"]:
                return
            await asyncio.sleep(POLL)

    async def consensus(self, thread: str) -> ConsensusShown:
        return await consensus(self.mnemon, self.caller, ConsensusAsked(thread=thread))

    async def message(self, named: str) -> outputs.MailShown:
        return await operations.message(self.mnemon, self.caller, inputs.MessageAsked(message=named))

    async def archives(self) -> list[outputs.ArchiveShown]:
        return (await operations.archives(self.mnemon, self.caller, inputs.MailArchivesAsked(limit=100))).items


@asynccontextmanager
async def mail_room(**settings: object) -> AsyncIterator[MailRoom]:
    async with running_mnemon(upload_max_size_mb=LARGEST_MB, **settings) as mnemon:
        async with mnemon.database.owner() as owner:
            row = await (await owner.execute("SELECT tenant_id FROM mnemon.tenants LIMIT 1")).fetchone()
        assert row is not None
        # As `mnemon work` does when it starts.
        settle_memory()
        yield MailRoom(mnemon, Caller(row["tenant_id"], OPERATOR, channel="cli"))


def write_archive(path: Path, mails: Sequence[EmailMessage]) -> Path:
    """An mbox as a list keeps it."""
    with path.open("wb") as file:
        for mail in mails:
            body = mail.as_bytes(policy=default.clone(max_line_length=0, utf8=True))
            quoted = b"\n".join(b">" + line if line.lstrip(b">").startswith(b"From ") else line
                                for line in body.split(b"\n"))  # fmt: skip
            file.write(b"From mboxrd@z Thu Jan  1 00:00:00 1970\n" + quoted + b"\n\n")
    return path


__all__ = ["KINDS", "MailRoom", "mail_room", "write_archive"]
