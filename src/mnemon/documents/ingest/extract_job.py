"""The job that every new revision leaves behind: somebody reads from it what was decided, promised and done."""

from collections.abc import Sequence
from uuid import UUID

from pydantic import BaseModel

from mnemon.db.database import Connection
from mnemon.work.enqueue import Enqueued, enqueue
from mnemon.work.kinds import JobKind


class RevisionToExtract(BaseModel):
    """Which revision; its text and all that is known of it stand in the database."""

    doc_version_id: UUID


# The handler is in mnemon.semantics: documents do not know what is read from them.
EXTRACT = JobKind("semantics.extract", RevisionToExtract, time_limit=3600)


async def enqueue_extraction(
    tx: Connection, revision: UUID, again: bool = False, *, readers: Sequence[str] | None
) -> Enqueued:
    """Once for a revision. `again` adds a job beside one that is under way, whose engine may be another."""
    key = f"{revision}{'+' if again else ''}"
    wanted = RevisionToExtract(doc_version_id=revision)
    return await enqueue(tx, EXTRACT, wanted, dedupe_key=key, priority=-1, readers=readers)
