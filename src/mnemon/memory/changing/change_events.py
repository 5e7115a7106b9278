"""The event of a change: who makes it, which version it makes, and what speaks against it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mnemon.documents.access import Reader
from mnemon.errors import NotAllowed
from mnemon.log.events import Actor, EntityReference, NewEvent, Source
from mnemon.memory.errors import DuplicateChange, MemoryConflict, MemoryDeleted
from mnemon.memory.events import OBJECT
from mnemon.memory.objects import Link, MemoryObject, Parent, Place, name_of
from mnemon.memory.personal import enclose
from mnemon.memory.views import View


@dataclass(frozen=True, slots=True)
class Author:
    """Who changes something, through which door, and under which key of their own, so that a repeat is known."""

    actor: Actor
    channel: str = "api"
    key: str | None = None
    caused_by: str | None = None
    correlation_id: str | None = None
    # Owns the machine, or looks after the tenant: changes what others own, of what is for them to read.
    in_charge: bool = False

    @property
    def reader(self) -> Reader:
        return Reader.of(self.actor)


def event_of(
    tenant: UUID,
    place: Place,
    author: Author,
    emo_id: UUID,
    seen: MemoryObject | None,
    operation: str,
    data: dict[str, Any],
    subject_id: str | None,
) -> NewEvent:
    """The event of a change to what was seen. The log takes it only if the object is still there."""
    version = seen.emo_version + 1 if seen else 1
    key = f"{emo_id}:{version}:{operation}"
    whole = data | {
        "emo_id": str(emo_id),
        "emo_version": version,
        "world_id": str(place.world_id),
        "branch": place.branch,
        "idempotency_key": key,
        "change_id": str(
            change_id_of(tenant, place, author) if author.key else name_of(*_in(tenant, place), key, "change")
        ),
    }
    entity = place.entity(emo_id)
    own = seen.emo_version - seen.base_version if seen and seen.place == place else 0
    return NewEvent(
        type=f"emo.{operation}",
        data=enclose(whole, subject_id),
        actor=author.actor,
        entities=[EntityReference(OBJECT, entity)],
        source=Source(channel=author.channel),
        idempotency_key=f"{place.world_id}/{place.branch}/{key}",
        expected_versions={(OBJECT, entity): own},
        caused_by=author.caused_by,
        correlation_id=author.correlation_id,
    )


def refuse_if_gone(view: View, seen: MemoryObject, expected: int | None, *, deleted: bool = False) -> None:
    """What speaks against a change before it is made; only a restore wants the object deleted."""
    view.refuse_changes_if_closed()
    if seen.deleted and not deleted:
        raise MemoryDeleted(f"{seen.emo_id} is deleted: restore it first.", emo_id=str(seen.emo_id))
    if expected is not None and expected != seen.emo_version:
        raise version_conflict(seen.emo_id, expected, seen.emo_version)


def refuse_if_not_theirs(author: Author, seen: MemoryObject) -> None:
    """Others may read what its owner alone changes."""
    if not (author.in_charge or seen.scope.is_changed_by(author.reader)):
        raise NotAllowed(
            f"{seen.emo_id} belongs to {seen.scope.owner}, who alone may change it: ask them, or write one of your own "
            "that supersedes it.",
            emo_id=str(seen.emo_id),
            owner=seen.scope.owner,
        )


def refuse_if_not_owner(author: Author, seen: MemoryObject) -> None:
    """Whoever may change an object does not thereby say who else may read it."""
    if not author.in_charge and not author.reader.is_among([seen.scope.owner]):
        raise NotAllowed(
            f"{seen.emo_id} belongs to {seen.scope.owner or 'everyone'}: its owner or an administrator says who may "
            "read it.",
            emo_id=str(seen.emo_id),
            owner=seen.scope.owner,
        )


def version_conflict(emo_id: UUID, expected: int, current: int) -> MemoryConflict:
    return MemoryConflict(
        f"{emo_id} was expected at version {expected} but is at {current}: read it again and retry.",
        emo_id=str(emo_id),
        expected_version=expected,
        current_version=current,
    )


def duplicate(emo_id: UUID, version: int) -> DuplicateChange:
    return DuplicateChange(
        f"This was done before: {emo_id} is there, and the key stands for its version {version}.",
        emo_id=str(emo_id),
        emo_version=version,
    )


def because(rationale: str | None) -> dict[str, str]:
    return {"rationale": rationale} if rationale else {}


def relations_as_data(parents: Sequence[Parent], links: Sequence[Link], prefix: str = "") -> dict[str, Any]:
    """References to the outside stand apart: they may be personal."""
    parts = {
        f"{prefix}parents": [one.as_json() for one in parents],
        f"{prefix}links": [one.as_json() for one in links if one.kind == "emo"],
        f"{prefix}outside_links": [one.as_json() for one in links if one.kind == "uri"],
    }
    return {name: values for name, values in parts.items() if values}


def change_id_of(tenant: UUID, place: Place, author: Author, name: str | None = None) -> UUID:
    """A change under a caller's key has the same id however often it is tried, and no other change can have it.

    A key is its user's own, by each of their names: what another does under the same one is another change."""
    return name_of(*_in(tenant, place), name or author.reader.name, author.key, "keyed change")


def object_id_of(tenant: UUID, place: Place, author: Author) -> UUID:
    """Of a new object under a caller's key."""
    return name_of(*_in(tenant, place), author.reader.name, author.key)


def shared_change_id_of(tenant: UUID, place: Place, author: Author) -> UUID:
    """As it was made when a key was everybody's, of a request that is repeated since."""
    return name_of(*_in(tenant, place), author.key, "keyed change")


def _in(tenant: UUID, place: Place) -> tuple[object, ...]:
    return tenant, place.world_id, place.branch
