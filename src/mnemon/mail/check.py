"""Consistency of mail: what the specification asks of messages, passages, vectors and bytes, and how it is mended."""

import asyncio
import hashlib
from collections.abc import Sequence
from io import BytesIO
from operator import itemgetter
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.documents.intake.files import Files
from mnemon.errors import NotFound
from mnemon.mail.archives.mbox import split_archive
from mnemon.mail.archives.ranges import ArchivedMessage
from mnemon.mail.outputs import CheckLine, MailChecked
from mnemon.mail.storing.blanking import enqueue_blanking
from mnemon.mail.storing.packs import Packs
from mnemon.mail.storing.passages import AT_ONCE, PASSAGES, MessagesToCut
from mnemon.work.enqueue import enqueue_many
from mnemon.work.model_jobs import enqueue_missing_vectors

_NO_ARCHIVE = "0" * 16
COUNTS = """
SELECT (SELECT count(*) FROM mnemon.mail_messages WHERE tenant_id = mnemon.current_tenant() AND purged_at IS NULL)
           AS messages,
       (SELECT count(*) FROM mnemon.mail_copies WHERE tenant_id = mnemon.current_tenant()) AS copies,
       (SELECT count(*) FROM mnemon.mail_threads WHERE tenant_id = mnemon.current_tenant()) AS threads
"""
# Of words that are the sender's own; a message that only quotes has no passage. Jobs under way will make theirs.
WITHOUT_CHUNKS = """
SELECT m.message_key AS name, m.doc_version_id AS revision FROM mnemon.mail_messages m
  JOIN mnemon.document_revisions r ON r.tenant_id = m.tenant_id AND r.doc_version_id = m.doc_version_id
 WHERE m.tenant_id = mnemon.current_tenant() AND m.purged_at IS NULL AND r.char_count > 0 AND r.chunk_count IS NULL
   AND NOT EXISTS (SELECT FROM mnemon.jobs j WHERE j.tenant_id = m.tenant_id AND j.kind = 'mail.passages'
                      AND j.status IN ('PENDING', 'PROCESSING')
                      AND j.payload -> 'revisions' ? m.doc_version_id::text)
 ORDER BY 1 LIMIT 10000
"""
WITHOUT_VECTORS = """
SELECT m.message_key AS name FROM mnemon.mail_messages m
  JOIN mnemon.chunks c ON c.tenant_id = m.tenant_id AND c.doc_version_id = m.doc_version_id
 WHERE m.tenant_id = mnemon.current_tenant()
   AND EXISTS (SELECT FROM mnemon.embedding_models e WHERE e.tenant_id = m.tenant_id AND e.state = 'active'
                  AND e.relation = 'mnemon.chunk_vectors')
   AND NOT EXISTS (SELECT FROM mnemon.chunk_vectors v WHERE v.tenant_id = c.tenant_id AND v.chunk_id = c.chunk_id)
 ORDER BY 1 LIMIT 10000
"""
ORPHANED_VECTORS = """
SELECT v.chunk_id::text AS name FROM mnemon.chunk_vectors v
 WHERE v.tenant_id = mnemon.current_tenant() AND NOT EXISTS (
       SELECT FROM mnemon.chunks c WHERE c.tenant_id = v.tenant_id AND c.chunk_id = v.chunk_id)
 ORDER BY 1 LIMIT 10000
"""
DROP_VECTORS = """
DELETE FROM mnemon.chunk_vectors v
 WHERE v.tenant_id = mnemon.current_tenant() AND NOT EXISTS (
       SELECT FROM mnemon.chunks c WHERE c.tenant_id = v.tenant_id AND c.chunk_id = v.chunk_id)
"""
WITHOUT_TEXT = """
SELECT m.message_key AS name FROM mnemon.mail_messages m
 WHERE m.tenant_id = mnemon.current_tenant() AND m.purged_at IS NULL AND NOT EXISTS (
       SELECT FROM mnemon.revision_texts t WHERE t.tenant_id = m.tenant_id AND t.doc_version_id = m.doc_version_id)
 ORDER BY 1 LIMIT 10000
"""
WITHOUT_THREAD = """
SELECT m.message_key AS name FROM mnemon.mail_messages m
 WHERE m.tenant_id = mnemon.current_tenant() AND m.purged_at IS NULL AND NOT EXISTS (
       SELECT FROM mnemon.mail_threads t WHERE t.tenant_id = m.tenant_id AND t.thread_key = m.thread_key)
 ORDER BY 1 LIMIT 10000
"""
MISCOUNTED = """
SELECT t.thread_key AS name FROM mnemon.mail_threads t
 WHERE t.tenant_id = mnemon.current_tenant() AND t.message_count <> (
       SELECT count(*) FROM mnemon.mail_messages m WHERE m.tenant_id = t.tenant_id AND m.thread_key = t.thread_key)
 ORDER BY 1 LIMIT 10000
"""
# Of copies that came after the purge, versions before this check kept the bytes.
UNBLANKED = """
SELECT c.archive_id || '@' || c.byte_offset AS name, c.archive_id, m.doc_id FROM mnemon.mail_copies c
  JOIN mnemon.mail_messages m ON m.tenant_id = c.tenant_id AND m.message_key = c.message_key
 WHERE c.tenant_id = mnemon.current_tenant() AND m.purged_at IS NOT NULL AND c.digest <> ''
 ORDER BY 1 LIMIT 10000
"""
WITHOUT_DIGEST = """
UPDATE mnemon.mail_copies c SET digest = '' FROM mnemon.mail_messages m
 WHERE c.tenant_id = mnemon.current_tenant() AND m.tenant_id = c.tenant_id AND m.message_key = c.message_key
   AND m.doc_id = ANY(%s)
"""
COPIES_OF = """
SELECT c.byte_offset, c.byte_length, c.digest FROM mnemon.mail_copies c
 WHERE c.tenant_id = mnemon.current_tenant() AND c.archive_id = %s AND c.digest <> ''
"""
ARCHIVES = "SELECT archive_id, start_offset FROM mnemon.mail_archives WHERE tenant_id = mnemon.current_tenant()"


async def check_mail(database: Database, files: Files, tenant: UUID, repair: bool) -> MailChecked:
    """Each check by itself; a repair queues what makes the missing again, or removes what belongs to nobody."""
    lines: list[CheckLine] = []
    async with database.transaction(tenant) as tx:
        counted = await (await tx.execute(COUNTS)).fetchone()
        assert counted is not None
        messages, threads = counted["messages"], counted["threads"]
        lines.append(await _rows(tx, "messages have their text", WITHOUT_TEXT, messages))
        uncut = await (await tx.execute(WITHOUT_CHUNKS)).fetchall()
        mended = await _cut_again(tx, [row["revision"] for row in uncut]) if repair else 0
        names = [row["name"] for row in uncut]
        lines.append(_line("messages have their passages", messages, names, mended))
        unembedded = await _rows(tx, "passages have vectors", WITHOUT_VECTORS, messages)
        if repair and unembedded.found:
            await enqueue_missing_vectors(tx)
            unembedded = unembedded.model_copy(update={"repaired": unembedded.found})
        lines.append(unembedded)
        orphans = await _rows(tx, "vectors belong to passages", ORPHANED_VECTORS, messages)
        if repair and orphans.found:
            dropped = (await tx.execute(DROP_VECTORS)).rowcount
            orphans = orphans.model_copy(update={"repaired": dropped})
        lines.append(orphans)
        lines.append(await _rows(tx, "messages are in threads", WITHOUT_THREAD, messages))
        lines.append(await _rows(tx, "threads count their messages", MISCOUNTED, threads))
        lines.append(await _purged(tx, messages, repair))
    lines.append(await _bytes(database, files, tenant))
    return MailChecked(holds=all(one.found == one.repaired for one in lines), checks=lines)


async def _rows(tx: Connection, check: str, statement: str, looked_at: int) -> CheckLine:
    rows = await (await tx.execute(statement)).fetchall()
    return _line(check, looked_at, [row["name"] for row in rows], 0)


def _line(check: str, looked_at: int, found: Sequence[str], repaired: int) -> CheckLine:
    return CheckLine(check=check, looked_at=looked_at, found=len(found), repaired=repaired, examples=list(found[:5]))


async def _purged(tx: Connection, looked_at: int, repair: bool) -> CheckLine:
    rows = await (await tx.execute(UNBLANKED)).fetchall()
    if repair and rows:
        for doc_id, archive in {(row["doc_id"], row["archive_id"]) for row in rows}:
            await enqueue_blanking(tx, doc_id, archive)
        await tx.execute(WITHOUT_DIGEST, ([row["doc_id"] for row in rows],))
    names = [row["name"] for row in rows]
    return _line("purged messages are gone from archives", looked_at, names, len(rows) if repair else 0)


async def _cut_again(tx: Connection, revisions: Sequence[UUID]) -> int:
    parts = [list(revisions[at : at + AT_ONCE]) for at in range(0, len(revisions), AT_ONCE)]
    payloads = [MessagesToCut(archive_id=_NO_ARCHIVE, import_id=UUID(int=0), revisions=one) for one in parts]
    if payloads:
        await enqueue_many(tx, PASSAGES, payloads)
    return len(revisions)


async def _bytes(database: Database, files: Files, tenant: UUID) -> CheckLine:
    """Every message that the archives hold is stored, and every stored copy is still what was read."""
    packs, looked_at, wrong = Packs(files), 0, []
    async with database.transaction(tenant) as tx:
        archives = await (await tx.execute(ARCHIVES)).fetchall()
    for row in archives:
        async with database.transaction(tenant) as tx:
            stored = await (await tx.execute(COPIES_OF, (row["archive_id"],))).fetchall()
        looked_at += len(stored)
        try:
            found = await asyncio.to_thread(_digests, packs, tenant, row["archive_id"], row["start_offset"])
        except NotFound:
            wrong.append(f"{row['archive_id']}: its bytes are gone")
            continue
        unlike = [one for one in stored if found.get(one["byte_offset"]) != one["digest"]]
        for one in sorted(unlike, key=itemgetter("byte_offset")):
            alone = await asyncio.to_thread(_alone, packs, tenant, row["archive_id"], row["start_offset"], one)
            if alone != one["digest"]:
                wrong.append(f"{row['archive_id']}@{one['byte_offset']}")
    return _line("archives hold what was read", looked_at, wrong, 0)


def _digests(packs: Packs, tenant: UUID, archive: str, start: int) -> dict[int, str]:
    return {
        one.offset: hashlib.sha256(one.content).hexdigest()
        for one in packs.ranges(tenant, archive, start, start)
        if isinstance(one, ArchivedMessage)
    }


def _alone(packs: Packs, tenant: UUID, archive: str, start: int, copy: dict[str, Any]) -> str | None:
    """Of one message: where its neighbour was overwritten, the line that parts them is gone too."""
    content = BytesIO(packs.read(tenant, archive, copy["byte_offset"] - start, copy["byte_length"]))
    first = next(split_archive(content), None)
    return hashlib.sha256(first.content).hexdigest() if isinstance(first, ArchivedMessage) else None
