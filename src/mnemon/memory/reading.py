"""Reading: one object, its history, and lists; in a branch, now or as of a version, a time or a sequence."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.documents.access import ANYONE, Reader, read_as
from mnemon.errors import InvalidRequest
from mnemon.log.read.query import read_position
from mnemon.log.read.streams import Filter, Stream
from mnemon.log.store import EventLog
from mnemon.memory.errors import MemoryNotFound
from mnemon.memory.events import OBJECT
from mnemon.memory.fold import Change, fold
from mnemon.memory.objects import MemoryObject, Place
from mnemon.memory.sharing.scope import scope_of
from mnemon.memory.views import COLUMNS, View, find_in, object_of, sequence_at, view_in

VERSIONS = f"""
SELECT {COLUMNS}
  FROM unnest(%(branches)s::text[], %(bounds)s::bigint[]) WITH ORDINALITY AS line (branch, bound, level)
  JOIN mnemon.emo_history h ON h.tenant_id = %(tenant)s AND h.world_id = %(world)s AND h.branch = line.branch
   AND h.emo_id = %(emo_id)s AND h.since <= line.bound
 ORDER BY h.emo_version, line.level
"""
# Which objects, and of those the ones that the reader of the transaction may see.
WANTED = """   AND (%(type)s::text IS NULL OR h.emo_type = %(type)s)
   AND (%(tags)s::text[] IS NULL OR h.tags @> %(tags)s)
   AND (%(updated_since)s::timestamptz IS NULL OR h.updated_at >= %(updated_since)s)
   AND (%(subject_id)s::text IS NULL OR h.subject_id = %(subject_id)s)
   AND (%(owner)s::text IS NULL OR h.owner = ANY (string_to_array(%(owner)s, E'\x1f')))
   AND (%(agent_id)s::text IS NULL OR h.agent_id = %(agent_id)s)
   AND (%(session_id)s::text IS NULL OR h.session_id = %(session_id)s)
   AND (h.readers IS NULL OR mnemon.may_read(h.readers))
"""
LIST = """
SELECT {columns} FROM mnemon.emo_history h
 WHERE h.tenant_id = %(tenant)s AND h.world_id = %(world)s AND NOT h.deleted AND {shown}
{wanted}   AND (%(before)s::timestamptz IS NULL OR (h.updated_at, h.emo_id) < (%(before)s, %(before_id)s::uuid))
 ORDER BY h.updated_at DESC, h.emo_id DESC LIMIT %(limit)s
"""
COUNT = """
SELECT count(*) AS n FROM mnemon.emo_history h
 WHERE h.tenant_id = %(tenant)s AND h.world_id = %(world)s AND NOT h.deleted AND {shown}
{wanted}"""

AsOf = int | datetime | str | None


@dataclass(frozen=True, slots=True)
class Version:
    """One version of an object, and what made it. A compacted version's content is read from the log on demand."""

    object: MemoryObject
    operation: str
    change_id: UUID
    idempotency_key: str
    content_hash: str
    determinism_hash: str
    diff: dict[str, Any]
    rationale: str | None
    compacted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which objects a list or a search is about."""

    emo_type: str | None = None
    tags: Sequence[str] = ()
    updated_since: datetime | None = None
    subject_id: str | None = None
    owner: str | None = None
    agent_id: str | None = None
    session_id: str | None = None

    @property
    def values(self) -> dict[str, Any]:
        narrowed = {name: getattr(self, name) for name in ("subject_id", "owner", "agent_id", "session_id")}
        return narrowed | {
            "type": self.emo_type, "tags": list(self.tags) or None, "updated_since": self.updated_since,
        }  # fmt: skip


EVERY_OBJECT = Wanted()


class Reading:
    """Reads the lens; what was compacted out of it, the log."""

    def __init__(self, log: EventLog, prepare: Callable[[UUID], Awaitable[None]]) -> None:
        self._log = log
        self.prepare = prepare

    @asynccontextmanager
    async def transaction(self, tenant: UUID, reader: Reader = ANYONE) -> AsyncIterator[Connection]:
        """A tenant's transaction in which the lens is as this program writes it, and shows what is for the reader."""
        await self.prepare(tenant)
        async with self._log.database.transaction(tenant) as connection:
            if reader.name is not None:
                await read_as(connection, reader)
            yield connection

    async def get(
        self, tenant: UUID, place: Place, emo_id: UUID, as_of: AsOf = None, reader: Reader = ANYONE
    ) -> Version:
        """The object as the branch shows it. `as_of`: `v3` is a version, a number a sequence, else a moment."""
        async with self.transaction(tenant) as connection:
            view, version = await self.view_in(connection, tenant, place, as_of)
            row = (await find_in(connection, view, [emo_id])).get(emo_id)
            if row is not None and version is not None:
                rows = await _versions(connection, view, emo_id)
                row = next((one for one in rows if one["emo_version"] == version), None)
        if row is None or row["deleted"] or not is_for(reader, row):
            raise not_found(place, emo_id, as_of)
        return (await self._filled([row]))[0]

    async def find(self, tenant: UUID, place: Place, emo_id: UUID) -> tuple[View, MemoryObject | None]:
        """For whoever is about to change it: deleted ones too, and with the view it was found in."""
        async with self.transaction(tenant) as connection:
            view = await view_in(connection, tenant, place)
            row = (await find_in(connection, view, [emo_id])).get(emo_id)
        return view, object_of(row) if row else None

    async def history(
        self, tenant: UUID, place: Place, emo_id: UUID, *, contents: bool = False, reader: Reader = ANYONE
    ) -> list[Version]:
        """Every version that led to what the branch has, oldest first; of deleted objects too."""
        async with self.transaction(tenant) as connection:
            view = await view_in(connection, tenant, place)
            rows = await _versions(connection, view, emo_id)
        if not rows or not is_for(reader, rows[-1]):
            raise not_found(place, emo_id)
        return await self._filled(rows) if contents else [version_of(row) for row in rows]

    async def page(
        self,
        tenant: UUID,
        place: Place,
        wanted: Wanted = EVERY_OBJECT,
        *,
        as_of: AsOf = None,
        limit: int = 100,
        before: tuple[datetime, UUID] | None = None,
        reader: Reader = ANYONE,
    ) -> list[Version]:
        """Newest first, beyond the place of the last one of the page before."""
        async with self.transaction(tenant, reader) as connection:
            view = await self.view_of_all(connection, tenant, place, as_of)
            values = view.values | wanted.values | {"limit": limit}
            values |= {"before": before[0] if before else None, "before_id": before[1] if before else None}
            rows = await (
                await connection.execute(LIST.format(columns=COLUMNS, shown=view.shows("h"), wanted=WANTED), values)
            ).fetchall()
        return await self._filled(rows)

    async def count(
        self, tenant: UUID, place: Place, wanted: Wanted = EVERY_OBJECT, *, as_of: AsOf = None, reader: Reader = ANYONE
    ) -> int:
        async with self.transaction(tenant, reader) as connection:
            view = await self.view_of_all(connection, tenant, place, as_of)
            rows = await connection.execute(
                COUNT.format(shown=view.shows("h"), wanted=WANTED), view.values | wanted.values
            )
            row = await rows.fetchone()
        assert row is not None
        return int(row["n"])

    async def view_in(
        self, connection: Connection, tenant: UUID, place: Place, as_of: AsOf = None
    ) -> tuple[View, int | None]:
        """The view of a place as of something, and the version if that is what was named."""
        version = read_version(as_of)
        if version is not None:
            return await view_in(connection, tenant, place), version
        position = read_position(as_of) if isinstance(as_of, str) else as_of
        if isinstance(position, datetime):
            position = await sequence_at(connection, tenant, position)
        return await view_in(connection, tenant, place, position), None

    async def view_of_all(self, connection: Connection, tenant: UUID, place: Place, as_of: AsOf) -> View:
        """The view of more than one object, each of which has its own versions."""
        view, version = await self.view_in(connection, tenant, place, as_of)
        if version is not None:
            raise InvalidRequest(f"{as_of!r} is a version of one object: name a sequence or a moment.", as_of=as_of)
        return view

    async def _filled(self, rows: Sequence[dict[str, Any]]) -> list[Version]:
        return [version_of(row if row["content"] is not None else await self._from_log(row)) for row in rows]

    async def _from_log(self, row: dict[str, Any]) -> dict[str, Any]:
        """A compacted version: its content is what the last event that wrote one before it says."""
        place = Place(row["world_id"], row["branch"])
        changes = [change async for change in self.changes(row["tenant_id"], place, row["emo_id"], to=row["since"])]
        state = await self.inherited(row["tenant_id"], place, row["emo_id"], changes)
        for change in changes:
            state = fold(state, change)
        assert state is not None
        return row | {"content": state.content}

    async def inherited(
        self, tenant: UUID, place: Place, emo_id: UUID, changes: Sequence[Change]
    ) -> MemoryObject | None:
        """What the branch saw in its parent before its own first change."""
        if not changes or changes[0].operation == "created":
            return None
        async with self.transaction(tenant) as connection:
            view = await view_in(connection, tenant, place)
            above = replace(view, line=view.line[1:])
            row = (await find_in(connection, above, [emo_id])).get(emo_id)
        return object_of(row) if row else None

    async def changes(self, tenant: UUID, place: Place, emo_id: UUID, to: int | None = None) -> AsyncIterator[Change]:
        """The object's own events in a branch, from the log, in order; archived ones are read through."""
        stream = Stream.of_entity(OBJECT, place.entity(emo_id))
        cursor: str | None = None
        while True:
            page = await self._log.read_page(tenant, stream, Filter(to_sequence=to), cursor=cursor, limit=1000)
            for event in page.events:
                yield Change.of(event)
            cursor = page.next_cursor
            if cursor is None:
                return


async def _versions(connection: Connection, view: View, emo_id: UUID) -> list[dict[str, Any]]:
    """Along the line: a branch's own versions follow those that it saw in its parent."""
    rows = await (await connection.execute(VERSIONS, view.values | {"emo_id": emo_id})).fetchall()
    begun = {row["branch"]: row["base_version"] for row in rows}
    nearest: list[dict[str, Any]] = []
    limit: int | None = None
    for branch, _ in view.line:
        own = [row for row in rows if row["branch"] == branch and (limit is None or row["emo_version"] <= limit)]
        nearest = own + nearest
        if own:
            limit = begun[branch]
    return [row for row in nearest if row["emo_version"] >= 1]


def is_for(reader: Reader, row: Mapping[str, Any]) -> bool:
    """Whether an object is for a reader; its row says so, whichever version it is of."""
    return scope_of(row).is_for(reader)


def read_version(as_of: AsOf) -> int | None:
    if isinstance(as_of, str) and as_of[:1] in ("v", "V"):
        if not as_of[1:].isdecimal() or int(as_of[1:]) < 1:
            raise InvalidRequest(f"{as_of!r} is not a version: write v1, v2 …", as_of=as_of)
        return int(as_of[1:])
    return None


def not_found(place: Place, emo_id: UUID, as_of: AsOf = None) -> MemoryNotFound:
    moment = f" as of {as_of}" if as_of is not None else ""
    return MemoryNotFound(
        f"There is no object {emo_id} on the branch {place.branch} of this world{moment}.",
        emo_id=str(emo_id),
        world_id=str(place.world_id),
    )


def version_of(row: dict[str, Any]) -> Version:
    compacted = row["compacted_by"] is not None
    held = row if row["content"] is not None else row | {"content": ""}
    return Version(
        object_of(held),
        row["operation_type"],
        row["change_id"],
        row["idempotency_key"],
        row["content_hash"],
        row["determinism_hash"],
        row["diff"],
        row["rationale"],
        compacted,
    )
