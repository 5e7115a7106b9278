"""Claims about searches with any filters together: they find what the model finds, in its order, page by page."""

from collections import Counter
from datetime import date
from typing import Any
from uuid import UUID

import pytest

from mnemon.db.database import Database
from mnemon.documents.access import Reader
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.search.query import event_search
from mnemon.semantics.search.views import open_commitments, people_topics
from tests.semantics.search_model import Expected, Said, World

SEARCHES = 40


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
    await compare(database, tenant, seed, 15 * SEARCHES)


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


@pytest.mark.parametrize("seed", range(3))
async def test_the_views_show_what_the_model_shows_page_by_page(database: Database, tenant: UUID, seed: int) -> None:
    world = World(tenant, seed, documents=30)
    async with database.owner() as owner:
        await world.store(owner)
    for reader in ("user:ada", "user:stranger"):
        served = Expected(world, reader, EventFilters()).events
        for name in (None, "Ada", "ada byron"):
            mine = [
                one
                for one in served
                if name is None or name.lower() in (one.person.lower(), *one.person.lower().split())
            ]
            expected = Expected(world, reader, EventFilters(category="Commitment", status="open")).events
            promises = sorted(
                (one for one in expected if one in mine),
                key=lambda one: (one.due or date.max, one.happened_at, one.event_id),
            )
            shown = await pages(open_commitments, "commitments", database, tenant, Reader(reader), owner=name, limit=3)
            assert [one["event_id"] for one in shown] == [one.event_id for one in promises]
            pairs = await pages(people_topics, "people", database, tenant, Reader(reader), person=name, limit=4)
            counts = Counter((one.person, one.subject) for one in mine)
            assert {(one["person"], one["topic"]): one["events"] for one in pairs} == counts
            assert [one["events"] for one in pairs] == sorted(counts.values(), reverse=True)
            for pair in pairs:
                own = [one for one in mine if (one.person, one.subject) == (pair["person"], pair["topic"])]
                assert pair["event_ids"] == [one.event_id for one in sorted(own, key=newest)][:5]
                assert pair["categories"] == sorted({one.category for one in own})


async def pages(view: Any, items: str, *place: Any, **asked: Any) -> list[Any]:
    page = await view(*place, **asked)
    shown = page[items]
    while page["next_cursor"]:
        page = await view(*place, cursor=page["next_cursor"], **asked)
        shown += page[items]
    assert page["total"] == len(shown)
    return list(shown)


def newest(event: Said) -> tuple[float, str]:
    return (-event.happened_at.timestamp(), event.event_id)
