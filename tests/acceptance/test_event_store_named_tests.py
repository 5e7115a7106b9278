"""The tests that the specification of the event store names, one by one, under its own names."""

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import orjson
import psycopg
import pytest
from tests.acceptance.raw_pages import RawPages
from tests.log.conftest import CLERK, SHOP, invoice_submitted, joined, noted, order_placed
from tests.log.following import QUICK, Recorder, cursor_of
from tests.patience import PATIENCE
from tests.promptness import takes_less_than

from mnemon.db.database import Database
from mnemon.db.embedded import EmbeddedServer
from mnemon.ids import is_ulid
from mnemon.log.append.wake import CHANNEL
from mnemon.log.errors import (
    ArchiveRefused,
    BatchRefused,
    InvalidEvent,
    KeyConflict,
    TypeNotRegistered,
    VersionConflict,
)
from mnemon.log.events import Actor, EntityReference, NewEvent, Scope
from mnemon.log.moments import now
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.project.entity_states import EntityStates
from mnemon.log.proof.verify import verify
from mnemon.log.read.pattern import Pattern
from mnemon.log.read.streams import Filter, Stream
from mnemon.log.store import EventLog
from mnemon.log.subscribe.delivery import Delivery
from mnemon.log.subscribe.subscriptions import Subscription
from mnemon.log.types.event_type import BusinessKey, DataMigration, EventType
from mnemon.log.types.registry import Registry

OPERATOR = Actor("system", "operator")


async def erase(privacy: Privacy, tenant: UUID, subject: str) -> None:
    asked = await privacy.erasures.request(tenant, subject, reason="subject_request", requested_by="u-7")
    await privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-8")


async def stored_payload(database: Database, tenant: UUID, sequence: int = 1) -> str:
    async with database.transaction(tenant) as tx:
        statement = "SELECT payload FROM mnemon.event_payloads WHERE sequence = %s"
        row = await (await tx.execute(statement, (sequence,))).fetchone()
    assert row is not None
    return str(row["payload"])


@pytest.fixture
def raw(server: EmbeddedServer) -> Iterator[RawPages]:
    pages = RawPages(server)
    yield pages
    pages.close()


class TestAppend:
    async def test_should_assign_ulid_and_record_timestamp(self, log: EventLog, tenant: UUID) -> None:
        began = datetime.now(UTC) - timedelta(seconds=5)
        [appended] = await log.append(tenant, [order_placed()])
        assert is_ulid(appended.id)
        event = await log.read_event(tenant, appended.id)
        assert began < event.recorded_at < datetime.now(UTC) + timedelta(seconds=5)
        assert event.recorded_at == appended.recorded_at

    async def test_should_validate_against_registered_schema(self, log: EventLog, tenant: UUID) -> None:
        with pytest.raises(InvalidEvent) as refused:
            await log.append(tenant, [order_placed(data={"number": 7, "amount": -1})])
        assert len(refused.value.details["violations"]) == 2
        assert await log.list_partitions(tenant) == []

    async def test_should_reject_events_with_missing_required_dimensions(self, log: EventLog, tenant: UUID) -> None:
        with pytest.raises(InvalidEvent, match="dimension department is missing"):
            await log.append(tenant, [invoice_submitted(dimensions={})])

    async def test_should_reject_events_with_missing_required_entity_refs(self, log: EventLog, tenant: UUID) -> None:
        with pytest.raises(InvalidEvent, match="exactly one order in the role subject is needed, 0 given"):
            await log.append(tenant, [order_placed(entities=[])])

    async def test_should_compute_checksum_correctly(self, log: EventLog, tenant: UUID) -> None:
        first, second = await log.append(tenant, [order_placed("1"), order_placed("2")])
        previous = hashlib.sha256(f"mnemon/genesis/1\n{tenant}\nmain".encode()).digest()
        for sequence, appended in enumerate((first, second), 1):
            event = await log.read_event(tenant, appended.id)
            since = event.recorded_at - datetime(1970, 1, 1, tzinfo=UTC)
            assert event.payload_text is not None
            previous = hashlib.sha256(
                b"mnemon/event/1\n"
                + previous
                + sequence.to_bytes(8, "big")
                + (since // timedelta(microseconds=1)).to_bytes(8, "big")
                + hashlib.sha256(event.envelope_text.encode()).digest()
                + hashlib.sha256(event.payload_text.encode()).digest()
            ).digest()
            assert previous == event.hash == appended.hash

    async def test_should_reject_unregistered_event_types(self, log: EventLog, tenant: UUID) -> None:
        with pytest.raises(TypeNotRegistered):
            await log.append(tenant, [NewEvent(type="shop.order.vanished", data={}, actor=CLERK)])

    async def test_should_enforce_batch_within_single_legal_entity(self, log: EventLog, tenant: UUID) -> None:
        with pytest.raises(BatchRefused, match="DE, FR"):
            await log.append(tenant, [noted(scope=Scope("DE")), noted(scope=Scope("FR"))])
        assert await log.list_partitions(tenant) == []


class TestReadStream:
    async def test_should_read_events_by_entity_reference(self, log: EventLog, tenant: UUID) -> None:
        await log.append(tenant, [order_placed(number) for number in ("a", "b", "a")])
        page = await log.read_page(tenant, Stream.of_entity("order", "a"))
        assert [event.sequence for event in page.events] == [1, 3]

    async def test_should_read_events_by_correlation_id(self, log: EventLog, tenant: UUID) -> None:
        await log.append(tenant, [noted(correlation_id=name) for name in ("p", "q", "p")])
        page = await log.read_page(tenant, Stream.of_correlation("p"))
        assert [event.sequence for event in page.events] == [1, 3]

    async def test_should_paginate_correctly(self, log: EventLog, tenant: UUID) -> None:
        await log.append(tenant, [noted(str(n)) for n in range(7)])
        seen: list[int] = []
        cursor, more = None, True
        while more:
            page = await log.read_page(tenant, cursor=cursor, limit=3)
            seen += [event.sequence for event in page.events]
            cursor, more = page.next_cursor, page.has_more
        assert seen == list(range(1, 8))

    async def test_should_filter_by_date_range(self, log: EventLog, tenant: UUID) -> None:
        days = [datetime(2026, 3, day, 12, tzinfo=UTC) for day in (1, 2, 3)]
        await log.append(tenant, [noted(occurred_at=day) for day in days])
        page = await log.read_page(tenant, wanted=Filter(occurred_from=days[1], occurred_to=days[1]))
        assert [event.sequence for event in page.events] == [2]

    async def test_should_filter_by_event_type(self, log: EventLog, tenant: UUID) -> None:
        await log.append(tenant, [noted(), order_placed(), noted()])
        page = await log.read_page(tenant, wanted=Filter(types=["shop.order.noted"]))
        assert [event.sequence for event in page.events] == [1, 3]

    async def test_should_read_forward_and_backward(self, log: EventLog, tenant: UUID) -> None:
        await log.append(tenant, [noted(str(n)) for n in range(3)])
        forward = await log.read_page(tenant, direction="forward")
        backward = await log.read_page(tenant, direction="backward")
        assert [event.id for event in backward.events] == [event.id for event in reversed(forward.events)]


class TestLineage:
    async def test_should_trace_full_causal_chain(self, log: EventLog, tenant: UUID) -> None:
        chain: list[str] = []
        for _ in range(4):
            [made] = await log.append(tenant, [noted(caused_by=chain[-1] if chain else None)])
            chain.append(made.id)
        assert [event.id for event in await log.read_lineage(tenant, chain[-1])] == chain

    async def test_should_handle_events_with_no_parent(self, log: EventLog, tenant: UUID) -> None:
        [made] = await log.append(tenant, [noted()])
        assert [event.id for event in await log.read_lineage(tenant, made.id)] == [made.id]
        assert await log.read_descendants(tenant, made.id) == []

    async def test_should_limit_depth_to_prevent_infinite_loops(self, log: EventLog, tenant: UUID) -> None:
        first, second = "01K9ZZZZZZZZZZZZZZZZZZZZZA", "01K9ZZZZZZZZZZZZZZZZZZZZZB"
        await log.append(tenant, [noted(id=first, caused_by=second), noted(id=second, caused_by=first)])
        assert [event.id for event in await log.read_lineage(tenant, first)] == [second, first]
        chain = [made.id for made in await log.append(tenant, [noted(caused_by=first)])]
        for _ in range(4):
            chain += [made.id for made in await log.append(tenant, [noted(caused_by=chain[-1])])]
        assert [event.id for event in await log.read_lineage(tenant, chain[-1], 2)] == chain[-3:]


class TestImmutability:
    @pytest.mark.parametrize("table", ["events", "event_payloads"])
    @pytest.mark.parametrize("role", ["owner", "application"])
    async def test_should_prevent_update_on_events(
        self, log: EventLog, database: Database, tenant: UUID, role: str, table: str
    ) -> None:
        await log.append(tenant, [noted()])
        opened = database.owner() if role == "owner" else database.transaction(tenant)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            async with opened as connection:
                await connection.execute(f"UPDATE mnemon.{table} SET sequence = 2 WHERE tenant_id = %s", (tenant,))

    @pytest.mark.parametrize("table", ["events", "event_payloads"])
    @pytest.mark.parametrize("role", ["owner", "application"])
    async def test_should_prevent_delete_on_events(
        self, log: EventLog, database: Database, tenant: UUID, role: str, table: str
    ) -> None:
        await log.append(tenant, [noted()])
        opened = database.owner() if role == "owner" else database.transaction(tenant)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            async with opened as connection:
                await connection.execute(f"DELETE FROM mnemon.{table} WHERE tenant_id = %s", (tenant,))

    async def test_should_allow_pii_redaction_through_special_function_fallback(
        self, privacy: Privacy, log: EventLog, database: Database, tenant: UUID
    ) -> None:
        [legacy] = await log.append(tenant, [noted("call Ada")])
        await privacy.redactions.redact(
            tenant, legacy.id, ["/data/text"], reason="legacy_data", requested_by="u-7", approved_by="u-8"
        )
        assert "Ada" not in orjson.loads(await stored_payload(database, tenant))["data"]["text"]
        assert (await verify(privacy.log.reader, tenant)).intact


class TestIdempotency:
    async def test_should_reject_duplicate_idempotency_key_with_reference_to_original(
        self, log: EventLog, tenant: UUID
    ) -> None:
        [original] = await log.append(tenant, [noted("x", idempotency_key="k")])
        [again] = await log.append(tenant, [noted("x", idempotency_key="k")])
        assert (again.id, again.duplicate) == (original.id, True)
        with pytest.raises(KeyConflict, match=original.id):
            await log.append(tenant, [noted("y", idempotency_key="k")])
        assert (await log.list_partitions(tenant))[0].sequence == 1

    async def test_should_reject_natural_business_key_duplicate(self, log: EventLog, tenant: UUID) -> None:
        declared = EventType(
            type="ap.bill.paid",
            data_schema={"type": "object"},
            business_key=BusinessKey(("vendor", "number")),
        )
        await log.register_type(tenant, declared, CLERK)
        bill = {"vendor": "V-1", "number": "7"}
        [original] = await log.append(tenant, [NewEvent(type="ap.bill.paid", data=bill, actor=CLERK)])
        with pytest.raises(KeyConflict, match=original.id):
            await log.append(tenant, [NewEvent(type="ap.bill.paid", data=bill | {"amount": 2}, actor=CLERK)])

    async def test_should_allow_same_business_key_after_dedupe_window_expires(
        self, log: EventLog, tenant: UUID
    ) -> None:
        for name, window in (("short", timedelta(microseconds=1)), ("long", timedelta(hours=1))):
            key = BusinessKey(("number",), window)
            declared = EventType(type=f"ap.{name}.paid", data_schema={"type": "object"}, business_key=key)
            await log.register_type(tenant, declared, CLERK)
            await log.append(tenant, [NewEvent(type=declared.type, data={"number": 1, "n": 1}, actor=CLERK)])
        again = {"number": 1, "n": 2}
        [fresh] = await log.append(tenant, [NewEvent(type="ap.short.paid", data=again, actor=CLERK)])
        assert not fresh.duplicate
        with pytest.raises(KeyConflict):
            await log.append(tenant, [NewEvent(type="ap.long.paid", data=again, actor=CLERK)])


class TestConcurrency:
    async def test_should_append_when_expected_entity_version_matches_actual(self, log: EventLog, tenant: UUID) -> None:
        for version in range(3):
            await log.append(tenant, [order_placed("a", expected_versions={("order", "a"): version})])
        assert await log.entity_version(tenant, "order", "a") == 3

    async def test_should_throw_concurrency_conflict_error_on_version_mismatch(
        self, log: EventLog, tenant: UUID
    ) -> None:
        await log.append(tenant, [order_placed("a")])
        with pytest.raises(VersionConflict) as conflict:
            await log.append(tenant, [order_placed("a", expected_versions={("order", "a"): 0})])
        assert (conflict.value.details["expected"], conflict.value.details["actual"]) == (0, 1)

    async def test_should_handle_concurrent_appends_to_different_entities_in_same_partition(
        self, log: EventLog, tenant: UUID
    ) -> None:
        events = [order_placed(str(n), expected_versions={("order", str(n)): 0}) for n in range(30)]
        made = await asyncio.gather(*(log.append(tenant, [event]) for event in events))
        assert sorted(one.sequence for [one] in made) == list(range(1, 31))


class TestCryptoShredding:
    async def test_should_encrypt_pii_fields_before_insert(
        self, privacy: Privacy, database: Database, tenant: UUID
    ) -> None:
        await privacy.log.append(tenant, [joined("c-1", "Ada Lovelace")])
        stored = await stored_payload(database, tenant)
        # Three letters stand in the letters of a sealed text now and then.
        assert "Lovelace" not in stored
        assert orjson.loads(stored)["data"]["name"] == "[SEALED]"

    async def test_should_decrypt_pii_fields_on_read_when_key_is_active(self, privacy: Privacy, tenant: UUID) -> None:
        [made] = await privacy.log.append(tenant, [joined("c-1", "Ada Lovelace")])
        assert (await privacy.log.read_event(tenant, made.id)).data["name"] == "Ada Lovelace"

    async def test_should_return_redacted_when_key_has_been_destroyed(self, privacy: Privacy, tenant: UUID) -> None:
        [made] = await privacy.log.append(tenant, [joined("c-1", "Ada Lovelace")])
        await erase(privacy, tenant, "c-1")
        assert (await privacy.log.read_event(tenant, made.id)).data["name"] == "[REDACTED]"

    async def test_should_preserve_non_pii_fields_after_key_destruction(self, privacy: Privacy, tenant: UUID) -> None:
        data = {"customer_id": "c-1", "plan": "gold", "name": "Ada"}
        [made] = await privacy.log.append(tenant, [joined(data=data)])
        before = await privacy.log.read_event(tenant, made.id)
        await erase(privacy, tenant, "c-1")
        after = await privacy.log.read_event(tenant, made.id)
        assert (after.data["customer_id"], after.data["plan"]) == ("c-1", "gold")
        assert (after.envelope, after.hash) == (before.envelope, before.hash)

    async def test_should_track_event_to_subject_pii_mappings(
        self, privacy: Privacy, database: Database, tenant: UUID
    ) -> None:
        await privacy.log.append(tenant, [joined("c-1"), joined("c-2"), joined("c-1")])
        affected = await privacy.affected(tenant, "c-1")
        assert [(one.sequence, sorted(one.fields)) for one in affected] == [
            (1, ["/data/contact/email", "/data/name"]),
            (3, ["/data/contact/email", "/data/name"]),
        ]


class TestSubscriptions:
    async def test_should_deliver_events_matching_pattern(self, log: EventLog, tenant: UUID) -> None:
        handler = Recorder()
        await log.subscriptions.add(tenant, Subscription("s", pattern=Pattern(types=["shop.order.placed"])))
        await log.append(tenant, [order_placed("1"), order_placed("2")])
        await Delivery(log, tenant, "s", handler, limits=QUICK).catch_up()
        assert handler.numbers == ["1", "2"]

    async def test_should_not_deliver_events_not_matching_pattern(self, log: EventLog, tenant: UUID) -> None:
        handler = Recorder()
        await log.subscriptions.add(tenant, Subscription("s", pattern=Pattern(types=["shop.order.placed"])))
        await log.append(tenant, [noted(), order_placed("1"), noted()])
        await Delivery(log, tenant, "s", handler, limits=QUICK).catch_up()
        assert [event.sequence for event in handler.seen] == [2]

    async def test_should_track_persistent_subscription_position(self, log: EventLog, tenant: UUID) -> None:
        await log.subscriptions.add(tenant, Subscription("s"))
        await log.append(tenant, [order_placed(str(n)) for n in range(4)])
        await Delivery(log, tenant, "s", Recorder(), limits=QUICK).catch_up()
        assert await cursor_of(log, tenant, "s") == 4

    async def test_should_resume_from_last_acknowledged_position(self, log: EventLog, tenant: UUID) -> None:
        await log.subscriptions.add(tenant, Subscription("s"))
        await log.append(tenant, [order_placed(str(n)) for n in range(4)])
        await log.pull.acknowledge(tenant, "s", "main", 2)
        batch = await log.pull.fetch(tenant, "s")
        assert [event.sequence for event in batch.events] == [3, 4]


class TestPerformance:
    """The best of several, as the machine may be busy with something else."""

    async def test_should_append_1000_events_in_under_1_second(self, log: EventLog, tenant: UUID) -> None:
        await takes_less_than(1, lambda: log.append(tenant, [order_placed(str(n)) for n in range(1000)]))

    async def test_should_read_1000_events_in_under_500ms(self, log: EventLog, tenant: UUID) -> None:
        await log.append(tenant, [order_placed(str(n)) for n in range(1000)])
        page = await log.read_page(tenant, limit=1000)
        assert [event.data["number"] for event in page.events] == [str(n) for n in range(1000)]
        await takes_less_than(0.5, lambda: log.read_page(tenant, limit=1000))

    async def test_should_handle_concurrent_appends_to_different_partitions(self, log: EventLog, tenant: UUID) -> None:
        names = ("A", "B", "C", "D")
        appends = [log.append(tenant, [noted(scope=Scope(name))]) for name in names for _ in range(10)]
        made = await asyncio.gather(*appends)
        for place in range(4):
            sequences = sorted(one.sequence for [one] in made[place * 10 : place * 10 + 10])
            assert sequences == list(range(1, 11))


class TestIntegration:
    async def test_should_create_partition_on_new_legal_entity(
        self, log: EventLog, database: Database, tenant: UUID
    ) -> None:
        await log.append(tenant, [noted(scope=Scope("Brand-new GmbH"))])
        [partition] = await log.list_partitions(tenant)
        assert (partition.legal_entity, partition.sequence) == ("Brand-new GmbH", 1)
        async with database.owner() as owner:
            name = f"mnemon.events_{partition.partition_id}"
            row = await (await owner.execute("SELECT to_regclass(%s) IS NOT NULL AS there", (name,))).fetchone()
        assert row == {"there": True}

    async def test_should_trigger_postgresql_notify_with_minimal_payload_only(
        self, log: EventLog, database: Database, tenant: UUID
    ) -> None:
        async with database.owner() as listener:
            await listener.execute(f"LISTEN {CHANNEL}")
            await log.append(tenant, [order_placed("secret")])
            [partition] = await log.list_partitions(tenant)
            async for told in listener.notifies(timeout=PATIENCE):
                said = orjson.loads(told.payload)
                if said["partition"] == partition.partition_id:
                    assert said == {"partition": partition.partition_id, "sequence": "1"}
                    return
        raise AssertionError("no notification came")

    async def test_should_maintain_sequence_ordering_within_partition(
        self, log: EventLog, fresh_log: Callable[[], EventLog], tenant: UUID
    ) -> None:
        async with fresh_log() as other:
            await asyncio.gather(*(one.append(tenant, [noted()]) for _ in range(15) for one in (log, other)))
        stored = [event async for event in log.scan(tenant)]
        assert [event.sequence for event in stored] == list(range(1, 31))
        assert [event.recorded_at for event in stored] == sorted(event.recorded_at for event in stored)

    async def test_should_archive_old_events_without_data_loss_snapshot_before_archive(
        self, privacy: Privacy, database: Database, tenant: UUID
    ) -> None:
        await privacy.log.append(tenant, [joined(f"c-{n}", f"Name {n}") for n in range(5)])
        before = [event.as_json() async for event in privacy.log.scan(tenant)]
        covered = 4

        async def coverage(*_: object) -> int:
            return covered

        privacy.archive.coverage.append(coverage)
        with pytest.raises(ArchiveRefused, match="snapshots cover only 4"):
            await privacy.archive.archive(tenant, now(), actor=OPERATOR)
        covered = 5
        await privacy.archive.archive(tenant, now(), actor=OPERATOR)
        assert await stored_payload(database, tenant) == "None"
        assert [event.as_json() async for event in privacy.log.scan(tenant, to=5)] == before

    async def test_should_redact_pii_fields_via_fallback_and_record_redaction(
        self, privacy: Privacy, log: EventLog, tenant: UUID
    ) -> None:
        [legacy] = await log.append(tenant, [noted("call Ada")])
        attesting = await privacy.redactions.redact(
            tenant, legacy.id, ["/data/text"], reason="legacy_data", requested_by="u-7", approved_by="u-8"
        )
        assert (await privacy.log.read_event(tenant, legacy.id)).data == {"text": "[REDACTED]"}
        record = await privacy.log.read_event(tenant, attesting)
        assert (record.type, record.data["event_id"], record.data["fields"], record.data["reason"]) == (
            "privacy.payload.redacted", legacy.id, ["/data/text"], "legacy_data",
        )  # fmt: skip
        assert (record.actor_id, record.envelope["approved_by"]) == ("u-7", "u-8")

    async def test_should_handle_schema_migration_for_old_events_upcasting_on_read(
        self, log: EventLog, tenant: UUID
    ) -> None:
        first = EventType(
            type="clinic.visit.booked",
            data_schema={"type": "object", "required": ["place"], "properties": {"place": {"type": "string"}}},
            examples=({"place": "4a"},),
        )
        second = replace(
            first,
            schema_version=2,
            data_schema={
                "type": "object",
                "required": ["room", "floor"],
                "properties": {"room": {"type": "string"}, "floor": {"type": "integer"}},
            },
            examples=({"room": "4a", "floor": 0},),
            upcast=DataMigration({"place": "room"}, {"floor": 0}),
        )
        await log.register_type(tenant, first, CLERK)
        [old] = await log.append(tenant, [NewEvent(type=first.type, data={"place": "4a"}, actor=CLERK)])
        await log.register_type(tenant, second, CLERK)
        event = await log.read_event(tenant, old.id)
        assert event.data == {"room": "4a", "floor": 0}
        assert event.payload["data"] == {"place": "4a"}

    async def test_should_encrypt_pii_synchronously_verify_no_plaintext_in_raw_table_pages(
        self, privacy: Privacy, raw: RawPages, tenant: UUID
    ) -> None:
        customer, plain = f"c-{tenant}", f"Xylographer {tenant}"
        await privacy.log.append(tenant, [joined(customer, f"Zebulon {tenant}"), noted(f"{plain}, {plain}")])
        assert raw.holds(tenant, plain) == (True, True), "else this test would see nothing at all"
        assert raw.holds(tenant, f"Zebulon {tenant}") == (False, False)
        assert raw.holds(tenant, f"{customer}@example.org") == (False, False)

    async def test_should_deliver_events_at_least_once_via_cursor_based_polling(
        self, database: Database, tenant: UUID
    ) -> None:
        async with EventLog(database, registry=Registry(database, SHOP)) as log:
            await log.subscriptions.add(tenant, Subscription("s"))
            await log.append(tenant, [order_placed(str(n)) for n in range(3)])
            first = await log.pull.fetch(tenant, "s")
            again = await log.pull.fetch(tenant, "s")
            assert [one.id for one in again.events] == [one.id for one in first.events]
            await log.pull.acknowledge(tenant, "s", "main", 3)
            assert (await log.pull.fetch(tenant, "s")).events == []

    async def test_should_resume_subscription_from_last_cursor_after_subscriber_restart(
        self, log: EventLog, fresh_log: Callable[[], EventLog], tenant: UUID
    ) -> None:
        await log.subscriptions.add(tenant, Subscription("s"))
        await log.append(tenant, [order_placed("1"), order_placed("2")])
        await Delivery(log, tenant, "s", Recorder(), limits=QUICK).catch_up()
        async with fresh_log() as restarted:
            await restarted.append(tenant, [order_placed("3")])
            handler = Recorder()
            await Delivery(restarted, tenant, "s", handler, limits=QUICK).catch_up()
        assert handler.numbers == ["3"]

    async def test_should_detect_and_reject_concurrent_entity_modification(
        self, log: EventLog, fresh_log: Callable[[], EventLog], tenant: UUID
    ) -> None:
        await log.append(tenant, [order_placed("a")])
        async with fresh_log() as other:
            both = [
                one.append(tenant, [order_placed("a", expected_versions={("order", "a"): 1})]) for one in (log, other)
            ]
            results = await asyncio.gather(*both, return_exceptions=True)
        assert sorted(type(one).__name__ for one in results) == ["VersionConflict", "list"]
        assert await log.entity_version(tenant, "order", "a") == 2

    async def test_should_create_entity_snapshot_when_stream_exceeds_threshold(
        self, log: EventLog, database: Database, tenant: UUID
    ) -> None:
        reads = EntityStates(log, snapshot_after=10)
        await log.append(tenant, [order_placed("a") for _ in range(10)])
        await reads.read(tenant, "order", "a")
        assert await snapshots(database, tenant) == []
        await log.append(tenant, [order_placed("a")])
        await reads.read(tenant, "order", "a")
        assert await snapshots(database, tenant) == [(11, "valid")]

    async def test_should_invalidate_entity_snapshot_on_back_dated_event(
        self, log: EventLog, database: Database, tenant: UUID
    ) -> None:
        reads = EntityStates(log, snapshot_after=1)
        of_a = [EntityReference("order", "a")]
        await log.append(
            tenant, [order_placed(f"of {day}", effective_date=date(2026, 3, day), entities=of_a) for day in (5, 6)]
        )
        await reads.read(tenant, "order", "a")
        assert await snapshots(database, tenant) == [(2, "valid")]
        await log.append(tenant, [order_placed("of 1", effective_date=date(2026, 3, 1), entities=of_a)])
        found = await reads.read(tenant, "order", "a")
        assert found.state["numbers"] == ["of 1", "of 5", "of 6"]
        assert (2, "valid") not in await snapshots(database, tenant)


async def snapshots(database: Database, tenant: UUID) -> list[tuple[int, str]]:
    async with database.transaction(tenant) as tx:
        statement = "SELECT as_of_sequence, status FROM mnemon.entity_snapshots ORDER BY 1"
        rows = await (await tx.execute(statement)).fetchall()
    return [(row["as_of_sequence"], row["status"]) for row in rows]
