"""The keys of people: one data key per person, wrapped in the database, open in a small memory for a short time."""

import asyncio
import os
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mnemon.db.database import SET_TENANT, Connection, Database, connect
from mnemon.errors import DatabaseUnavailable, NotFound
from mnemon.log.append.arrays import TextArray
from mnemon.log.errors import KeyUnavailable
from mnemon.log.privacy.first_keys import LET_GO, ONE_MAKES_KEYS
from mnemon.log.privacy.seal import Newcomer, canonical
from mnemon.log.privacy.wrapping_keys import KEY_LENGTH, KeyRing, Wrapper, wrap_all
from mnemon.telemetry import counter

UNWRAPPED = counter("mnemon_privacy_keys_unwrapped_total", "Keys of people that were unwrapped, not found in memory.")

FIND = """
SELECT subject_id, generation, key_id, wrapped_key FROM mnemon.subject_keys
 WHERE tenant_id = %s AND subject_id = ANY(%s)
"""
ADMIT = "SELECT mnemon.admit_subject(%s, %s, %s) AS admitted"
READMIT = "SELECT mnemon.readmit_subject(%s, %s, %s, %s) AS generation"
WRAPPING_KEYS = "SELECT key_id FROM mnemon.wrapping_keys"
ANNOUNCE = "INSERT INTO mnemon.wrapping_keys (key_id) VALUES (%s) ON CONFLICT DO NOTHING"


@dataclass(frozen=True, slots=True)
class DataKey:
    """A person's key, ready to use."""

    subject_id: str
    generation: int
    cipher: AESGCM


@dataclass(frozen=True, slots=True)
class Keys:
    """All keys that a person ever had, by generation; None stands for a destroyed one.

    With `newcomer` the one key is not in the database yet: the append that names the person brings it along.
    """

    generations: Mapping[int, DataKey | None]
    newcomer: Newcomer | None = None

    @property
    def living(self) -> DataKey | None:
        return next((key for key in self.generations.values() if key is not None), None)


NOBODY = Keys({})


@dataclass(frozen=True, slots=True)
class _Remembered:
    keys: Keys
    until: float


class SubjectKeys:
    """Finds and makes the keys of people. Looks them up on a connection of its own, as those who ask hold others."""

    def __init__(
        self,
        database: Database,
        ring: KeyRing,
        *,
        most: int = 10_000,
        seconds: float = 60,
        on_first: Callable[[], None] | None = None,
    ) -> None:
        self.ring = ring
        # Called before the first key is remembered: from then on it matters to hear of erasures.
        self.on_first = on_first
        self._database = database
        self._most = most
        self._seconds = seconds
        self._memory: OrderedDict[tuple[UUID, str], _Remembered] = OrderedDict()
        self._announced: set[str] = set()
        self._turn = asyncio.Lock()
        self._connection: Connection | None = None

    async def close(self) -> None:
        self.forget_all()
        if self._connection is not None:
            await self._connection.close()

    def forget(self, tenant: UUID, subjects: Iterable[str]) -> None:
        # A rotation may have retired the wrapping key too: it is looked at again before someone new gets a key.
        self._announced.clear()
        for subject in subjects:
            self._memory.pop((tenant, subject), None)

    def forget_all(self) -> None:
        self._memory.clear()

    async def of(self, tenant: UUID, subjects: Collection[str]) -> dict[str, Keys]:
        """The keys of each person; `NOBODY` for one who has none."""
        now = time.monotonic()
        found: dict[str, Keys] = {}
        for subject in subjects:
            remembered = self._memory.get((tenant, subject))
            if remembered is not None and remembered.until > now:
                self._memory.move_to_end((tenant, subject))
                found[subject] = remembered.keys
        if missing := [subject for subject in subjects if subject not in found]:
            async with self._transaction(tenant) as connection:
                rows = await (await connection.execute(FIND, (tenant, TextArray(missing)))).fetchall()
            read = await self._unwrapped(tenant, rows)
            self._remember(tenant, read)
            found |= {subject: read.get(subject, NOBODY) for subject in missing}
        return found

    async def to_seal_with(
        self, tenant: UUID, subjects: Collection[str], connection: Connection | None = None
    ) -> dict[str, Keys]:
        """The same, with a first key for everyone who never had one; it counts once an append has brought it in."""
        found = await self.of(tenant, subjects)
        strangers = [subject for subject, keys in found.items() if keys is NOBODY]
        if strangers and connection is not None:
            # Whom an earlier append of the same transaction named. It may yet be undone: nothing is remembered.
            rows = await (await connection.execute(FIND, (tenant, TextArray(strangers)))).fetchall()
            found |= await self._unwrapped(tenant, rows)
            strangers = [subject for subject in strangers if found[subject] is NOBODY]
        return found | await self._newcomers(tenant, strangers) if strangers else found

    async def admit(self, tenant: UUID, subject: str, connection: Connection) -> DataKey | None:
        """The living key of someone, in the caller's transaction; a first one, before any event has named them.

        For what is sealed beside that event, when the event tells of it.
        """
        keys = (await self.to_seal_with(tenant, [subject], connection))[subject]
        if (new := keys.newcomer) is not None:
            row = await (await connection.execute(ADMIT, (subject, new.wrapping_key, new.wrapped_key))).fetchone()
            if row is None or not row["admitted"]:
                raise KeyUnavailable(f"{subject} got a key from someone else meanwhile: try again.")
        return keys.living

    async def readmit(self, tenant: UUID, subject: str, connection: Connection) -> int:
        """A new generation for a person whose keys are all destroyed, in the caller's transaction."""
        wrapper = await self._announce()
        secret = await wrapper.wrap(os.urandom(KEY_LENGTH), context_of(tenant, subject))
        # What another process sealed with the old key is by then either written and lost with it, or refused.
        before = datetime.now().astimezone() - timedelta(seconds=self._seconds)
        values = (subject, wrapper.key_id, secret, before)
        row = await (await connection.execute(READMIT, values)).fetchone()
        if row is None or row["generation"] is None:
            raise NotFound(
                f"{subject} was not erased, or less than {self._seconds:.0f} seconds ago: only who was forgotten can "
                "be readmitted, and not before every process has forgotten them.",
                subject_id=subject,
            )
        self.forget(tenant, [subject])
        return int(row["generation"])

    async def _newcomers(self, tenant: UUID, subjects: list[str]) -> dict[str, Keys]:
        wrapper = await self._announce()
        secrets = [os.urandom(KEY_LENGTH) for _ in subjects]
        wrapped = await wrap_all(wrapper, secrets, [context_of(tenant, one) for one in subjects])
        return {
            one: Keys({1: DataKey(one, 1, AESGCM(secret))}, Newcomer(one, wrapper.key_id, closed))
            for one, secret, closed in zip(subjects, secrets, wrapped, strict=True)
        }

    async def check(self) -> list[str]:
        """The key-encryption keys in use, or an error that says which is not at hand."""
        async with self._turn:
            connection = await self._opened()
            rows = await (await connection.execute(WRAPPING_KEYS)).fetchall()
        for row in rows:
            await self.ring.find(row["key_id"])
        return [row["key_id"] for row in rows]

    async def _announce(self) -> Wrapper:
        """The key to wrap with, once it is sure that it is not a stand-in for one that was lost."""
        wrapper = await self.ring.current()
        if wrapper is None or wrapper.key_id not in self._announced:
            await self.check()
            async with self._turn:
                connection = await self._opened()
                wrapper = wrapper or await self._first(connection)
                await connection.execute(ANNOUNCE, (wrapper.key_id,))
            self._announced.add(wrapper.key_id)
        return wrapper

    async def _first(self, connection: Connection) -> Wrapper:
        """Made by one process alone, also where a store of keys would let a second overwrite it."""
        await connection.execute(ONE_MAKES_KEYS)
        try:
            return await self.ring.current() or await self.ring.chosen.renew()
        finally:
            await connection.execute(LET_GO)

    async def _unwrapped(self, tenant: UUID, rows: list[dict[str, Any]]) -> dict[str, Keys]:
        opened = await asyncio.gather(*(self._data_key(tenant, row) for row in rows))
        generations: dict[str, dict[int, DataKey | None]] = {}
        for row, key in zip(rows, opened, strict=True):
            generations.setdefault(row["subject_id"], {})[row["generation"]] = key
        return {subject: Keys(keys) for subject, keys in generations.items()}

    async def _data_key(self, tenant: UUID, row: dict[str, Any]) -> DataKey | None:
        if row["wrapped_key"] is None:
            return None
        wrapper = await self.ring.find(row["key_id"])
        secret = await wrapper.unwrap(row["wrapped_key"], context_of(tenant, row["subject_id"]))
        UNWRAPPED.inc()
        return DataKey(row["subject_id"], row["generation"], AESGCM(secret))

    def _remember(self, tenant: UUID, read: Mapping[str, Keys]) -> None:
        if self.on_first is not None:
            start, self.on_first = self.on_first, None
            start()
        until = time.monotonic() + self._seconds
        for subject, keys in read.items():
            self._memory[tenant, subject] = _Remembered(keys, until)
            self._memory.move_to_end((tenant, subject))
        while len(self._memory) > self._most:
            self._memory.popitem(last=False)

    @asynccontextmanager
    async def _transaction(self, tenant: UUID) -> AsyncIterator[Connection]:
        async with self._turn:
            try:
                connection = await self._opened()
                async with connection.transaction():
                    await connection.execute(SET_TENANT, (str(tenant),))
                    yield connection
            except psycopg.OperationalError as failure:
                raise DatabaseUnavailable("The database went away while keys were looked up: try again.") from failure

    async def _opened(self) -> Connection:
        if self._connection is None or self._connection.closed:
            server = self._database.server
            self._connection = await connect(server, server.app_conninfo)
        return self._connection


def context_of(tenant: UUID, subject: str) -> bytes:
    """What a wrapped key is bound to."""
    return canonical(["mnemon/subject/1", str(tenant), subject])
