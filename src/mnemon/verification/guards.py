"""The guards of the database against the schema that this program makes, and the schedules against its own."""

from datetime import timedelta

from mnemon.db.catalogue import differences, expected_listing, listing, outside
from mnemon.db.database import Connection
from mnemon.db.migrate import schema_state
from mnemon.errors import MigrationFailed
from mnemon.verification.findings import CheckReport, VerifyTask

A_PARTITION = "CALL mnemon.add_partition('events', 0); CALL mnemon.add_partition('event_payloads', 0)"
PARTITION_TABLES = """
SELECT coalesce(t.name, 'events_' || p.partition_id) AS name, p.partition_id IS NULL AS ownerless
  FROM mnemon.partitions p
  FULL JOIN (SELECT relname AS name, substring(relname FROM '\\d+$')::integer AS number FROM pg_class
              WHERE relnamespace = 'mnemon'::regnamespace AND relkind = 'r' AND relname ~ '^events_\\d+$') AS t
    ON t.number = p.partition_id
 WHERE p.partition_id IS NULL OR t.name IS NULL
"""
WORKED = "SELECT FROM mnemon.workers LIMIT 1"
SCHEDULES = "SELECT name, kind, cron, timezone, next_fire_at, now() AS now FROM mnemon.schedules"
# A schedule that is due is fired within a poll; the clock of the database may be a little behind its own rows.
SLACK = timedelta(minutes=2)


async def check_guards(task: VerifyTask, report: CheckReport) -> None:
    async with task.parts.database.owner() as owner:
        there = await listing(owner)
        found = differences(there, await expected_listing(owner, A_PARTITION))
        report.checked += len(there)
        for where, how in found.items():
            report.find(where, f"It {how}.")
        for kind, name in await outside(owner):
            report.find(f"{kind} {name}", "It takes a guard away.")
        await _check_partitions(owner, report)
        await _check_version(owner, report)
    await _check_schedules(task, report)


async def _check_partitions(owner: Connection, report: CheckReport) -> None:
    for row in await (await owner.execute(PARTITION_TABLES)).fetchall():
        how = "belongs to no partition" if row["ownerless"] else "is missing"
        report.find(f"table {row['name']}", f"It {how}.")


async def _check_version(owner: Connection, report: CheckReport) -> None:
    try:
        state = await schema_state(owner)
    except MigrationFailed as failure:
        report.find("schema", failure.message)
        return
    if not state.current:
        report.find("schema", f"It is at step {state.applied} of {state.latest}, {state.outdated} functions differ.")


async def _check_schedules(task: VerifyTask, report: CheckReport) -> None:
    """Nothing to compare before the first worker has declared them."""
    async with task.parts.database.session() as session:
        rows = {row["name"]: row for row in await (await session.execute(SCHEDULES)).fetchall()}
        worked = await (await session.execute(WORKED)).fetchone() is not None
    if not rows and not worked:
        return
    for one in task.parts.schedules:
        row = rows.get(one.name)
        report.checked += 1
        if row is None:
            report.find(f"schedule {one.name}", "It is missing: start a worker to have it declared again.")
        elif (row["kind"], row["cron"], row["timezone"]) != (one.kind.name, one.cron, one.timezone):
            report.find(f"schedule {one.name}", "It is not the one that this program's settings declare.")
        elif row["next_fire_at"] > one.next_after(row["now"]) + SLACK:
            report.find(f"schedule {one.name}", f"It is put off to {row['next_fire_at'].isoformat()}.")
