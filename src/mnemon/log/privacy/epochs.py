"""Erasure epochs: nothing derived from events that were read before an erasure is written after it."""

from uuid import UUID

from mnemon.db.database import Connection

READ = """
WITH made AS (INSERT INTO mnemon.erasure_epochs (tenant_id) VALUES (%(tenant)s) ON CONFLICT DO NOTHING)
SELECT coalesce((SELECT epoch FROM mnemon.erasure_epochs WHERE tenant_id = %(tenant)s), 0) AS epoch
"""
# Held to the end of the transaction, so that an erasure waits, and then finds what was written.
HOLD = "SELECT FROM mnemon.erasure_epochs WHERE tenant_id = %s AND epoch = %s FOR SHARE"
RAISE = """
INSERT INTO mnemon.erasure_epochs (tenant_id, epoch) VALUES (%s, 1)
ON CONFLICT (tenant_id) DO UPDATE SET epoch = mnemon.erasure_epochs.epoch + 1
"""


async def epoch_in(connection: Connection, tenant: UUID) -> int:
    """Ask before reading events."""
    row = await (await connection.execute(READ, {"tenant": tenant})).fetchone()
    assert row is not None
    return int(row["epoch"])


async def hold_epoch_in(connection: Connection, tenant: UUID, epoch: int) -> bool:
    """Ask before writing what came of them; False if someone was erased in between."""
    return await (await connection.execute(HOLD, (tenant, epoch))).fetchone() is not None


async def raise_epoch_in(connection: Connection, tenant: UUID) -> None:
    await connection.execute(RAISE, (tenant,))
