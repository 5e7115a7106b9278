"""The lens: keeps tables and graph of memory objects up to date, in the transaction of the append."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from psycopg.types.json import Jsonb

from mnemon.db.database import Connection
from mnemon.errors import Conflict, InvalidRequest
from mnemon.log.events import MAIN, Event
from mnemon.log.moments import written
from mnemon.log.project.lens import Lens, Tables
from mnemon.log.read.pattern import Pattern
from mnemon.memory.errors import BranchClosed
from mnemon.memory.events import LENS_TYPES
from mnemon.memory.fold import Change, Key, from_json, key_of
from mnemon.memory.objects import MemoryObject, Place
from mnemon.memory.projection import ObjectRow, Projection, branch_row
from mnemon.memory.views import REAL, find_in, object_of, view_in

NAME = "memory"
# Each of these is a step of its own, since what follows reads what it wrote.
ALONE = frozenset({"branch.created", "branch.merged", "branch.abandoned", "restored", "shared", "snapshot.compacted"})

# Changes that are written together: few enough that their rows fit into the socket, and the thread is free at once.
PART = 50

OWN = """
SELECT c.* FROM unnest(%(worlds)s::uuid[], %(branches)s::text[], %(ids)s::uuid[]) AS wanted (world_id, branch, emo_id)
  JOIN {emo_current} c ON c.tenant_id = %(tenant)s AND c.world_id = wanted.world_id AND c.branch = wanted.branch
   AND c.emo_id = wanted.emo_id
"""
BRANCH = "SELECT * FROM {emo_branches} WHERE tenant_id = %s AND world_id = %s AND branch = %s"
# A change in the branch that the merge did not see.
UNSEEN = """
SELECT FROM {emo_history} WHERE tenant_id = %s AND world_id = %s AND branch = %s AND since > %s LIMIT 1
"""
# A version whose content is only in the log cannot be seen by a branch.
COMPACTED = """
SELECT FROM unnest(%(branches)s::text[], %(bounds)s::bigint[]) AS line (branch, bound)
  JOIN {emo_history} h ON h.tenant_id = %(tenant)s AND h.world_id = %(world)s AND h.branch = line.branch
 WHERE h.compacted_by IS NOT NULL AND h.since <= line.bound AND h.until > line.bound LIMIT 1
"""
PROJECT = "SELECT mnemon.project_memory(%s)"
PROJECT_INTO_COPIES = "SELECT mnemon.project_memory_copies(%s)"


async def project(connection: Connection, events: Sequence[Event], tables: Tables) -> None:
    tenant = events[0].tenant_id
    for run in _runs([Change.of(event) for event in events]):
        if run[0].operation.startswith("branch."):
            await _write(connection, {"emo_branches": [await _branch(connection, tenant, run[0], tables)]}, tables)
        else:
            await _project_objects(connection, run, await _states(connection, tenant, run, tables), tables)


LENS = Lens(
    name=NAME,
    tables=tuple(REAL.values()),
    apply=project,
    lifecycle="inline",
    pattern=Pattern(types=LENS_TYPES),
    exchange="mnemon.exchange_memory",
    # Made by the database from the content.
    unhashed=frozenset({"words"}),
)


def _runs(changes: Sequence[Change]) -> Iterator[list[Change]]:
    run: list[Change] = []
    for change in changes:
        if change.operation in ALONE:
            if run:
                yield run
            yield [change]
            run = []
        else:
            run.append(change)
    if run:
        yield run


async def _project_objects(
    connection: Connection, run: Sequence[Change], states: dict[Key, MemoryObject], tables: Tables
) -> None:
    """Part by part: while the database writes one, the next is worked out."""
    writing: asyncio.Future[None] | None = None
    try:
        for start in range(0, len(run), PART):
            projection = Projection(states)
            for change in run[start : start + PART]:
                projection.add(change)
            if writing is not None:
                await writing
            writing = asyncio.ensure_future(_write(connection, projection.rows, tables))
            # It is on its way to the database before the next part keeps this thread busy.
            await asyncio.sleep(0)
    finally:
        if writing is not None:
            await writing


async def _write(connection: Connection, rows: dict[str, list[ObjectRow]], tables: Tables) -> None:
    real = tables["emo_current"] == REAL["emo_current"]
    await connection.execute(PROJECT if real else PROJECT_INTO_COPIES, (Jsonb(rows, dumps=orjson.dumps),))


async def _states(
    connection: Connection, tenant: Any, run: Sequence[Change], tables: Tables
) -> dict[Key, MemoryObject]:
    """Each object as its branch sees it: its own state, or the one it has in the parent at the fork."""
    keys = list(dict.fromkeys(change.key for change in run))
    values = {
        "tenant": tenant,
        "worlds": [world_id for world_id, _, _ in keys],
        "branches": [branch for _, branch, _ in keys],
        "ids": [emo_id for _, _, emo_id in keys],
    }
    rows = await (await connection.execute(OWN.format(**tables), values)).fetchall()
    found = {key_of(one.place, one.emo_id): one for one in map(from_json, rows)}
    for place in {change.place for change in run if change.place.branch != MAIN}:
        view = await view_in(connection, tenant, place, tables=tables)
        view.refuse_changes_if_closed()
        absent = {change.emo_id for change in run if change.place == place and change.key not in found}
        seen = await find_in(connection, view, sorted(absent), tables)
        found |= {key_of(place, emo_id): object_of(row) for emo_id, row in seen.items()}
    return found


async def _branch(connection: Connection, tenant: Any, change: Change, tables: Tables) -> ObjectRow:
    place = change.place
    values = (tenant, place.world_id, place.branch)
    row = await (await connection.execute(BRANCH.format(**tables), values)).fetchone()
    if change.operation == "branch.created":
        if row is not None:
            raise Conflict(f"There is a branch {place.branch} already: choose another name.", branch=place.branch)
        await _check_beginning(connection, tenant, change, tables)
        return branch_row(change, None)
    if row is None or row["status"] != "open":
        raise BranchClosed(f"The branch {place.branch} is not open.", branch=place.branch)
    if change.operation == "branch.merged":
        unseen = await connection.execute(UNSEEN.format(**tables), (*values, change.data["seen_sequence"]))
        if await unseen.fetchone() is not None:
            raise Conflict(f"{place.branch} was changed while it was merged: merge again.", branch=place.branch)
    return branch_row(change, _plain(row))


async def _check_beginning(connection: Connection, tenant: Any, change: Change, tables: Tables) -> None:
    """The parent is there, and so is all that the branch is to see of it: here, no compaction can come in between."""
    parent = Place(change.place.world_id, change.data["parent"])
    fork = change.data.get("fork_sequence")
    view = await view_in(connection, tenant, parent, fork, tables)
    if fork is None:
        return
    if await (await connection.execute(COMPACTED.format(**tables), view.values)).fetchone() is not None:
        raise InvalidRequest(
            "Some of what was there at that point has been compacted: begin the branch at a later point.", at=fork
        )


def _plain(row: dict[str, Any]) -> ObjectRow:
    return {
        name: written(value)
        if name.endswith("_at") and value is not None
        else str(value)
        if name == "world_id"
        else value
        for name, value in row.items()
        if name != "tenant_id"
    }
