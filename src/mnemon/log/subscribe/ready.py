"""Ready partitions: where a subscription has something to do now."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import Database
from mnemon.log.read.pattern import Pattern
from mnemon.log.subscribe.cursors import Cursor
from mnemon.log.subscribe.subscriptions import Holds, SubscriptionStatus

# A partition that someone else holds is left to them until their lease runs out.
LOOK = """
SELECT p.partition_id, p.legal_entity, p.sequence - coalesce(c.sequence, 0) AS lag, s.pattern, s.failure_holds,
       s.status, s.failures_in_a_row > 0 OR s.status = 'broken' AS shaken,
       (s.status = 'active' OR s.status = 'broken' AND s.probe_at <= clock_timestamp())
       AND coalesce(c.held_until, '-infinity') <= clock_timestamp()
       AND coalesce(c.due_at, '-infinity') <= clock_timestamp()
       AND (p.sequence > coalesce(c.sequence, 0)
            OR EXISTS (SELECT FROM mnemon.parked_events k
                        WHERE k.tenant_id = p.tenant_id AND k.subscription_id = s.subscription_id
                          AND k.partition_id = p.partition_id AND k.due_at <= clock_timestamp())) AS ready
  FROM mnemon.subscriptions s
  JOIN mnemon.partitions p ON p.tenant_id = s.tenant_id
  LEFT JOIN mnemon.subscription_cursors c
    ON c.tenant_id = s.tenant_id AND c.subscription_id = s.subscription_id AND c.partition_id = p.partition_id
 WHERE s.tenant_id = %s AND s.subscription_id = %s
 ORDER BY p.partition_id
"""


@dataclass(frozen=True, slots=True)
class Ready:
    """A partition with something to do; `shaken` if the subscription's last attempt failed."""

    tenant: UUID
    subscription_id: str
    partition_id: int
    legal_entity: str
    pattern: Pattern
    failure_holds: Holds
    status: SubscriptionStatus
    shaken: bool

    @property
    def cursor(self) -> Cursor:
        return Cursor(self.tenant, self.subscription_id, self.partition_id)


async def look(database: Database, tenant: UUID, subscription_id: str) -> tuple[Sequence[Ready], int]:
    """The partitions that are ready, and how many events the subscription is behind in all of them."""
    async with database.transaction(tenant) as connection:
        rows = await (await connection.execute(LOOK, (tenant, subscription_id))).fetchall()
    if not rows:
        return [], 0
    pattern = Pattern.from_json(rows[0]["pattern"])
    wanted = [row for row in rows if pattern.wants_partition(row["legal_entity"])]
    ready = [
        Ready(
            tenant, subscription_id, row["partition_id"], row["legal_entity"], pattern, row["failure_holds"],
            row["status"], row["shaken"],
        )
        for row in wanted
        if row["ready"]
    ]  # fmt: skip
    if ready and ready[0].status == "broken":
        # One probe is enough to find out.
        ready = ready[:1]
    return ready, sum(row["lag"] for row in wanted)
