"""Texts that are embedded in bulk take turns: a small file does not wait for a large one's end."""

import asyncio
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from mnemon.models.bulk_line import BulkLine, BulkSlice, in_turn
from mnemon.models.local import LocalEmbedder

CHUNK = "The committee decided to postpone the migration until the audit is over."


def join(line: BulkLine, tenant: UUID, document: UUID | None, *names: str) -> list[BulkSlice]:
    slices = [BulkSlice([name]) for name in names]
    with in_turn(tenant, document):
        line.join(slices)
    return slices


def everything(line: BulkLine) -> list[str]:
    taken = []
    while one := line.take():
        taken += one.texts
    return taken


def test_tenants_take_turns_whatever_the_length_of_their_lines() -> None:
    line, large, small = BulkLine(), uuid4(), uuid4()
    join(line, large, uuid4(), "l1", "l2", "l3", "l4")
    join(line, small, uuid4(), "s1", "s2")
    assert everything(line) == ["l1", "s1", "l2", "s2", "l3", "l4"]


def test_the_documents_of_a_tenant_share_its_turns() -> None:
    line, one, other = BulkLine(), uuid4(), uuid4()
    join(line, one, uuid4(), "a1", "a2")
    join(line, one, uuid4(), "b1")
    join(line, one, None, "c1")
    join(line, other, uuid4(), "x1", "x2")
    assert everything(line) == ["a1", "x1", "b1", "x2", "c1", "a2"]


def test_the_same_document_has_one_line() -> None:
    line, tenant, document = BulkLine(), uuid4(), uuid4()
    join(line, tenant, document, "a1", "a2")
    join(line, tenant, uuid4(), "b1")
    join(line, tenant, document, "a3")
    assert everything(line) == ["a1", "b1", "a2", "a3"]


def test_who_gave_up_is_passed_over() -> None:
    line, tenant = BulkLine(), uuid4()
    first, _ = join(line, tenant, uuid4(), "a1", "a2")
    first.vectors.cancel()
    assert everything(line) == ["a2"]


async def test_a_small_file_is_embedded_while_a_large_one_of_another_tenant_is(embedder: LocalEmbedder) -> None:
    async def embed(tenant: UUID, count: int) -> None:
        with in_turn(tenant, uuid4()):
            await embedder.embed([CHUNK] * count)

    large = asyncio.create_task(embed(uuid4(), 200))
    await asyncio.sleep(0)
    await asyncio.wait_for(embed(uuid4(), 2), 300)
    assert not large.done()
    large.cancel()
    await asyncio.gather(large, return_exceptions=True)


async def test_closing_ends_the_waits_of_who_stands_in_line(model_home: Path) -> None:
    opened = LocalEmbedder(model_home)
    waiting = asyncio.create_task(opened.embed([CHUNK] * 500))
    await asyncio.sleep(0)
    await opened.close()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(waiting, 300)
