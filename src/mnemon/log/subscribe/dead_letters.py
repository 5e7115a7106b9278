"""Dead letters: events that a subscriber failed to handle too often, until someone replays or discards them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from mnemon.db.database import Database
from mnemon.log.errors import DeadLetterNotFound
from mnemon.log.subscribe.parking import LOOK_AGAIN
from mnemon.log.subscribe.subscriptions import find_in

LIST = """
SELECT k.partition_id, p.legal_entity, k.sequence, k.event_id, k.type, k.attempts, k.error, k.failed_at,
       (SELECT count(*) FROM mnemon.parked_events w
         WHERE w.tenant_id = k.tenant_id AND w.subscription_id = k.subscription_id
           AND w.partition_id = k.partition_id AND w.state = 'waiting' AND w.sequence > k.sequence
           AND EXISTS (SELECT FROM jsonb_array_elements(w.entities) AS one WHERE k.entities @> jsonb_build_array(one))
       ) AS waiting
  FROM mnemon.parked_events k
  JOIN mnemon.partitions p ON p.tenant_id = k.tenant_id AND p.partition_id = k.partition_id
 WHERE k.tenant_id = %s AND k.subscription_id = %s AND k.state = 'dead'
 ORDER BY p.legal_entity, k.sequence
"""
REPLAY = """
UPDATE mnemon.parked_events k SET state = 'retrying', attempts = 0, due_at = '-infinity'
  FROM mnemon.partitions p
 WHERE k.tenant_id = %(tenant)s AND k.subscription_id = %(subscription)s AND k.state = 'dead'
   AND p.tenant_id = k.tenant_id AND p.partition_id = k.partition_id
   AND (%(legal_entity)s::text IS NULL OR p.legal_entity = %(legal_entity)s AND k.sequence = %(sequence)s)
RETURNING k.sequence
"""
DISCARD = """
DELETE FROM mnemon.parked_events k USING mnemon.partitions p
 WHERE k.tenant_id = %(tenant)s AND k.subscription_id = %(subscription)s AND k.state = 'dead'
   AND p.tenant_id = k.tenant_id AND p.partition_id = k.partition_id
   AND (%(legal_entity)s::text IS NULL OR p.legal_entity = %(legal_entity)s AND k.sequence = %(sequence)s)
RETURNING k.partition_id
"""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An event that was given up, named by its place in the log; `waiting` counts later events behind it."""

    partition_id: int
    legal_entity: str
    sequence: int
    event_id: str
    type: str
    attempts: int
    error: str
    failed_at: datetime
    waiting: int

    def as_json(self) -> dict[str, Any]:
        return {
            "legal_entity": self.legal_entity,
            "sequence": str(self.sequence),
            "event_id": self.event_id,
            "type": self.type,
            "attempts": self.attempts,
            "error": self.error,
            "failed_at": self.failed_at,
            "waiting": self.waiting,
        }


class DeadLetters:
    """The dead letters of every subscription."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, tenant: UUID, subscription_id: str) -> Sequence[DeadLetter]:
        async with self._database.transaction(tenant) as connection:
            await find_in(connection, tenant, subscription_id)
            rows = await (await connection.execute(LIST, (tenant, subscription_id))).fetchall()
        return [DeadLetter(**row) for row in rows]

    async def replay(self, tenant: UUID, subscription_id: str, place: tuple[str, int] | None = None) -> int:
        """Have a dead letter, (legal entity, sequence), delivered again, or all of them; returns how many.

        Those that wait behind it follow once it is handled.
        """
        async with self._database.transaction(tenant) as connection:
            await find_in(connection, tenant, subscription_id)
            rows = await (await connection.execute(REPLAY, _values(tenant, subscription_id, place))).fetchall()
        return _counted(rows, subscription_id, place)

    async def discard(self, tenant: UUID, subscription_id: str, place: tuple[str, int] | None = None) -> int:
        """Give a dead letter up for good, or all of them; what waits behind it is delivered."""
        async with self._database.transaction(tenant) as connection:
            await find_in(connection, tenant, subscription_id)
            rows = await (await connection.execute(DISCARD, _values(tenant, subscription_id, place))).fetchall()
            partitions = [row["partition_id"] for row in rows]
            await connection.execute(LOOK_AGAIN, (tenant, subscription_id, partitions))
        return _counted(rows, subscription_id, place)


def _values(tenant: UUID, subscription_id: str, place: tuple[str, int] | None) -> dict[str, Any]:
    legal_entity, sequence = place or (None, None)
    return {
        "tenant": tenant,
        "subscription": subscription_id,
        "legal_entity": legal_entity,
        "sequence": sequence,
    }


def _counted(rows: Sequence[Any], subscription_id: str, place: tuple[str, int] | None) -> int:
    if place is not None and not rows:
        raise DeadLetterNotFound(
            f"{subscription_id} has no dead letter at {place[0]} {place[1]}: list them to see which there are.",
            legal_entity=place[0],
            sequence=str(place[1]),
        )
    return len(rows)
