"""The real seal: personal values leave the payload encrypted, each bound to its event, field and person."""

import base64
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol
from uuid import UUID

import orjson
from cryptography.exceptions import InvalidTag

from mnemon.db.database import Connection
from mnemon.log.errors import KeyUnavailable, SealBroken, erased
from mnemon.log.events import Event
from mnemon.log.moments import now
from mnemon.log.privacy.personal import PersonalValue, personal_values, replaced, steps_of_pointer
from mnemon.log.privacy.seal import EventDraft, Newcomer, Sealed, SealedSubject, canonical
from mnemon.log.privacy.subjects import DataKey, Keys, SubjectKeys
from mnemon.log.privacy.terms import Terms
from mnemon.log.privacy.wrapping_keys import NONCE_LENGTH

SEALED = "[SEALED]"
REDACTED = "[REDACTED]"
PART = "sealed"
# In canonical text the part comes last, so these say quickly that an event has nothing to open.
MARK, END = f'"{PART}":{{', "}}}"


class PayloadStore(Protocol):
    """Where payloads are that the database no longer holds."""

    async def fill(self, tenant: UUID, events: Sequence[Event], *, tolerant: bool) -> Sequence[Event]: ...

    async def readable(self, tenant: UUID, partition_id: int, sequences: Sequence[int]) -> Mapping[int, str]: ...


class CryptoSeal:
    """AES-256-GCM under the key of the person whom a value tells something about, and under that of its term."""

    def __init__(self, keys: SubjectKeys, elsewhere: PayloadStore | None = None, terms: Terms | None = None) -> None:
        self._keys = keys
        self._elsewhere = elsewhere
        self._terms = terms or Terms()

    async def seal(
        self, tenant: UUID, drafts: Sequence[EventDraft], connection: Connection | None = None
    ) -> Sequence[Sealed]:
        """Refuses an event about an erased person. What an event says of its actor is only left out: who was
        forgotten may still act."""
        values = [personal_values(draft) for draft in drafts]
        if not any(values):
            return [Sealed(canonical(draft.payload)) for draft in drafts]
        at = now()
        terms = [
            self._terms.key_of(draft.declaration, at) if personal else None
            for draft, personal in zip(drafts, values, strict=True)
        ]
        subjects = {one.subject_id for personal in values for one in personal} | {one for one in terms if one}
        keys = await self._keys.to_seal_with(tenant, subjects, connection)
        return [_sealed(tenant, *one, keys) for one in zip(drafts, values, terms, strict=True)]

    async def open(self, tenant: UUID, events: Sequence[Event], *, tolerant: bool = False) -> Sequence[Event]:
        """Erased values read as `[REDACTED]`. The events keep their text as it was hashed."""
        if self._elsewhere is not None and any(event.payload_text is None for event in events):
            events = await self._elsewhere.fill(tenant, events, tolerant=tolerant)
        closed = {
            number: orjson.loads(text)
            for number, event in enumerate(events)
            if (text := event.payload_text or "").endswith(END) and MARK in text
        }
        parts = [item for payload in closed.values() for item in payload.get(PART, {}).items()]
        subjects = {subject for subject, _ in parts} | {part["term"] for _, part in parts if "term" in part}
        if not subjects:
            return events
        keys = await self._keys.of(tenant, subjects)
        opened = list(events)
        for number, payload in closed.items():
            event = replace(events[number])
            event.__dict__["payload"] = _opened(tenant, event.id, payload, keys)
            opened[number] = event
        return opened

    async def archived(self, tenant: UUID, partition_id: int, sequences: Sequence[int]) -> Mapping[int, str]:
        return await self._elsewhere.readable(tenant, partition_id, sequences) if self._elsewhere else {}

    def forget(self, tenant: UUID, subjects: Iterable[str]) -> None:
        self._keys.forget(tenant, subjects)


def _sealed(
    tenant: UUID, draft: EventDraft, values: Sequence[PersonalValue], term: str | None, keys: Mapping[str, Keys]
) -> Sealed:
    if not values:
        return Sealed(canonical(draft.payload))
    outer = keys[term].living if term else None
    if term and outer is None:
        # Only a clock that went back by years comes here.
        raise erased([term])
    payload: Any = draft.payload
    boxes: dict[str, dict[str, Any]] = {}
    subjects = []
    newcomers: dict[str, Newcomer] = {}
    for one in values:
        known = keys[one.subject_id]
        key = known.living
        if key is None:
            if not one.courtesy:
                raise erased([one.subject_id])
            payload = replaced(payload, one.place, REDACTED)
            continue
        part = boxes.setdefault(one.subject_id, {"generation": key.generation, "fields": {}})
        if term:
            part["term"] = term
        # The values within this one are sealed by now: it is encrypted as the payload has it, not as it came.
        part["fields"][one.field] = _box(key, outer, tenant, draft.id, one.field, _at(payload, one))
        payload = replaced(payload, one.place, SEALED)
        for who in filter(None, (one.subject_id, term)):
            subjects.append(SealedSubject(who, one.field))
            if (newcomer := keys[who].newcomer) is not None:
                newcomers[who] = newcomer
    return Sealed(canonical({**payload, PART: boxes} if boxes else payload), subjects, tuple(newcomers.values()))


def _at(payload: Any, value: PersonalValue) -> Any:
    for step in value.place:
        payload = payload[step]
    return payload


def _box(key: DataKey, outer: DataKey | None, tenant: UUID, event_id: str, field: str, value: Any) -> str:
    closed = orjson.dumps(value)
    for one in filter(None, (key, outer)):
        nonce = os.urandom(NONCE_LENGTH)
        closed = nonce + one.cipher.encrypt(nonce, closed, _binding(tenant, event_id, field, one))
    return base64.b64encode(closed).decode()


def _opened(tenant: UUID, event_id: str, payload: dict[str, Any], keys: Mapping[str, Keys]) -> dict[str, Any]:
    boxes: dict[str, Any] = payload.pop(PART, {})
    fields = [
        (steps_of_pointer(field), field, {subject: part["generation"]} | _term_of(part), box)
        for subject, part in boxes.items()
        for field, box in part["fields"].items()
    ]
    for steps, field, sealed_with, box in sorted(fields, key=lambda one: len(one[0])):
        used = [_key_of(keys, subject, generation, event_id) for subject, generation in sealed_with.items()]
        whole = [key for key in used if key is not None]
        value = _unboxed(whole, tenant, event_id, field, box) if len(whole) == len(used) else REDACTED
        payload = replaced(payload, steps, value)
    return payload


def _term_of(part: Mapping[str, Any]) -> dict[str, int]:
    """A term has one key, ever."""
    return {part["term"]: 1} if "term" in part else {}


def _key_of(keys: Mapping[str, Keys], subject: str, generation: int, event_id: str) -> DataKey | None:
    known = keys[subject].generations
    if generation not in known:
        raise KeyUnavailable(
            f"The key of {subject} that event {event_id} was sealed with is not in the database: "
            "it was restored from a backup of an earlier time, or its row was removed.",
            subject_id=subject,
        )
    return known[generation]


def _unboxed(used: Sequence[DataKey], tenant: UUID, event_id: str, field: str, box: str) -> Any:
    """The last key that closed it opens it first."""
    try:
        text = base64.b64decode(box, validate=True)
        for key in reversed(used):
            binding = _binding(tenant, event_id, field, key)
            text = key.cipher.decrypt(text[:NONCE_LENGTH], text[NONCE_LENGTH:], binding)
    except (InvalidTag, ValueError):
        raise SealBroken(
            f"The sealed field {field} of event {event_id} was changed, or moved from another event or field: "
            "verify the log.",
            event_id=event_id,
            field=field,
        ) from None
    return orjson.loads(text)


def _binding(tenant: UUID, event_id: str, field: str, key: DataKey) -> bytes:
    return canonical(["mnemon/seal/1", str(tenant), event_id, field, key.subject_id, key.generation])
