"""Repeated erasures: what the list has and a database does not know, as after a restore, is done again."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from mnemon.db.database import SET_TENANT, Connection, Database
from mnemon.log.events import SYSTEM, EntityReference, NewEvent
from mnemon.log.privacy.affected import affected_events
from mnemon.log.privacy.erasure import ONE_WRITES, OnErased
from mnemon.log.privacy.erasure_list import ErasureList, ListedErasure
from mnemon.log.privacy.privacy_events import ERASURE_REPEATED
from mnemon.log.store import EventLog
from mnemon.telemetry import counter, logger

REPEATED = counter("mnemon_privacy_erasures_repeated_total", "Erasures on the list that a restored database lacked.")

BATCH = 1000
# How the ids of accounts begin, which are there before anything was sealed with a key of theirs.
ACCOUNT = "user:"
# One process at a time; the others wait, as they must not serve before it is done.
ONE_AT_A_TIME = "SELECT pg_advisory_lock(hashtextextended('mnemon erasure list', 0))"
# A tenant that arrives from another database brings erasures that are older than what was noted last, and keys that the
# list may name. Whoever is at it notes its own state first.
NOTE_ALL_ANEW = """
SELECT pg_advisory_xact_lock(hashtextextended('mnemon erasure list', 0));
UPDATE mnemon.erasure_lists SET applied_bytes = 0, noted_until = NULL
"""
LET_GO = "SELECT pg_advisory_unlock(hashtextextended('mnemon erasure list', 0))"
HAS_LISTS = "SELECT to_regclass('mnemon.erasure_lists') IS NOT NULL AS has"
STANDING = "SELECT applied_bytes, noted_until FROM mnemon.erasure_lists WHERE list_id = %s"
RECORD = """
INSERT INTO mnemon.erasure_lists (list_id, applied_bytes, noted_until) VALUES (%s, %s, %s)
ON CONFLICT (list_id) DO UPDATE SET applied_bytes = excluded.applied_bytes, noted_until = excluded.noted_until
"""
NOTED = """
UPDATE mnemon.erasure_lists SET noted_until = (SELECT max(destroyed_at) FROM mnemon.subject_keys) WHERE list_id = %s
"""
# An hour again each time: a transaction is committed after the moment that its rows name.
NOT_NOTED = """
SELECT tenant_id, subject_id, max(generation) AS generation, max(destroyed_at) AS at FROM mnemon.subject_keys
 WHERE destroyed_at IS NOT NULL AND (%(since)s::timestamptz IS NULL OR destroyed_at > %(since)s - interval '1 hour')
 GROUP BY tenant_id, subject_id ORDER BY at
"""
KNOWN = "SELECT FROM mnemon.subject_keys WHERE destroyed_at IS NOT NULL LIMIT 1"
# On the list, and here without their tombstone: never known here, or known with a living key. Of a tenant that is not
# open here nothing can be done until it is.
LACKING = """
SELECT w.tenant_id, w.subject_id, max(w.generation) AS generation, max(w.at) AS at,
       w.tenant_id IN (SELECT mnemon.tenants_away()) AS away,
       coalesce(bool_or(k.destroyed_at IS NULL) FILTER (WHERE k.generation IS NOT NULL), false) AS living
  FROM unnest(%s::uuid[], %s::text[], %s::integer[], %s::timestamptz[]) AS w (tenant_id, subject_id, generation, at)
  JOIN mnemon.tenants t USING (tenant_id)
  LEFT JOIN mnemon.subject_keys k ON k.tenant_id = w.tenant_id AND k.subject_id = w.subject_id
                                 AND k.generation <= w.generation
 GROUP BY w.tenant_id, w.subject_id
HAVING coalesce(bool_or(k.destroyed_at IS NULL) FILTER (WHERE k.generation IS NOT NULL), true)
"""
DESTROY = """
UPDATE mnemon.subject_keys SET key_id = NULL, wrapped_key = NULL, destroyed_at = clock_timestamp()
 WHERE tenant_id = %s AND subject_id = %s AND generation <= %s AND destroyed_at IS NULL
"""
# Who is not known here must not come back as someone new.
TOMBSTONE = """
INSERT INTO mnemon.subject_keys (tenant_id, subject_id, generation, created_at, destroyed_at)
VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""
TELL = "SELECT pg_notify('mnemon_privacy', json_build_object('tenant', %s::text, 'subject', %s::text)::text)"
UNFINISHED = "INSERT INTO mnemon.repeated_erasures (tenant_id, subject_id) VALUES (%s, %s) ON CONFLICT DO NOTHING"
TO_FINISH = """
SELECT tenant_id, subject_id FROM mnemon.repeated_erasures
 WHERE tenant_id NOT IN (SELECT mnemon.tenants_away()) ORDER BY tenant_id, subject_id
"""
FINISHED = "DELETE FROM mnemon.repeated_erasures WHERE tenant_id = %s AND subject_id = ANY (%s)"

log = logger(__name__)


async def repeat_erasures(
    database: Database, events: EventLog, listed: ErasureList, hooks: Sequence[OnErased] = ()
) -> int:
    """Do what the list says and this database has not done; returns for how many. Quick where there is nothing new."""
    async with database.owner() as owner:
        await owner.execute(ONE_AT_A_TIME)
        try:
            new = await _agree(owner, listed)
            lacking = await _lacking(owner, listed, new) if new is not None else []
            here = [row for row in lacking if not row["away"]]
            repeated = 0
            for start in range(0, len(here), BATCH):
                repeated += await _destroy(owner, events, here[start : start + BATCH])
            await _finish(owner, database, hooks)
            # What waits for its tenant is read again at the next start.
            await _record(owner, listed, listed.size if new is None or len(here) == len(lacking) else new)
        finally:
            await owner.execute(LET_GO)
    if repeated:
        REPEATED.inc(repeated)
        log.warning("privacy.erasures_repeated", people=repeated)
    return repeated


async def note_erasures(owner: Connection, listed: ErasureList, *, anew: bool = False) -> None:
    """Have the list tell of every erasure that this database knows, also of those that other homes have made.

    `anew` also of those that it told of before: it may have lost them."""
    standing = await (await owner.execute(STANDING, (listed.list_id(),))).fetchone()
    since = standing["noted_until"] if standing and not anew else None
    rows = await (await owner.execute(NOT_NOTED, {"since": since})).fetchall()
    if rows:
        known = {(one.tenant_id, one.subject_id, one.generation) for one in listed.entries()}
        missing = [row for row in rows if (row["tenant_id"], row["subject_id"], row["generation"]) not in known]
        if missing:
            async with owner.transaction():
                await owner.execute(ONE_WRITES)
                await asyncio.to_thread(listed.add, [ListedErasure(**row) for row in missing])


async def note_in_turn(database: Database, listed: ErasureList) -> None:
    """The same while others are at work: what came to this database since, by other homes or with a tenant."""
    async with database.owner() as owner:
        await owner.execute(ONE_AT_A_TIME)
        try:
            await note_erasures(owner, listed)
            await owner.execute(NOTED, (listed.list_id(),))
        finally:
            await owner.execute(LET_GO)


async def note_before_restore(owner: Connection, listed: ErasureList) -> None:
    """What the database knows that is about to be replaced, should it know more than the list.

    Where both know of nobody, no list is begun: a restore without one is for a person to decide."""
    row = await (await owner.execute(HAS_LISTS)).fetchone()
    if row is not None and row["has"]:
        known = await (await owner.execute(KNOWN)).fetchone()
        if known is not None or listed.exists():
            await note_erasures(owner, listed)


async def _agree(owner: Connection, listed: ErasureList) -> int | None:
    """Both know what the other knew; from where on the list is new to this database, None if it is not."""
    standing = await (await owner.execute(STANDING, (listed.list_id(),))).fetchone()
    applied = standing["applied_bytes"] if standing else 0
    holes = await asyncio.to_thread(listed.close_holes)
    shortened = holes > 0 or listed.size < applied
    if shortened:
        log.error("privacy.erasure_list_shortened", file=listed.where, size=listed.size, known=applied, holes=holes)
        applied = 0
    new = applied if listed.size > applied else None
    await note_erasures(owner, listed, anew=shortened)
    return new


async def _record(owner: Connection, listed: ErasureList, applied: int) -> None:
    row = await (await owner.execute("SELECT max(destroyed_at) AS until FROM mnemon.subject_keys")).fetchone()
    await owner.execute(RECORD, (listed.list_id(), applied, row["until"] if row else None))


async def _lacking(owner: Connection, listed: ErasureList, after: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    new = await asyncio.to_thread(lambda: list(listed.entries(after)))
    for start in range(0, len(new), BATCH):
        some = new[start : start + BATCH]
        columns = ([one.tenant_id for one in some], [one.subject_id for one in some])
        numbers = ([one.generation for one in some], [one.at for one in some])
        found += await (await owner.execute(LACKING, (*columns, *numbers))).fetchall()
    return sorted(found, key=lambda row: (str(row["tenant_id"]), row["subject_id"]))


async def _destroy(owner: Connection, events: EventLog, lacking: Sequence[dict[str, Any]]) -> int:
    """In one transaction per tenant: the event, the keys, and that derived data is still to be seen to."""
    by_tenant: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for row in lacking:
        by_tenant[row["tenant_id"]].append(row)
    for tenant, rows in by_tenant.items():
        async with owner.transaction():
            await owner.execute(SET_TENANT, (str(tenant),))
            await events.append_in(owner, tenant, [_event(row) for row in rows])
            for row in rows:
                place = (tenant, row["subject_id"])
                await owner.execute(DESTROY, (*place, row["generation"]))
                await owner.execute(TOMBSTONE, (*place, row["generation"], row["at"], row["at"]))
                await owner.execute(TELL, (str(tenant), row["subject_id"]))
                if row["living"] or row["subject_id"].startswith(ACCOUNT):
                    await owner.execute(UNFINISHED, place)
    return len(lacking)


async def _finish(owner: Connection, database: Database, hooks: Sequence[OnErased]) -> None:
    """Whoever holds something derived is told; what a killed process left to do is done too."""
    by_tenant: dict[UUID, list[str]] = defaultdict(list)
    for row in await (await owner.execute(TO_FINISH)).fetchall():
        by_tenant[row["tenant_id"]].append(row["subject_id"])
    for tenant, subjects in by_tenant.items():
        async with database.transaction(tenant) as connection:
            affected = [one for subject in subjects for one in await affected_events(connection, tenant, subject)]
        for hook in hooks:
            await hook(tenant, subjects, affected)
        await owner.execute(FINISHED, (tenant, subjects))


def _event(row: dict[str, Any]) -> NewEvent:
    return NewEvent(
        type=ERASURE_REPEATED.type,
        data={"subject_id": row["subject_id"], "generation": row["generation"]},
        actor=SYSTEM,
        entities=[EntityReference("person", row["subject_id"])],
    )
