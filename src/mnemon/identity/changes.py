"""The record of what was done to tenants, users and tokens, and by whom."""

from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mnemon.db.database import Connection
from mnemon.ids import new_ulid

RECORD = """
INSERT INTO mnemon.identity_changes (tenant_id, change_id, actor, kind, details)
VALUES (mnemon.current_tenant(), %s, %s, %s, %s)
"""
RECENT = """
SELECT change_id, changed_at, actor, kind, details
  FROM mnemon.identity_changes
 WHERE (%(before)s::text IS NULL OR change_id < %(before)s)
 ORDER BY change_id DESC
 LIMIT %(limit)s
"""


async def record_change(tx: Connection, actor: str, kind: str, **details: Any) -> None:
    """Part of the transaction that makes the change: both stand, or neither."""
    plain = {key: str(value) if isinstance(value, UUID) else value for key, value in details.items()}
    await tx.execute(RECORD, (new_ulid(), actor, kind, Jsonb(plain)))


async def recent_changes(tx: Connection, limit: int, before: str | None = None) -> list[dict[str, Any]]:
    """Newest first."""
    return await (await tx.execute(RECENT, {"limit": limit, "before": before})).fetchall()
