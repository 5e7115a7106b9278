"""Positions: how far a subscription has come, as people and its engines look at it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.log.read.pattern import Pattern
from mnemon.log.subscribe.cursors import Cursor

# Every partition, whether its cursor exists yet or not.
POSITIONS = """
SELECT p.partition_id, p.legal_entity, p.sequence AS head, coalesce(c.sequence, 0) AS sequence,
       coalesce(c.token, 0) AS token, coalesce(k.parked, 0) AS parked, coalesce(k.dead, 0) AS dead,
       CASE WHEN c.held_until > clock_timestamp() THEN c.holder END AS holder, c.advanced_at,
       coalesce(c.attempts, 0) AS attempts, coalesce(c.due_at, '-infinity') <= clock_timestamp() AS due
  FROM mnemon.partitions p
  LEFT JOIN mnemon.subscription_cursors c
    ON c.tenant_id = p.tenant_id AND c.subscription_id = %(subscription)s AND c.partition_id = p.partition_id
  LEFT JOIN LATERAL (
       SELECT count(*) AS parked, count(*) FILTER (WHERE k.state = 'dead') AS dead FROM mnemon.parked_events k
        WHERE k.tenant_id = p.tenant_id AND k.subscription_id = %(subscription)s
          AND k.partition_id = p.partition_id) k ON true
 WHERE p.tenant_id = %(tenant)s
 ORDER BY p.legal_entity
"""


@dataclass(frozen=True, slots=True)
class Position:
    """How far a subscription has come in one partition."""

    partition_id: int
    legal_entity: str
    head: int
    sequence: int
    token: int
    parked: int
    dead: int
    holder: str | None = None
    advanced_at: datetime | None = None
    # Failures of the next event, where the whole partition waits for it, and whether it is time to try again.
    attempts: int = 0
    due: bool = True

    @property
    def lag(self) -> int:
        """Events that the subscription has not looked at."""
        return self.head - self.sequence

    def as_json(self) -> dict[str, Any]:
        return {
            "legal_entity": self.legal_entity,
            "head": str(self.head),
            "sequence": str(self.sequence),
            "lag": self.lag,
            "parked": self.parked,
            "dead": self.dead,
            "holder": self.holder,
            "advanced_at": self.advanced_at,
        }

    def cursor(self, tenant: UUID, subscription_id: str, token: int | None) -> Cursor:
        return Cursor(tenant, subscription_id, self.partition_id, token, self.sequence, self.attempts, self.head)


async def positions_in(connection: Connection, tenant: UUID, subscription_id: str, wanted: Pattern) -> list[Position]:
    """Where the subscription stands in each partition that its pattern wants."""
    values = {"tenant": tenant, "subscription": subscription_id}
    rows = await (await connection.execute(POSITIONS, values)).fetchall()
    return [Position(**row) for row in rows if wanted.wants_partition(row["legal_entity"])]
