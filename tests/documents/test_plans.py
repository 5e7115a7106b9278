"""The statements that every upload and every list runs find their rows by an index, as the application's role."""

from typing import Any
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.documents import artifact_names, library, listing, runs
from mnemon.documents.access import Reader, read_as
from mnemon.documents.ingest import recording
from mnemon.documents.intake import settle, sweep
from mnemon.documents.states import DocumentStatus
from mnemon.ids import new_uuid

FILL = """
INSERT INTO mnemon.documents (tenant_id, doc_id, source_type, source_uri, title, owner, readers, created_at)
SELECT %(tenant)s::uuid, md5(%(salt)s || n)::uuid, 'upload', 'upload://' || n, 'Document ' || n, 'me', ARRAY['me'],
       now() - n * interval '1 minute'
  FROM generate_series(1, 5000) AS n;
INSERT INTO mnemon.document_revisions (tenant_id, doc_version_id, doc_id, version_number, content_hash, text_hash,
       extractor, media_type, size_bytes, char_count, is_active)
SELECT %(tenant)s::uuid, gen_random_uuid(), md5(%(salt)s || n)::uuid, 1, 'sha256:' || n, '', 'x', 'y', 1, 1, true
  FROM generate_series(1, 5000) AS n;
INSERT INTO mnemon.ingestion_runs (tenant_id, run_id, doc_id, run_type, initiated_by, config, created_at)
SELECT %(tenant)s::uuid, gen_random_uuid(), md5(%(salt)s || n)::uuid, 'manual_upload', 'me', '{}',
       now() - n * interval '1 minute'
  FROM generate_series(1, 5000) AS n
"""
ANY: dict[str, Any] = {"search": None, "tag": None, "source_type": None, "limit": 20, "offset": 0}
UID = {"own": None, "address": "artifact://uid_1", "first": "0" * 32, "last": "0" * 16 + "f" * 16}
RUNS: dict[str, Any] = {"everyones": False, "doc": None, "run_type": None, "limit": 20, "offset": 0}

STATEMENTS = [
    (settle.FIND, {"source_uri": "upload://17", "content_hash": "sha256:17"}, {"documents_by_source"}),
    (settle.OF_CONTENT, ("sha256:17", "upload://17"), {"document_revisions_by_content", "documents_pkey"}),
    (artifact_names.FIND, UID, {"documents_by_source", "documents_pkey"}),
    (recording.DOCUMENT, {"doc": new_uuid(), "revision": new_uuid()}, {"documents_pkey", "document_revisions_pkey"}),
    (listing.ACTIVE_PAGE, ANY | {"statuses": ["active"]}, {"documents_by_age"}),
    (listing.PAGE, ANY | {"statuses": ["active", "inactive"]}, {"documents_by_age"}),
    (library.ONE, (new_uuid(),), {"documents_pkey"}),
    (runs.PAGE, RUNS | {"status": None}, {"ingestion_runs_by_age", "documents_pkey"}),
    (runs.ONE, {"run": new_uuid(), "everyones": False}, {"ingestion_runs_pkey", "documents_pkey"}),
    (sweep.KNOWN_RUNS, ([new_uuid()],), {"ingestion_runs_pkey"}),
]


@pytest.fixture(scope="module")
async def large_tenant(database: Database) -> UUID:
    tenant = new_uuid()
    async with database.owner() as owner, owner.transaction():
        await owner.execute(
            "INSERT INTO mnemon.tenants (tenant_id, slug, name) VALUES (%s, %s, 'Large')", (tenant, f"l-{tenant.hex}")
        )
        for statement in FILL.split(";"):
            await owner.execute(statement, {"tenant": tenant, "salt": tenant.hex})
        await owner.execute("ANALYZE mnemon.documents, mnemon.document_revisions, mnemon.ingestion_runs")
    return tenant


@pytest.mark.parametrize(("statement", "values", "indexes"), STATEMENTS, ids=range(len(STATEMENTS)))
async def test_no_table_is_read_from_end_to_end(
    database: Database, large_tenant: UUID, statement: str, values: Any, indexes: set[str]
) -> None:
    async with database.transaction(large_tenant) as tx:
        found = await (await tx.execute("EXPLAIN (COSTS OFF) " + statement, values)).fetchall()
    plan = "\n".join(row["QUERY PLAN"] for row in found)
    assert "Seq Scan" not in plan, plan
    assert all(index in plan for index in indexes), plan


READ_WHOLE = (
    "SELECT sum(seq_scan) AS times FROM pg_stat_xact_user_tables WHERE relname IN ('documents', 'document_revisions')"
)


async def test_documents_are_found_by_a_part_of_their_names_without_reading_all_names(
    database: Database, large_tenant: UUID
) -> None:
    async with database.transaction(large_tenant) as tx:
        await read_as(tx, Reader("me"))
        few = await listing.list_documents(tx, search="cument 477")
        none = await listing.list_documents(tx, search="Dokument")
        row = await (await tx.execute(READ_WHOLE)).fetchone()
        many = await listing.list_documents(tx, search="document", page=2)
        one = await listing.list_documents(tx, search="D")
        short = await listing.list_documents(tx, search="77")
        everything = await listing.list_documents(tx, search="document", statuses=listing.ALL)
        unread = await listing.list_documents(tx, search="document", statuses=(DocumentStatus.UNREAD,))
        await read_as(tx, Reader("somebody else"))
        hidden = await listing.list_documents(tx, search="cument 477")
    assert row == {"times": 0}
    assert ([one.title for one in few.documents], few.total) == (
        ["Document 477", *(f"Document 477{n}" for n in range(10))], 11,
    )  # fmt: skip
    assert (none.total, hidden.total) == (0, 0)
    assert [one.title for one in many.documents] == [f"Document {n}" for n in range(21, 41)]
    for listed in (many, everything):
        assert (listed.total, listed.total_is_exact) == (listing.MOST_NAMED, False)
    assert (short.total, short.total_is_exact) == (sum("77" in str(n) for n in range(5001)), True)
    assert (one.total, one.total_is_exact) == (listing.MOST_NAMED, False)
    assert (unread.total, unread.total_is_exact) == (0, True)
