"""The queue against a model: any sequence of steps leaves the rows as a few dozen lines of Python say."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from pydantic import BaseModel

from mnemon.db.database import Database
from mnemon.db.external import ExternalServer
from mnemon.ids import new_uuid
from mnemon.work.enqueue import enqueue
from mnemon.work.errors import LeaseLost
from mnemon.work.failures import JobFailure
from mnemon.work.job import Job
from mnemon.work.kinds import Backoff, JobKind
from mnemon.work.line import WorkerLine
from mnemon.work.queue import (
    Turns,
    claim_jobs,
    fail_job,
    finish_jobs,
    give_back_jobs,
    release_delayed_jobs,
    rescue_jobs,
)


class Nothing(BaseModel):
    pass


ATTEMPTS = 3
TENANTS = (UUID(int=0xA), UUID(int=0xB))
HOUR = timedelta(hours=1)


@dataclass
class Model:
    """What the row of one job should say."""

    tenant: UUID
    key: str | None
    priority: int
    number: int
    due: bool
    status: str = "PENDING"
    attempts: int = 0
    errors: list[str] = field(default_factory=list)
    token: str | None = None
    expired: bool = False

    def fail(self, code: str, permanent: bool) -> None:
        self.errors.append(code)
        self.token = None
        self.expired = False
        dead = permanent or self.attempts == ATTEMPTS
        self.status, self.due = ("FAILED", False) if dead else ("PENDING", True)


class QueueMachine(RuleBasedStateMachine):
    """Time stands still, but for two rules: a delay passes, a lease runs out."""

    server: ExternalServer
    leases = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        # Not asyncio.Runner: at its end it would take the loop of the whole test run away.
        self.loop = asyncio.new_event_loop()
        # Each example has kinds of its own, so that examples share a database.
        self.kind = JobKind(f"model.{new_uuid().hex}", Nothing, attempts=ATTEMPTS, backoff=Backoff(0, 0))
        self.turns = Turns([self.kind])
        self.jobs: dict[UUID, Model] = {}
        self.database = Database(self.server, pool_size=2)
        self.line = WorkerLine(self.server)
        self.loop.run_until_complete(self.database.__aenter__())

    def teardown(self) -> None:
        self.loop.run_until_complete(self.line.close())
        self.loop.run_until_complete(self.database.close())
        self.loop.close()

    def job(self, job_id: UUID, token: str) -> Job[Nothing]:
        tenant = self.jobs[job_id].tenant
        return Job(job_id, tenant, self.kind, "{}", 1, ATTEMPTS, token, self.database)

    def held(self, job_id: UUID, token: str) -> bool:
        return self.jobs[job_id].token == token

    @rule(
        tenant=st.sampled_from(TENANTS),
        key=st.sampled_from((None, "one", "two")),
        priority=st.integers(-1, 1),
        delayed=st.booleans(),
    )
    def enqueue(self, tenant: UUID, key: str | None, priority: int, delayed: bool) -> None:
        twins = [
            job_id for job_id, job in self.jobs.items()
            if key and (job.tenant, job.key) == (tenant, key) and job.status in ("PENDING", "PROCESSING")
        ]  # fmt: skip

        async def add() -> Any:
            async with self.database.transaction(tenant) as tx:
                return await enqueue(
                    tx, self.kind, Nothing(), dedupe_key=key, priority=priority, delay=HOUR if delayed else HOUR * 0
                )

        added = self.loop.run_until_complete(add())
        assert added.created == (not twins)
        if twins:
            assert [added.job_id] == twins
        else:
            self.jobs[added.job_id] = Model(tenant, key, priority, len(self.jobs), due=not delayed)

    @rule(target=leases, wanted=st.integers(1, 3))
    def claim(self, wanted: int) -> Any:
        due = [job for job in self.jobs.items() if job[1].status == "PENDING" and job[1].due]
        self.loop.run_until_complete(release_delayed_jobs(self.line))
        rows = self.loop.run_until_complete(claim_jobs(self.line, "model", self.turns, wanted, HOUR))
        assert len(rows) == min(wanted, len(due))
        best = sorted((-job.priority for _, job in due))[: len(rows)]
        assert sorted(-self.jobs[row["job_id"]].priority for row in rows) == best
        for row in rows:
            job = self.jobs[row["job_id"]]
            job.status, job.attempts, job.token, job.due = "PROCESSING", job.attempts + 1, row["token"], False
            assert (row["tenant_id"], row["attempt"]) == (job.tenant, job.attempts)
        return [(row["job_id"], row["token"]) for row in rows]

    @rule(lease=leases, alone=st.booleans())
    def finish(self, lease: list[tuple[UUID, str]], alone: bool) -> None:
        """Leases stay in the bundle after use: later rules try to write with them again, and must not."""
        for job_id, token in lease:
            held = self.held(job_id, token)
            job = self.job(job_id, token)
            if alone:
                assert self.finish_in_transaction(job) == held
            else:
                assert self.loop.run_until_complete(finish_jobs(self.line, [(job, None)])) == (
                    {token} if held else set()
                )
            if held:
                self.jobs[job_id].status, self.jobs[job_id].token = "DONE", None
                self.jobs[job_id].expired = False

    def finish_in_transaction(self, job: Job[Nothing]) -> bool:
        async def finish() -> bool:
            try:
                async with job.transaction() as tx:
                    await job.finish(tx)
            except LeaseLost:
                return False
            return True

        return self.loop.run_until_complete(finish())

    @rule(lease=leases, permanent=st.booleans())
    def fail(self, lease: list[tuple[UUID, str]], permanent: bool) -> None:
        for job_id, token in lease:
            held = self.held(job_id, token)
            status = self.loop.run_until_complete(
                fail_job(self.line, self.job(job_id, token), JobFailure("X", "x", permanent))
            )
            if held:
                self.jobs[job_id].fail("X", permanent)
            assert status == (self.jobs[job_id].status if held else None)

    @rule(lease=leases)
    def give_back(self, lease: list[tuple[UUID, str]]) -> None:
        for job_id, token in lease:
            held = self.held(job_id, token)
            back = self.loop.run_until_complete(give_back_jobs(self.line, [self.job(job_id, token)]))
            assert back == ({token} if held else set())
            if held:
                job = self.jobs[job_id]
                job.status, job.attempts, job.token, job.due, job.expired = (
                    "PENDING", job.attempts - 1, None, True, False,
                )  # fmt: skip

    @rule(lease=leases)
    def beat(self, lease: list[tuple[UUID, str]]) -> None:
        tokens = [token for _, token in lease]
        (row,) = self.loop.run_until_complete(
            self.line.fetch("SELECT mnemon.beat('model', %s::uuid[], %s)::text[] AS held", (tokens, HOUR))
        )
        assert set(row["held"]) == {token for job_id, token in lease if self.held(job_id, token)}
        for job_id, token in lease:
            if self.held(job_id, token):
                self.jobs[job_id].expired = False

    @rule(lease=leases)
    def a_lease_runs_out(self, lease: list[tuple[UUID, str]]) -> None:
        for job_id, token in lease:
            if self.held(job_id, token):
                self.as_owner("UPDATE mnemon.jobs SET lease_until = now() - interval '1 s' WHERE job_id = %s", job_id)
                self.jobs[job_id].expired = True

    @rule()
    def delays_pass(self) -> None:
        self.as_owner(
            "UPDATE mnemon.jobs SET next_run_at = now() WHERE kind = %s AND next_run_at > now()", self.kind.name
        )
        for job in self.jobs.values():
            job.due = job.due or job.status == "PENDING"

    @rule()
    def rescue(self) -> None:
        self.loop.run_until_complete(rescue_jobs(self.line))
        for job in self.jobs.values():
            if job.expired:
                job.fail("WORKER_LOST", permanent=False)

    @rule(number=st.integers(0, 20))
    def cancel(self, number: int) -> None:
        if chosen := self.chosen(number):
            job_id, job = chosen
            may = job.status in ("PENDING", "PROCESSING")
            assert self.control("cancel_job", job_id, job.tenant) == may
            assert self.control("cancel_job", job_id, TENANTS[job.tenant == TENANTS[0]]) is False
            if may:
                job.status, job.due, job.token, job.expired = "FAILED", False, None, False

    @rule(number=st.integers(0, 20))
    def retry(self, number: int) -> None:
        if chosen := self.chosen(number):
            job_id, job = chosen
            twin = job.key and any(
                other is not job and (other.tenant, other.key) == (job.tenant, job.key)
                and other.status in ("PENDING", "PROCESSING") for other in self.jobs.values()
            )  # fmt: skip
            if twin and job.status == "FAILED":
                return
            may = job.status in ("PENDING", "FAILED")
            assert self.control("retry_job", job_id, job.tenant) == may
            if may:
                job.attempts = 0 if job.status == "FAILED" else job.attempts
                job.status, job.due = "PENDING", True

    def chosen(self, number: int) -> tuple[UUID, Model] | None:
        return next((item for item in self.jobs.items() if item[1].number == number), None)

    def control(self, function: str, job_id: UUID, tenant: UUID) -> bool:
        async def call() -> bool:
            async with self.database.transaction(tenant) as tx:
                row = await (await tx.execute(f"SELECT mnemon.{function}(%s) AS done", (job_id,))).fetchone()
                return row["done"]

        return self.loop.run_until_complete(call())

    def as_owner(self, statement: str, value: Any) -> None:
        async def execute() -> None:
            async with self.database.owner() as owner:
                await owner.execute(statement, (value,))

        self.loop.run_until_complete(execute())

    @invariant()
    def the_rows_are_as_the_model_says(self) -> None:
        async def read() -> list[dict[str, Any]]:
            async with self.database.owner() as owner:
                return await (
                    await owner.execute("SELECT * FROM mnemon.jobs WHERE kind = %s", (self.kind.name,))
                ).fetchall()

        rows = {
            row["job_id"]: (
                row["tenant_id"], row["status"], row["attempts"], row["lease_token"] and str(row["lease_token"]),
                [error["code"] for error in row["errors"]],
            )
            for row in self.loop.run_until_complete(read())
        }  # fmt: skip
        assert rows == {
            job_id: (job.tenant, job.status, job.attempts, job.token, job.errors) for job_id, job in self.jobs.items()
        }


@pytest.mark.parametrize(
    ("examples", "steps"), [(12, 25), pytest.param(100, 50, marks=pytest.mark.slow)], ids=["quick", "thorough"]
)
def test_the_queue_behaves_as_its_model(database: Database, examples: int, steps: int) -> None:
    # The machine has an event loop of its own, and so a pool of its own.
    QueueMachine.server = ExternalServer(database.server.owner_conninfo, database.server.app_conninfo)
    run_state_machine_as_test(
        QueueMachine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
