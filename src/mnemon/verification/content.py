"""Files against their names, texts against their hashes, chunks against their texts.

Each word of a file is in a chunk. Of a mail, which has no file, what its writer quotes is in none.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from mnemon.verification.findings import NIGHTS, CheckReport, VerifyTask

FILES = """
SELECT content_hash, min(doc_version_id::text) AS revision FROM mnemon.document_revisions
 WHERE tenant_id = %(tenant)s AND purged_at IS NULL AND content_hash > %(after)s AND content_hash LIKE 'sha256:%%'
   AND (%(number)s::int IS NULL OR created_at > %(since)s
        OR abs(hashtextextended(content_hash, 0) %% %(nights)s) = %(number)s)
 GROUP BY content_hash ORDER BY content_hash LIMIT 200
"""
# In one statement per page, in the database: texts do not travel. But for long ones, since to find a place in a text
# the database goes through it from its beginning, each time.
LONG = 50_000
TEXTS = f"""
SELECT r.doc_version_id, t.doc_version_id IS NULL AS missing, octet_length(t.text) > {LONG} AS long,
       r.content_hash LIKE 'sha256:%%' AS whole,
       'sha256:' || encode(sha256(convert_to(t.text, 'UTF8')), 'hex') = r.text_hash AS same,
       CASE WHEN octet_length(t.text) <= {LONG} THEN (
           SELECT count(*) FROM mnemon.chunks c
            WHERE c.tenant_id = r.tenant_id AND c.doc_version_id = r.doc_version_id
              AND c.text IS DISTINCT FROM substr(t.text, c.start_offset + 1, c.end_offset - c.start_offset))
       END AS changed,
       CASE WHEN octet_length(t.text) <= {LONG} THEN (
           SELECT array_agg(substr(t.text, gap.upto + 1, gap.start - gap.upto))
             FROM (SELECT place.start, coalesce(max(place.stop) OVER (
                              ORDER BY place.start, place.stop ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                          ), 0) AS upto
                     FROM (SELECT c.start_offset, c.end_offset FROM mnemon.chunks c
                            WHERE c.tenant_id = r.tenant_id AND c.doc_version_id = r.doc_version_id
                           UNION ALL SELECT length(t.text), length(t.text)) AS place (start, stop)) AS gap
            WHERE gap.start > gap.upto)
       END AS left_out,
       (SELECT count(*) FROM mnemon.chunks c
         WHERE c.tenant_id = r.tenant_id AND c.doc_version_id = r.doc_version_id) AS chunks,
       (SELECT count(*) FROM mnemon.chunks c
         WHERE c.tenant_id = r.tenant_id AND c.doc_version_id = r.doc_version_id
           AND (c.doc_id, c.active) IS DISTINCT FROM (r.doc_id, r.is_active)) AS strayed,
       r.chunk_count
  FROM mnemon.document_revisions r
  LEFT JOIN mnemon.revision_texts t ON t.tenant_id = r.tenant_id AND t.doc_version_id = r.doc_version_id
 WHERE r.tenant_id = %(tenant)s AND r.purged_at IS NULL AND r.doc_version_id > %(after)s
   AND (%(number)s::int IS NULL OR r.created_at > %(since)s
        OR abs(hashtextextended(r.doc_version_id::text, 0) %% %(nights)s) = %(number)s)
 ORDER BY r.doc_version_id LIMIT 50
"""
STRAYS = """
SELECT doc_version_id FROM mnemon.revision_texts t WHERE tenant_id = %(tenant)s AND NOT EXISTS (
    SELECT FROM mnemon.document_revisions r WHERE r.tenant_id = t.tenant_id AND r.doc_version_id = t.doc_version_id)
UNION
SELECT DISTINCT doc_version_id FROM mnemon.chunks c WHERE tenant_id = %(tenant)s AND NOT EXISTS (
    SELECT FROM mnemon.document_revisions r WHERE r.tenant_id = c.tenant_id AND r.doc_version_id = c.doc_version_id)
"""


# In one statement, so that nothing is purged or made anew between the text and its passages. The text is first.
PASSAGES = """
SELECT -1 AS start_offset, 0 AS end_offset, text FROM mnemon.revision_texts
 WHERE tenant_id = %(tenant)s AND doc_version_id = %(revision)s
 UNION ALL
SELECT start_offset, end_offset, text FROM mnemon.chunks
 WHERE tenant_id = %(tenant)s AND doc_version_id = %(revision)s
 ORDER BY start_offset, end_offset
"""


async def check_content(task: VerifyTask, report: CheckReport) -> None:
    async for row in _pages(task, FILES, "content_hash", ""):
        report.checked += 1
        await _check_file(task, report, row["content_hash"], row["revision"])
    async for row in _pages(task, TEXTS, "doc_version_id", UUID(int=0)):
        report.checked += 1
        if row["long"]:
            row |= await _compared(task, row["doc_version_id"])
        _check_text(report, row)
    async with task.parts.database.transaction(task.tenant) as tx:
        for row in await (await tx.execute(STRAYS, {"tenant": task.tenant})).fetchall():
            report.find(f"revision {row['doc_version_id']}", "There is text of a revision that the log does not know.")


async def _check_file(task: VerifyTask, report: CheckReport, content_hash: str, revision: str) -> None:
    files = task.parts.files
    blob = await asyncio.to_thread(files.fetched_blob, task.tenant, content_hash)
    if not await asyncio.to_thread(blob.exists):
        report.find(f"file {content_hash}", f"The file of revision {revision} is missing.")
    elif not await asyncio.to_thread(files.is_intact, blob):
        report.find(f"file {content_hash}", f"The file of revision {revision} was changed.")


async def _compared(task: VerifyTask, revision: UUID) -> dict[str, Any]:
    """How many passages of a long text are not what it says there, and what of it is in none."""
    changed, left_out, upto, text = 0, [], 0, ""
    async with task.parts.database.transaction(task.tenant) as tx, tx.cursor(name="passages") as cursor:
        await cursor.execute(PASSAGES, {"tenant": task.tenant, "revision": revision})
        async for row in cursor:
            start, end = row["start_offset"], row["end_offset"]
            if start < 0:
                text = row["text"]
                continue
            changed += text[start:end] != row["text"]
            left_out.append(text[upto:start])
            upto = max(upto, end)
    return {"changed": changed, "left_out": [*left_out, text[upto:]]}


def _check_text(report: CheckReport, row: dict[str, Any]) -> None:
    where = f"revision {row['doc_version_id']}"
    if row["missing"]:
        report.find(where, "Its text is missing.")
    elif not row["same"]:
        report.find(where, "Its text is not the one that was hashed when it was read.")
    elif row["changed"]:
        report.find(where, f"{row['changed']} of its chunks are not what its text says there.")
    if row["whole"] and any(one and not one.isspace() for one in row["left_out"] or ()):
        report.find(where, "Words of it are in none of its chunks: no search finds them.")
    if row["strayed"]:
        report.find(where, f"{row['strayed']} of its chunks are not the document's, or not searched as it is.")
    if row["chunk_count"] is not None and row["chunk_count"] != row["chunks"]:
        report.find(where, f"It has {row['chunks']} chunks where {row['chunk_count']} were made.")


async def _pages(task: VerifyTask, statement: str, key: str, after: Any) -> AsyncIterator[dict[str, Any]]:
    portion = task.portion
    values = {
        "tenant": task.tenant,
        "number": portion.number if portion else None,
        "since": portion.since if portion else None,
        "nights": NIGHTS,
    }
    while True:
        async with task.parts.database.transaction(task.tenant) as tx:
            rows = await (await tx.execute(statement, values | {"after": after})).fetchall()
        for row in rows:
            yield row
        if not rows:
            return
        after = rows[-1][key]
