"""The seal: the one step between a validated event and the bytes that are hashed and stored, and its way back."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol
from uuid import UUID

import orjson

from mnemon.db.database import Connection
from mnemon.log.events import Event, NewEvent
from mnemon.log.types.event_type import EventType


class EventDraft(NamedTuple):
    """A validated event whose payload is still plain."""

    id: str
    declaration: EventType
    event: NewEvent
    payload: Mapping[str, Any]


class SealedSubject(NamedTuple):
    """A person whom a field of the payload tells something about."""

    subject_id: str
    field: str


class Newcomer(NamedTuple):
    """The first key of a person whom nothing named before, wrapped. It is kept only if what names them is."""

    subject_id: str
    wrapping_key: str
    wrapped_key: bytes


class Sealed(NamedTuple):
    """The payload as it is hashed and stored, whose personal fields are in it, and who of them is new."""

    payload: bytes
    subjects: Sequence[SealedSubject] = ()
    newcomers: Sequence[Newcomer] = ()


class Seal(Protocol):
    """Encrypts personal fields before anything is written, and decrypts them for readers."""

    async def seal(
        self, tenant: UUID, drafts: Sequence[EventDraft], connection: Connection | None = None
    ) -> Sequence[Sealed]:
        """A caller's connection also finds the keys of those whom its transaction has just named."""
        ...

    async def open(self, tenant: UUID, events: Sequence[Event], *, tolerant: bool = False) -> Sequence[Event]:
        """With `tolerant`, for people who read: an event whose payload is lost says so in its place."""
        ...

    async def archived(self, tenant: UUID, partition_id: int, sequences: Sequence[int]) -> Mapping[int, str]:
        """Payloads that the database does not hold, as they were stored; less those that cannot be read."""
        ...

    def forget(self, tenant: UUID, subjects: Iterable[str]) -> None:
        """Drop what is remembered of these people: it turned out to be out of date."""
        ...


class PlainSeal:
    """Stores payloads as they are."""

    async def seal(
        self, tenant: UUID, drafts: Sequence[EventDraft], connection: Connection | None = None
    ) -> Sequence[Sealed]:
        return [Sealed(canonical(draft.payload)) for draft in drafts]

    async def open(self, tenant: UUID, events: Sequence[Event], *, tolerant: bool = False) -> Sequence[Event]:
        return events

    async def archived(self, tenant: UUID, partition_id: int, sequences: Sequence[int]) -> Mapping[int, str]:
        return {}

    def forget(self, tenant: UUID, subjects: Iterable[str]) -> None:
        pass


def canonical(document: Any) -> bytes:
    """JSON with sorted keys and no spaces. It is never made again: what is stored is these bytes."""
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)
