"""Sources as they are kept and shown."""

from typing import Any
from uuid import UUID

from psycopg import errors as postgres

from mnemon.db.database import Connection
from mnemon.documents.sources.outputs import FollowedPlace, SyncShown
from mnemon.errors import Conflict, NotFound

BY_NAME = "SELECT * FROM mnemon.document_sources WHERE tenant_id = mnemon.current_tenant() AND name = %s"
ALL = "SELECT * FROM mnemon.document_sources WHERE tenant_id = mnemon.current_tenant() ORDER BY name"
COUNTS = """
SELECT status, count(*) AS count FROM mnemon.source_objects
 WHERE tenant_id = mnemon.current_tenant() AND source_id = %s AND status <> 'purged' GROUP BY status
"""
SYNC_COLUMNS = "sync_id, status, counts, attempts, error_code, error, created_at, started_at, finished_at, job_id"
SYNCS = f"""
SELECT {SYNC_COLUMNS} FROM mnemon.source_syncs
 WHERE tenant_id = mnemon.current_tenant() AND source_id = %s ORDER BY created_at DESC, sync_id LIMIT %s
"""
ADD = """
INSERT INTO mnemon.document_sources
       (tenant_id, source_id, name, kind, place, prefix, include, exclude, tags, endpoint, region, access, sealed_keys,
        every_minutes, created_by)
VALUES (mnemon.current_tenant(), %(source_id)s, %(name)s, %(kind)s, %(place)s, %(prefix)s, %(include)s, %(exclude)s,
        %(tags)s, %(endpoint)s, %(region)s, %(access)s, %(sealed_keys)s, %(every_minutes)s, %(created_by)s)
"""
CHANGE = """
UPDATE mnemon.document_sources
   SET include = %(include)s, exclude = %(exclude)s, tags = %(tags)s, access = %(access)s,
       sealed_keys = %(sealed_keys)s, every_minutes = %(every_minutes)s, paused = %(paused)s,
       next_sync_at = CASE WHEN %(every_minutes)s::int IS NOT NULL
                           THEN least(next_sync_at, now() + make_interval(mins => %(every_minutes)s)) END
 WHERE tenant_id = mnemon.current_tenant() AND source_id = %(source_id)s
"""
OF_ANOTHER_STORE = """
SELECT name, endpoint FROM mnemon.document_sources
 WHERE tenant_id = mnemon.current_tenant() AND kind = 's3' AND place = %(place)s
   AND rtrim(endpoint, '/') IS DISTINCT FROM rtrim(%(endpoint)s, '/') LIMIT 1
"""
SEAL = "SELECT mnemon.source_seal(s) AS seal FROM mnemon.document_sources s WHERE source_id = %s"
REMOVE = "DELETE FROM mnemon.document_sources WHERE tenant_id = mnemon.current_tenant() AND source_id = %s"


async def source_by_name(tx: Connection, name: str) -> dict[str, Any]:
    row = await (await tx.execute(BY_NAME, (name,))).fetchone()
    if row is None:
        raise NotFound(f"There is no source {name}: `mnemon sources list` shows those there are.", source=name)
    return row


async def add_source(tx: Connection, values: dict[str, Any]) -> None:
    if values["kind"] == "s3":
        await _refuse_namesake(tx, values)
    try:
        await tx.execute(ADD, values)
    except postgres.UniqueViolation:
        raise Conflict(f"There is a source {values['name']} already: give another name.", name=values["name"]) from None


async def _refuse_namesake(tx: Connection, values: dict[str, Any]) -> None:
    """A document is known by s3://bucket/key: buckets of one name in two stores would be taken for one."""
    row = await (await tx.execute(OF_ANOTHER_STORE, values)).fetchone()
    if row is not None:
        raise Conflict(
            f"The source {row['name']} follows a bucket {values['place']} of another store "
            f"({row['endpoint'] or 'Amazon'}): their documents could not be told apart. Give the bucket another name "
            "there, or follow it in another tenant.",
            name=row["name"],
        )


async def syncs_of(tx: Connection, source_id: UUID, limit: int) -> list[SyncShown]:
    rows = await (await tx.execute(SYNCS, (source_id, limit))).fetchall()
    return [SyncShown(**row) for row in rows]


async def shown(tx: Connection, row: dict[str, Any]) -> FollowedPlace:
    counted = await (await tx.execute(COUNTS, (row["source_id"],))).fetchall()
    last = await syncs_of(tx, row["source_id"], 1)
    columns = (
        "source_id", "name", "kind", "include", "exclude", "tags", "endpoint", "region", "access", "every_minutes",
        "paused", "next_sync_at",
    )  # fmt: skip
    return FollowedPlace(
        **{column: row[column] for column in columns}, location=location_of(row),
        objects={one["status"]: one["count"] for one in counted}, last_sync=last[0] if last else None,
    )  # fmt: skip


def location_of(row: dict[str, Any]) -> str:
    if row["kind"] == "folder":
        return f"{row['place']}/{row['prefix']}".rstrip("/")
    return f"s3://{row['place']}/{row['prefix']}"
