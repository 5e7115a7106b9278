"""Leases: one process at a time delivers a partition of a subscription, and a late one can change nothing."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.telemetry import logger

HOLDER = f"{socket.gethostname()}:{os.getpid()}"

TAKE = """
INSERT INTO mnemon.subscription_cursors AS c (tenant_id, subscription_id, partition_id, token, holder, held_until)
VALUES (%(tenant)s, %(subscription)s, %(partition)s, 1, %(holder)s, clock_timestamp() + %(lease)s)
ON CONFLICT (tenant_id, subscription_id, partition_id) DO UPDATE
   SET token = c.token + 1, holder = excluded.holder, held_until = excluded.held_until
 WHERE c.held_until <= clock_timestamp()
RETURNING sequence, token, attempts, (SELECT p.sequence FROM mnemon.partitions p WHERE p.tenant_id = c.tenant_id
                                         AND p.partition_id = c.partition_id) AS head
"""
# The cursor only moves forward, and only for the holder of the newest token.
ADVANCE = """
UPDATE mnemon.subscription_cursors c
   SET sequence = %(to)s, attempts = 0, due_at = '-infinity', held_until = clock_timestamp() + %(lease)s,
       advanced_at = now()
 WHERE tenant_id = %(tenant)s AND subscription_id = %(subscription)s AND partition_id = %(partition)s
   AND token = %(token)s AND sequence <= %(to)s
RETURNING (SELECT s.status FROM mnemon.subscriptions s
            WHERE s.tenant_id = c.tenant_id AND s.subscription_id = c.subscription_id) AS status,
          (SELECT p.sequence FROM mnemon.partitions p
            WHERE p.tenant_id = c.tenant_id AND p.partition_id = c.partition_id) AS head
"""
RENEW = """
UPDATE mnemon.subscription_cursors SET held_until = clock_timestamp() + %(lease)s
 WHERE tenant_id = %(tenant)s AND subscription_id = %(subscription)s AND partition_id = %(partition)s
   AND token = %(token)s
RETURNING token
"""
STUMBLE = """
UPDATE mnemon.subscription_cursors SET attempts = attempts + 1, due_at = clock_timestamp() + %(pause)s
 WHERE tenant_id = %(tenant)s AND subscription_id = %(subscription)s AND partition_id = %(partition)s
   AND token = %(token)s
RETURNING attempts
"""
RELEASE = """
UPDATE mnemon.subscription_cursors SET holder = NULL, held_until = '-infinity'
 WHERE tenant_id = %(tenant)s AND subscription_id = %(subscription)s AND partition_id = %(partition)s
   AND token = %(token)s
"""

log = logger(__name__)


class LeaseLost(Exception):
    """Someone else holds the partition now, or the subscription was reset or removed."""


@dataclass
class Lease:
    """A partition of a subscription, held for a while; `sequence` is its cursor, `head` what was committed by then."""

    tenant: UUID
    subscription_id: str
    partition_id: int
    seconds: float
    token: int
    sequence: int
    attempts: int
    head: int

    @property
    def values(self) -> dict[str, Any]:
        return {
            "tenant": self.tenant,
            "subscription": self.subscription_id,
            "partition": self.partition_id,
            "token": self.token,
            "lease": timedelta(seconds=self.seconds),
        }

    async def advance_in(self, connection: Connection, to: int) -> str:
        """Move the cursor and hold on to the partition; returns the subscription's status."""
        row = await (await connection.execute(ADVANCE, self.values | {"to": to})).fetchone()
        if row is None:
            raise LeaseLost
        self.sequence, self.attempts, self.head = to, 0, row["head"]
        return str(row["status"])

    async def stumble_in(self, connection: Connection, pause: float) -> int:
        """Count a failure of the next event, which is due again after a pause; returns how many it had."""
        values = self.values | {"pause": timedelta(seconds=pause)}
        row = await (await connection.execute(STUMBLE, values)).fetchone()
        if row is None:
            raise LeaseLost
        self.attempts = row["attempts"]
        return self.attempts


async def take(
    database: Database, tenant: UUID, subscription_id: str, partition_id: int, seconds: float
) -> Lease | None:
    """The lease, or None while someone else holds it."""
    values = {
        "tenant": tenant, "subscription": subscription_id, "partition": partition_id,
        "holder": HOLDER, "lease": timedelta(seconds=seconds),
    }  # fmt: skip
    async with database.transaction(tenant) as connection:
        row = await (await connection.execute(TAKE, values)).fetchone()
    if row is None:
        return None
    return Lease(tenant, subscription_id, partition_id, seconds, **row)


@asynccontextmanager
async def held(database: Database, lease: Lease) -> AsyncIterator[None]:
    """Keep the lease alive while the body runs, and give it back after."""
    keeper = asyncio.create_task(_keep(database, lease))
    try:
        yield
    finally:
        keeper.cancel()
        with suppress(asyncio.CancelledError):
            await keeper
        async with database.transaction(lease.tenant) as connection:
            await connection.execute(RELEASE, lease.values)


async def _keep(database: Database, lease: Lease) -> None:
    while True:
        await asyncio.sleep(lease.seconds / 3)
        try:
            async with database.transaction(lease.tenant) as connection:
                row = await (await connection.execute(RENEW, lease.values)).fetchone()
        except Exception as failure:
            log.warning("subscription.renewal_failed", subscription=lease.subscription_id, error=str(failure))
            continue
        if row is None:
            return
