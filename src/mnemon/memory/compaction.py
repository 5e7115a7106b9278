"""Compaction: an object's earlier versions become one snapshot, once it is proven that nothing is lost by it.

The log keeps every event; the lens lets go of the contents of versions that no branch looks at. They stay readable,
from the log, and from its archive where payloads have moved there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.events import EntityReference, NewEvent, Source
from mnemon.log.privacy.seal import canonical
from mnemon.log.store import EventLog
from mnemon.memory.changing.change_events import Author
from mnemon.memory.determinism import content_hash, object_hash
from mnemon.memory.errors import CompactionRefused
from mnemon.memory.events import HISTORY, SNAPSHOT_COMPACTED
from mnemon.memory.fold import Change, as_json, fold, fold_all, from_json
from mnemon.memory.objects import MemoryObject, Place, name_of
from mnemon.memory.personal import disclose, enclose
from mnemon.memory.reading import Reading, not_found
from mnemon.memory.views import view_in

OWN = """
SELECT * FROM mnemon.emo_current WHERE tenant_id = %s AND world_id = %s AND branch = %s AND emo_id = %s
"""
VERSIONS = """
SELECT emo_version, since, until, content IS NULL AS compacted FROM mnemon.emo_history
 WHERE tenant_id = %s AND world_id = %s AND branch = %s AND emo_id = %s AND until < 9223372036854775807
 ORDER BY emo_version
"""
BRANCHES = "SELECT branch FROM mnemon.emo_branches WHERE tenant_id = %s AND world_id = %s"
LONG = """
SELECT emo_id FROM mnemon.emo_history
 WHERE tenant_id = %s AND world_id = %s AND branch = %s AND until < 9223372036854775807 AND content IS NOT NULL
 GROUP BY emo_id HAVING count(*) >= %s ORDER BY emo_id
"""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction did to one object."""

    emo_id: UUID
    emo_version: int
    compacted_versions: Sequence[int]
    determinism_hash: str


class Compaction:
    """Zero tolerance: a snapshot that differs in anything from the full replay is refused."""

    def __init__(self, log: EventLog, reading: Reading) -> None:
        self._log = log
        self._reading = reading

    async def compact(self, tenant: UUID, place: Place, emo_id: UUID, author: Author) -> Compacted:
        """One object. Versions that a branch looks at are kept as they are."""
        async with self._reading.transaction(tenant) as connection:
            lens = await _own_in(connection, tenant, place, emo_id)
            going = await _superseded_in(connection, tenant, place, emo_id)
        if not going:
            raise CompactionRefused(f"{emo_id} has no earlier version to compact.", emo_id=str(emo_id))
        full = await self._replayed(tenant, place, emo_id)
        snapshot = as_json(full)
        _refuse_drift(emo_id, "the lens", full, lens)
        _refuse_drift(emo_id, "the snapshot", full, from_json(snapshot))
        event = _event(tenant, place, author, full, snapshot, going)
        async with self._log.transaction(tenant) as transaction:
            await transaction.append([event])
            # The projector has compared the snapshot with what it had; compare what it has now, before anyone sees it.
            after = await _own_in(transaction.connection, tenant, place, emo_id)
            _refuse_drift(emo_id, "the compacted lens", full, after)
            # The append holds the head of the log: a branch that began meanwhile is seen here, and none begins now.
            seen_up_to = await _bounds_in(transaction.connection, tenant, place)
            if any(since <= bound < until for _, since, until in going for bound in seen_up_to):
                raise CompactionRefused(f"A branch has begun to look at {emo_id}: compact it anew.", emo_id=str(emo_id))
        versions = [version for version, _, _ in going]
        return Compacted(emo_id, full.emo_version, versions, object_hash(full))

    async def compact_all(self, tenant: UUID, place: Place, author: Author, *, versions: int = 10) -> list[Compacted]:
        """Every object of the branch with so many earlier versions."""
        async with self._reading.transaction(tenant) as connection:
            rows = await connection.execute(LONG, (tenant, place.world_id, place.branch, versions))
            ids = [row["emo_id"] for row in await rows.fetchall()]
        done = []
        for emo_id in ids:
            try:
                done.append(await self.compact(tenant, place, emo_id, author))
            except CompactionRefused as refusal:
                # All its versions are looked at by branches; drift, in contrast, must be seen by someone.
                if "differs" in refusal.details:
                    raise
        return done

    async def _replayed(self, tenant: UUID, place: Place, emo_id: UUID) -> MemoryObject:
        changes = [change async for change in self._reading.changes(tenant, place, emo_id)]
        state = fold_all(changes, await self._reading.inherited(tenant, place, emo_id, changes))
        assert state is not None
        return state


async def _own_in(connection: Connection, tenant: UUID, place: Place, emo_id: UUID) -> MemoryObject:
    row = await (await connection.execute(OWN, (tenant, place.world_id, place.branch, emo_id))).fetchone()
    if row is None:
        raise not_found(place, emo_id)
    return from_json(row)


async def _superseded_in(
    connection: Connection, tenant: UUID, place: Place, emo_id: UUID
) -> list[tuple[int, int, int]]:
    """Versions that nobody looks at any more: (version, since, until)."""
    seen_up_to = await _bounds_in(connection, tenant, place)
    rows = await (await connection.execute(VERSIONS, (tenant, place.world_id, place.branch, emo_id))).fetchall()
    return [
        (row["emo_version"], row["since"], row["until"])
        for row in rows
        if not row["compacted"] and not any(row["since"] <= bound < row["until"] for bound in seen_up_to)
    ]


async def _bounds_in(connection: Connection, tenant: UUID, place: Place) -> set[int]:
    """Up to which sequences other branches look into this one."""
    rows = await (await connection.execute(BRANCHES, (tenant, place.world_id))).fetchall()
    bounds = set()
    for row in rows:
        view = await view_in(connection, tenant, Place(place.world_id, row["branch"]))
        bounds |= {bound for branch, bound in view.line[1:] if branch == place.branch}
    return bounds


def _refuse_drift(emo_id: UUID, what: str, full: MemoryObject, other: MemoryObject) -> None:
    if (
        full == other
        and canonical(as_json(full)) == canonical(as_json(other))
        and object_hash(full) == object_hash(other)
    ):
        return
    one, two = as_json(full), as_json(other)
    differs = [name for name in one if one[name] != two[name]]
    raise CompactionRefused(
        f"{what.capitalize()} of {emo_id} differs from the full replay in {', '.join(differs)}: nothing was compacted.",
        emo_id=str(emo_id),
        differs=differs,
    )


def _event(
    tenant: UUID,
    place: Place,
    author: Author,
    full: MemoryObject,
    snapshot: dict[str, Any],
    going: Sequence[tuple[int, int, int]],
) -> NewEvent:
    key = f"{full.emo_id}:{full.emo_version}:compacted"
    data = {
        "emo_id": str(full.emo_id),
        "emo_version": full.emo_version,
        "world_id": str(place.world_id),
        "branch": place.branch,
        "idempotency_key": key,
        "change_id": str(name_of(tenant, place.world_id, place.branch, key, *going[-1])),
        "state": snapshot,
        "start_seq": going[0][1],
        "end_seq": full.sequence,
        "compacted_events_count": len(going),
        "compacted_versions": [version for version, _, _ in going],
        "content_hash": content_hash(full.content),
        "determinism_hash": object_hash(full),
    }
    event = NewEvent(
        type=SNAPSHOT_COMPACTED.type,
        data=enclose(data, full.subject_id),
        actor=author.actor,
        entities=[EntityReference(HISTORY, place.entity(full.emo_id))],
        source=Source(channel=author.channel),
    )
    replayed = fold(None, Change("snapshot.compacted", disclose(event.data), full.updated_at, "", 0))
    _refuse_drift(full.emo_id, "the snapshot", full, replayed)
    return event
