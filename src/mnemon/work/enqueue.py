"""Enqueue: a job enters in its caller's transaction, and workers hear of it when that commits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import orjson

from mnemon.db.database import Connection
from mnemon.ids import new_time_ordered_uuid
from mnemon.tracing import traceparent
from mnemon.work.errors import InvalidPayload
from mnemon.work.kinds import JobKind, Payload

CHANNEL = "mnemon_jobs"
# A payload names things; it does not hold them. Whatever must be forgettable stays out of it.
LARGEST_PAYLOAD = 65_536

# The tenant comes from the transaction. A time with a clock of ours in it never reaches the database:
# delays are sent as intervals.
ADD = """
WITH added AS (
    INSERT INTO mnemon.jobs (tenant_id, job_id, kind, payload, dedupe_key, priority, max_attempts,
                             time_limit_seconds, backoff_seconds, backoff_cap_seconds, next_run_at, readers)
    VALUES (mnemon.current_tenant(), %(job_id)s, %(kind)s, %(payload)s::text::jsonb, %(dedupe_key)s, %(priority)s,
            %(attempts)s, %(time_limit)s, %(backoff)s, %(cap)s, coalesce(%(run_at)s, now() + %(delay)s),
            %(readers)s)
    ON CONFLICT (tenant_id, kind, dedupe_key)
       WHERE dedupe_key IS NOT NULL AND status IN ('PENDING', 'PROCESSING') DO NOTHING
    RETURNING job_id, kind, next_run_at)
SELECT job_id, CASE WHEN next_run_at <= now() THEN pg_notify('mnemon_jobs', kind) END FROM added
"""
ADD_MANY = """
WITH added AS (
    INSERT INTO mnemon.jobs (tenant_id, job_id, kind, payload, dedupe_key, priority, max_attempts,
                             time_limit_seconds, backoff_seconds, backoff_cap_seconds, next_run_at)
    SELECT mnemon.current_tenant(), item.job_id, %(kind)s, item.payload, item.dedupe_key, %(priority)s, %(attempts)s,
           %(time_limit)s, %(backoff)s, %(cap)s, now()
      FROM jsonb_to_recordset(%(items)s::text::jsonb) AS item(job_id uuid, payload jsonb, dedupe_key text)
    ON CONFLICT (tenant_id, kind, dedupe_key)
       WHERE dedupe_key IS NOT NULL AND status IN ('PENDING', 'PROCESSING') DO NOTHING
    RETURNING job_id)
SELECT job_id, pg_notify('mnemon_jobs', %(kind)s) FROM added
"""
TRACE = """
INSERT INTO mnemon.job_traces (tenant_id, job_id, traceparent)
SELECT mnemon.current_tenant(), job_id, %s FROM unnest(%s::uuid[]) AS job_id
"""
FIND_TWIN = """
SELECT job_id FROM mnemon.jobs
 WHERE tenant_id = mnemon.current_tenant() AND kind = %s AND dedupe_key = %s AND status IN ('PENDING', 'PROCESSING')
"""


@dataclass(frozen=True)
class Enqueued:
    """The job that will do the work; `created` is false when an unfinished one with the same key was there."""

    job_id: UUID
    created: bool


async def enqueue(
    tx: Connection,
    kind: JobKind[Payload],
    payload: Payload,
    *,
    dedupe_key: str | None = None,
    priority: int = 0,
    delay: timedelta = timedelta(0),
    run_at: datetime | None = None,
    readers: Sequence[str] | None = None,
) -> Enqueued:
    """Add a job for the transaction's tenant. Higher priority runs first; `run_at` or `delay` puts it off.

    With a dedupe key, an unfinished job of the same kind and key is returned instead of a second one. `readers` are
    those who may know of it, where not everyone of the tenant may.
    """
    values = _values(kind) | {
        "job_id": new_time_ordered_uuid(),
        "payload": _checked(kind, payload),
        "dedupe_key": dedupe_key,
        "priority": priority,
        "delay": delay,
        "run_at": run_at,
        "readers": list(readers) if readers is not None else None,
    }
    while True:
        added = await (await tx.execute(ADD, values)).fetchone()
        if added is not None:
            await _trace(tx, [added["job_id"]])
            return Enqueued(added["job_id"], created=True)
        twin = await (await tx.execute(FIND_TWIN, (kind.name, dedupe_key))).fetchone()
        if twin is not None:
            return Enqueued(twin["job_id"], created=False)
        # The twin ended between the two statements: the way is free now.


async def enqueue_many(
    tx: Connection,
    kind: JobKind[Payload],
    payloads: Sequence[Payload],
    *,
    dedupe_keys: Sequence[str | None] | None = None,
    priority: int = 0,
) -> list[UUID]:
    """Add many jobs of one kind in one statement; the ids of those that were added."""
    keys = dedupe_keys or [None] * len(payloads)
    items = ",".join(
        f'{{"job_id":"{new_time_ordered_uuid()}","dedupe_key":{orjson.dumps(key).decode()},'
        f'"payload":{_checked(kind, payload)}}}'
        for payload, key in zip(payloads, keys, strict=True)
    )
    values = _values(kind) | {"priority": priority, "items": f"[{items}]"}
    added = [row["job_id"] for row in await (await tx.execute(ADD_MANY, values)).fetchall()]
    await _trace(tx, added)
    return added


async def _trace(tx: Connection, jobs: list[UUID]) -> None:
    """Where traces are sent, the job's own span will be a part of the one under way."""
    if (parent := traceparent()) is not None:
        await tx.execute(TRACE, (parent, jobs))


def _values(kind: JobKind[Payload]) -> dict[str, object]:
    return {
        "kind": kind.name,
        "attempts": kind.max_attempts,
        "time_limit": kind.time_limit,
        "backoff": kind.backoff.first,
        "cap": kind.backoff.cap,
    }


def _checked(kind: JobKind[Payload], payload: Payload) -> str:
    if not isinstance(payload, kind.payload):
        raise InvalidPayload(f"{kind.name} takes {kind.payload.__name__}, not {type(payload).__name__}.")
    text = payload.model_dump_json()
    if len(text) > LARGEST_PAYLOAD:
        raise InvalidPayload(
            f"The payload of {kind.name} has {len(text)} characters, more than {LARGEST_PAYLOAD}: "
            "store the content and enqueue its id.",
            kind=kind.name,
        )
    return text
