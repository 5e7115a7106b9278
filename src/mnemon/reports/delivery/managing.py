"""Recipients added, found, removed and told again, whichever way they are told."""

from collections.abc import Mapping
from typing import Any, Protocol
from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.errors import NotFound
from mnemon.identity.changes import row_seal
from mnemon.ids import new_uuid
from mnemon.log.privacy.privacy import Privacy
from mnemon.log.store import EventLog
from mnemon.operations import Caller, Door
from mnemon.reports.delivery import happenings, outputs
from mnemon.reports.delivery.following import begin_following, end_following
from mnemon.reports.delivery.recipients import (
    ALL,
    REMOVE,
    SEAL,
    Recipient,
    Way,
    add_recipient,
    open_recipients,
    row_by_name,
    seal_place,
)
from mnemon.settings import Settings
from mnemon.work.jobs import retry_job

COUNTS = """
SELECT d.recipient_id, count(*) FILTER (WHERE j.status IN ('PENDING', 'PROCESSING')) AS waiting,
       count(*) FILTER (WHERE j.status = 'FAILED') AS dead, count(*) FILTER (WHERE j.status = 'DONE') AS sent
  FROM mnemon.deliveries d JOIN mnemon.jobs j ON j.tenant_id = d.tenant_id AND j.job_id = d.job_id
 WHERE d.tenant_id = mnemon.current_tenant() GROUP BY d.recipient_id
"""
DEAD = """
SELECT d.job_id FROM mnemon.deliveries d JOIN mnemon.jobs j ON j.tenant_id = d.tenant_id AND j.job_id = d.job_id
 WHERE d.tenant_id = mnemon.current_tenant() AND d.recipient_id = %(recipient)s AND j.status = 'FAILED'
   AND (%(job)s::uuid IS NULL OR d.job_id = %(job)s) ORDER BY d.job_id
"""
NONE = {"waiting": 0, "dead": 0, "sent": 0}
NOT_FOR_AGENTS: Mapping[Door, str] = {"mcp": "An administrator says what leaves the house, not an agent."}


class DeliveryParts(Protocol):
    """What these operations need of Mnemon."""

    @property
    def settings(self) -> Settings: ...
    @property
    def database(self) -> Database: ...
    @property
    def log(self) -> EventLog: ...
    @property
    def privacy(self) -> Privacy: ...


async def added_recipient(
    mnemon: DeliveryParts, caller: Caller, values: dict[str, Any], place: str, secret: str | None, shown: str
) -> Recipient:
    """What is sealed stands in its row, and its event tells the digest of that."""
    recipient_id, keys = new_uuid(), mnemon.privacy.keys
    async with mnemon.log.transaction(caller.tenant_id) as transaction:
        tx = transaction.connection
        sealed = await seal_place(keys, tx, caller.tenant_id, recipient_id, place, secret)
        row = await add_recipient(
            tx, values | {"recipient_id": recipient_id, "sealed": sealed, "created_by": caller.actor.id}, shown
        )
        event = happenings.about_recipient(
            happenings.ADDED, recipient_id, caller.actor, way=values["way"], place=place,
            event_types=values["event_types"], seal=await row_seal(tx, SEAL, recipient_id),
        )  # fmt: skip
        await transaction.append([event])
        await begin_following(tx, caller.tenant_id)
    return Recipient(
        recipient_id, row["way"], row["name"], place, secret, row["event_types"], row["report_kinds"],
        row["created_at"],
    )  # fmt: skip


async def removed_recipient(
    mnemon: DeliveryParts, caller: Caller, way: Way, name: str, shown: str
) -> outputs.RecipientRemoved:
    async with mnemon.log.transaction(caller.tenant_id) as transaction:
        tx = transaction.connection
        row = await row_by_name(tx, way, name, shown)
        await tx.execute(REMOVE, (row["recipient_id"],))
        await end_following(tx, caller.tenant_id)
        event = happenings.about_recipient(happenings.REMOVED, row["recipient_id"], caller.actor, way=way)
        await transaction.append([event])
    return outputs.RecipientRemoved(name=shown, removed=True)


async def all_recipients(mnemon: DeliveryParts, caller: Caller, way: Way) -> list[tuple[Recipient, dict[str, int]]]:
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        rows = await (await tx.execute(ALL, (way,))).fetchall()
        counted = await (await tx.execute(COUNTS)).fetchall()
    counts = {row["recipient_id"]: {name: row[name] for name in NONE} for row in counted}
    opened = await open_recipients(mnemon.privacy.keys, caller.tenant_id, rows)
    return [(one, counts.get(one.recipient_id, NONE)) for one in opened]


async def one_recipient(mnemon: DeliveryParts, caller: Caller, way: Way, name: str, shown: str) -> Recipient:
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        row = await row_by_name(tx, way, name, shown)
    opened = await open_recipients(mnemon.privacy.keys, caller.tenant_id, [row])
    if not opened:
        raise NotFound(f"Where {shown} is was forgotten: add it again.", name=shown)
    return opened[0]


async def replayed(
    mnemon: DeliveryParts, caller: Caller, way: Way, name: str, shown: str, job_id: UUID | None
) -> outputs.ReplayBegun:
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        row = await row_by_name(tx, way, name, shown)
        dead = await _dead(tx, row["recipient_id"], job_id)
        if job_id is not None and not dead:
            raise NotFound(f"{shown} has no dead delivery {job_id}.", name=shown, job_id=str(job_id))
        for one in dead:
            await retry_job(tx, one, reader=None)
    return outputs.ReplayBegun(name=shown, replayed=len(dead))


async def _dead(tx: Connection, recipient_id: UUID, job_id: UUID | None) -> list[UUID]:
    rows = await (await tx.execute(DEAD, {"recipient": recipient_id, "job": job_id})).fetchall()
    return [row["job_id"] for row in rows]
