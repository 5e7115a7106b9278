"""Periods: late events are accepted, need an approver, or are refused."""

from datetime import date
from uuid import UUID

import pytest

from mnemon.db.database import Connection
from mnemon.errors import Conflict, NotAllowed, NotFound
from mnemon.log.append.periods import Period
from mnemon.log.errors import PeriodClosed
from mnemon.log.events import Scope
from mnemon.log.read.streams import Stream
from mnemon.log.store import EventLog

from .conftest import CLERK, noted

MARCH = Period("2026-03", date(2026, 3, 1), date(2026, 3, 31))
LATE = noted(effective_date=date(2026, 3, 31))


async def the_cfo(connection: Connection) -> str:
    return "cfo-1"


async def close(log: EventLog, tenant: UUID, status: str) -> None:
    await log.periods.define(tenant, MARCH, actor=CLERK, reason="year plan")
    await log.periods.change(tenant, "2026-03", status, actor=CLERK, reason="month end")  # type: ignore[arg-type]


async def test_an_open_period_accepts_late_events(log: EventLog, tenant: UUID) -> None:
    await log.periods.define(tenant, MARCH, actor=CLERK, reason="year plan")
    await log.append(tenant, [LATE])


async def test_a_soft_closed_period_needs_an_approver(log: EventLog, tenant: UUID) -> None:
    await close(log, tenant, "soft_closed")
    with pytest.raises(PeriodClosed, match="2026-03, which is soft-closed: ask another administrator") as refused:
        await log.append(tenant, [LATE])
    assert refused.value.details["status"] == "soft_closed"
    [appended] = await log.append(tenant, [noted(effective_date=date(2026, 3, 31), approved_by="cfo-1")])
    assert (await log.read_event(tenant, appended.id)).envelope["approved_by"] == "cfo-1"


async def test_a_hard_closed_period_refuses_even_the_approved(log: EventLog, tenant: UUID) -> None:
    await close(log, tenant, "hard_closed")
    with pytest.raises(PeriodClosed, match="hard-closed: record an adjusting event in an open period"):
        await log.append(tenant, [noted(effective_date=date(2026, 3, 1), approved_by="cfo-1")])
    await log.append(tenant, [noted(effective_date=date(2026, 4, 1))])
    await log.append(tenant, [noted(effective_date=date(2026, 3, 1), scope=Scope("DE"))])


async def test_a_hard_closed_period_is_opened_again_by_two_people(log: EventLog, tenant: UUID) -> None:
    await close(log, tenant, "hard_closed")
    with pytest.raises(NotAllowed, match="ask for an approval"):
        await log.periods.change(tenant, "2026-03", "open", actor=CLERK, reason="mistake")
    await log.periods.change(tenant, "2026-03", "open", actor=CLERK, reason="mistake", approval=the_cfo)
    await log.append(tenant, [LATE])


async def test_every_change_is_recorded_with_who_and_why(log: EventLog, tenant: UUID) -> None:
    await close(log, tenant, "soft_closed")
    events = (await log.read_page(tenant, Stream.of_entity("period", "2026-03"))).events
    assert [(event.data.get("previous_status"), event.data["status"], event.data["reason"]) for event in events] == [
        (None, "open", "year plan"),
        ("open", "soft_closed", "month end"),
    ]
    assert {event.actor_id for event in events} == {"u-1"}
    assert await log.periods.list(tenant) == [Period("2026-03", date(2026, 3, 1), date(2026, 3, 31), "soft_closed")]


async def test_closing_the_current_period_does_not_lock_out_its_own_record(log: EventLog, tenant: UUID) -> None:
    always = Period("always", date(2000, 1, 1), date(2999, 12, 31))
    await log.periods.define(tenant, always, actor=CLERK, reason="test")
    await log.periods.change(tenant, "always", "hard_closed", actor=CLERK, reason="stop")
    with pytest.raises(PeriodClosed):
        await log.append(tenant, [noted()])
    await log.periods.change(tenant, "always", "open", actor=CLERK, reason="go on", approval=the_cfo)
    await log.append(tenant, [noted()])


async def test_overlapping_and_unknown_periods_are_refused_and_leave_no_trace(log: EventLog, tenant: UUID) -> None:
    await log.periods.define(tenant, MARCH, actor=CLERK, reason="year plan")
    with pytest.raises(Conflict, match="overlaps 2026-03"):
        await log.periods.define(
            tenant, Period("Q1", date(2026, 1, 1), date(2026, 3, 31)), actor=CLERK, reason="quarters"
        )
    with pytest.raises(NotFound, match="no period 'April'"):
        await log.periods.change(tenant, "April", "open", actor=CLERK, reason="?")
    assert len((await log.read_page(tenant)).events) == 1
