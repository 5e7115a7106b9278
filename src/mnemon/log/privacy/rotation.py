"""Rotation of the key-encryption key: every person's key is wrapped anew; no event is touched."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mnemon.db.backup_keys import BackupKeys
from mnemon.db.database import Connection, Database
from mnemon.log.privacy.sharers import Sharers, identity_of
from mnemon.log.privacy.subjects import ANNOUNCE, WRAPPING_KEYS, context_of
from mnemon.log.privacy.wrapping_keys import KeyRing, Wrapper
from mnemon.telemetry import counter

REWRAPPED = counter("mnemon_privacy_keys_rewrapped_total", "Keys of people that a rotation wrapped anew.")

BATCH = 500
ONE_ROTATION = "SELECT pg_advisory_lock(hashtextextended('mnemon key rotation', 0))"
STALE = "SELECT count(*) AS n FROM mnemon.subject_keys WHERE key_id <> %s"
# The row's lock (not in the way of appends) keeps an erasure from destroying a key that we are about to write back.
NEXT = f"""
SELECT tenant_id, subject_id, generation, key_id, wrapped_key FROM mnemon.subject_keys
 WHERE key_id <> %s ORDER BY key_id, tenant_id, subject_id LIMIT {BATCH} FOR NO KEY UPDATE
"""
REWRAP = """
UPDATE mnemon.subject_keys k SET key_id = %s, wrapped_key = row.wrapped, rewrapped_at = now()
  FROM unnest(%s::uuid[], %s::text[], %s::integer[], %s::bytea[]) AS row (tenant_id, subject_id, generation, wrapped)
 WHERE k.tenant_id = row.tenant_id AND k.subject_id = row.subject_id AND k.generation = row.generation
"""
# A key that something is still wrapped with is kept by the foreign key; one that is gone cannot be used again.
RETIRE = """
DELETE FROM mnemon.wrapping_keys w
 WHERE w.key_id <> %s AND NOT EXISTS (SELECT FROM mnemon.subject_keys k WHERE k.key_id = w.key_id)
RETURNING w.key_id
"""


@dataclass(frozen=True, slots=True)
class Rotation:
    """What a rotation did. `retired` keys wrap nothing any more; `discarded` ones no longer exist.

    Backups are encrypted with `backup_key` from now on, and what was encrypted with those discarded is lost for good.
    Where other databases share the home, the keys that they may need stay, and so do all keys of backups.
    """

    key_id: str
    rewrapped: int
    retired: list[str]
    discarded: list[str]
    backup_key: str | None = None
    backup_keys_discarded: Sequence[str] = ()
    shared_with: Sequence[str] = ()


RotationProgress = Callable[[int, int], None]


async def rotate(
    database: Database,
    ring: KeyRing,
    backup_keys: BackupKeys | None = None,
    sharers: Sharers | None = None,
    *,
    discard: bool = False,
    progress: RotationProgress | None = None,
) -> Rotation:
    """Wrap every key with a new key-encryption key, or finish a rotation that was interrupted.

    Batch by batch, each committed: whoever kills it loses nothing, and the next run goes on. With `discard`, all keys
    that wrap nothing any more are destroyed, those of earlier rotations too, and with them every copy of an erased
    key in backups and on disk.
    """
    async with database.owner() as owner:
        await owner.execute(ONE_ROTATION)
        wrapper = await _target(owner, ring)
        await owner.execute(ANNOUNCE, (wrapper.key_id,))
        total, done = await _stale(owner, wrapper.key_id), 0
        while changed := await _rewrap_batch(owner, ring, wrapper):
            done += changed
            REWRAPPED.inc(changed)
            if progress:
                progress(done, max(total, done))
        rows = await (await owner.execute(RETIRE, (wrapper.key_id,))).fetchall()
        needed = {row["key_id"] for row in await (await owner.execute(WRAPPING_KEYS)).fetchall()}
        own = await identity_of(owner)
        others = await asyncio.to_thread(sharers.others, own) if sharers and discard else {}
        discarded = await asyncio.to_thread(ring.discard_all_but, needed, others.values()) if discard else []
        if sharers:
            await asyncio.to_thread(sharers.note, own, needed, alone=discard)
        # Backups too: what they hold plain, as the texts of documents, ends with the key of the backup.
        backup_key = await asyncio.to_thread(backup_keys.renew) if backup_keys else None
        gone = await asyncio.to_thread(backup_keys.discard_older) if backup_keys and discard and not others else []
    told = [sharers.where(one) for one in others] if sharers else []
    return Rotation(wrapper.key_id, done, sorted(row["key_id"] for row in rows), discarded, backup_key, gone, told)


async def _target(owner: Connection, ring: KeyRing) -> Wrapper:
    """A rotation that stopped half-way is finished before the next one begins."""
    rows = await (await owner.execute(WRAPPING_KEYS)).fetchall()
    for row in rows:
        await ring.find(row["key_id"])
    current = await ring.current()
    if current is not None and await _stale(owner, current.key_id):
        return current
    return await ring.chosen.renew()


async def _stale(owner: Connection, key_id: str) -> int:
    row = await (await owner.execute(STALE, (key_id,))).fetchone()
    return int(row["n"]) if row else 0


async def _rewrap_batch(owner: Connection, ring: KeyRing, wrapper: Wrapper) -> int:
    async with owner.transaction():
        rows = await (await owner.execute(NEXT, (wrapper.key_id,))).fetchall()
        if rows:
            wrapped = await asyncio.gather(*(_rewrapped(ring, wrapper, row) for row in rows))
            columns = [[row[name] for row in rows] for name in ("tenant_id", "subject_id", "generation")]
            await owner.execute(REWRAP, (wrapper.key_id, *columns, wrapped))
    return len(rows)


async def _rewrapped(ring: KeyRing, wrapper: Wrapper, row: dict[str, Any]) -> bytes:
    context = context_of(row["tenant_id"], row["subject_id"])
    old = await ring.find(row["key_id"])
    return await wrapper.wrap(await old.unwrap(row["wrapped_key"], context), context)
