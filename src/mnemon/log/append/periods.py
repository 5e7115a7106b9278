"""Periods: which effective dates are open, which need an approver, and which are closed for good."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal
from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.errors import Conflict, NotAllowed, NotFound
from mnemon.log.append.transaction import Begin
from mnemon.log.events import MAIN, Actor, EntityReference, NewEvent, Scope
from mnemon.log.types.builtin import PERIOD_CHANGED

# Who agreed to it, or a refusal.
Approving = Callable[[Connection], Awaitable[str]]
PeriodStatus = Literal["open", "soft_closed", "hard_closed"]

LIST = """
SELECT name, starts_on, ends_on, status FROM mnemon.periods
 WHERE tenant_id = %s AND legal_entity = %s ORDER BY starts_on
"""
FIND = """
SELECT name, starts_on, ends_on, status FROM mnemon.periods
 WHERE tenant_id = %s AND legal_entity = %s AND name = %s FOR UPDATE
"""
OVERLAPPING = """
SELECT name FROM mnemon.periods
 WHERE tenant_id = %s AND legal_entity = %s AND (name = %s OR starts_on <= %s AND ends_on >= %s)
"""
DEFINE = """
INSERT INTO mnemon.periods (tenant_id, legal_entity, name, starts_on, ends_on, status)
VALUES (%s, %s, %s, %s, %s, 'open')
"""
CHANGE = """
UPDATE mnemon.periods SET status = %s, changed_at = now()
 WHERE tenant_id = %s AND legal_entity = %s AND name = %s
"""


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of effective dates, both ends included."""

    name: str
    starts_on: date
    ends_on: date
    status: PeriodStatus = "open"


class Periods:
    """Defines, closes and opens periods. Each change is an event of the partition it concerns."""

    def __init__(self, database: Database, begin: Begin) -> None:
        self._database = database
        self._begin = begin

    async def list(self, tenant: UUID, legal_entity: str = MAIN) -> list[Period]:
        async with self._database.transaction(tenant) as connection:
            rows = await (await connection.execute(LIST, (tenant, legal_entity))).fetchall()
        return [Period(**row) for row in rows]

    async def define(
        self, tenant: UUID, period: Period, *, actor: Actor, reason: str, legal_entity: str = MAIN
    ) -> Period:
        """Add an open period that overlaps no other."""
        opened = replace(period, status="open")
        async with self._begin(tenant) as transaction:
            # The append locks the partition, so no other period can come between the check and the insert.
            await transaction.append([_changed(legal_entity, None, opened, actor, reason, None)])
            await _refuse_overlap(transaction.connection, tenant, legal_entity, opened)
            values = (tenant, legal_entity, opened.name, opened.starts_on, opened.ends_on)
            await transaction.connection.execute(DEFINE, values)
        return opened

    async def change(
        self,
        tenant: UUID,
        name: str,
        status: PeriodStatus,
        *,
        actor: Actor,
        reason: str,
        legal_entity: str = MAIN,
        approval: Approving | None = None,
    ) -> Period:
        """Close a period or open it again; a hard-closed one is opened again only by two people. `approval` is asked
        for the second, in the same transaction."""
        async with self._begin(tenant) as transaction:
            row = await (await transaction.connection.execute(FIND, (tenant, legal_entity, name))).fetchone()
            if row is None:
                raise NotFound(f"{legal_entity} has no period {name!r}: define it first.", period=name)
            before = Period(**row)
            opens = before.status == "hard_closed" and status != "hard_closed"
            if opens and approval is None:
                raise NotAllowed(
                    f"The period {name} is hard-closed: to open it again, ask for an approval of periods.open and give "
                    "its approval_id once another administrator has approved it."
                )
            approved_by = await approval(transaction.connection) if opens and approval else None
            after = replace(before, status=status)
            await transaction.connection.execute(CHANGE, (status, tenant, legal_entity, name))
            await transaction.append([_changed(legal_entity, before, after, actor, reason, approved_by)])
        return after


async def _refuse_overlap(connection: Connection, tenant: UUID, legal_entity: str, period: Period) -> None:
    values = (tenant, legal_entity, period.name, period.ends_on, period.starts_on)
    other = await (await connection.execute(OVERLAPPING, values)).fetchone()
    if other is not None:
        raise Conflict(
            f"The period {period.name} ({period.starts_on} to {period.ends_on}) overlaps {other['name']}: "
            "choose another name and other dates.",
            overlaps=other["name"],
        )


def _changed(
    legal_entity: str, before: Period | None, after: Period, actor: Actor, reason: str, approved_by: str | None
) -> NewEvent:
    data = {
        "name": after.name,
        "starts_on": after.starts_on.isoformat(),
        "ends_on": after.ends_on.isoformat(),
        "status": after.status,
        "reason": reason,
    }
    return NewEvent(
        type=PERIOD_CHANGED.type,
        data=data if before is None else data | {"previous_status": before.status},
        actor=actor,
        approved_by=approved_by,
        scope=Scope(legal_entity),
        entities=[EntityReference("period", after.name)],
    )
