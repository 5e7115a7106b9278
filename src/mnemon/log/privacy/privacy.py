"""Privacy in one place: the sealed log, and all that can be done to forget, prove and put away."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from mnemon.db.backup_keys import BackupKeys
from mnemon.db.database import Database
from mnemon.log.append.requests import AppendLimits
from mnemon.log.privacy.affected import AffectedEvent, Person, affected_events, page_of_people
from mnemon.log.privacy.archive import Archive
from mnemon.log.privacy.archive_objects import ArchivedPayloads
from mnemon.log.privacy.archive_store import ArchiveStore, archive_store_for
from mnemon.log.privacy.crypto_seal import REDACTED, CryptoSeal
from mnemon.log.privacy.erasure import Erasures
from mnemon.log.privacy.erasure_list import ErasureList
from mnemon.log.privacy.first_keys import made_in_turn
from mnemon.log.privacy.invalidation import Invalidation
from mnemon.log.privacy.personal import steps_of_pointer
from mnemon.log.privacy.redaction import Redactions
from mnemon.log.privacy.redaction_requests import RedactionRequests
from mnemon.log.privacy.repeated_erasures import note_in_turn, repeat_erasures
from mnemon.log.privacy.retention import Retention
from mnemon.log.privacy.rotation import Rotation, RotationProgress, rotate
from mnemon.log.privacy.scan import Scan, scan, scan_own
from mnemon.log.privacy.sharers import Sharers, identity_of
from mnemon.log.privacy.subjects import WRAPPING_KEYS, SubjectKeys
from mnemon.log.privacy.terms import Terms, class_years_of
from mnemon.log.privacy.wrapping_keys import KeyRing
from mnemon.log.proof.signing import public_hex
from mnemon.log.proof.signing_keys import signing_keys
from mnemon.log.read.streams import Filter
from mnemon.log.store import EventLog
from mnemon.log.subscribe.limits import DEFAULT_LIMITS, DeliveryLimits
from mnemon.log.types.registry import Registry
from mnemon.settings import Settings
from mnemon.shared_home import SharedHome, home_of

# Seconds: whoever asks over a door waits for it.
LONGEST_SCAN = 20.0


@dataclass(frozen=True, slots=True)
class PersonalData:
    """One value that the log holds about a person."""

    legal_entity: str
    sequence: int
    event_id: str
    event_type: str
    recorded_at: datetime
    field: str
    value: Any


class Privacy:
    """`log` is the event log whose personal fields are sealed."""

    def __init__(
        self,
        database: Database,
        ring: KeyRing,
        store: ArchiveStore,
        *,
        limits: AppendLimits | None = None,
        registry: Registry | None = None,
        delivery: DeliveryLimits = DEFAULT_LIMITS,
        most_keys: int = 10_000,
        key_seconds: float = 60,
        listening: bool = True,
        backup_keys: BackupKeys | None = None,
        erasure_list: ErasureList | None = None,
        sharers: Sharers | None = None,
        retention_notice: timedelta = timedelta(days=30),
        terms: Terms | None = None,
    ) -> None:
        self._database = database
        self._backup_keys = backup_keys
        self.sharers = sharers or Sharers(Path())
        self.ring = ring
        self.store = store
        self.keys = SubjectKeys(database, ring, most=most_keys, seconds=key_seconds)
        self.payloads = ArchivedPayloads(database, store)
        seal = CryptoSeal(self.keys, self.payloads, terms)
        self.log = EventLog(database, limits=limits, seal=seal, registry=registry, delivery=delivery)
        self.erasure_list = erasure_list
        self.erasures = Erasures(self.log, self.keys, erasure_list)
        self.retention = Retention(self.log, self.erasures, retention_notice, terms)
        self.redactions = Redactions(self.log)
        self.redaction_requests = RedactionRequests(self.log, self.redactions)
        self.archive = Archive(database, self.log, store)
        self.invalidation = Invalidation(database, self.keys)
        if listening:
            self.keys.on_first = self.invalidation.start

    async def close(self) -> None:
        await self.invalidation.stop()
        await self.log.close()
        await self.keys.close()

    async def repeat_erasures(self) -> int:
        """Bring a database that was restored up to the list of erasures; to be done before anything is served."""
        if self.erasure_list is None:
            return 0
        return await repeat_erasures(self._database, self.log, self.erasure_list, self.erasures.on_erased)

    async def note_erasures(self) -> None:
        """Have the list tell of what others have erased in this database, or brought into it."""
        if self.erasure_list is not None:
            await note_in_turn(self._database, self.erasure_list)

    async def people(self, tenant: UUID, limit: int, after: str = "") -> list[Person]:
        """Everyone whose personal data the log holds or held, by id."""
        async with self._database.transaction(tenant) as connection:
            return await page_of_people(connection, tenant, limit, after)

    async def affected(self, tenant: UUID, subject_id: str) -> list[AffectedEvent]:
        async with self._database.transaction(tenant) as connection:
            return await affected_events(connection, tenant, subject_id)

    async def data_of(self, tenant: UUID, subject_id: str) -> AsyncIterator[PersonalData]:
        """All that the log holds about a person, as they may ask to see, also under the other ids that they act under;
        what is erased is left out."""
        async with self._database.transaction(tenant) as connection:
            others = await self.erasures.also_known_as(connection, subject_id) or ()
            held = [one for name in (subject_id, *others) for one in await affected_events(connection, tenant, name)]
        for one in held:
            wanted = Filter(from_sequence=one.sequence, to_sequence=one.sequence)
            page = await self.log.read_page(tenant, wanted=wanted, legal_entity=one.legal_entity, limit=1)
            [event] = page.events
            for field in one.fields:
                value = _value_at(event.payload, field)
                if value is not None and value != REDACTED:
                    yield PersonalData(
                        one.legal_entity, one.sequence, event.id, event.type, event.recorded_at, field, value
                    )

    async def scan(
        self, tenant: UUID, subject_id: str, words: Iterable[str] = (), folders: Sequence[Path] = ()
    ) -> Scan:
        """Look for words, and for all that can still be read about a person, in every table and archived object."""
        known = await self._known(tenant, subject_id)
        return await scan(self._database, known | set(words), store=self.store, folders=folders)

    async def scan_own(self, tenant: UUID, subject_id: str, words: Iterable[str] = ()) -> Scan:
        """The same in what belongs to the tenant alone, and not for ever."""
        known = await self._known(tenant, subject_id)
        return await scan_own(self._database, tenant, known | set(words), LONGEST_SCAN)

    async def _known(self, tenant: UUID, subject_id: str) -> set[str]:
        return {text async for one in self.data_of(tenant, subject_id) for text in _texts(one.value)}

    async def rotate(self, *, discard: bool = False, progress: RotationProgress | None = None) -> Rotation:
        return await rotate(
            self._database, self.ring, self._backup_keys, self.sharers, discard=discard, progress=progress
        )

    async def other_databases(self) -> Collection[str]:
        """Those whose installations share this home."""
        async with self._database.session() as session:
            own = await identity_of(session)
        return await asyncio.to_thread(self.sharers.others, own)

    async def note_own_keys(self) -> None:
        """For the others: which of the keys in the home are needed here, or will be first."""
        async with self._database.session() as session:
            own = await identity_of(session)
            rows = await (await session.execute(WRAPPING_KEYS)).fetchall()
        current = await self.ring.current()
        keys = [row["key_id"] for row in rows] or ([current.key_id] if current else [])
        await asyncio.to_thread(self.sharers.note, own, keys)


@asynccontextmanager
async def open_privacy(
    settings: Settings, database: Database, registry: Registry | None = None
) -> AsyncIterator[Privacy]:
    """The sealed log with the settings' keys."""
    home = home_of(settings)
    keys = signing_keys(home)
    privacy = Privacy(
        database,
        KeyRing.of(settings),
        archive_store_for(settings),
        limits=AppendLimits.of(settings),
        registry=registry,
        delivery=DeliveryLimits.of(settings),
        most_keys=settings.subject_key_cache,
        key_seconds=settings.subject_key_seconds,
        backup_keys=BackupKeys(home),
        erasure_list=ErasureList(home),
        sharers=Sharers(home),
        retention_notice=timedelta(days=settings.retention_notice_days),
        terms=Terms(class_years_of(settings.retention_class_years)),
    )
    privacy.log.signing_key = await made_in_turn(database, home, lambda: public_hex(keys.current()))
    if isinstance(home, SharedHome):
        await privacy.note_own_keys()
    try:
        yield privacy
    finally:
        await privacy.close()


def _value_at(payload: Any, field: str) -> Any:
    """None where something around the field was erased."""
    for step in steps_of_pointer(field):
        if isinstance(payload, list):
            payload = payload[int(step)]
        elif isinstance(payload, dict):
            payload = payload.get(step)
        else:
            return None
    return payload


def _texts(value: Any) -> Iterable[str]:
    """The words in a value of any JSON type."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
