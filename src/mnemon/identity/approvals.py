"""Approvals: what needs two people is asked for by one, given by another, and named in the act that it allows."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from psycopg.rows import class_row

from mnemon.db.database import Connection
from mnemon.errors import Conflict, NotAllowed, NotFound
from mnemon.identity import events
from mnemon.identity.changes import record_change
from mnemon.ids import new_uuid
from mnemon.log.append.transaction import LogTransaction
from mnemon.log.events import Actor
from mnemon.log.privacy.privacy_events import check_second_person

COLUMNS = """approval_id, act, legal_entity, period, reason, status, requested_by, requested_at, decided_by, decided_at,
       expires_at, used_at"""
ADD = f"""
INSERT INTO mnemon.approvals (tenant_id, approval_id, act, legal_entity, period, reason, requested_by)
VALUES (mnemon.current_tenant(), %s, %s, %s, %s, %s, %s) RETURNING {COLUMNS}
"""
BY_ID = f"SELECT {COLUMNS} FROM mnemon.approvals WHERE tenant_id = mnemon.current_tenant() AND approval_id = %s"
PAGE = f"""
SELECT {COLUMNS} FROM mnemon.approvals
 WHERE tenant_id = mnemon.current_tenant() AND (%(status)s::text IS NULL OR status = %(status)s)
 ORDER BY requested_at DESC, approval_id LIMIT %(limit)s OFFSET %(offset)s
"""
DECIDE = f"""
UPDATE mnemon.approvals
   SET status = %(status)s, decided_by = %(by)s, decided_at = clock_timestamp(),
       expires_at = CASE %(status)s WHEN 'approved' THEN clock_timestamp() + %(lasts)s END
 WHERE tenant_id = mnemon.current_tenant() AND approval_id = %(approval)s RETURNING {COLUMNS}
"""
# Of those who use it at once, one does: the others wait for the row and find it used.
VALID = f"""
SELECT {COLUMNS} FROM mnemon.approvals
 WHERE tenant_id = mnemon.current_tenant() AND approval_id = %s AND status = 'approved'
   AND expires_at > clock_timestamp() FOR UPDATE
"""
USE = """
UPDATE mnemon.approvals SET status = 'used', used_at = clock_timestamp()
 WHERE tenant_id = mnemon.current_tenant() AND approval_id = %s
"""
# Long enough for a day's late entries, too short to be kept for a rainy day.
LASTS = timedelta(hours=24)


class ApprovedAct(StrEnum):
    """What one person may not do alone."""

    OPEN_PERIOD = "periods.open"
    APPEND_EVENTS = "events.append"


@dataclass(frozen=True, slots=True)
class Approval:
    """A request, and what another person said to it."""

    approval_id: UUID
    act: str
    legal_entity: str
    period: str
    reason: str
    status: str
    requested_by: str
    requested_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    expires_at: datetime | None
    used_at: datetime | None


async def request_approval(
    transaction: LogTransaction,
    actor: Actor,
    person: str,
    act: ApprovedAct,
    legal_entity: str,
    period: str,
    reason: str,
) -> Approval:
    cursor = transaction.connection.cursor(row_factory=class_row(Approval))
    await cursor.execute(ADD, (new_uuid(), act, legal_entity, period, reason, person))
    made = await cursor.fetchone()
    assert made is not None
    await record_change(
        transaction, actor, events.APPROVAL_REQUESTED,
        approval_id=made.approval_id, act=act, legal_entity=legal_entity, period=period,
    )  # fmt: skip
    return made


async def decide_approval(
    transaction: LogTransaction, actor: Actor, person: str, approval_id: UUID, *, approved: bool
) -> Approval:
    """Give it, or decline it; who asked may take the request back."""
    found = await find_approval(transaction.connection, approval_id, lock=True)
    if approved:
        check_second_person(found.requested_by, person, "approval")
    wanted = "approved" if approved else "declined"
    if found.status == wanted:
        return found
    if found.status != "requested":
        raise Conflict(f"The approval {approval_id} is {found.status}: ask anew.", approval_id=str(approval_id))
    values = {"approval": approval_id, "status": wanted, "by": person, "lasts": LASTS}
    cursor = transaction.connection.cursor(row_factory=class_row(Approval))
    decided = await (await cursor.execute(DECIDE, values)).fetchone()
    assert decided is not None
    kind = events.APPROVAL_GIVEN if approved else events.APPROVAL_DECLINED
    await record_change(transaction, actor, kind, approval_id=approval_id)
    return decided


async def use_approval(
    tx: Connection, approval_id: UUID, person: str, act: ApprovedAct, legal_entity: str, *, once: bool
) -> Approval:
    """The approval, if it allows this person to do this now; one that is for one act is used up by it."""
    cursor = tx.cursor(row_factory=class_row(Approval))
    found = await (await cursor.execute(VALID, (approval_id,))).fetchone()
    if found is None or (found.act, found.legal_entity, found.requested_by) != (act, legal_entity, person):
        raise NotAllowed(
            f"{approval_id} is no approval that lets you do this now: ask for one with POST /v1/approvals, and have "
            "another administrator approve it.",
            approval_id=str(approval_id),
        )
    if once:
        await tx.execute(USE, (approval_id,))
    return found


async def find_approval(tx: Connection, approval_id: UUID, *, lock: bool = False) -> Approval:
    cursor = tx.cursor(row_factory=class_row(Approval))
    found = await (await cursor.execute(BY_ID + (" FOR UPDATE" if lock else ""), (approval_id,))).fetchone()
    if found is None:
        raise NotFound(f"There is no approval {approval_id}.", approval_id=str(approval_id))
    return found


async def page_of_approvals(tx: Connection, limit: int, offset: int, status: str | None = None) -> list[Approval]:
    """Newest first."""
    values = {"limit": limit, "offset": offset, "status": status}
    return await (await tx.cursor(row_factory=class_row(Approval)).execute(PAGE, values)).fetchall()
