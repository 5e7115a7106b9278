"""The hot statements walk an index, as the application role, even when the table was empty when they were planned."""

from datetime import timedelta

import pytest
from psycopg import sql

from mnemon.ids import new_uuid
from mnemon.work.enqueue import enqueue_many
from mnemon.work.job import Job
from mnemon.work.line import WorkerLine
from mnemon.work.queue import Turns, claim_jobs, finish_jobs, release_delayed_jobs, rescue_jobs
from tests.work.conftest import Note

ROWS = 20_000
LEASE = timedelta(minutes=1)


@pytest.fixture
async def busy(own_database, make_kind):
    """A line whose plans were cached on an empty table, which then fills up."""
    kind, line = make_kind(), WorkerLine(own_database.server)
    for _ in range(8):
        await claim_jobs(line, "w", Turns([kind]), 50, LEASE)
        await finish_jobs(line, [])
        await rescue_jobs(line)
    async with own_database.transaction(new_uuid()) as tx:
        await enqueue_many(tx, kind, [Note()] * ROWS)
    yield own_database, line, kind
    await line.close()


async def rows_scanned(database, table: str) -> int:
    """How many rows sequential scans of this table have read so far."""
    async with database.owner() as owner:
        await owner.execute("SELECT pg_stat_force_next_flush()")
        row = await (
            await owner.execute(
                sql.SQL("SELECT seq_tup_read FROM pg_stat_user_tables WHERE relid = {}::regclass").format(table)
            )
        ).fetchone()
    return row["seq_tup_read"]


async def test_claim_finish_beat_and_rescue_never_scan_the_table(busy) -> None:
    database, line, kind = busy
    await line.fetch("SELECT pg_stat_force_next_flush()")
    before = await rows_scanned(database, "mnemon.jobs")
    for _ in range(4):
        rows = await claim_jobs(line, "w", Turns([kind]), 50, LEASE)
        jobs = [
            Job(row["job_id"], row["tenant_id"], kind, row["payload"], 1, 5, row["token"], database) for row in rows
        ]
        await line.fetch("SELECT mnemon.beat('w', %s::uuid[], '1 minute')", ([job.token for job in jobs],))
        assert len(await finish_jobs(line, [(job, None) for job in jobs])) == 50
        await rescue_jobs(line)
        await release_delayed_jobs(line)
    await line.fetch("SELECT pg_stat_force_next_flush()")
    assert await rows_scanned(database, "mnemon.jobs") == before


async def test_a_claim_walks_over_neither_the_queues_of_others_nor_jobs_that_were_put_off(busy) -> None:
    database, line, kind = busy
    async with database.transaction(new_uuid()) as tx:
        await enqueue_many(tx, kind, [Note()] * 3)
    async with database.owner() as owner:
        await owner.execute(
            "INSERT INTO mnemon.jobs (tenant_id, job_id, kind, payload, next_run_at) "
            "SELECT gen_random_uuid(), gen_random_uuid(), %s, '{}', now() + interval '1 hour' "
            "FROM generate_series(1, 5000)", (kind.name,),
        )  # fmt: skip
    turns = Turns([kind])
    await line.fetch("SELECT pg_stat_force_next_flush()")
    before = await rows_read(database)
    taken = sum([len(await claim_jobs(line, "w", turns, 5, LEASE)) for _ in range(40)])
    await line.fetch("SELECT pg_stat_force_next_flush()")
    assert taken == 200
    # Versions that no vacuum has removed yet are read too, up to a page of the index.
    assert await rows_read(database) - before < 500 * 40


async def rows_read(database) -> int:
    """How many rows of the table and entries of its indexes have been read so far."""
    async with database.owner() as owner:
        await owner.execute("SELECT pg_stat_force_next_flush()")
        row = await (
            await owner.execute(
                "SELECT seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes "
                "WHERE relid = 'mnemon.jobs'::regclass) AS count FROM pg_stat_user_tables "
                "WHERE relid = 'mnemon.jobs'::regclass"
            )
        ).fetchone()
    return int(row["count"])
