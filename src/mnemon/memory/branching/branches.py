"""Branches: begun from any point in time at no cost, worked in apart, and abandoned or merged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.errors import InvalidRequest
from mnemon.log.events import MAIN, EntityReference, NewEvent, Source
from mnemon.log.store import EventLog
from mnemon.memory.changing.change_events import Author
from mnemon.memory.changing.drafts import check_characters
from mnemon.memory.errors import BranchClosed, BranchNotFound
from mnemon.memory.events import BRANCH_ABANDONED, BRANCH_CREATED, BRANCH_ENTITY
from mnemon.memory.objects import Place
from mnemon.memory.reading import AsOf, Reading, read_version
from mnemon.memory.views import view_in

COLUMNS = """branch, parent, fork_sequence, status, purpose, needs_person, created_by, created_at, closed_by, closed_at,
       (SELECT count(*) FROM mnemon.emo_current c WHERE c.tenant_id = b.tenant_id AND c.world_id = b.world_id
           AND c.branch = b.branch) AS objects"""
ONE = f"SELECT {COLUMNS} FROM mnemon.emo_branches b WHERE tenant_id = %s AND world_id = %s AND branch = %s"
ALL = f"SELECT {COLUMNS} FROM mnemon.emo_branches b WHERE tenant_id = %s AND world_id = %s ORDER BY created_at, branch"
HEAD = "SELECT sequence FROM mnemon.partitions WHERE tenant_id = %s AND legal_entity = %s"
# What a branch from the past shows may have lost its vectors since.
QUEUE = """
INSERT INTO mnemon.memory_pending_texts (tenant_id, text_hash)
SELECT DISTINCT t.tenant_id, t.text_hash
  FROM unnest(%(branches)s::text[], %(bounds)s::bigint[]) AS line (branch, bound)
  JOIN mnemon.emo_texts t ON t.tenant_id = %(tenant)s AND t.world_id = %(world)s AND t.branch = line.branch
 WHERE t.since <= line.bound AND t.until > line.bound AND t.until < 9223372036854775807
   AND NOT EXISTS (SELECT FROM mnemon.memory_vectors v WHERE v.tenant_id = t.tenant_id AND v.text_hash = t.text_hash)
ON CONFLICT DO NOTHING
"""


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch and how it stands; `objects` counts those that it has changed."""

    branch: str
    parent: str
    fork_sequence: int
    status: str
    purpose: str
    needs_person: bool
    created_by: str
    created_at: datetime
    closed_by: str | None
    closed_at: datetime | None
    objects: int


class Branches:
    """A branch is one event and one row, however large its world is."""

    def __init__(self, log: EventLog, reading: Reading) -> None:
        self._log = log
        self._reading = reading

    async def create(
        self,
        tenant: UUID,
        place: Place,
        author: Author,
        *,
        parent: str = MAIN,
        at: AsOf = None,
        purpose: str = "",
        needs_person: bool = False,
    ) -> Branch:
        """Begin `place.branch` as the parent is, or was at a sequence or moment.

        `needs_person`: an agent may work on it, but only a person may merge it.
        """
        if place.branch == MAIN:
            raise InvalidRequest("main is there from the beginning: choose another name.")
        if read_version(at) is not None:
            raise InvalidRequest("A branch begins at a sequence or a moment, not at a version.")
        check_characters("purpose", purpose)
        async with self._reading.transaction(tenant) as connection:
            view, _ = await self._reading.view_in(connection, tenant, Place(place.world_id, parent), at)
            if at is not None:
                await _refuse_future(connection, tenant, view.as_of)
        data: dict[str, Any] = {"parent": parent, "purpose": purpose, "needs_person": needs_person}
        if at is None:
            await self._log.append(tenant, [branch_event(BRANCH_CREATED.type, place, author, data)])
        else:
            [(_, fork), *_] = view.line
            event = branch_event(BRANCH_CREATED.type, place, author, data | {"fork_sequence": fork})
            async with self._log.transaction(tenant) as transaction:
                await transaction.append([event])
                await transaction.connection.execute(QUEUE, view.values)
        return await self.get(tenant, place)

    async def get(self, tenant: UUID, place: Place) -> Branch:
        async with self._reading.transaction(tenant) as connection:
            return await branch_in(connection, tenant, place)

    async def list(self, tenant: UUID, world_id: UUID) -> Sequence[Branch]:
        async with self._reading.transaction(tenant) as connection:
            rows = await (await connection.execute(ALL, (tenant, world_id))).fetchall()
        return [Branch(**row) for row in rows]

    async def abandon(self, tenant: UUID, place: Place, author: Author, *, reason: str = "") -> Branch:
        """Close it. What was done in it stays readable, and goes nowhere."""
        check_characters("reason", reason)
        refuse_if_closed(await self.get(tenant, place))
        await self._log.append(tenant, [branch_event(BRANCH_ABANDONED.type, place, author, {"reason": reason})])
        return await self.get(tenant, place)


async def _refuse_future(connection: Connection, tenant: UUID, sequence: int | None) -> None:
    """A fork that the log has not come to yet would let the branch see what its parent does from now on."""
    row = await (await connection.execute(HEAD, (tenant, MAIN))).fetchone()
    head = int(row["sequence"]) if row else 0
    if sequence is not None and sequence > head:
        raise InvalidRequest(f"The log has come to {head} so far: a branch cannot begin at {sequence}.", at=sequence)


async def branch_in(connection: Connection, tenant: UUID, place: Place) -> Branch:
    row = await (await connection.execute(ONE, (tenant, place.world_id, place.branch))).fetchone()
    if row is None:
        # For the message, and for main, which has no row.
        await view_in(connection, tenant, place)
        raise BranchNotFound("main is no branch of another: it cannot be merged or abandoned.", branch=place.branch)
    return Branch(**row)


def refuse_if_closed(branch: Branch) -> None:
    if branch.status != "open":
        raise BranchClosed(f"The branch {branch.branch} is {branch.status} already.", branch=branch.branch)


def branch_event(kind: str, place: Place, author: Author, data: Mapping[str, Any]) -> NewEvent:
    return NewEvent(
        type=kind,
        data={**data, "world_id": str(place.world_id), "branch": place.branch},
        actor=author.actor,
        entities=[EntityReference(BRANCH_ENTITY, f"{place.world_id}/{place.branch}")],
        source=Source(channel=author.channel),
        caused_by=author.caused_by,
        correlation_id=author.correlation_id,
    )
