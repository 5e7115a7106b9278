"""Changing objects: each change is one event, one version, one idempotency key."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack
from uuid import UUID

from mnemon.errors import Conflict, InvalidRequest
from mnemon.log.append.transaction import retry_on_conflict
from mnemon.log.errors import KeyConflict, TransactionConflict, VersionConflict
from mnemon.log.events import Appended
from mnemon.log.store import EventLog
from mnemon.memory.changing.beginning import Beginning, begin
from mnemon.memory.changing.change_events import (
    Author,
    because,
    duplicate,
    event_of,
    refuse_if_gone,
    refuse_if_not_owner,
    refuse_if_not_theirs,
    relations_as_data,
    version_conflict,
)
from mnemon.memory.changing.checks import ChangeChecks
from mnemon.memory.changing.drafts import (
    canonical_links,
    check_amount_of_facets,
    check_characters,
    check_facet,
    check_text,
)
from mnemon.memory.diffs import diff_texts
from mnemon.memory.errors import MemoryConflict
from mnemon.memory.fold import Change, OutOfOrder, fold
from mnemon.memory.objects import (
    Link,
    MemoryObject,
    Parent,
    Place,
    clean_tags,
)
from mnemon.memory.personal import disclose
from mnemon.memory.reading import Reading, not_found
from mnemon.memory.sharing.scope import MemoryWriters

Decide = Callable[[MemoryObject], tuple[str, dict[str, Any]] | None]


@dataclass(frozen=True, slots=True)
class Changed:
    """The object after a change; `appended` is None where there was nothing to change."""

    object: MemoryObject
    change_id: UUID | None
    appended: Appended | None


class Changes:
    """The only way to change memory: through events."""

    def __init__(
        self, log: EventLog, reading: Reading, vector_meta: Callable[[], Mapping[str, Any] | None] = lambda: None
    ) -> None:
        self._log = log
        self._reading = reading
        self.checks = ChangeChecks(log, reading)
        self._vector_meta = vector_meta

    async def create(self, tenant: UUID, place: Place, author: Author, **given: Unpack[Beginning]) -> Changed:
        """A new object at version 1. An id or a key that was used before is a `DuplicateChange`."""
        identity, data = await self._begun(tenant, place, author, **given)
        return await self._append(tenant, place, author, identity, None, "created", data, given.get("subject_id"))

    async def create_all(
        self, tenant: UUID, place: Place, given: Sequence[tuple[Author, Beginning]]
    ) -> list[MemoryObject]:
        """New objects, all or none, in one append."""
        events = []
        for author, one in given:
            identity, data = await self._begun(tenant, place, author, **one)
            check_characters("created", data)
            events.append(event_of(tenant, place, author, identity, None, "created", data, one.get("subject_id")))
        await self._reading.prepare(tenant)
        appended = await self._log.append(tenant, events)
        return [
            fold(None, Change("created", disclose(event.data), made.recorded_at, event.actor.id, made.sequence))
            for event, made in zip(events, appended, strict=True)
        ]

    async def _begun(
        self, tenant: UUID, place: Place, author: Author, **given: Unpack[Beginning]
    ) -> tuple[UUID, dict[str, Any]]:
        identity, data = await begin(self.checks, tenant, place, author, **given)
        return identity, data | self._vectors()

    async def update(
        self,
        tenant: UUID,
        place: Place,
        author: Author,
        emo_id: UUID,
        *,
        content: str | None = None,
        tags: Sequence[str] | None = None,
        rationale: str | None = None,
        expected_version: int | None = None,
    ) -> Changed:
        """New content, new tags, or both. The same content again changes nothing and adds no version."""
        if content is not None:
            check_text("content", content)

        def decide(seen: MemoryObject) -> tuple[str, dict[str, Any]] | None:
            new = seen.content if content is None else content
            kept = seen.tags if tags is None else clean_tags(tags)
            if new == seen.content and kept == seen.tags:
                return None
            data: dict[str, Any] = {"content": new, "content_diff": diff_texts(seen.content, new)}
            data |= {"tags": list(kept)} if kept != seen.tags else {}
            return "updated", data | because(rationale) | self._vectors()

        return await self._change(tenant, place, author, emo_id, decide, expected_version)

    async def link(
        self,
        tenant: UUID,
        place: Place,
        author: Author,
        emo_id: UUID,
        *,
        parents: Sequence[Parent] = (),
        links: Sequence[Link] = (),
        removed_parents: Sequence[Parent] = (),
        removed_links: Sequence[Link] = (),
        rationale: str | None = None,
        expected_version: int | None = None,
    ) -> Changed:
        """Add relations, or take some away."""
        if not (parents or links or removed_parents or removed_links):
            raise InvalidRequest("Name at least one parent or link.")
        links, removed_links = canonical_links(links), canonical_links(removed_links)
        await self.checks.refuse_targets(tenant, place, author, emo_id, parents, links)

        def decide(seen: MemoryObject) -> tuple[str, dict[str, Any]] | None:
            added = [one for one in parents if one not in seen.parents], [one for one in links if one not in seen.links]
            gone = (
                [one for one in removed_parents if one in seen.parents],
                [one for one in removed_links if one in seen.links],
            )
            if not any((*added, *gone)):
                return None
            return "linked", relations_as_data(*added) | relations_as_data(*gone, prefix="removed_") | because(
                rationale
            )

        return await self._change(tenant, place, author, emo_id, decide, expected_version)

    async def set_facet(
        self,
        tenant: UUID,
        place: Place,
        author: Author,
        emo_id: UUID,
        name: str,
        value: str,
        *,
        rationale: str | None = None,
        expected_version: int | None = None,
    ) -> Changed:
        """Add a facet, or give it another value."""
        check_facet(name, value)

        def decide(seen: MemoryObject) -> tuple[str, dict[str, Any]] | None:
            if seen.facets.get(name) == value:
                return None
            check_amount_of_facets(emo_id, len({*seen.facets, name}))
            operation = "facet.replaced" if name in seen.facets else "facet.added"
            return operation, {"facet": {"name": name, "value": value}} | because(rationale)

        return await self._change(tenant, place, author, emo_id, decide, expected_version)

    async def remove_facet(
        self,
        tenant: UUID,
        place: Place,
        author: Author,
        emo_id: UUID,
        name: str,
        *,
        rationale: str | None = None,
        expected_version: int | None = None,
    ) -> Changed:
        def decide(seen: MemoryObject) -> tuple[str, dict[str, Any]] | None:
            if name not in seen.facets:
                return None
            return "facet.removed", {"facet": {"name": name}} | because(rationale)

        return await self._change(tenant, place, author, emo_id, decide, expected_version)

    async def delete(
        self,
        tenant: UUID,
        place: Place,
        author: Author,
        emo_id: UUID,
        *,
        reason: str = "",
        expected_version: int | None = None,
    ) -> Changed:
        """Hide it from every view. Its history stays, and `restore` brings it back."""
        data = {"deletion_reason": reason} if reason else {}
        return await self._change(tenant, place, author, emo_id, lambda _: ("deleted", data), expected_version)

    async def restore(
        self,
        tenant: UUID,
        place: Place,
        author: Author,
        emo_id: UUID,
        *,
        rationale: str | None = None,
        expected_version: int | None = None,
    ) -> Changed:
        def decide(seen: MemoryObject) -> tuple[str, dict[str, Any]] | None:
            return ("restored", because(rationale)) if seen.deleted else None

        return await self._change(tenant, place, author, emo_id, decide, expected_version, deleted=True)

    async def share(
        self,
        tenant: UUID,
        place: Place,
        author: Author,
        emo_id: UUID,
        *,
        readers: Sequence[str] | None,
        writers: MemoryWriters,
        rationale: str | None = None,
        expected_version: int | None = None,
    ) -> Changed:
        """Say who reads it (None: everyone) and who changes it: all its versions, in every branch."""

        def decide(seen: MemoryObject) -> tuple[str, dict[str, Any]] | None:
            now = replace(seen.scope, readers=None if readers is None else tuple(readers), writers=writers)
            if now == seen.scope:
                return None
            said = now.as_json()
            return "shared", {"scope": {name: said[name] for name in ("readers", "writers")}} | because(rationale)

        return await self._change(
            tenant, place, author, emo_id, decide, expected_version, refuse_strangers=refuse_if_not_owner
        )

    async def _change(
        self,
        tenant: UUID,
        place: Place,
        author: Author,
        emo_id: UUID,
        decide: Decide,
        expected: int | None,
        *,
        deleted: bool = False,
        refuse_strangers: Callable[[Author, MemoryObject], None] = refuse_if_not_theirs,
    ) -> Changed:
        """Read, decide, append. Without an expected version, whoever comes in between only makes us do it again."""

        async def attempt() -> Changed:
            await self.checks.refuse_repeat(tenant, place, author)
            view, seen = await self._reading.find(tenant, place, emo_id)
            if seen is None or not seen.scope.is_for(author.reader):
                raise not_found(place, emo_id)
            refuse_strangers(author, seen)
            refuse_if_gone(view, seen, expected, deleted=deleted)
            decided = decide(seen)
            if decided is None:
                return Changed(seen, None, None)
            return await self._append(tenant, place, author, emo_id, seen, *decided, seen.subject_id)

        return await (attempt() if expected is not None else _patiently(attempt))

    async def _append(
        self,
        tenant: UUID,
        place: Place,
        author: Author,
        emo_id: UUID,
        seen: MemoryObject | None,
        operation: str,
        data: dict[str, Any],
        subject_id: str | None,
    ) -> Changed:
        check_characters(operation, data)
        event = event_of(tenant, place, author, emo_id, seen, operation, data, subject_id)
        await self._reading.prepare(tenant)
        try:
            [appended] = await self._log.append(tenant, [event])
        except (VersionConflict, KeyConflict, OutOfOrder) as refusal:
            raise await self._conflict(tenant, place, emo_id, seen, refusal) from None
        except Conflict:
            # Another call with the same key may have come first, for another object.
            await self.checks.refuse_repeat(tenant, place, author)
            raise
        change_id = UUID(event.data["change_id"])
        if appended.duplicate:
            raise duplicate(emo_id, event.data["emo_version"])
        change = Change(operation, disclose(event.data), appended.recorded_at, author.actor.id, appended.sequence)
        return Changed(fold(seen, change), change_id, appended)

    async def _conflict(
        self, tenant: UUID, place: Place, emo_id: UUID, seen: MemoryObject | None, refusal: Conflict
    ) -> Conflict:
        """What the log's refusal means for the object: another change came first."""
        _, now = await self._reading.find(tenant, place, emo_id)
        if seen is None:
            return duplicate(emo_id, now.emo_version if now else 0)
        current = now.emo_version if now else 0
        return version_conflict(emo_id, seen.emo_version, current)

    def _vectors(self) -> dict[str, Any]:
        meta = self._vector_meta()
        return {"vector_meta": dict(meta)} if meta else {}


async def _patiently(attempt: Callable[[], Awaitable[Changed]]) -> Changed:
    async def again() -> Changed:
        try:
            return await attempt()
        except MemoryConflict as conflict:
            raise TransactionConflict(conflict.message, **conflict.details) from conflict

    return await retry_on_conflict(again)
