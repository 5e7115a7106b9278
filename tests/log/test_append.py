"""Appending: what is recorded, what is refused, and what a retry finds."""

import asyncio
import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import psycopg
import pytest

from mnemon.db.database import Connection, Database
from mnemon.errors import Conflict
from mnemon.ids import is_ulid, new_ulid
from mnemon.log.append.keys import forget_expired_keys
from mnemon.log.append.requests import AppendLimits
from mnemon.log.errors import (
    BatchRefused,
    InvalidEvent,
    KeyConflict,
    TooManyLegalEntities,
    TypeNotRegistered,
    VersionConflict,
)
from mnemon.log.events import Actor, Delegator, EntityReference, Event, NewEvent, Scope, Source
from mnemon.log.proof import chain
from mnemon.log.read.streams import Stream
from mnemon.log.store import EventLog
from mnemon.log.types.event_type import BusinessKey, EventType
from mnemon.log.types.registry import Registry
from tests.patience import PATIENCE

from .conftest import CLERK, SHOP, invoice_submitted, noted, order_placed


async def stored(log: EventLog, tenant: UUID, legal_entity: str = "main") -> list[Event]:
    return [event async for event in log.scan(tenant, legal_entity=legal_entity)]


async def test_an_event_gets_a_ulid_a_place_and_a_recorded_time(log: EventLog, tenant: UUID) -> None:
    before = datetime.now(UTC)
    [appended] = await log.append(tenant, [order_placed()])
    assert is_ulid(appended.id)
    assert appended.sequence == 1
    assert before - timedelta(seconds=1) < appended.recorded_at < datetime.now(UTC) + timedelta(seconds=1)
    assert not appended.duplicate


async def test_every_field_that_was_given_is_read_back(log: EventLog, tenant: UUID) -> None:
    event = NewEvent(
        type="shop.order.placed",
        data={"number": "A-1", "amount": 12.5, "nested": {"text": "Grüße\n\u0000"}},
        actor=Actor("agent", "bot-7", "Helper", Delegator("human", "u-9", "Grace"), "s-1", "high", "198.51.100.4"),
        entities=[EntityReference("order", "A-1"), EntityReference("customer", "C-1", "buyer")],
        scope=Scope("USMF", "retail", "north", "store-4", {"channel": "shop"}),
        dimensions={"department": "ENG"},
        tags=["urgent", "audit"],
        occurred_at=datetime(2026, 3, 1, 10, 30, tzinfo=UTC),
        effective_date=date(2026, 2, 28),
        correlation_id="process-1",
        caused_by=new_ulid(),
        intent_id="intent-1",
        source=Source("shop", "web_ui", "web-77"),
        rules_evaluated=[{"rule_id": "r1", "rule_name": "limit", "result": "fired", "evaluation_ms": 1}],
        approved_by="u-2",
    )
    [appended] = await log.append(tenant, [event])
    read = (await log.read_event(tenant, appended.id)).as_json()
    assert read == {
        "id": appended.id,
        "sequence": "1",
        "type": "shop.order.placed",
        "schema_version": 1,
        "occurred_at": "2026-03-01T10:30:00.000000Z",
        "recorded_at": read["recorded_at"],
        "effective_date": "2026-02-28",
        "scope": {
            "tenant_id": str(tenant), "legal_entity": "USMF", "division": "retail", "region": "north",
            "site": "store-4", "custom_scopes": {"channel": "shop"},
        },
        "actor": {
            "type": "agent", "id": "bot-7", "name": "Helper", "session_id": "s-1", "trust_level": "high",
            "ip_address": "198.51.100.4", "on_behalf_of": {"type": "human", "id": "u-9", "name": "Grace"},
        },
        "caused_by": event.caused_by,
        "intent_id": "intent-1",
        "correlation_id": "process-1",
        "data": {"number": "A-1", "amount": 12.5, "nested": {"text": "Grüße\n\u0000"}},
        "dimensions": {"department": "ENG"},
        "entities": [
            {"entity_type": "order", "entity_id": "A-1", "role": "subject"},
            {"entity_type": "customer", "entity_id": "C-1", "role": "buyer"},
        ],
        "metadata": {
            "rules_evaluated": [{"rule_id": "r1", "rule_name": "limit", "result": "fired", "evaluation_ms": 1}],
            "checksum": appended.hash.hex(),
            "previous_checksum": chain.genesis(tenant, "USMF").hex(),
            "tags": ["audit", "urgent"],
            "source": {"system": "shop", "channel": "web_ui", "reference": "web-77"},
            "approved_by": "u-2",
        },
    }  # fmt: skip


async def test_names_and_addresses_of_actors_stay_out_of_the_envelope(log: EventLog, tenant: UUID) -> None:
    [appended] = await log.append(tenant, [order_placed()])
    event = await log.read_event(tenant, appended.id)
    assert "Ada" not in event.envelope_text
    assert "192.0.2.7" not in event.envelope_text
    assert event.payload["actor"] == {"name": "Ada Clerk", "ip_address": "192.0.2.7"}


async def test_what_is_left_out_gets_the_obvious_value(log: EventLog, tenant: UUID) -> None:
    [appended] = await log.append(tenant, [noted(occurred_at=datetime(2026, 1, 31, 23, 30, tzinfo=UTC))])
    event = await log.read_event(tenant, appended.id)
    assert event.effective_date == date(2026, 1, 31)
    assert event.correlation_id == event.id
    assert event.schema_version == 1


async def test_each_event_links_to_the_one_before(log: EventLog, tenant: UUID) -> None:
    await log.append(tenant, [noted("one"), noted("two")])
    await log.append(tenant, [noted("three")])
    previous = chain.genesis(tenant, "main")
    for sequence, event in enumerate(await stored(log, tenant), 1):
        assert event.sequence == sequence
        assert event.previous_hash == previous
        assert event.payload_text is not None
        assert event.payload_digest == chain.digest(event.payload_text.encode())
        previous = chain.link(
            previous, sequence, event.recorded_at, chain.digest(event.envelope_text.encode()), event.payload_digest
        )
        assert event.hash == previous
    [head] = await log.list_partitions(tenant)
    assert (head.sequence, head.hash) == (3, previous)


async def test_data_that_breaks_the_schema_is_refused_with_every_violation(log: EventLog, tenant: UUID) -> None:
    with pytest.raises(InvalidEvent, match=r"data.amount: -1 is less than") as refused:
        await log.append(tenant, [order_placed(data={"amount": -1, "due": "tomorrow"})])
    violations = " ".join(refused.value.details["violations"])
    assert '"number" is a required property' in violations
    assert '"tomorrow" is not a "date"' in violations
    assert await log.list_partitions(tenant) == []


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (invoice_submitted(dimensions={}), "dimension department is missing"),
        (order_placed(entities=[]), "exactly one order in the role subject is needed, 0 given"),
        (
            order_placed(entities=[EntityReference("order", "1"), EntityReference("order", "2")]),
            "exactly one order in the role subject is needed, 2 given",
        ),
        (noted(occurred_at=datetime(2026, 1, 1)), "occurred_at has no time zone"),  # noqa: DTZ001
        (noted(id="not-a-ulid"), "is not a ULID"),
        (noted(actor=Actor("robot", "r-1")), "actor type 'robot' is none of"),  # type: ignore[arg-type]
        (noted(approved_by="u-1"), "u-1 cannot approve an act of their own"),
        (noted(expected_versions={("order", "A-1"): 1}), "the event does not name it"),
        (noted(tags=["a\u0000b"]), "null character"),
        (noted(tags=["ü" * 501]), "tag or scope 'ü+'… of shop.order.noted has more than 1000 bytes"),
        (noted(entities=[EntityReference("order", "x" * 1001)]), "The entity"),
        (noted(correlation_id="x" * 1001), "The correlation_id"),
        (noted(data={"when": datetime(2026, 1, 1, tzinfo=UTC), "what": object()}), "cannot be written as JSON"),
    ],
)
async def test_an_event_that_does_not_fit_is_refused(log: EventLog, tenant: UUID, event: NewEvent, reason: str) -> None:
    with pytest.raises(InvalidEvent, match=reason):
        await log.append(tenant, [event])


async def test_an_unregistered_type_is_refused(log: EventLog, tenant: UUID) -> None:
    with pytest.raises(TypeNotRegistered, match=r"'shop\.order\.lost' is not registered"):
        await log.append(tenant, [noted(type="shop.order.lost")])
    with pytest.raises(TypeNotRegistered, match=r"version 9 of 'shop\.order\.noted'"):
        await log.append(tenant, [noted(schema_version=9)])


async def test_a_batch_is_recorded_whole_or_not_at_all(log: EventLog, tenant: UUID) -> None:
    with pytest.raises(InvalidEvent):
        await log.append(tenant, [noted(), order_placed(data={})])
    await log.append(tenant, [order_placed("A-1")])
    with pytest.raises(VersionConflict):
        await log.append(tenant, [noted(), order_placed("A-1", expected_versions={("order", "A-1"): 0})])
    assert len(await stored(log, tenant)) == 1


async def test_a_batch_stays_within_one_legal_entity_and_the_limit(database: Database, tenant: UUID) -> None:
    async with EventLog(database, registry=Registry(database, SHOP), limits=AppendLimits(batch_events=2)) as log:
        with pytest.raises(BatchRefused, match="spans the legal entities DE, main"):
            await log.append(tenant, [noted(), noted(scope=Scope("DE"))])
        with pytest.raises(BatchRefused, match="3 events, more than 2"):
            await log.append(tenant, [noted()] * 3)
        with pytest.raises(BatchRefused, match="empty"):
            await log.append(tenant, [])
        for name in ("", "a\nb", "x" * 101):
            with pytest.raises(BatchRefused, match="1 to 100 characters"):
                await log.append(tenant, [noted(scope=Scope(name))])


async def test_the_longest_names_fit_every_index(log: EventLog, tenant: UUID) -> None:
    names = [random.Random(seed).randbytes(500).hex() for seed in range(6)]
    event = noted(
        entities=[EntityReference(names[0], names[1])],
        tags=[names[2]],
        correlation_id=names[3],
        actor=Actor("system", names[4]),
        scope=Scope(division=names[5]),
    )
    await log.append(tenant, [event])
    assert len((await log.read_page(tenant, Stream.of_entity(names[0], names[1]))).events) == 1


async def test_each_legal_entity_is_a_partition_with_its_own_sequence(log: EventLog, tenant: UUID) -> None:
    for name in ("USMF", "Ünïcode; DROP TABLE mnemon.events --", "main"):
        [appended] = await log.append(tenant, [noted(scope=Scope(name))])
        assert appended.sequence == 1
        assert (await log.read_event(tenant, appended.id)).legal_entity == name
    assert {one.legal_entity for one in await log.list_partitions(tenant)} == {
        "USMF", "Ünïcode; DROP TABLE mnemon.events --", "main",
    }  # fmt: skip


async def test_many_first_appends_at_once_make_one_partition(fresh_log: Callable[[], EventLog], tenant: UUID) -> None:
    logs = [fresh_log() for _ in range(5)]
    appended = await asyncio.gather(*(log.append(tenant, [noted()]) for log in logs))
    assert sorted(one.sequence for [one] in appended) == [1, 2, 3, 4, 5]
    assert len(await logs[0].list_partitions(tenant)) == 1


async def test_concurrent_callers_get_gapless_sequences_and_their_own_result(log: EventLog, tenant: UUID) -> None:
    results = await asyncio.gather(*(log.append(tenant, [noted(f"n{number}")]) for number in range(60)))
    events = {event.id: event for event in await stored(log, tenant)}
    assert sorted(event.sequence for event in events.values()) == list(range(1, 61))
    for number, [appended] in enumerate(results):
        assert events[appended.id].data == {"text": f"n{number}"}
        assert events[appended.id].sequence == appended.sequence
        assert events[appended.id].hash == appended.hash


async def test_in_a_group_a_conflict_fails_only_its_caller(log: EventLog, tenant: UUID) -> None:
    expecting = [order_placed(expected_versions={("order", "A-1"): 0}) for _ in range(20)]
    results = await asyncio.gather(
        *(log.append(tenant, [event]) for event in expecting),
        *(log.append(tenant, [noted()]) for _ in range(5)),
        return_exceptions=True,
    )
    assert sum(isinstance(one, VersionConflict) for one in results) == 19
    assert sum(isinstance(one, list) for one in results) == 6
    assert await log.entity_version(tenant, "order", "A-1") == 1
    assert len(await stored(log, tenant)) == 6


async def test_an_id_that_is_taken_fails_only_its_caller(log: EventLog, tenant: UUID) -> None:
    taken = new_ulid()
    await log.append(tenant, [noted(id=taken)])
    results = await asyncio.gather(
        *(log.append(tenant, [noted(id=taken if number == 3 else None)]) for number in range(8)),
        return_exceptions=True,
    )
    assert [number for number, one in enumerate(results) if isinstance(one, Conflict)] == [3]
    assert len(await stored(log, tenant)) == 8


class TestExpectedVersions:
    async def test_a_match_appends_and_counts_up(self, log: EventLog, tenant: UUID) -> None:
        for version in range(3):
            await log.append(tenant, [order_placed(expected_versions={("order", "A-1"): version})])
        assert await log.entity_version(tenant, "order", "A-1") == 3

    async def test_a_mismatch_names_expected_and_actual(self, log: EventLog, tenant: UUID) -> None:
        await log.append(tenant, [order_placed(), order_placed()])
        with pytest.raises(VersionConflict, match="order A-1 was expected at version 1 but is at 2") as refused:
            await log.append(tenant, [order_placed(expected_versions={("order", "A-1"): 1})])
        assert refused.value.details == {"entity_type": "order", "entity_id": "A-1", "expected": 1, "actual": 2}

    async def test_events_of_one_batch_build_on_each_other(self, log: EventLog, tenant: UUID) -> None:
        batch = [order_placed(expected_versions={("order", "A-1"): version}) for version in range(3)]
        await log.append(tenant, batch)
        with pytest.raises(VersionConflict, match="version 3 but is at 4"):
            await log.append(tenant, [order_placed(), order_placed(expected_versions={("order", "A-1"): 3})])

    async def test_events_that_expect_nothing_count_too(self, log: EventLog, tenant: UUID) -> None:
        await log.append(tenant, [order_placed() for _ in range(3)])
        await log.append(tenant, [order_placed(expected_versions={("order", "A-1"): 3}), order_placed()])
        await log.append(tenant, [order_placed(), order_placed("A-2")])
        assert await log.entity_version(tenant, "order", "A-1") == 6
        await log.append(tenant, [order_placed(expected_versions={("order", "A-1"): 6})])
        assert await log.entity_version(tenant, "order", "A-1") == 7
        assert await log.entity_version(tenant, "order", "A-2") == 1

    async def test_a_version_is_kept_once_someone_expected_it(
        self, log: EventLog, tenant: UUID, database: Database
    ) -> None:
        """So the rows before it are never counted again."""
        await log.append(tenant, [order_placed(), order_placed()])
        await log.append(tenant, [order_placed(expected_versions={("order", "A-1"): 2}), order_placed()])
        async with database.transaction(tenant) as connection:
            rows = await connection.execute("SELECT version FROM mnemon.event_entities ORDER BY sequence")
            assert [row["version"] for row in await rows.fetchall()] == [None, None, 3, 4]

    async def test_no_walk_to_a_version_is_long_though_nobody_ever_expected_one(
        self, log: EventLog, tenant: UUID, database: Database
    ) -> None:
        """Of every second event too, which the entity is in."""
        events = [order_placed() if number % 2 else noted() for number in range(1_000)]
        for _ in range(4):
            await log.append(tenant, events)
        assert await log.entity_version(tenant, "order", "A-1") == 2_000
        async with database.transaction(tenant) as connection:
            rows = await (
                await connection.execute("SELECT version FROM mnemon.event_entities ORDER BY sequence")
            ).fetchall()
        kept = {place: row["version"] for place, row in enumerate(rows, 1) if row["version"] is not None}
        assert all(place == version for place, version in kept.items())
        ends = [0, *kept, 2_000]
        assert max(later - earlier for earlier, later in pairwise(ends)) < 1_000
        await log.append(tenant, [order_placed(expected_versions={("order", "A-1"): 2_000})])

    async def test_other_entities_do_not_conflict(self, log: EventLog, tenant: UUID) -> None:
        results = await asyncio.gather(
            *(
                log.append(tenant, [order_placed(f"A-{number}", expected_versions={("order", f"A-{number}"): 0})])
                for number in range(20)
            )
        )
        assert len(results) == 20

    async def test_an_entity_named_twice_in_an_event_counts_once(self, log: EventLog, tenant: UUID) -> None:
        twice = [EntityReference("order", "A-1"), EntityReference("order", "A-1", "origin")]
        await log.append(tenant, [order_placed(entities=twice)])
        assert await log.entity_version(tenant, "order", "A-1") == 1

    async def test_the_same_id_of_another_type_or_legal_entity_is_another_entity(
        self, log: EventLog, tenant: UUID
    ) -> None:
        await log.append(tenant, [order_placed()])
        await log.append(tenant, [noted(entities=[EntityReference("note", "A-1")],
                                        expected_versions={("note", "A-1"): 0})])  # fmt: skip
        await log.append(tenant, [order_placed(scope=Scope("DE"), expected_versions={("order", "A-1"): 0})])


class TestIdempotencyKeys:
    async def test_a_repeat_returns_the_original(self, log: EventLog, tenant: UUID) -> None:
        event = order_placed(idempotency_key="k-1", expected_versions={("order", "A-1"): 0})
        [first] = await log.append(tenant, [event])
        [again] = await log.append(tenant, [event])
        assert again.duplicate
        assert (again.id, again.sequence, again.hash, again.previous_hash, again.recorded_at) == (
            first.id, first.sequence, first.hash, first.previous_hash, first.recorded_at,
        )  # fmt: skip
        assert len(await stored(log, tenant)) == 1

    async def test_the_key_with_other_content_is_a_conflict_that_names_the_original(
        self, log: EventLog, tenant: UUID
    ) -> None:
        [first] = await log.append(tenant, [order_placed(idempotency_key="k-1")])
        with pytest.raises(KeyConflict, match="idempotency key 'k-1' was used for other content") as refused:
            await log.append(tenant, [order_placed("B-2", idempotency_key="k-1")])
        assert refused.value.details == {"event_id": first.id, "sequence": "1"}

    @pytest.mark.parametrize(
        "change",
        [
            {"scope": Scope(region="north")},
            {"scope": Scope(division="d")},
            {"scope": Scope(site="s")},
            {"scope": Scope(custom_scopes={"project": "x"})},
            {"tags": ["t"]},
            {"dimensions": {"d": "1"}},
            {"entities": [EntityReference("order", "A-1", "witness")]},
            {"effective_date": date(2026, 3, 1)},
            {"caused_by": "01K9ZZZZZZZZZZZZZZZZZZZZZZ"},
            {"intent_id": "i"},
            {"correlation_id": "c"},
            {"actor": Actor("human", "u-2")},
            {"approved_by": "u-3"},
        ],
        ids=lambda change: next(iter(change)),
    )
    async def test_every_part_of_an_event_is_part_of_its_content(
        self, log: EventLog, tenant: UUID, change: dict[str, Any]
    ) -> None:
        await log.append(tenant, [noted(idempotency_key="k")])
        with pytest.raises(KeyConflict):
            await log.append(tenant, [noted(idempotency_key="k", **change)])

    async def test_in_a_batch_only_what_is_new_is_recorded(self, log: EventLog, tenant: UUID) -> None:
        [first] = await log.append(tenant, [noted("one", idempotency_key="k-1")])
        one, two = await log.append(tenant, [noted("one", idempotency_key="k-1"), noted("two", idempotency_key="k-2")])
        assert (one.id, one.duplicate) == (first.id, True)
        assert (two.sequence, two.duplicate) == (2, False)

    async def test_the_same_key_at_once_records_once(self, log: EventLog, tenant: UUID) -> None:
        results = await asyncio.gather(*(log.append(tenant, [noted(idempotency_key="k")]) for _ in range(10)))
        assert len({appended.id for [appended] in results}) == 1
        assert sum(not appended.duplicate for [appended] in results) == 1

    async def test_a_key_is_free_again_when_its_life_is_over(self, database: Database, tenant: UUID) -> None:
        brief = AppendLimits(key_life=timedelta(0))
        async with EventLog(database, registry=Registry(database, SHOP), limits=brief) as log:
            [first] = await log.append(tenant, [noted(idempotency_key="k")])
            [second] = await log.append(tenant, [noted("other", idempotency_key="k")])
        assert (first.sequence, second.sequence, second.duplicate) == (1, 2, False)

    async def test_expired_keys_are_swept_and_others_stay(self, database: Database, tenant: UUID) -> None:
        for key, life in (("gone", timedelta(0)), ("kept", timedelta(hours=1))):
            async with EventLog(database, registry=Registry(database, SHOP), limits=AppendLimits(key_life=life)) as log:
                await log.append(tenant, [noted(idempotency_key=key)])
        await log.append(tenant, [invoice_submitted()])
        assert await forget_expired_keys(database) >= 1
        async with database.transaction(tenant) as connection:
            rows = await (await connection.execute("SELECT sequence FROM mnemon.event_keys")).fetchall()
        assert sorted(row["sequence"] for row in rows) == [2, 3]

    async def test_a_key_twice_in_one_batch_is_refused(self, log: EventLog, tenant: UUID) -> None:
        with pytest.raises(KeyConflict, match="of the same batch"):
            await log.append(tenant, [noted("a", idempotency_key="k"), noted("b", idempotency_key="k")])


class TestBusinessKeys:
    async def test_the_same_document_is_recorded_once(self, log: EventLog, tenant: UUID) -> None:
        [first] = await log.append(tenant, [invoice_submitted()])
        [again] = await log.append(tenant, [invoice_submitted()])
        assert (again.id, again.duplicate) == (first.id, True)

    async def test_another_document_under_the_same_key_is_refused(self, log: EventLog, tenant: UUID) -> None:
        await log.append(tenant, [invoice_submitted()])
        with pytest.raises(KeyConflict, match=r'business key \[\["V-1"\],\["INV-1"\]\] of ap\.invoice\.submitted'):
            await log.append(
                tenant, [invoice_submitted(data={"vendor_id": "V-1", "invoice_number": "INV-1", "total": 5})]
            )

    async def test_the_key_is_free_after_the_dedupe_window(self, database: Database, tenant: UUID) -> None:
        windowed = EventType(
            type="shop.ping.sent",
            data_schema={},
            business_key=BusinessKey(("to",), timedelta(microseconds=1)),
        )
        async with EventLog(database, registry=Registry(database, [windowed])) as log:
            event = NewEvent(type="shop.ping.sent", data={"to": "x"}, actor=CLERK)
            first, second = await log.append(tenant, [event]), await log.append(tenant, [event])
        assert [first[0].duplicate, second[0].duplicate] == [False, False]


class TestInACallersTransaction:
    async def test_the_event_stands_or_falls_with_the_other_writes(self, log: EventLog, tenant: UUID) -> None:
        with pytest.raises(ZeroDivisionError):
            async with log.transaction(tenant) as transaction:
                await transaction.append([noted()])
                raise ZeroDivisionError
        assert await log.list_partitions(tenant) == []
        async with log.transaction(tenant) as transaction:
            [appended] = await transaction.append([noted()])
        assert (await log.read_event(tenant, appended.id)).sequence == 1

    async def test_a_conflict_leaves_the_transaction_usable(
        self, log: EventLog, database: Database, tenant: UUID
    ) -> None:
        async with database.transaction(tenant) as connection:
            with pytest.raises(VersionConflict):
                await log.append_in(connection, tenant, [order_placed(expected_versions={("order", "A-1"): 4})])
            await log.append_in(connection, tenant, [noted()])
        assert len(await stored(log, tenant)) == 1

    async def test_an_inline_lens_is_written_with_the_event(self, log: EventLog, tenant: UUID) -> None:
        class Amounts:
            types = frozenset({"shop.order.placed"})
            seen: list[float]

            async def apply(self, connection: Connection, events: list[Event]) -> None:
                for event in events:
                    if event.data["amount"] == 13:
                        raise ValueError("unlucky")
                self.seen += [event.data["amount"] for event in events]

        lens = Amounts()
        lens.seen = []
        log.add_inline_lens(lens)  # type: ignore[arg-type]
        await log.append(tenant, [order_placed(), noted()])
        results = await asyncio.gather(
            log.append(tenant, [order_placed("B", data={"number": "B", "amount": 13})]),
            log.append(tenant, [order_placed("C", data={"number": "C", "amount": 14})]),
            return_exceptions=True,
        )
        assert isinstance(results[0], ValueError)
        assert isinstance(results[1], list)
        assert [event.data.get("number") for event in await stored(log, tenant)] == ["A-1", None, "C"]
        assert lens.seen == [10, 14]


class TestWakeUps:
    async def test_a_commit_notifies_with_partition_and_sequence_only(
        self, log: EventLog, database: Database, tenant: UUID
    ) -> None:
        async with database.owner() as listener:
            await listener.execute("LISTEN mnemon_log")
            await log.append(tenant, [noted("secret"), noted()])
            [partition] = await log.list_partitions(tenant)
            expected = f'{{"partition":{partition.partition_id},"sequence":"2"}}'
            async for notification in listener.notifies(timeout=PATIENCE):
                if notification.payload == expected:
                    break
            else:
                pytest.fail("no notification came")

    async def test_readers_in_the_same_process_are_told_after_the_commit(self, log: EventLog, tenant: UUID) -> None:
        told: list[tuple[int, int]] = []
        stop = log.waker.listen(lambda partition_id, sequence: told.append((partition_id, sequence)))
        await log.append(tenant, [noted()])
        async with log.transaction(tenant) as transaction:
            await transaction.append([noted()])
            assert len(told) == 1
        stop()
        await log.append(tenant, [noted()])
        assert [sequence for _, sequence in told] == [1, 2]


class TestImmutability:
    TABLES = ("events", "event_payloads", "event_entities", "event_labels", "event_subjects", "event_types")

    @pytest.mark.parametrize("table", [*TABLES, "partitions", "event_keys"])
    async def test_the_application_role_cannot_change_the_log(
        self, log: EventLog, database: Database, tenant: UUID, table: str
    ) -> None:
        await log.append(tenant, [order_placed(tags=["t"])])
        for statement in (
            f"UPDATE mnemon.{table} SET tenant_id = tenant_id",
            f"DELETE FROM mnemon.{table}",
            f"TRUNCATE mnemon.{table}",
            f"INSERT INTO mnemon.{table} DEFAULT VALUES",
        ):
            if table == "event_types" and statement.startswith("INSERT"):
                continue
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                async with database.transaction(tenant) as connection:
                    await connection.execute(statement)

    @pytest.mark.parametrize("table", TABLES[:5])
    async def test_triggers_refuse_the_owner_too(
        self, log: EventLog, database: Database, tenant: UUID, table: str
    ) -> None:
        await log.append(tenant, [order_placed(tags=["t"])])
        [partition] = await log.list_partitions(tenant)
        child = f"{table}_{partition.partition_id}" if table in ("events", "event_payloads") else table
        async with database.owner() as owner:
            statements = [f"TRUNCATE mnemon.{table}", f"TRUNCATE mnemon.{child}"]
            if table != "event_subjects":
                statements += [f"UPDATE mnemon.{table} SET tenant_id = tenant_id", f"DELETE FROM mnemon.{child}"]
            for statement in statements:
                with pytest.raises(psycopg.errors.InsufficientPrivilege, match="the log only grows"):
                    await owner.execute(statement)

    async def test_a_tenant_sees_and_reaches_nothing_of_another(
        self, log: EventLog, database: Database, tenant: UUID, other_tenant: UUID
    ) -> None:
        await log.append(tenant, [order_placed(tags=["t"], idempotency_key="k")])
        [partition] = await log.list_partitions(tenant)
        async with database.transaction(other_tenant) as connection:
            for table in (*self.TABLES, "partitions", "event_keys", "periods"):
                rows = await (await connection.execute(f"SELECT * FROM mnemon.{table}")).fetchall()
                assert rows == []
        for statement in (
            f"SELECT * FROM mnemon.events_{partition.partition_id}",
            f"SELECT * FROM mnemon.event_payloads_{partition.partition_id}",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                async with database.transaction(other_tenant) as connection:
                    await connection.execute(statement)

    async def test_a_tenant_cannot_append_to_a_partition_of_another(
        self, log: EventLog, database: Database, tenant: UUID, other_tenant: UUID
    ) -> None:
        await log.append(tenant, [noted()])
        log.partitions._numbers[other_tenant, "main"] = log.partitions._numbers[tenant, "main"]
        with pytest.raises(psycopg.errors.NoDataFound):
            async with database.transaction(other_tenant) as connection:
                await log.append_in(connection, other_tenant, [noted()])
        assert len(await stored(log, tenant)) == 1


async def test_a_stream_of_another_tenant_with_the_same_names_is_separate(
    log: EventLog, tenant: UUID, other_tenant: UUID
) -> None:
    await log.append(tenant, [order_placed()])
    await log.append(other_tenant, [order_placed(), order_placed()])
    assert len((await log.read_page(tenant, Stream.of_entity("order", "A-1"))).events) == 1
    assert await log.entity_version(other_tenant, "order", "A-1") == 2


async def test_a_tenant_opens_so_many_legal_entities_and_no_more(database, tenant, other_tenant) -> None:
    async with EventLog(database, limits=AppendLimits(legal_entities=3)) as few:
        numbers = [await few.partitions.number(tenant, name) for name in ("main", "a", "b")]
        with pytest.raises(TooManyLegalEntities, match="MNEMON_LOG_LEGAL_ENTITIES"):
            await few.partitions.number(tenant, "c")
        assert await few.partitions.number(tenant, "a") == numbers[1]
        assert await few.partitions.number(other_tenant, "c")
        opened = await asyncio.gather(
            *(few.partitions.number(other_tenant, f"e{n}") for n in range(6)), return_exceptions=True
        )
        assert sum(isinstance(one, int) for one in opened) == 2
