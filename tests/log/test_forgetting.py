"""Erasure and what is derived from events: lens rows, snapshots and error texts let go of the person."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from uuid import UUID

import pytest

from mnemon.db.database import Connection, Database
from mnemon.log.events import EntityReference, Event
from mnemon.log.privacy.erasure import Erasure, OnErased
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.privacy.redaction import RedactionRequest
from mnemon.log.project.entity_states import EntityStates
from mnemon.log.project.lens import Tables
from mnemon.log.project.projector import Projector
from mnemon.log.project.snapshots import Snapshots
from mnemon.log.store import EventLog
from mnemon.log.subscribe.delivery import Delivery
from mnemon.log.subscribe.limits import DeliveryLimits
from mnemon.log.subscribe.subscriptions import Subscription
from tests.log.conftest import CLERK, joined, order_placed
from tests.log.shop_lenses import count_orders, lens_tables, totals
from tests.patience import PATIENCE

NAME = "Ada Clerk"


@pytest.fixture(autouse=True, scope="module")
async def tables(database: Database) -> AsyncIterator[None]:
    async with lens_tables(database):
        yield


@pytest.fixture
def log(privacy: Privacy) -> EventLog:
    return privacy.log


async def erase(privacy: Privacy, tenant: UUID, *derived: OnErased) -> Erasure:
    """Forget the clerk, and have the holders of derived data told."""
    privacy.erasures.on_erased += derived
    asked = await privacy.erasures.request(tenant, CLERK.id, reason="subject_request", requested_by="u-7")
    return await privacy.erasures.approve(tenant, asked.erasure_id, approved_by="u-8")


DERIVED = ("test_orders", "projection_snapshots", "entity_snapshots", "parked_events", "subscriptions")


async def places_of(log: EventLog, tenant: UUID, text: str) -> set[str]:
    """The tables outside the log whose rows hold a text."""
    found = set()
    async with log.database.transaction(tenant) as connection:
        for table in DERIVED:
            row = await (
                await connection.execute(
                    f"SELECT count(*) AS n FROM mnemon.{table} t WHERE t::text LIKE %s", (f"%{text}%",)
                )
            ).fetchone()
            if row and row["n"]:
                found.add(table)
    return found


async def test_no_trace_of_an_erased_person_is_left(log: EventLog, privacy: Privacy, tenant: UUID) -> None:
    projector, reads = Projector(log), EntityStates(log, snapshot_after=0)
    projector.add(totals(snapshot_every=1))
    await log.subscriptions.add(tenant, Subscription("billing"))
    await log.append(tenant, [order_placed(str(n), entities=[EntityReference("order", "x")]) for n in range(3)])
    await log.append(tenant, [joined(CLERK.id, NAME)])
    await projector.catch_up(tenant)
    assert (await reads.read(tenant, "customer", CLERK.id)).state == {"name": NAME}

    async def leak(event: Event) -> None:
        raise ValueError(f"backwards: {event.payload['actor']['name'][::-1]}")

    await Delivery(log, tenant, "billing", leak, limits=DeliveryLimits(failures=1)).catch_up()
    assert await places_of(log, tenant, NAME) == {"test_orders", "projection_snapshots", "entity_snapshots"}
    assert await places_of(log, tenant, NAME[::-1]) == {"parked_events", "subscriptions"}
    before = await projector.state_hash(tenant, "totals")

    erasure = await erase(privacy, tenant, projector.on_erased, reads.on_erased)
    assert "totals" in erasure.lenses_rebuilt
    assert await places_of(log, tenant, NAME) == set()
    assert await places_of(log, tenant, NAME[::-1]) == set()
    assert (await log.dead_letters.list(tenant, "billing"))[0].error == "[REDACTED]"
    assert await projector.state_hash(tenant, "totals") != before
    assert (await reads.read(tenant, "customer", CLERK.id)).state == {"name": "[REDACTED]"}


async def forget(connection: Connection, subject_id: str, tables: Tables) -> None:
    await connection.execute(f"UPDATE {tables['test_orders']} SET clerk = '[REDACTED]'")


async def test_a_lens_may_forget_by_itself(log: EventLog, privacy: Privacy, tenant: UUID) -> None:
    projector = Projector(log)
    projector.add(totals(forget=forget))
    await log.append(tenant, [order_placed("1")])
    await projector.catch_up(tenant)
    await erase(privacy, tenant, projector.on_erased)
    assert await places_of(log, tenant, NAME) == set()
    state = await projector.state_hash(tenant, "totals")
    assert (await projector.rebuild(tenant, "totals")).state_hash == state


async def test_a_lens_without_personal_data_is_left_alone(log: EventLog, tenant: UUID) -> None:
    projector = Projector(log)
    projector.add(totals(personal=False))
    assert list(await projector.on_erased(tenant, [CLERK.id])) == []


async def test_a_batch_read_before_an_erasure_is_not_written_after_it(
    log: EventLog, privacy: Privacy, tenant: UUID
) -> None:
    """The projector has the name in its hands when the erasure comes."""
    projector = Projector(log)
    lens = projector.add(totals(forget=forget))
    await log.append(tenant, [order_placed("1")])
    await projector.catch_up(tenant)
    await log.append(tenant, [order_placed("2")])
    read, go_on = asyncio.Event(), asyncio.Event()
    original = log.reader.open

    async def late(of: UUID, events: Sequence[Event]) -> Sequence[Event]:
        opened = await original(of, events)
        if not read.is_set():
            read.set()
            await go_on.wait()
        return opened

    log.reader.open = late  # type: ignore[method-assign]
    projecting = asyncio.create_task(projector.catch_up(tenant))
    async with asyncio.timeout(PATIENCE):
        await read.wait()
        log.reader.open = original  # type: ignore[method-assign]
        await erase(privacy, tenant, projector.on_erased)
        go_on.set()
        await projecting
        await projector.catch_up(tenant)
    assert await places_of(log, tenant, NAME) == set()
    assert (await log.subscriptions.positions(tenant, lens.subscription_id))[0].lag == 0


async def test_a_rebuild_that_an_erasure_overtakes_starts_over(log: EventLog, privacy: Privacy, tenant: UUID) -> None:
    projector = Projector(log)
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def slow(connection: Connection, events: Sequence[Event], tables: Tables) -> None:
        await count_orders(connection, events, tables)
        if "pg_temp" in tables["test_totals"] and not reached.is_set():
            reached.set()
            await go_on.wait()

    projector.add(totals(apply=slow, forget=forget))
    await log.append(tenant, [order_placed(str(n)) for n in range(900)])
    await log.append(tenant, [order_placed(str(n)) for n in range(900, 1800)])
    await projector.catch_up(tenant)
    rebuilding = asyncio.create_task(projector.rebuild(tenant, "totals"))
    async with asyncio.timeout(PATIENCE):
        await reached.wait()
        await erase(privacy, tenant, projector.on_erased)
        go_on.set()
        await rebuilding
    assert await places_of(log, tenant, NAME) == set()


async def test_a_snapshot_of_what_was_read_before_an_erasure_is_not_saved(log: EventLog, tenant: UUID) -> None:
    snapshots = Snapshots(log.database)
    epoch = await snapshots.epoch(tenant)
    await Projector(log).on_erased(tenant, [CLERK.id])
    assert not await snapshots.save(tenant, "p", {"name": NAME}, {1: 1}, epoch=epoch)
    assert await snapshots.load(tenant, "p") is None
    assert await snapshots.save(tenant, "p", {"n": 1}, {1: 1}, epoch=await snapshots.epoch(tenant))
    loaded = await snapshots.load(tenant, "p")
    assert loaded is not None and (loaded.state, loaded.positions) == ({"n": 1}, {1: 1})


async def test_no_trace_of_a_redacted_value_is_left(log: EventLog, privacy: Privacy, tenant: UUID) -> None:
    """The value stood in plain text, so everything derived from it does too."""

    projector, reads = Projector(log), EntityStates(log, snapshot_after=0)
    projector.add(totals(snapshot_every=1))
    privacy.redactions.on_redacted += [projector.on_redacted, reads.on_redacted]
    await log.subscriptions.add(tenant, Subscription("billing"))
    secret = "AB 12 34 56 C"
    [placed] = await log.append(tenant, [order_placed(secret, entities=[EntityReference("order", "x")])])
    await projector.catch_up(tenant)
    await reads.read(tenant, "order", "x")
    await log.pull.reject(tenant, "billing", placed.id, placed.sequence, f"{secret} is unknown")
    assert await places_of(log, tenant, secret) == set(DERIVED)
    await privacy.redactions.redact(
        tenant, placed.id, ["/data/number"], reason="legacy_data", requested_by="u-1", approved_by="u-2"
    )
    assert await places_of(log, tenant, secret) == set()
    assert (await reads.read(tenant, "order", "x")).state["number"] == "[REDACTED]"


async def test_a_redaction_that_could_not_see_to_the_lenses_goes_on_with_the_next_approval(
    log: EventLog, privacy: Privacy, tenant: UUID
) -> None:
    [placed] = await log.append(tenant, [order_placed("secret")])
    told: list[int] = []

    async def fail_once(tenant: UUID, partition_id: int, sequence: int) -> Sequence[str]:
        told.append(sequence)
        if len(told) == 1:
            raise ConnectionError
        return ["orders"]

    privacy.redactions.on_redacted.append(fail_once)
    requests = privacy.redaction_requests
    asked = await requests.request(tenant, RedactionRequest(placed.id, ["/data/number"], "legacy_data", "u-1"))
    with pytest.raises(ConnectionError):
        await requests.approve(tenant, asked.redaction_id, approved_by="u-2")
    half = await requests.get(tenant, asked.redaction_id)
    assert (half.status, half.last_error) == ("redacted", "ConnectionError")
    assert (await log.read_event(tenant, placed.id)).data["number"] == "[REDACTED]"
    done = await requests.approve(tenant, asked.redaction_id, approved_by="u-2")
    assert (done.status, done.lenses_rebuilt, done.last_error) == ("completed", ["orders"], None)
