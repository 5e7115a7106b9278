"""Cursors: where a subscription stands in each partition, who may move it, and every way in which it changes.

A cursor is free, held (for a process or for a claimant, until a time) or put off (the next event failed and is due
later). Each hand-over adds one to its token: whoever shows an older one changes nothing. No other module writes these
rows; docs/states.md has the diagram.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.tasks import end
from mnemon.telemetry import logger

PROCESS = f"{socket.gethostname()}:{os.getpid()}"

_THIS = "tenant_id = %(tenant)s AND subscription_id = %(subscription)s AND partition_id = %(partition)s"
# Who was given a token must show it while it holds; so must everyone as long as someone has claimed the partition.
# Where there is no cursor yet, no token but 0 was given to anyone.
_MAY_BEGIN = f"""(%(token)s::bigint IS NULL OR %(token)s = 0
        OR EXISTS (SELECT FROM mnemon.subscription_cursors WHERE {_THIS}))"""
_MAY_MOVE = "(c.token = %(token)s OR %(token)s::bigint IS NULL AND c.held_until <= clock_timestamp())"

BEGIN_AT_HEADS = """
INSERT INTO mnemon.subscription_cursors (tenant_id, subscription_id, partition_id, sequence)
SELECT tenant_id, %s, partition_id, sequence FROM mnemon.partitions WHERE tenant_id = %s
"""
# A holder that may resume goes on with the token it has.
TAKE = """
INSERT INTO mnemon.subscription_cursors AS c (tenant_id, subscription_id, partition_id, token, holder, held_until)
VALUES (%(tenant)s, %(subscription)s, %(partition)s, 1, %(holder)s, clock_timestamp() + %(lease)s)
ON CONFLICT (tenant_id, subscription_id, partition_id) DO UPDATE
   SET token = c.token + CASE WHEN c.held_until > clock_timestamp() THEN 0 ELSE 1 END,
       holder = excluded.holder, held_until = excluded.held_until, claimed_to = NULL
 WHERE c.held_until <= clock_timestamp() OR %(resume)s AND c.holder = excluded.holder
RETURNING sequence, token, attempts, (SELECT p.sequence FROM mnemon.partitions p WHERE p.tenant_id = c.tenant_id
                                         AND p.partition_id = c.partition_id) AS head
"""
RENEW = f"""
UPDATE mnemon.subscription_cursors SET held_until = clock_timestamp() + %(lease)s
 WHERE {_THIS} AND token = %(token)s
RETURNING token
"""
CLAIM_TO = f"UPDATE mnemon.subscription_cursors SET claimed_to = %(to)s WHERE {_THIS} AND token = %(token)s"
RELEASE = f"""
UPDATE mnemon.subscription_cursors SET holder = NULL, held_until = '-infinity', claimed_to = NULL
 WHERE {_THIS} AND token = %(token)s
"""
# Only forward. A claim ends with its last event; a lease goes on.
ADVANCE = f"""
INSERT INTO mnemon.subscription_cursors AS c (tenant_id, subscription_id, partition_id, sequence)
SELECT %(tenant)s, %(subscription)s, %(partition)s, %(to)s WHERE {_MAY_BEGIN}
ON CONFLICT (tenant_id, subscription_id, partition_id) DO UPDATE
   SET sequence = greatest(c.sequence, excluded.sequence), advanced_at = now(),
       attempts = CASE WHEN excluded.sequence > c.sequence THEN 0 ELSE c.attempts END,
       due_at = CASE WHEN excluded.sequence > c.sequence THEN '-infinity' ELSE c.due_at END,
       holder = CASE WHEN excluded.sequence >= c.claimed_to THEN NULL ELSE c.holder END,
       held_until = CASE WHEN excluded.sequence >= c.claimed_to THEN '-infinity'
                         ELSE coalesce(clock_timestamp() + %(lease)s::interval, c.held_until) END,
       claimed_to = CASE WHEN excluded.sequence >= c.claimed_to THEN NULL ELSE c.claimed_to END
 WHERE {_MAY_MOVE}
RETURNING sequence,
          (SELECT s.status FROM mnemon.subscriptions s
            WHERE s.tenant_id = c.tenant_id AND s.subscription_id = c.subscription_id) AS status,
          (SELECT p.sequence FROM mnemon.partitions p
            WHERE p.tenant_id = c.tenant_id AND p.partition_id = c.partition_id) AS head
"""
PUT_OFF = f"""
INSERT INTO mnemon.subscription_cursors AS c (tenant_id, subscription_id, partition_id, sequence, attempts, due_at)
SELECT %(tenant)s, %(subscription)s, %(partition)s, %(to)s, 1, clock_timestamp() + %(pause)s WHERE {_MAY_BEGIN}
ON CONFLICT (tenant_id, subscription_id, partition_id) DO UPDATE
   SET sequence = excluded.sequence, due_at = excluded.due_at,
       attempts = CASE WHEN c.sequence < excluded.sequence THEN 1 ELSE c.attempts + 1 END,
       advanced_at = CASE WHEN c.sequence < excluded.sequence THEN now() ELSE c.advanced_at END
 WHERE c.sequence <= excluded.sequence AND {_MAY_MOVE}
RETURNING attempts
"""
# After a change in the same transaction, which has seen to it that the caller may.
REVOKE = f"""
UPDATE mnemon.subscription_cursors
   SET token = token + 1, holder = NULL, held_until = '-infinity', claimed_to = NULL
 WHERE {_THIS}
"""
RESET = """
INSERT INTO mnemon.subscription_cursors AS c (tenant_id, subscription_id, partition_id, sequence, token)
SELECT p.tenant_id, %(subscription)s, p.partition_id, least(%(to)s, p.sequence), 1
  FROM mnemon.partitions p
 WHERE p.tenant_id = %(tenant)s AND p.partition_id = %(partition)s
ON CONFLICT (tenant_id, subscription_id, partition_id) DO UPDATE
   SET sequence = excluded.sequence, token = c.token + 1, holder = NULL, held_until = '-infinity', claimed_to = NULL,
       attempts = 0, due_at = '-infinity', advanced_at = now()
"""
OPEN = """
WITH made AS (
    INSERT INTO mnemon.subscription_cursors (tenant_id, subscription_id, partition_id)
    VALUES (%(tenant)s, %(subscription)s, %(partition)s) ON CONFLICT DO NOTHING)
SELECT coalesce(c.sequence, 0) AS sequence, coalesce(c.token, 0) AS token, coalesce(c.attempts, 0) AS attempts,
       p.sequence AS head
  FROM mnemon.partitions p
  JOIN mnemon.subscriptions s
    ON s.tenant_id = p.tenant_id AND s.subscription_id = %(subscription)s AND s.status <> 'paused'
  LEFT JOIN mnemon.subscription_cursors c
    ON c.tenant_id = p.tenant_id AND c.subscription_id = %(subscription)s AND c.partition_id = p.partition_id
 WHERE p.tenant_id = %(tenant)s AND p.partition_id = %(partition)s
"""
# If another process is at it, or has been since we looked, this finds nothing.
FENCE = f"""
SELECT FROM mnemon.subscription_cursors
 WHERE {_THIS} AND sequence = %(sequence)s AND token = %(token)s
   FOR UPDATE SKIP LOCKED
"""
log = logger(__name__)


class CursorLost(Exception):
    """Someone else holds the partition now, or the subscription was reset, paused or removed."""


@dataclass
class Cursor:
    """One cursor as its user knows it; `token` is what was given to that user, None if nothing was.

    `sequence` and `attempts` (failures of the next event) are as of the last look, `head` what was committed by then.
    While `lease` is set, each move holds the partition for so long again.
    """

    tenant: UUID
    subscription_id: str
    partition_id: int
    token: int | None = None
    sequence: int = 0
    attempts: int = 0
    head: int = 0
    lease: timedelta | None = None

    async def advance_in(self, connection: Connection, to: int) -> str:
        """Everything up to a sequence is done with; returns the subscription's status."""
        row = await self._change(connection, ADVANCE, to=to)
        if to > self.sequence:
            self.attempts = 0
        self.sequence, self.head = row["sequence"], row["head"]
        return str(row["status"])

    async def put_off_in(self, connection: Connection, before: int, pause: float) -> int:
        """The event after `before` failed, and the partition waits for it; returns how often it has failed."""
        row = await self._change(connection, PUT_OFF, to=before, pause=timedelta(seconds=pause))
        self.sequence, self.attempts = before, row["attempts"]
        return self.attempts

    async def reset_in(self, connection: Connection, to: int) -> None:
        """Go on after another sequence, forward or back; whoever is delivering now can no longer move the cursor."""
        await connection.execute(RESET, self._values | {"to": to})

    async def revoke_in(self, connection: Connection) -> None:
        """Void whatever was given out; whoever has it fetches again. After another change in the same transaction."""
        await connection.execute(REVOKE, self._values)

    async def open_in(self, connection: Connection) -> None:
        """Look at the cursor as it is now, made if there is none."""
        row = await self._change(connection, OPEN)
        self.sequence, self.token, self.attempts, self.head = (
            row["sequence"], row["token"], row["attempts"], row["head"],
        )  # fmt: skip

    async def fence_in(self, connection: Connection) -> bool:
        """Lock the cursor if it is still as it was seen; then its user alone moves it until the commit."""
        values = self._values | {"sequence": self.sequence}
        return await (await connection.execute(FENCE, values)).fetchone() is not None

    async def claim_to_in(self, connection: Connection, to: int | None) -> None:
        """The claim ends once this event is done with; None if they are settled one by one."""
        await connection.execute(CLAIM_TO, self._values | {"to": to})

    async def release_in(self, connection: Connection) -> None:
        await connection.execute(RELEASE, self._values)

    async def _change(self, connection: Connection, statement: str, **more: Any) -> dict[str, Any]:
        row = await (await connection.execute(statement, self._values | more)).fetchone()
        if row is None:
            raise CursorLost
        return row

    @property
    def place(self) -> tuple[UUID, str, int]:
        """What names the cursor, and in parked events too."""
        return self.tenant, self.subscription_id, self.partition_id

    @property
    def _values(self) -> dict[str, Any]:
        return {
            "tenant": self.tenant,
            "subscription": self.subscription_id,
            "partition": self.partition_id,
            "token": self.token,
            "lease": self.lease,
        }


async def begin_at_heads_in(connection: Connection, tenant: UUID, subscription_id: str) -> None:
    """What is in the log already is left out; partitions to come are seen in full."""
    await connection.execute(BEGIN_AT_HEADS, (subscription_id, tenant))


async def take(
    database: Database, cursor: Cursor, seconds: float, holder: str = PROCESS, *, resume: bool = False
) -> Cursor | None:
    """Hold the partition for a while, or None while someone else does; who may resume goes on with what it holds."""
    lease = timedelta(seconds=seconds)
    values = cursor._values | {"holder": holder, "lease": lease, "resume": resume}
    async with database.transaction(cursor.tenant) as connection:
        row = await (await connection.execute(TAKE, values)).fetchone()
    # A claimant has its time once; a process renews as it goes.
    return Cursor(*cursor.place, **row, lease=None if resume else lease) if row else None


@asynccontextmanager
async def held(database: Database, cursor: Cursor) -> AsyncIterator[None]:
    """Keep a lease alive while the body runs, and give it back after."""
    keeper = asyncio.create_task(_keep(database, cursor))
    try:
        yield
    finally:
        await end(keeper)
        async with database.transaction(cursor.tenant) as connection:
            await cursor.release_in(connection)


async def _keep(database: Database, cursor: Cursor) -> None:
    assert cursor.lease is not None
    while True:
        await asyncio.sleep(cursor.lease.total_seconds() / 3)
        try:
            async with database.transaction(cursor.tenant) as connection:
                row = await (await connection.execute(RENEW, cursor._values)).fetchone()
        except Exception as failure:
            log.warning("subscription.renewal_failed", subscription=cursor.subscription_id, error=str(failure))
            continue
        if row is None:
            return
