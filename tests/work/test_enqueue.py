"""Enqueue: in the caller's transaction, for its tenant, once per key."""

import asyncio
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from pydantic import BaseModel

from mnemon.errors import NotFound
from mnemon.work import kinds
from mnemon.work.enqueue import enqueue, enqueue_many
from mnemon.work.errors import InvalidPayload
from mnemon.work.kinds import Backoff, JobKind, kinds_named, use_default_attempts


class Other(BaseModel):
    pass


async def test_the_row_carries_what_the_kind_declares(database, tenant, make_kind, note, read_job) -> None:
    kind = make_kind(attempts=7, time_limit=12, backoff=Backoff(3, 40))
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note(text="ü"), priority=4, dedupe_key="k")
    row = await read_job(job.job_id)
    assert job.created
    assert (row["tenant_id"], row["kind"], row["payload"], row["status"]) == (
        tenant,
        kind.name,
        {"text": "ü"},
        "PENDING",
    )
    assert (row["attempts"], row["max_attempts"], row["time_limit_seconds"], row["priority"]) == (0, 7, 12, 4)
    assert (row["backoff_seconds"], row["backoff_cap_seconds"], row["dedupe_key"]) == (3, 40, "k")
    assert (row["locked_by"], row["locked_at"], row["last_error_code"], row["last_error_message"]) == (None,) * 4


async def test_an_unfinished_twin_is_returned_instead_of_a_second_job(
    database, tenant, other_tenant, make_kind, note
) -> None:
    kind, another = make_kind(), make_kind()
    async with database.transaction(tenant) as tx:
        first = await enqueue(tx, kind, note(), dedupe_key="same")
        assert await enqueue(tx, kind, note(), dedupe_key="same") == type(first)(first.job_id, created=False)
        assert (await enqueue(tx, another, note(), dedupe_key="same")).created
        assert (await enqueue(tx, kind, note(), dedupe_key="other")).created
        assert (await enqueue(tx, kind, note())).created
        await tx.execute("SELECT mnemon.cancel_job(%s)", (first.job_id,))
        assert (await enqueue(tx, kind, note(), dedupe_key="same")).created
    async with database.transaction(other_tenant) as tx:
        assert (await enqueue(tx, kind, note(), dedupe_key="same")).created


async def test_of_many_at_once_with_one_key_one_job_comes(database, tenant, make_kind, note) -> None:
    kind = make_kind()

    async def add() -> tuple[str, bool]:
        async with database.transaction(tenant) as tx:
            added = await enqueue(tx, kind, note(), dedupe_key="same")
            return str(added.job_id), added.created

    answers = await asyncio.gather(*(add() for _ in range(20)))
    assert len({job_id for job_id, _ in answers}) == 1
    assert sum(created for _, created in answers) == 1


async def test_many_jobs_come_in_one_statement_less_the_twins(database, tenant, make_kind, note) -> None:
    kind = make_kind()
    async with database.transaction(tenant) as tx:
        added = await enqueue_many(
            tx, kind, [note(text=str(n)) for n in range(5)], dedupe_keys=["a", "b", "a", None, None]
        )
        rows = await (await tx.execute("SELECT job_id FROM mnemon.jobs WHERE kind = %s", (kind.name,))).fetchall()
    assert len(added) == 4
    assert {row["job_id"] for row in rows} == set(added)


async def test_a_job_can_be_put_off_by_a_delay_or_to_a_moment(database, tenant, make_kind, note, read_job) -> None:
    kind = make_kind()
    moment = datetime.now(UTC) + timedelta(days=2)
    async with database.transaction(tenant) as tx:
        at = await enqueue(tx, kind, note(), run_at=moment)
        after = await enqueue(tx, kind, note(), delay=timedelta(hours=1))
    assert (await read_job(at.job_id))["next_run_at"] == moment
    row = await read_job(after.job_id)
    assert row["next_run_at"] - row["created_at"] == timedelta(hours=1)


async def test_a_payload_of_another_kind_or_size_is_refused(database, tenant, make_kind, note) -> None:
    async with database.transaction(tenant) as tx:
        with pytest.raises(InvalidPayload, match="takes Note, not Other"):
            await enqueue(tx, make_kind(), Other())
        with pytest.raises(InvalidPayload, match="enqueue its id"):
            await enqueue(tx, make_kind(), note(text="x" * 70_000))


async def test_a_tenant_sees_and_controls_only_its_own_jobs(database, tenant, other_tenant, make_kind, note) -> None:
    kind = make_kind()
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, kind, note())
    async with database.transaction(other_tenant) as tx:
        assert await (await tx.execute("SELECT FROM mnemon.jobs WHERE job_id = %s", (job.job_id,))).fetchall() == []
        for control in ("cancel_job", "retry_job"):
            row = await (await tx.execute(f"SELECT mnemon.{control}(%s) AS done", (job.job_id,))).fetchone()
            assert row == {"done": False}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE mnemon.jobs SET status = 'DONE'",
        "DELETE FROM mnemon.jobs",
        "INSERT INTO mnemon.jobs (tenant_id, job_id, kind, payload, status) "
        "VALUES (mnemon.current_tenant(), gen_random_uuid(), 'x', '{}', 'DONE')",
        "UPDATE mnemon.workers SET slots = 0",
        "UPDATE mnemon.schedules SET cron = ''",
    ],
)
async def test_the_application_role_cannot_write_past_the_functions(database, tenant, statement) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with database.transaction(tenant) as tx:
            await tx.execute(statement)


async def test_a_job_for_another_tenant_is_refused(database, tenant, other_tenant) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with database.transaction(tenant) as tx:
            await tx.execute(
                "INSERT INTO mnemon.jobs (tenant_id, job_id, kind, payload) VALUES (%s, gen_random_uuid(), 'x', '{}')",
                (other_tenant,),
            )


CLAIMED = "next_run_at = NULL, locked_by = 'w', locked_at = now()"
LEASED = "lease_token = gen_random_uuid(), lease_until = now()"
STATES = {
    "a pending job without a start": "next_run_at = NULL",
    "a pending job with a lease": LEASED,
    "a pending job without attempts left": "attempts = max_attempts",
    "a running job without a lease": f"status = 'PROCESSING', attempts = 1, {CLAIMED}",
    "a running job without an attempt": f"status = 'PROCESSING', {LEASED}, {CLAIMED}",
    "a done job without a time": f"status = 'DONE', attempts = 1, {CLAIMED}",
    "a failed job without a reason": "status = 'FAILED', next_run_at = NULL, finished_at = now()",
    "a result of an unfinished job": "result = '{}'",
    "more attempts than allowed": "attempts = max_attempts + 1",
    "an unknown status": "status = 'LOST'",
}


@pytest.mark.parametrize("change", STATES.values(), ids=STATES.keys())
async def test_the_table_refuses_impossible_states(database, tenant, make_kind, note, change) -> None:
    async with database.transaction(tenant) as tx:
        job = await enqueue(tx, make_kind(), note())
    async with database.owner() as owner:
        with pytest.raises(psycopg.errors.CheckViolation):
            await owner.execute(f"UPDATE mnemon.jobs SET {change} WHERE job_id = %s", (job.job_id,))


async def test_a_kind_without_a_number_of_attempts_follows_the_setting(
    database, tenant, make_kind, note, read_job, monkeypatch
) -> None:
    monkeypatch.setattr(kinds, "_defaults", dict(kinds._defaults))
    plain, own = make_kind(), make_kind(attempts=2)
    found = []
    for setting in (5, 9):
        use_default_attempts(setting)
        async with database.transaction(tenant) as tx:
            jobs = [await enqueue(tx, kind, note()) for kind in (plain, own)]
        found.append([(await read_job(job.job_id))["max_attempts"] for job in jobs])
    assert found == [[5, 2], [9, 2]]


def test_two_kinds_may_not_share_a_name(make_kind) -> None:
    kind = make_kind()
    with pytest.raises(ValueError, match="declared twice"):
        JobKind(kind.name, Other)


def test_an_unknown_kind_is_named_with_the_known_ones(make_kind) -> None:
    kind = make_kind()
    with pytest.raises(NotFound, match=r"No job kind is named nope; known are: .*" + kind.name):
        kinds_named(["nope"])
