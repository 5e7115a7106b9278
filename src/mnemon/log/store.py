"""The event log's public face: append, read, declare types, manage periods."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Self
from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.log.append.group import Groups
from mnemon.log.append.periods import Periods
from mnemon.log.append.requests import AppendLimits, RequestMaker
from mnemon.log.append.transaction import SEALINGS, LogTransaction
from mnemon.log.append.wake import Waker
from mnemon.log.append.writer import InlineLens, Writer
from mnemon.log.errors import NotNew, SubjectErased
from mnemon.log.events import MAIN, Actor, Appended, EntityReference, Event, NewEvent
from mnemon.log.partitions import Partition, Partitions, list_partitions
from mnemon.log.privacy.seal import PlainSeal, Seal
from mnemon.log.read.arrivals import Arrivals
from mnemon.log.read.follower import Follower
from mnemon.log.read.lineage import DEEPEST, Lineage, Trace
from mnemon.log.read.merged import ALL_LEGAL_ENTITIES, page_of_all
from mnemon.log.read.pattern import ALL_EVENTS, Pattern
from mnemon.log.read.reader import LogReader, StreamPage
from mnemon.log.read.streams import EVERYTHING, NO_FILTER, Direction, Filter, Stream
from mnemon.log.subscribe.dead_letters import DeadLetters
from mnemon.log.subscribe.limits import DEFAULT_LIMITS, DeliveryLimits
from mnemon.log.subscribe.pull import Pull
from mnemon.log.subscribe.subscriptions import Subscriptions
from mnemon.log.types.builtin import TYPE_REGISTERED
from mnemon.log.types.event_type import EventType
from mnemon.log.types.registry import Registry

# Two registrations of one tenant take turns, so that each is checked against the other.
ONE_REGISTRATION = "SELECT pg_advisory_xact_lock(hashtextextended('event types of ' || %s, 0))"


class EventLog:
    """The log of every tenant. Open with `async with EventLog(database) as log`."""

    def __init__(
        self,
        database: Database,
        *,
        limits: AppendLimits | None = None,
        seal: Seal | None = None,
        registry: Registry | None = None,
        delivery: DeliveryLimits = DEFAULT_LIMITS,
    ) -> None:
        self.database = database
        # What this process signs checkpoints with; the event that begins a tenant's log names it.
        self.signing_key: str | None = None
        self.registry = registry or Registry(database)
        limits = limits or AppendLimits()
        self.partitions = Partitions(database, limits.legal_entities)
        self.waker = Waker(database)
        seal = seal or PlainSeal()
        self.reader = LogReader(database, self.partitions, self.registry, seal)
        self.lineage = Lineage(self.partitions, self.reader)
        self.delivery = delivery
        self.arrivals = Arrivals(database, self.waker)
        self.subscriptions = Subscriptions(database)
        self.dead_letters = DeadLetters(database)
        self.pull = Pull(database, self.reader, self.registry, self.arrivals, delivery)
        self._follower = Follower(database, self.reader, self.arrivals)
        self.periods = Periods(database, self.transaction)
        self._maker = RequestMaker(self.registry, seal, limits)
        self._writer = Writer(database, self.partitions, self.waker)
        self._groups = Groups(self._writer.write_group)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Finish the appends and notifications that are under way."""
        await self._groups.close()
        await self.arrivals.close()
        await self.waker.close()

    def add_inline_lens(self, lens: InlineLens) -> None:
        """From now on the lens is written in the same transaction as the events it wants."""
        self._writer.lenses.append(lens)

    async def append(self, tenant: UUID, events: Sequence[NewEvent]) -> list[Appended]:
        """Record events of one partition, all or none, together with whoever else is appending to it now."""
        for _ in range(SEALINGS):
            request = await self._maker.make(tenant, events)
            try:
                await self._groups.submit(tenant, events[0].scope.legal_entity, request)
                return request.appended
            except (SubjectErased, NotNew) as refusal:
                # Someone was erased, or named by another, between the sealing and the write: seal again, knowing that.
                self._maker.forget(tenant, refusal)
                outdated = refusal
        raise outdated

    @asynccontextmanager
    async def transaction(self, tenant: UUID) -> AsyncIterator[LogTransaction]:
        """A tenant's transaction with `append` in it; readers are woken once it has committed."""
        async with self.database.transaction(tenant) as connection:
            opened = LogTransaction(connection, tenant, self._maker, self._writer)
            yield opened
        await self._writer.wake(tenant, opened.requests)

    def within(self, connection: Connection, tenant: UUID) -> LogTransaction:
        """The tenant's transaction that the caller began elsewhere, to append in.

        Nobody is woken, as only the caller knows when it commits: readers come by at their next poll.
        """
        return LogTransaction(connection, tenant, self._maker, self._writer)

    async def append_in(self, connection: Connection, tenant: UUID, events: Sequence[NewEvent]) -> list[Appended]:
        """Record events in a transaction that the caller began elsewhere; nobody is woken."""
        return await self.within(connection, tenant).append(events)

    async def read_event(self, tenant: UUID, event_id: str, legal_entity: str | None = None) -> Event:
        return await self.reader.by_id(tenant, event_id, legal_entity)

    async def read_page(
        self,
        tenant: UUID,
        stream: Stream = EVERYTHING,
        wanted: Filter = NO_FILTER,
        *,
        legal_entity: str = MAIN,
        direction: Direction = "forward",
        cursor: str | None = None,
        limit: int = 100,
        tolerant: bool = False,
    ) -> StreamPage:
        """Of one legal entity, or of all of them as `ALL_LEGAL_ENTITIES`."""
        if legal_entity == ALL_LEGAL_ENTITIES:
            return await page_of_all(
                self.reader, tenant, stream, wanted,
                direction=direction, cursor=cursor, limit=limit, tolerant=tolerant,
            )  # fmt: skip
        return await self.reader.page(
            tenant, stream, wanted,
            legal_entity=legal_entity, direction=direction, cursor=cursor, limit=limit, tolerant=tolerant,
        )  # fmt: skip

    def scan(
        self, tenant: UUID, *, legal_entity: str = MAIN, after: int = 0, to: int | None = None
    ) -> AsyncIterator[Event]:
        return self.reader.scan(tenant, legal_entity=legal_entity, after=after, to=to)

    def follow(
        self, tenant: UUID, pattern: Pattern = ALL_EVENTS, *, after: Mapping[str, int] | None = None
    ) -> AsyncIterator[Event]:
        """Events as they are committed, from now on or after a sequence per legal entity; no position is kept."""
        return self._follower.follow(tenant, pattern, after=after, poll_seconds=self.delivery.poll_seconds)

    async def read_lineage(self, tenant: UUID, event_id: str, depth: int = DEEPEST) -> Sequence[Event]:
        return await self.lineage.ancestors(tenant, event_id, depth)

    async def read_descendants(self, tenant: UUID, event_id: str, depth: int = DEEPEST) -> Sequence[Event]:
        return await self.lineage.descendants(tenant, event_id, depth)

    async def read_trace(self, tenant: UUID, correlation_id: str) -> Trace:
        return await self.lineage.trace(tenant, correlation_id)

    async def entity_version(self, tenant: UUID, entity_type: str, entity_id: str, *, legal_entity: str = MAIN) -> int:
        return await self.reader.version(tenant, entity_type, entity_id, legal_entity=legal_entity)

    async def list_partitions(self, tenant: UUID) -> list[Partition]:
        async with self.database.transaction(tenant) as connection:
            return await list_partitions(connection, tenant)

    async def register_type(self, tenant: UUID, declaration: EventType, actor: Actor) -> EventType:
        """Declare a type of the tenant's own, its next version, or a compatible change; recorded as an event."""
        event = NewEvent(
            type=TYPE_REGISTERED.type,
            data={"declaration": declaration.as_json()},
            actor=actor,
            entities=[EntityReference("event_type", declaration.type)],
        )
        async with self.transaction(tenant) as transaction:
            await transaction.connection.execute(ONE_REGISTRATION, (str(tenant),))
            if await self.registry.check_in(transaction.connection, tenant, declaration):
                await self.registry.record_in(transaction.connection, tenant, declaration, actor.id)
                await transaction.append([event])
        await self.registry.refresh(tenant)
        return declaration
