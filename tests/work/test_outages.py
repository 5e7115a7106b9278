"""An outage of the database is nobody's failure: no job loses an attempt by it, and no schedule stops."""

import errno
from datetime import timedelta

import psycopg
import pytest

from mnemon.errors import DatabaseUnavailable, TenantMoving
from mnemon.work import attempt as attempts
from mnemon.work.enqueue import enqueue
from mnemon.work.outage import is_outage

WENT_DOWN = """
UPDATE mnemon.jobs SET status = 'PROCESSING', attempts = 1, next_run_at = NULL, locked_by = 'gone', delayed = false,
       locked_at = pg_postmaster_start_time() - interval '5 minutes', lease_token = gen_random_uuid(),
       lease_until = pg_postmaster_start_time() - interval '4 minutes'
 WHERE job_id = %s
"""


@pytest.mark.parametrize(
    "failure",
    [
        psycopg.OperationalError("server closed the connection"),
        DatabaseUnavailable("It is gone."),
        TenantMoving("It is on its way."),
        OSError(errno.ENOSPC, "No space left on device"),
    ],
)
async def test_a_job_whose_database_goes_away_keeps_its_attempts(
    failure, database, tenant, make_kind, note, run_worker, job_reaches, monkeypatch
) -> None:
    monkeypatch.setattr(attempts, "OUTAGE_PAUSE", 0.0)
    kind, tries = make_kind(attempts=2), []

    @kind.handler
    async def fail_at_first(job) -> None:
        tries.append(job.attempt)
        if len(tries) < 5:
            raise failure

    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note())
    await run_worker(kind)
    row = await job_reaches(job.job_id, "DONE", "FAILED")
    assert (row["status"], row["attempts"], tries) == ("DONE", 1, [1] * 5)


def test_what_the_database_refuses_is_no_outage() -> None:
    assert not is_outage(psycopg.errors.QueryCanceled("statement timeout"))
    assert not is_outage(psycopg.errors.UniqueViolation("twice"))
    assert is_outage(psycopg.errors.AdminShutdown("terminating connection"))
    assert is_outage(psycopg.errors.DiskFull("no space left"))
    assert not is_outage(FileNotFoundError(errno.ENOENT, "no such file"))


async def test_a_lease_that_ran_out_while_the_server_was_down_costs_no_attempt(
    database, tenant, make_kind, note, read_job
) -> None:
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, make_kind(attempts=1), note(), delay=timedelta(hours=1))
    async with database.owner() as owner:
        await owner.execute(WENT_DOWN, (job.job_id,))
        await owner.execute("SELECT * FROM mnemon.rescue_jobs(1000)")
    row = await read_job(job.job_id)
    assert (row["status"], row["attempts"], row["errors"]) == ("PENDING", 0, [])
