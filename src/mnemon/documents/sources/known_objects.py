"""What is known of the files of a source: read in stretches of their order, written as each is settled."""

import hashlib
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row

from mnemon.db.database import Connection, Database
from mnemon.documents.sources.places import SeenObject

AT_ONCE = 1_000
BETWEEN = """
SELECT object_key, mark, doc_id, content_hash, status FROM mnemon.source_objects
 WHERE tenant_id = mnemon.current_tenant() AND source_id = %(source)s AND object_key > %(after)s
   AND (%(last)s::text IS NULL OR object_key <= %(last)s) AND status <> 'purged'
 ORDER BY object_key LIMIT %(limit)s
"""
ACTIVE = """
SELECT count(*) AS count FROM mnemon.source_objects
 WHERE tenant_id = mnemon.current_tenant() AND source_id = %s AND status = 'active'
"""
PURGED = """
SELECT object_key FROM mnemon.source_objects
 WHERE tenant_id = mnemon.current_tenant() AND source_id = %s AND object_key = ANY(%s)
"""
NOTE = """
INSERT INTO mnemon.source_objects
       (tenant_id, source_id, object_key, mark, size_bytes, modified_at, doc_id, content_hash, status, error)
VALUES (mnemon.current_tenant(), %(source)s, %(key)s, %(mark)s, %(size)s, %(modified)s, %(doc)s, %(content_hash)s,
        %(status)s, %(error)s)
ON CONFLICT (tenant_id, source_id, object_key) DO UPDATE
   SET mark = excluded.mark, size_bytes = excluded.size_bytes, modified_at = excluded.modified_at,
       doc_id = coalesce(excluded.doc_id, source_objects.doc_id), content_hash = excluded.content_hash,
       status = excluded.status, error = excluded.error, synced_at = clock_timestamp()
"""
NOTE_GONE = """
UPDATE mnemon.source_objects SET status = 'deleted', error = NULL, synced_at = clock_timestamp()
 WHERE tenant_id = mnemon.current_tenant() AND source_id = %s AND object_key = %s
"""
FOLLOWED_ELSEWHERE = """
SELECT FROM mnemon.source_objects
 WHERE tenant_id = mnemon.current_tenant() AND doc_id = %s AND source_id <> %s AND status = 'active' LIMIT 1
"""
OF_DOCUMENT = """
SELECT source_id, object_key FROM mnemon.source_objects
 WHERE tenant_id = mnemon.current_tenant() AND doc_id = %s AND status <> 'purged'
"""
BLANK = """
UPDATE mnemon.source_objects
   SET object_key = %(digest)s, mark = '', content_hash = NULL, size_bytes = 0, modified_at = NULL, status = 'purged',
       error = NULL
 WHERE tenant_id = mnemon.current_tenant() AND source_id = %(source)s AND object_key = %(key)s
"""


@dataclass(frozen=True, slots=True)
class KnownObject:
    """A file that was seen before."""

    object_key: str
    mark: str
    doc_id: UUID | None
    # What was taken in when the mark was noted; none where that could not be.
    content_hash: str | None
    status: str


async def known_between(
    database: Database, tenant: UUID, source: UUID, after: str, last: str | None
) -> AsyncIterator[Sequence[KnownObject]]:
    """In pieces, each in a transaction of its own: however many there are, few are in memory."""
    while True:
        async with database.transaction(tenant) as tx:
            values = {"source": source, "after": after, "last": last, "limit": AT_ONCE}
            async with tx.cursor(row_factory=class_row(KnownObject)) as cursor:
                found = await (await cursor.execute(BETWEEN, values)).fetchall()
        yield found
        if len(found) < AT_ONCE:
            return
        after = found[-1].object_key


async def served_of(tx: Connection, source: UUID) -> int:
    """How many files were there at the last look."""
    row = await (await tx.execute(ACTIVE, (source,))).fetchone()
    assert row is not None
    return int(row["count"])


async def purged_among(tx: Connection, source: UUID, keys: Collection[str]) -> set[str]:
    """Those of these keys whose document was purged: they are not taken in again."""
    digests = {_digest(key): key for key in keys}
    rows = await (await tx.execute(PURGED, (source, list(digests)))).fetchall()
    return {digests[row["object_key"]] for row in rows}


async def note_object(
    tx: Connection, source: UUID, seen: SeenObject, status: str, *, doc_id: UUID | None = None,
    content_hash: str | None = None, error: str | None = None,
) -> None:  # fmt: skip
    values = {
        "source": source, "key": seen.key, "mark": seen.mark, "size": seen.size, "modified": seen.modified,
        "doc": doc_id, "content_hash": content_hash, "status": status, "error": error,
    }  # fmt: skip
    await tx.execute(NOTE, values)


async def note_gone(tx: Connection, source: UUID, key: str) -> None:
    await tx.execute(NOTE_GONE, (source, key))


async def is_followed_elsewhere(tx: Connection, source: UUID, doc_id: UUID) -> bool:
    """Whether another source has the file too: one that is within this one, say."""
    return await (await tx.execute(FOLLOWED_ELSEWHERE, (doc_id, source))).fetchone() is not None


async def forget_names(tx: Connection, doc_id: UUID, revisions: Sequence[UUID]) -> None:
    """With a purge: the name of the file goes too. Its digest stays, so that no look takes it in again."""
    for row in await (await tx.execute(OF_DOCUMENT, (doc_id,))).fetchall():
        key = row["object_key"]
        await tx.execute(BLANK, {"digest": _digest(key), "source": row["source_id"], "key": key})


def _digest(key: str) -> str:
    return "\x01" + hashlib.sha256(key.encode()).hexdigest()
