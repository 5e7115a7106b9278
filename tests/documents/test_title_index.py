"""Titles stand once in the index of letters, and go with the last document that has them."""

import asyncio
from uuid import UUID

import pytest

from mnemon.db.database import Connection, Database
from mnemon.documents import listing
from mnemon.documents.access import Reader, read_as
from mnemon.ids import new_uuid
from tests.work.conftest import Eventually

ADD = """
INSERT INTO mnemon.documents (tenant_id, doc_id, source_type, source_uri, title, tags)
SELECT %(tenant)s, gen_random_uuid(), 'upload', gen_random_uuid()::text, title, %(tags)s
  FROM unnest(%(titles)s::text[]) AS title
"""
TITLES = "SELECT title FROM mnemon.document_titles WHERE tenant_id = %s ORDER BY title"
RENAME = "UPDATE mnemon.documents SET title = %s WHERE tenant_id = %s AND title = %s"
REMOVE = "DELETE FROM mnemon.documents WHERE tenant_id = %s AND title = ANY(%s)"


async def add(connection: Connection, tenant: UUID, *titles: str, tags: tuple[str, ...] = ()) -> None:
    await connection.execute(ADD, {"tenant": tenant, "titles": list(titles), "tags": list(tags)})


async def titles_in(database: Database, tenant: UUID) -> list[str]:
    async with database.owner() as owner:
        return [row["title"] for row in await (await owner.execute(TITLES, (tenant,))).fetchall()]


async def found(database: Database, tenant: UUID, words: str) -> int:
    async with database.transaction(tenant) as tx:
        await read_as(tx, Reader("me"))
        rows = await (await tx.execute(listing.NAMED, (words, 1_000, False))).fetchall()
        newest = await (await tx.execute(listing.NAMED, (words, 1_000, True))).fetchall()
    assert {row["doc_id"] for row in rows} == {row["doc_id"] for row in newest}
    return len(rows)


async def test_documents_of_one_title_are_all_found_by_it(database: Database, tenant: UUID) -> None:
    async with database.transaction(tenant) as tx:
        await add(tx, tenant, "Re: Plan", "Re: Plan", "Minutes")
        await add(tx, tenant, "Re: Plan")
    assert await titles_in(database, tenant) == ["Minutes", "Re: Plan"]
    assert await found(database, tenant, "plan") == 3
    assert await found(database, tenant, "re: minutes") == 0


async def test_a_tag_finds_its_document_once(database: Database, tenant: UUID) -> None:
    async with database.transaction(tenant) as tx:
        await add(tx, tenant, "Budget of the board", tags=("board",))
        await add(tx, tenant, "Travel")
    assert await found(database, tenant, "board") == 1
    assert await found(database, tenant, "oar") == 1


async def test_a_title_goes_with_the_last_document_that_has_it(database: Database, tenant: UUID) -> None:
    async with database.transaction(tenant) as tx:
        await add(tx, tenant, "Plan", "Plan", "Minutes")
        await tx.execute(RENAME, ("Notes", tenant, "Minutes"))
    assert await titles_in(database, tenant) == ["Notes", "Plan"]
    assert await found(database, tenant, "notes") == 1
    async with database.transaction(tenant) as tx:
        await tx.execute(REMOVE, (tenant, ["Plan"]))
    assert await titles_in(database, tenant) == ["Notes"]


async def test_what_is_the_same_title_to_two_tenants_is_each_ones_own(database: Database, tenant: UUID) -> None:
    other = new_uuid()
    async with database.owner() as owner:
        await add(owner, tenant, "Plan")
        await add(owner, other, "Plan")
        await owner.execute(REMOVE, (other, ["Plan"]))
    assert await titles_in(database, tenant) == ["Plan"]
    assert await titles_in(database, other) == []


async def test_the_application_role_cannot_read_titles(database: Database, tenant: UUID) -> None:
    async with database.transaction(tenant) as tx:
        with pytest.raises(Exception, match="permission denied"):
            await tx.execute(TITLES, (tenant,))


async def test_a_title_that_somebody_brings_just_now_is_not_dropped(
    database: Database, tenant: UUID, eventually: Eventually
) -> None:
    async with database.transaction(tenant) as tx:
        await add(tx, tenant, "Plan")
    brought = asyncio.Event()

    async def remove() -> None:
        await brought.wait()
        async with database.transaction(tenant) as tx:
            # The first one alone: the other is not seen before its commit.
            await tx.execute(REMOVE, (tenant, ["Plan"]))

    removing = asyncio.create_task(remove())
    async with database.transaction(tenant) as tx:
        await add(tx, tenant, "Plan")
        brought.set()
        await eventually(lambda: _waits(database))
    await removing
    assert await titles_in(database, tenant) == ["Plan"]
    assert await found(database, tenant, "plan") == 1


async def _waits(database: Database) -> bool:
    async with database.session() as session:
        waiting = await session.execute("SELECT pid FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'")
        return await waiting.fetchone() is not None
