"""Which copies in archives are to be overwritten: those of a message that is purged, whenever they came."""

from uuid import UUID

from pydantic import BaseModel

from mnemon.db.database import Connection
from mnemon.work.enqueue import enqueue
from mnemon.work.kinds import JobKind

PURGED_IN = """
SELECT DISTINCT m.doc_id FROM mnemon.mail_copies c
  JOIN mnemon.mail_messages m ON m.tenant_id = c.tenant_id AND m.message_key = c.message_key
 WHERE c.tenant_id = mnemon.current_tenant() AND c.archive_id = %s AND m.purged_at IS NOT NULL
"""


class PurgedMessage(BaseModel):
    """Whose copies are to go; where they stand tells nothing."""

    doc_id: UUID


BLANK = JobKind("mail.blank_copies", PurgedMessage, attempts=20, time_limit=3600)


async def enqueue_blanking(tx: Connection, doc_id: UUID, archive: str = "") -> None:
    """In the transaction after which there are copies that nobody should read. A job that is under way may have looked
    before it, so another archive is another job."""
    await enqueue(tx, BLANK, PurgedMessage(doc_id=doc_id), dedupe_key=f"{doc_id} {archive}".strip())


async def blank_again(tx: Connection, archive: str) -> None:
    """The bytes of a known archive had been lost and came again, those of purged messages with them."""
    for row in await (await tx.execute(PURGED_IN, (archive,))).fetchall():
        await enqueue_blanking(tx, row["doc_id"], archive)
