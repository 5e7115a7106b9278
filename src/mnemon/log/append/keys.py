"""Expired keys: an idempotency key that has had its time is free again, and its row goes."""

from mnemon.db.database import Database

# In small bites, so that no append waits long for a page.
FORGET = """
DELETE FROM mnemon.event_keys
 WHERE ctid = ANY(ARRAY(SELECT ctid FROM mnemon.event_keys WHERE expires_at < now() LIMIT 1000))
"""


async def forget_expired_keys(database: Database) -> int:
    """Remove the keys of all tenants whose life is over; returns how many. For the schedule and for operators."""
    forgotten = 0
    async with database.owner() as owner:
        while removed := (await owner.execute(FORGET)).rowcount:
            forgotten += removed
    return forgotten
