"""The fold: what each event makes of an object. Replay, compaction and the projector all use this and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any
from uuid import UUID

from mnemon.errors import Conflict
from mnemon.log.events import Event
from mnemon.log.moments import read_moment, written
from mnemon.log.privacy.crypto_seal import REDACTED
from mnemon.memory.objects import MARKDOWN, Link, MemoryObject, Parent, Place
from mnemon.memory.personal import disclose
from mnemon.memory.sharing.scope import scope_of

# World, branch and object as texts, which are hashed and written much quicker than UUIDs.
Key = tuple[str, str, str]


def key_of(place: Place, emo_id: UUID) -> Key:
    return str(place.world_id), place.branch, str(emo_id)


@lru_cache(maxsize=1000)
def _place(world_id: str, branch: str) -> Place:
    """Most events are of the same few places."""
    return Place(UUID(world_id), branch)


class OutOfOrder(Conflict):
    """An event of a memory object does not follow from the version before it."""

    code = "MEMORY_OUT_OF_ORDER"
    retry = True


@dataclass(frozen=True)
class Change:
    """An event of a memory object, as the fold sees it. Its ids are read once: a projection asks for them often."""

    operation: str
    data: Mapping[str, Any]
    recorded_at: datetime
    actor_id: str
    sequence: int

    @classmethod
    def of(cls, event: Event) -> "Change":
        data = disclose(event.data)
        return cls(event.type.removeprefix("emo."), data, event.recorded_at, event.actor_id, event.sequence)

    @cached_property
    def place(self) -> Place:
        return _place(self.data["world_id"], self.data["branch"])

    @cached_property
    def emo_id(self) -> UUID:
        return UUID(self.data["emo_id"])

    @cached_property
    def key(self) -> Key:
        return key_of(self.place, self.emo_id)


def fold(state: MemoryObject | None, change: Change) -> MemoryObject:
    """The next version. One that the branch sees in its parent becomes the branch's own with its first change."""
    if change.operation == "snapshot.compacted":
        return _from_snapshot(state, change)
    version = int(change.data["emo_version"])
    if version != (state.emo_version if state else 0) + 1:
        raise OutOfOrder(
            f"Version {version} of {change.emo_id} does not follow {state.emo_version if state else 'nothing'}: "
            "read it again and retry.",
            emo_id=str(change.emo_id),
            current_version=state.emo_version if state else 0,
        )
    if state is None:
        return _created(change)
    if change.operation != "restored" and state.deleted:
        raise OutOfOrder(f"{change.emo_id} is deleted: restore it first.", emo_id=str(change.emo_id))
    if state.place != change.place:
        state = replace(state, place=change.place, base_version=state.emo_version)
    changed = replace(
        state,
        emo_version=version,
        updated_at=change.recorded_at,
        updated_by=change.actor_id,
        sequence=change.sequence,
    )
    return _OPERATIONS[change.operation](changed, change)


def fold_all(changes: Sequence[Change], state: MemoryObject | None = None) -> MemoryObject | None:
    for change in changes:
        state = fold(state, change)
    return state


def _created(change: Change) -> MemoryObject:
    data = change.data
    if change.operation != "created":
        raise OutOfOrder(f"{change.emo_id} does not exist: create it first.", emo_id=str(change.emo_id))
    return MemoryObject(
        emo_id=change.emo_id,
        place=change.place,
        emo_type=data["emo_type"],
        emo_version=1,
        content=data.get("content", REDACTED),
        mime_type=data.get("mime_type", MARKDOWN),
        tags=tuple(data.get("tags", ())),
        facets=dict(data.get("facets", {})),
        parents=parents_of(data.get("parents", ())),
        links=links_of([*data.get("links", ()), *data.get("outside_links", ())]),
        subject_id=data.get("subject_id"),
        source_kind=data["source"]["kind"],
        source_uri=data.get("source_uri"),
        vector_meta=data.get("vector_meta"),
        created_at=change.recorded_at,
        updated_at=change.recorded_at,
        updated_by=change.actor_id,
        sequence=change.sequence,
        scope=scope_of(data.get("scope", {})),
    )


def _updated(state: MemoryObject, change: Change) -> MemoryObject:
    data = change.data
    return replace(
        state,
        content=data.get("content", REDACTED),
        tags=tuple(data["tags"]) if "tags" in data else () if "erased" in data else state.tags,
        vector_meta=data.get("vector_meta", state.vector_meta),
    )


def _linked(state: MemoryObject, change: Change) -> MemoryObject:
    data = change.data
    gone_parents = set(parents_of(data.get("removed_parents", ())))
    gone = set(links_of([*data.get("removed_links", ()), *data.get("removed_outside_links", ())]))
    parents = dict.fromkeys([*state.parents, *parents_of(data.get("parents", ()))])
    links = dict.fromkeys([*state.links, *links_of([*data.get("links", ()), *data.get("outside_links", ())])])
    return replace(
        state,
        parents=tuple(one for one in parents if one not in gone_parents),
        links=tuple(one for one in links if one not in gone),
    )


def _deleted(state: MemoryObject, change: Change) -> MemoryObject:
    reason = change.data.get("deletion_reason")
    return replace(state, deleted=True, deleted_at=change.recorded_at, deletion_reason=reason)


def _restored(state: MemoryObject, change: Change) -> MemoryObject:
    return replace(state, deleted=False, deleted_at=None, deletion_reason=None)


def _shared(state: MemoryObject, change: Change) -> MemoryObject:
    said = change.data["scope"]
    return replace(state, scope=scope_of(state.scope.as_json() | said))


def _facet_set(state: MemoryObject, change: Change) -> MemoryObject:
    facet = change.data.get("facet")
    if facet is None:
        return state
    return replace(state, facets={**state.facets, facet["name"]: facet["value"]})


def _facet_removed(state: MemoryObject, change: Change) -> MemoryObject:
    facet = change.data.get("facet")
    if facet is None:
        return state
    return replace(state, facets={name: value for name, value in state.facets.items() if name != facet["name"]})


_OPERATIONS = {
    "updated": _updated,
    "linked": _linked,
    "deleted": _deleted,
    "restored": _restored,
    "shared": _shared,
    "facet.added": _facet_set,
    "facet.replaced": _facet_set,
    "facet.removed": _facet_removed,
}


def _from_snapshot(state: MemoryObject | None, change: Change) -> MemoryObject:
    """The state as the snapshot has it. One whose subject was erased says nothing: what was folded before stays."""
    kept = change.data.get("state")
    if kept is None:
        if state is None:
            raise OutOfOrder(f"The snapshot of {change.emo_id} was erased.", emo_id=str(change.emo_id))
        return state
    return from_json(kept)


def parents_of(given: Sequence[Mapping[str, Any]]) -> tuple[Parent, ...]:
    return tuple(dict.fromkeys(Parent(UUID(str(one["emo_id"])), one["rel"]) for one in given))


def links_of(given: Sequence[Mapping[str, Any]]) -> tuple[Link, ...]:
    return tuple(dict.fromkeys(Link(one["kind"], one["ref"]) for one in given))


def as_json(one: MemoryObject) -> dict[str, Any]:
    """Everything, in a form that `from_json` reads back to an equal object."""
    return {
        "emo_id": str(one.emo_id),
        "world_id": str(one.place.world_id),
        "branch": one.place.branch,
        "emo_type": one.emo_type,
        "emo_version": one.emo_version,
        "base_version": one.base_version,
        "mime_type": one.mime_type,
        "content": one.content,
        "tags": list(one.tags),
        "facets": dict(one.facets),
        "parents": [parent.as_json() for parent in one.parents],
        "links": [link.as_json() for link in one.links],
        "subject_id": one.subject_id,
        "source_kind": one.source_kind,
        "source_uri": one.source_uri,
        "vector_meta": dict(one.vector_meta) if one.vector_meta is not None else None,
        "created_at": written(one.created_at),
        "updated_at": written(one.updated_at),
        "updated_by": one.updated_by,
        "deleted": one.deleted,
        "deleted_at": written(one.deleted_at) if one.deleted_at else None,
        "deletion_reason": one.deletion_reason,
        "sequence": one.sequence,
        **one.scope.as_json(),
    }


def from_json(given: Mapping[str, Any]) -> MemoryObject:
    """From `as_json`, or from a row of the lens."""
    return MemoryObject(
        emo_id=UUID(str(given["emo_id"])),
        place=Place(UUID(str(given["world_id"])), given["branch"]),
        parents=parents_of(given["parents"]),
        links=links_of(given["links"]),
        tags=tuple(given["tags"]),
        facets=dict(given["facets"]),
        created_at=_moment(given["created_at"]),
        updated_at=_moment(given["updated_at"]),
        deleted_at=_moment(given["deleted_at"]) if given["deleted_at"] else None,
        scope=scope_of(given),
        **{name: given[name] for name in _PLAIN},
    )


_PLAIN = (
    "emo_type", "emo_version", "base_version", "mime_type", "content", "subject_id", "source_kind", "source_uri",
    "vector_meta", "updated_by", "deleted", "deletion_reason", "sequence",
)  # fmt: skip


def _moment(given: Any) -> datetime:
    return given if isinstance(given, datetime) else read_moment(given)
