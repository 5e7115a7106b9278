"""Locks on documents are asked for one after another, in an order that all who lock several share."""

import asyncio
from uuid import UUID

from mnemon.db.database import Database
from mnemon.documents.intake.locks import (
    lock_document,
    lock_document_and_blob,
    lock_document_and_linking,
    lock_documents,
    lock_linking,
)
from mnemon.ids import new_uuid
from tests.patience import PATIENCE
from tests.work.conftest import Eventually

HELD = "SELECT count(*) AS held FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid()"
FREE = "SELECT pg_try_advisory_xact_lock(hashtextextended(%s || ' of ' || mnemon.current_tenant(), 0)) AS free"


async def test_each_of_several_documents_is_locked_once(database: Database, tenant: UUID) -> None:
    one, two, three = (new_uuid() for _ in range(3))
    async with database.transaction(tenant) as tx:
        before = await (await tx.execute(HELD)).fetchone()
        await lock_documents(tx, [two, one, two])
        after = await (await tx.execute(HELD)).fetchone()
        assert before and after and after["held"] == before["held"] + 2
        assert not await _is_free(database, tenant, f"document {one}")
        assert await _is_free(database, tenant, f"document {three}")
    assert await _is_free(database, tenant, f"document {one}")


async def test_what_is_locked_with_a_document_is_locked_too(database: Database, tenant: UUID) -> None:
    doc_id = new_uuid()
    async with database.transaction(tenant) as tx:
        await lock_document_and_blob(tx, doc_id, "sha256:1")
        for name, free in ((f"document {doc_id}", False), ("blob sha256:1", False), ("links", True)):
            assert await _is_free(database, tenant, name) is free
    async with database.transaction(tenant) as tx:
        await lock_document_and_linking(tx, doc_id)
        for name, free in ((f"document {doc_id}", False), ("links", False)):
            assert await _is_free(database, tenant, name) is free


async def test_nothing_is_locked_before_what_comes_first(
    database: Database, tenant: UUID, eventually: Eventually
) -> None:
    """Who waits for the document does not keep others from linking."""
    doc_id = new_uuid()

    async def lock_both() -> None:
        async with database.transaction(tenant) as tx:
            await lock_document_and_linking(tx, doc_id)

    async with database.transaction(tenant) as tx:
        await lock_document(tx, doc_id)
        waiting = asyncio.create_task(lock_both())
        await eventually(lambda: _somebody_waits(database))
        await lock_linking(tx)
    async with asyncio.timeout(PATIENCE):
        await waiting


async def _is_free(database: Database, tenant: UUID, name: str) -> bool:
    async with database.transaction(tenant) as tx:
        row = await (await tx.execute(FREE, (name,))).fetchone()
    return bool(row and row["free"])


async def _somebody_waits(database: Database) -> bool:
    async with database.session() as session:
        waiting = await session.execute("SELECT pid FROM pg_locks WHERE NOT granted AND locktype = 'advisory'")
        return await waiting.fetchone() is not None
