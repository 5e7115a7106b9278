"""What a purge takes out of archives: the bytes of each copy of the message are overwritten where they stand."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Protocol, cast
from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.documents.intake.files import Files
from mnemon.documents.intake.locks import lock_blob
from mnemon.log.events import SYSTEM, Actor
from mnemon.mail.storing.attachments import attached_documents
from mnemon.mail.storing.blanking import BLANK, PurgedMessage, enqueue_blanking
from mnemon.mail.storing.importing import ImportContext
from mnemon.mail.storing.packs import Packs
from mnemon.work.job import Job

COPIES = """
SELECT c.archive_id, c.byte_offset - a.start_offset AS place, c.byte_length
  FROM mnemon.mail_messages m
  JOIN mnemon.mail_copies c ON c.tenant_id = m.tenant_id AND c.message_key = m.message_key
  JOIN mnemon.mail_archives a ON a.tenant_id = c.tenant_id AND a.archive_id = c.archive_id
 WHERE m.tenant_id = mnemon.current_tenant() AND m.doc_id = %s
"""


class PurgeContext(ImportContext, Protocol):
    """What the worker hands to the handler, as far as it needs it."""

    async def purge_document(self, tenant: UUID, actor: Actor, doc_id: UUID) -> object: ...


async def on_purge(tx: Connection, doc_id: UUID, revisions: Sequence[UUID]) -> None:
    """Called in the transaction of a purge: a job sees to it that the copies are gone even if the process dies."""
    if await (await tx.execute(COPIES, (doc_id,))).fetchone() is not None:
        await enqueue_blanking(tx, doc_id)


async def blank_copies(database: Database, files: Files, tenant: UUID, doc_id: UUID) -> int:
    """Overwrite every copy of a message; how many. Safe to repeat."""
    async with database.transaction(tenant) as tx:
        rows = await (await tx.execute(COPIES, (doc_id,))).fetchall()
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in rows:
        places[row["archive_id"]].append((row["place"], row["byte_length"]))
    packs = Packs(files)
    for archive, ranges in sorted(places.items()):
        # Where packs are in a bucket, each change is of a copy: two at once would take back each other's.
        async with database.transaction(tenant) as tx:
            await lock_blob(tx, archive)
            await asyncio.to_thread(packs.blank, tenant, archive, ranges)
    return len(rows)


@BLANK.handler
async def finish_blanking(job: Job[PurgedMessage]) -> dict[str, int]:
    """The copies, and what was attached: whoever purged the message may have died before it."""
    context, doc_id = cast(PurgeContext, job.context), job.payload.doc_id
    copies = await blank_copies(job.database, context.files, job.tenant_id, doc_id)
    async with job.transaction() as tx:
        attached = await attached_documents(tx, doc_id)
    for one in attached:
        await context.purge_document(job.tenant_id, SYSTEM, one)
    return {"copies": copies, "attachments": len(attached)}
