"""Merging: compare a branch with its parent, and take its changes into the parent, all or none."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.documents.access import ANYONE, Reader
from mnemon.errors import NotAllowed
from mnemon.log.errors import VersionConflict
from mnemon.log.events import Actor, NewEvent
from mnemon.log.moments import now
from mnemon.log.store import EventLog
from mnemon.memory.branching.branches import Branch, branch_event, branch_in, refuse_if_closed
from mnemon.memory.branching.three_way import MergeOutcome, Resolution, merge_objects, resolve
from mnemon.memory.changing.change_events import Author, event_of, refuse_if_not_theirs
from mnemon.memory.changing.drafts import check_amount_of_facets, check_text
from mnemon.memory.diffs import diff_texts
from mnemon.memory.errors import MemoryConflict, MergeConflicts, PersonNeeded
from mnemon.memory.events import BRANCH_MERGED
from mnemon.memory.fold import Change, fold, from_json
from mnemon.memory.objects import Link, MemoryObject, Place
from mnemon.memory.personal import disclose
from mnemon.memory.reading import Reading
from mnemon.memory.views import find_in, object_of, view_in

OWN = """
SELECT * FROM mnemon.emo_current WHERE tenant_id = %s AND world_id = %s AND branch = %s ORDER BY sequence
"""
PEOPLE = ("human", "system")
# Events of one append; the whole merge is one transaction all the same.
BATCH = 500

MergeStep = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Compared:
    """One object that the branch has changed: at the fork, in the parent now, in the branch, and merged."""

    emo_id: UUID
    base: MemoryObject | None
    ours: MemoryObject | None
    theirs: MemoryObject
    outcome: MergeOutcome

    @property
    def change(self) -> Literal["added", "changed", "deleted", "restored"]:
        if self.base is None:
            return "added"
        if self.theirs.deleted != self.base.deleted:
            return "deleted" if self.theirs.deleted else "restored"
        return "changed"


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge did."""

    branch: Branch
    objects: Sequence[UUID]
    events: int


class Merging:
    """Compares and merges branches with their parents."""

    def __init__(self, log: EventLog, reading: Reading) -> None:
        self._log = log
        self._reading = reading

    async def compare(self, tenant: UUID, place: Place, reader: Reader = ANYONE) -> list[Compared]:
        """Every object that differs and is for the reader, with what clashes in it."""
        async with self._reading.transaction(tenant) as connection:
            branch = await branch_in(connection, tenant, place)
            compared = await _compared(connection, tenant, place, branch)
        return [one for one in compared if one.theirs.scope.is_for(reader)]

    async def merge(
        self,
        tenant: UUID,
        place: Place,
        author: Author,
        *,
        resolutions: Mapping[UUID, Resolution] | None = None,
        rationale: str | None = None,
    ) -> Merged:
        """Take every change of the branch into its parent and close it; nothing if a clash is left open."""
        async with self._reading.transaction(tenant) as connection:
            branch = await branch_in(connection, tenant, place)
            refuse_if_closed(branch)
            _refuse_agents(branch, author.actor)
            compared = await _compared(connection, tenant, place, branch)
        _refuse_hidden(branch, compared, author)
        for one in compared:
            if one.ours is not None and one.outcome.clashes and one.emo_id in (resolutions or {}):
                # Whoever settles a clash says what the object is from now on, which neither side may have said.
                refuse_if_not_theirs(author, one.ours)
        settled = _settled(compared, resolutions or {})
        parent = Place(place.world_id, branch.parent)
        because = rationale or f"Merged from the branch {place.branch}."
        events = [event for one in settled for event in _events(tenant, parent, author, one, because)]
        closing = {
            "into": branch.parent,
            "seen_sequence": max((one.theirs.sequence for one in compared), default=0),
            "objects": [str(one.emo_id) for one in compared],
            "resolved": [str(one.emo_id) for one in compared if one.outcome.clashes],
        }
        await self._append(tenant, [*events, branch_event(BRANCH_MERGED.type, place, author, closing)])
        async with self._reading.transaction(tenant) as connection:
            closed = await branch_in(connection, tenant, place)
        return Merged(closed, [one.emo_id for one in compared], len(events))

    async def _append(self, tenant: UUID, events: Sequence[NewEvent]) -> None:
        try:
            async with self._log.transaction(tenant) as transaction:
                for start in range(0, len(events), BATCH):
                    await transaction.append(events[start : start + BATCH])
        except VersionConflict as refusal:
            raise MemoryConflict(
                "An object of the parent was changed while the branch was merged: merge again.", **refusal.details
            ) from None


async def _compared(connection: Connection, tenant: UUID, place: Place, branch: Branch) -> list[Compared]:
    rows = await (await connection.execute(OWN, (tenant, place.world_id, place.branch))).fetchall()
    own = [from_json(row) for row in rows]
    ids = [one.emo_id for one in own]
    parent = Place(place.world_id, branch.parent)
    at_fork = await find_in(connection, await view_in(connection, tenant, parent, branch.fork_sequence), ids)
    today = await find_in(connection, await view_in(connection, tenant, parent), ids)
    found = []
    for theirs in own:
        base, ours = (object_of(rows[theirs.emo_id]) if theirs.emo_id in rows else None for rows in (at_fork, today))
        found.append(Compared(theirs.emo_id, base, ours, theirs, merge_objects(base, ours, theirs)))
    return found


def _settled(compared: Sequence[Compared], resolutions: Mapping[UUID, Resolution]) -> list[Compared]:
    settled = [
        replace(one, outcome=resolve(one.outcome, one.ours, one.theirs, resolutions.get(one.emo_id)))
        for one in compared
    ]
    if open_ones := [one for one in settled if one.outcome.clashes]:
        raise MergeConflicts(
            f"{len(open_ones)} {'object was' if len(open_ones) == 1 else 'objects were'} changed on both sides: say of "
            "each what is kept.",
            conflicts=[
                {"emo_id": str(one.emo_id), "conflicts": [clash.as_json() for clash in one.outcome.clashes]}
                for one in open_ones
            ],
        )
    for one in settled:
        # Both sides keep to the limits, which what they have together may not.
        check_text("merged content", one.outcome.object.content)
        check_amount_of_facets(one.emo_id, len(one.outcome.object.facets))
    return settled


def _refuse_hidden(branch: Branch, compared: Sequence[Compared], author: Author) -> None:
    """Nobody accepts what they may not read."""
    hidden = [one for one in compared if not one.theirs.scope.is_for(author.reader)]
    if hidden:
        raise NotAllowed(
            f"The branch {branch.branch} changes {len(hidden)} objects that are not for you: "
            "let someone merge it who may read them.",
            branch=branch.branch,
        )


def _refuse_agents(branch: Branch, actor: Actor) -> None:
    if branch.needs_person and actor.type not in PEOPLE:
        raise PersonNeeded(
            f"The branch {branch.branch} waits for a person to accept it: let one merge it.", branch=branch.branch
        )


def _events(tenant: UUID, parent: Place, author: Author, one: Compared, rationale: str) -> Iterator[NewEvent]:
    """The changes that lead the parent's object to what was settled."""
    seen = one.ours
    for operation, data in _steps(one.ours, one.outcome.object):
        given = data if operation == "deleted" else data | {"rationale": rationale}
        event = event_of(tenant, parent, author, one.emo_id, seen, operation, given, one.theirs.subject_id)
        # The first one says which version the parent must be at; the others follow it in the same append.
        yield event if seen is one.ours else replace(event, expected_versions={})
        change = Change(operation, disclose(event.data), now(), author.actor.id, seen.sequence if seen else 0)
        seen = fold(seen, change)


def _steps(ours: MemoryObject | None, wanted: MemoryObject) -> Iterator[MergeStep]:
    if ours is None:
        yield "created", _whole(wanted)
        if wanted.deleted:
            yield "deleted", {"deletion_reason": wanted.deletion_reason} if wanted.deletion_reason else {}
        return
    if ours.deleted and wanted.deleted:
        return
    if ours.deleted:
        yield "restored", {}
    if (ours.content, ours.tags) != (wanted.content, wanted.tags):
        data = {"content": wanted.content, "content_diff": diff_texts(ours.content, wanted.content)}
        yield "updated", data | ({"tags": list(wanted.tags)} if ours.tags != wanted.tags else {})
    for name in sorted({*ours.facets, *wanted.facets}):
        if name not in wanted.facets:
            yield "facet.removed", {"facet": {"name": name}}
        elif ours.facets.get(name) != wanted.facets[name]:
            operation = "facet.replaced" if name in ours.facets else "facet.added"
            yield operation, {"facet": {"name": name, "value": wanted.facets[name]}}
    if relations := _relations(ours, wanted):
        yield "linked", relations
    if wanted.deleted:
        yield "deleted", {"deletion_reason": wanted.deletion_reason} if wanted.deletion_reason else {}


def _relations(ours: MemoryObject | None, wanted: MemoryObject) -> dict[str, Any]:
    before_parents, before = (ours.parents, ours.links) if ours else ((), ())
    parts: dict[str, Any] = {
        "parents": [one.as_json() for one in wanted.parents if one not in before_parents],
        "removed_parents": [one.as_json() for one in before_parents if one not in wanted.parents],
    }
    for prefix, links in (
        ("", [one for one in wanted.links if one not in before]),
        ("removed_", [one for one in before if one not in wanted.links]),
    ):
        parts[f"{prefix}links"] = _of_kind(links, "emo")
        parts[f"{prefix}outside_links"] = _of_kind(links, "uri")
    return {name: values for name, values in parts.items() if values}


def _of_kind(links: Sequence[Link], kind: str) -> list[dict[str, str]]:
    return [one.as_json() for one in links if one.kind == kind]


def _whole(one: MemoryObject) -> dict[str, Any]:
    data: dict[str, Any] = {
        "emo_type": one.emo_type,
        "content": one.content,
        "mime_type": one.mime_type,
        "source": {"kind": one.source_kind},
        "tags": list(one.tags),
        "facets": dict(one.facets),
    }
    data |= {"source_uri": one.source_uri} if one.source_uri else {}
    data |= {"vector_meta": dict(one.vector_meta)} if one.vector_meta else {}
    return data | one.scope.as_data() | _relations(None, one)
