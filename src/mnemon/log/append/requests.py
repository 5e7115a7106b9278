"""Requests: turns the events of a caller into rows ready to be written, or refuses them, before anything is locked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Self, cast
from uuid import UUID

import orjson

from mnemon.db.database import Connection
from mnemon.errors import MnemonError
from mnemon.ids import new_ulids
from mnemon.log.append.keys import EventKey, key_conflict
from mnemon.log.append.prepare import AppendContext, Prepared, draft, prepare
from mnemon.log.errors import BatchRefused, InvalidEvent, NotNew, SubjectErased
from mnemon.log.events import Appended, NewEvent
from mnemon.log.privacy.seal import EventDraft, Seal
from mnemon.log.types.registry import CompiledType, Registry
from mnemon.settings import Settings
from mnemon.tracing import note

LEGAL_ENTITY = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,100}")


@dataclass(frozen=True, slots=True)
class AppendLimits:
    """How much one append may hold, how long an idempotency key is kept, how many partitions a tenant may open."""

    batch_events: int = 1000
    key_life: timedelta = timedelta(hours=24)
    legal_entities: int = 100

    @classmethod
    def of(cls, settings: Settings) -> Self:
        key_life = timedelta(hours=settings.log_idempotency_hours)
        return cls(settings.log_batch_events, key_life, settings.log_legal_entities)


@dataclass
class Request:
    """The events of one caller, appended together or not at all, and what became of them."""

    events: Sequence[Prepared]
    results: dict[int, Appended] = field(default_factory=dict)
    failure: MnemonError | None = None
    written: list[tuple[Prepared, Appended]] = field(default_factory=list)

    @property
    def newcomers(self) -> set[str]:
        """Who gets a first key by what is still to be written."""
        return {one.subject_id for place, event in enumerate(self.events) if event.newcomers
                and place not in self.results for one in event.newcomers}  # fmt: skip

    def forget(self) -> None:
        """What was settled in a transaction that did not commit is open again."""
        self.results.clear()
        self.written.clear()
        self.failure = None

    @property
    def settled(self) -> bool:
        return self.failure is not None or len(self.results) == len(self.events)

    @property
    def appended(self) -> list[Appended]:
        if self.failure is not None:
            raise self.failure
        return [self.results[place] for place in range(len(self.events))]


class RequestMaker:
    """Validates, seals and encodes."""

    def __init__(self, registry: Registry, seal: Seal, limits: AppendLimits) -> None:
        self._registry = registry
        self._seal = seal
        self._limits = limits

    async def make(self, tenant: UUID, events: Sequence[NewEvent], connection: Connection | None = None) -> Request:
        """The request, or the reason why not. A caller's connection also finds types that it has just declared."""
        self._check_batch(events)
        drafts, compiled = await self._drafts(tenant, events, connection)
        try:
            sealed = await self._seal.seal(tenant, drafts, connection)
        except orjson.JSONEncodeError as failure:
            raise InvalidEvent(f"The data of {events[0].type} cannot be written as JSON: {failure}.") from None
        context = AppendContext(tenant, self._limits.key_life)
        prepared = [
            prepare(context, made, closed, one) for made, closed, one in zip(drafts, sealed, compiled, strict=True)
        ]
        _check_keys(prepared)
        note(correlation_id=",".join(sorted({one.correlation_id for one in prepared})[:10]))
        return Request(prepared)

    def forget(self, tenant: UUID, refusal: SubjectErased | NotNew) -> None:
        """Seal no more with keys that turned out to be destroyed, or not to be the person's."""
        self._seal.forget(tenant, refusal.details["subjects"])

    def _check_batch(self, events: Sequence[NewEvent]) -> None:
        if not events:
            raise BatchRefused("The batch is empty: give at least one event.")
        if len(events) > self._limits.batch_events:
            raise BatchRefused(
                f"The batch has {len(events)} events, more than {self._limits.batch_events}: split it.",
                limit=self._limits.batch_events,
            )
        entities = {event.scope.legal_entity for event in events}
        if len(entities) > 1:
            raise BatchRefused(
                f"The batch spans the legal entities {', '.join(sorted(entities))}: append to each on its own.",
                legal_entities=sorted(entities),
            )
        name = events[0].scope.legal_entity
        if not LEGAL_ENTITY.fullmatch(name) or name == "*":
            raise BatchRefused(
                "A legal entity is named by 1 to 100 characters, none of them a control character, and not by *, which "
                "means all of them."
            )

    async def _drafts(
        self, tenant: UUID, events: Sequence[NewEvent], connection: Connection | None
    ) -> tuple[list[EventDraft], list[CompiledType]]:
        """The events with their declarations, read again if one is unknown or does not fit.

        For it may have been declared, or a field added to it, by another process since we looked.
        """
        ids = new_ulids(len(events))
        found = {
            one: self._registry.known(tenant, *one) for one in {(event.type, event.schema_version) for event in events}
        }
        known = [found[event.type, event.schema_version] for event in events]
        if None not in found.values():
            compiled = cast(list[CompiledType], known)
            try:
                return list(map(draft, events, compiled, ids)), compiled
            except InvalidEvent:
                if all(one.built_in for one in compiled):
                    raise
        await self._registry.refresh(tenant, connection)
        compiled = [await self._registry.find(tenant, event.type, event.schema_version) for event in events]
        return list(map(draft, events, compiled, ids)), compiled


def _check_keys(events: Sequence[Prepared]) -> None:
    """Within one batch a key can stand for one event only."""
    seen: dict[bytes, tuple[Prepared, EventKey]] = {}
    for prepared in events:
        for key in prepared.keys:
            first, _ = seen.setdefault(key.digest, (prepared, key))
            if first is not prepared:
                raise key_conflict(key, f"{first.id} of the same batch")
