"""Twenty writers of one object: exactly one wins each version, and the others are told which it is."""

import asyncio
from uuid import UUID

from mnemon.db.database import Database
from mnemon.log.project.projector import Projector
from mnemon.log.store import EventLog
from mnemon.memory.changing.changes import Changed
from mnemon.memory.errors import MemoryConflict
from mnemon.memory.gateway import Memory
from mnemon.memory.lens import LENS
from mnemon.memory.objects import Place
from tests.memory.conftest import ADA

WRITERS = 20


def another_process(database: Database) -> Memory:
    log = EventLog(database)
    projector = Projector(log)
    projector.add(LENS)
    return Memory(log, projector)


async def test_one_of_twenty_writers_wins_each_version(
    memory: Memory, database: Database, tenant: UUID, place: Place
) -> None:
    other = another_process(database)
    emo_id = (await memory.changes.create(tenant, place, ADA, content="0")).object.emo_id
    for version in range(1, 6):

        async def write(number: int, version: int = version) -> Changed | MemoryConflict:
            door = memory if number % 2 else other
            try:
                return await door.changes.update(
                    tenant, place, ADA, emo_id, content=f"{version} by {number}", expected_version=version
                )
            except MemoryConflict as refusal:
                return refusal

        outcomes = await asyncio.gather(*(write(number) for number in range(WRITERS)))
        won = [one for one in outcomes if isinstance(one, Changed)]
        assert len(won) == 1
        assert all(one.details["current_version"] == version + 1 for one in outcomes if isinstance(one, MemoryConflict))
        found = (await memory.reading.get(tenant, place, emo_id)).object
        assert (found.content, found.emo_version) == (won[0].object.content, version + 1)
    assert (await memory.replay.verify(tenant)).same
    await other.log.close()


async def test_writers_without_an_expectation_all_get_through(memory: Memory, tenant: UUID, place: Place) -> None:
    emo_id = (await memory.changes.create(tenant, place, ADA, content="0")).object.emo_id
    done = await asyncio.gather(
        *(memory.changes.set_facet(tenant, place, ADA, emo_id, f"f{number}", "x") for number in range(4))
    )
    assert sorted(one.object.emo_version for one in done) == [2, 3, 4, 5]
    assert len((await memory.reading.get(tenant, place, emo_id)).object.facets) == 4


async def test_many_objects_are_created_at_once(memory: Memory, tenant: UUID, place: Place) -> None:
    await asyncio.gather(*(memory.changes.create(tenant, place, ADA, content=str(n)) for n in range(60)))
    assert await memory.reading.count(tenant, place) == 60
    assert (await memory.replay.verify(tenant)).same
