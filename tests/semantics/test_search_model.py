"""Claims about searches with any filters together: they find what the model finds, in its order, page by page."""

from typing import Any
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.documents.readers import Reader
from mnemon.semantics.query import EventFilters, event_search
from tests.semantics.search_model import Expected, World

SEARCHES = 120


async def everything(database: Database, tenant: UUID, reader: str, filters: EventFilters, limit: int) -> list[Any]:
    """All pages of a search, and what each page says of the whole."""
    found: list[Any] = []
    cursor = None
    while True:
        page = await event_search(
            database, tenant, Reader(reader), filters, limit=limit, cursor=cursor, include_evidence=False
        )
        found += page["events"]
        cursor = page["next_cursor"]
        if cursor is None:
            assert page["total"] == len(found)
            return found


@pytest.mark.parametrize("seed", range(3))
async def test_a_search_finds_what_the_model_finds(database: Database, tenant: UUID, seed: int) -> None:
    await compare(database, tenant, seed, SEARCHES)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 23))
async def test_many_searches_find_what_the_model_finds(database: Database, tenant: UUID, seed: int) -> None:
    await compare(database, tenant, seed, 5 * SEARCHES)


async def compare(database: Database, tenant: UUID, seed: int, searches: int) -> None:
    world = World(tenant, seed)
    async with database.owner() as owner:
        await world.store(owner)
    hits = 0
    for _ in range(searches):
        filters = world.filters()
        reader = world.chance.choice(["user:ada", "user:ben", "user:stranger"])
        expected = Expected(world, reader, filters)
        found = await everything(database, tenant, reader, filters, world.chance.choice([2, 5, 20]))
        stated = [(one["event_id"], one["status"]) for one in found]
        wanted = [(one.event_id, expected.status(one)) for one in expected.events]
        if filters.query is not None:
            stated, wanted = sorted(stated), sorted(wanted)
        assert stated == wanted, filters.applied()
        hits += bool(wanted)
    # Filters that find nothing prove nothing.
    assert hits > searches / 5
