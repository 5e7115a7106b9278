"""The worker: fills its slots with claimed jobs and sees each attempt through to an outcome that is on record."""

import asyncio
import contextlib
import os
import secrets
import socket
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from mnemon.db.database import Database
from mnemon.telemetry import logger
from mnemon.work import metrics
from mnemon.work.attempt import Attempt, AttemptOutcome, Done, GivenBack, Lost, report_ending
from mnemon.work.errors import TimeLimitExceeded
from mnemon.work.failures import JobFailure, failure_of
from mnemon.work.finisher import Finisher
from mnemon.work.heartbeat import Heartbeat
from mnemon.work.housekeeping import Housekeeping
from mnemon.work.job import Job
from mnemon.work.kinds import JobKind
from mnemon.work.line import WorkerLine
from mnemon.work.listener import listen
from mnemon.work.outage import OUTAGE, RETRY_SECONDS, Outage
from mnemon.work.queue import fail_job, give_back_jobs
from mnemon.work.schedule import Schedule, Scheduler
from mnemon.work.transports.table_intake import JobIntake, TableIntake
from mnemon.work.transports.transport import Transport
from mnemon.work.transports.transport_intake import TransportIntake

REGISTER = "SELECT mnemon.register_worker(%s, %s, %s, %s, %s)"
UNREGISTER = "SELECT mnemon.unregister_worker(%s)"
STOP_PATIENCE = 5.0
# How long every slot must have been taken before a guest is admitted.
GUEST_SECONDS = 0.5

log = logger(__name__)


class Worker:
    """Runs jobs of the given kinds until stopped: `await Worker(database, kinds, slots=3).run()`.

    `context` is handed to the handlers as `job.context`. `on_stuck` is called, from another thread, when a job
    past its time limit blocks the event loop, so that only the process's end can stop it. With a `transport` it takes
    jobs whose messages come that way; without one, from the table.
    """

    def __init__(
        self,
        database: Database,
        kinds: Sequence[JobKind[Any]],
        slots: int = 3,
        *,
        schedules: Sequence[Schedule] = (),
        lease: float = 30.0,
        poll: float = 1.0,
        context: Any = None,
        name: str | None = None,
        on_stuck: Callable[[], None] | None = None,
        transport: Transport | None = None,
    ) -> None:
        self.name = name or f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
        self._database = database
        # A kind whose handler is not imported here is left to the workers that have it.
        self._kinds = {kind.name: kind for kind in kinds if kind.run is not None}
        self._slots = slots
        self._lease = timedelta(seconds=lease)
        self._poll = poll
        self._context = context
        self._on_stuck = on_stuck
        self._attempts: dict[str, Attempt] = {}
        # A claim need not wait for the disk: if the server's crash undoes it, the token is gone and the attempt
        # cannot write. Whatever is acknowledged, the finish above all, waits, and takes earlier claims with it.
        self._claims = WorkerLine(database.server, wait_for_disk=False)
        self._outcomes = WorkerLine(database.server)
        offered = list(self._kinds.values())
        self._intake: JobIntake = (
            TransportIntake(transport, self._claims, self.name, offered, self._lease, self._work_came)
            if transport
            else TableIntake(self._claims, self.name, offered, self._lease)
        )
        self._finisher = Finisher(self._outcomes, self._settled)
        self._finishing: dict[str, Attempt] = {}
        self._abandoned: set[asyncio.Task[None]] = set()
        self._housekeeping = Housekeeping(self._claims, Scheduler(self._claims, schedules), poll)
        self._heartbeat = Heartbeat(database.server, self.name, self._lease, self._lost, self._stuck)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._stopping = False
        self._more = True
        self._full_since: float | None = None
        self._outage = Outage("worker")

    async def run(self) -> None:
        """Work until `stop` is called or this task is cancelled; then give every running job back."""
        self._loop = asyncio.get_running_loop()
        await self._outage.survive(self._register)
        self._heartbeat.start()
        kinds = frozenset(self._kinds)
        aides = [
            asyncio.create_task(listen(self._database.server, kinds, self._work_came, self._cancelled)),
            asyncio.create_task(self._finisher.run()),
            asyncio.create_task(self._intake.run()),
        ]
        log.info("worker_started", worker=self.name, slots=self._slots, kinds=len(kinds))
        log.debug("worker_kinds", worker=self.name, kinds=sorted(kinds))
        try:
            while not self._stopping:
                await self._turn()
        finally:
            await _undisturbed(self._wind_down(aides))
            log.info("worker_stopped", worker=self.name)

    def stop(self) -> None:
        """Claim nothing more, give running jobs back with their attempt restored, then return from `run`."""
        self._stopping = True
        self._wake.set()

    @property
    def running(self) -> int:
        return len(self._attempts)

    async def _turn(self) -> None:
        self._wake.clear()
        try:
            if await self._housekeeping.keep_if_due():
                self._more = True
            if self._more:
                await self._fill_slots()
        except OUTAGE as failure:
            self._outage.seen(failure)
            await asyncio.sleep(RETRY_SECONDS)
            self._more = True
        else:
            self._outage.over()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), self._poll)

    async def _fill_slots(self) -> None:
        """Claim for the free slots. A full claim means that there may be more, once slots are free again."""
        # Successes on their way to the database hold no slot, but there is a limit to how many may be under way.
        free = min(self._slots - len(self._attempts), 3 * self._slots - self._finisher.backlog)
        if free <= 0:
            await self._admit_guest()
            return
        self._full_since = None
        self._more = False
        rows = await self._intake.claim(free)
        for row in rows:
            self._start(row)
        self._more = self._more or len(rows) == free

    async def _admit_guest(self) -> None:
        """One job more than there are slots, for a tenant that has none of them: long jobs of one tenant, however
        many, keep another waiting for a moment only. Short jobs free a slot before that, and nobody is asked.
        """
        now = time.monotonic()
        self._full_since = self._full_since or now
        if len(self._attempts) != self._slots or now - self._full_since < GUEST_SECONDS:
            return
        served = {attempt.job.tenant_id for attempt in self._attempts.values()}
        for row in await self._intake.claim(1, served):
            self._start(row)

    def _start(self, row: dict[str, Any]) -> None:
        job: Job[Any] = Job(
            job_id=row["job_id"],
            tenant_id=row["tenant_id"],
            kind=self._kinds[row["kind"]],
            payload_text=row["payload"],
            attempt=row["attempt"],
            max_attempts=row["max_attempts"],
            token=row["token"],
            database=self._database,
            waited_seconds=row["waited_seconds"],
            context=self._context,
        )
        attempt = Attempt(job, row["time_limit_seconds"])
        self._attempts[job.token] = attempt
        overdue = time.monotonic() + attempt.time_limit + 2 * STOP_PATIENCE
        self._heartbeat.watch(job.token, overdue)
        assert self._loop is not None
        attempt.alarm = self._loop.call_later(attempt.time_limit, self._time_is_up, attempt)
        attempt.task = self._loop.create_task(self._see_through(attempt))
        metrics.attempts_of(job.kind.name).inc()

    async def _see_through(self, attempt: Attempt) -> None:
        try:
            outcome = await attempt.run()
            if not attempt.abandoned:
                await self._conclude(attempt, outcome)
        except Exception:
            # A fault of ours must cost neither the slot nor the job: the lease runs out and gives it to the next.
            log.exception("attempt_not_recorded", job_id=attempt.job.job_id, kind=attempt.job.kind.name)
            self._heartbeat.forget(attempt.job.token)
            self._free_slot(attempt)

    async def _conclude(self, attempt: Attempt, outcome: AttemptOutcome) -> None:
        """Put the outcome on record. The lease is watched until then."""
        job = attempt.job
        if isinstance(outcome, Done) and not job.finished:
            self._finishing[job.token] = attempt
            self._finisher.add(job, outcome.result)
        elif isinstance(outcome, Done):
            self._close(attempt, "done")
        elif isinstance(outcome, Lost):
            self._close(attempt, "lost")
        elif isinstance(outcome, GivenBack):
            delay = timedelta(seconds=outcome.seconds)
            held = await self._outage.survive(lambda: give_back_jobs(self._outcomes, [job], delay))
            self._close(attempt, "given_back" if held else "lost")
        else:
            failure = outcome
            status = await self._outage.survive(lambda: fail_job(self._outcomes, job, failure))
            ending = {"PENDING": "retry", "FAILED": "dead", None: "lost"}[status]
            self._close(attempt, ending, failure)
        self._free_slot(attempt)

    def _settled(self, job: Job[Any], held: bool) -> None:
        """The finisher has written: the job is done, or it was no longer ours."""
        self._close(self._finishing.pop(job.token), "done" if held else "lost")
        # Too long a backlog keeps slots empty; now it is shorter.
        self._wake.set()

    def _close(self, attempt: Attempt, ending: str, failure: JobFailure | None = None) -> None:
        self._heartbeat.forget(attempt.job.token)
        self._intake.settled(attempt.job.token)
        if attempt.job.kind.at_once is not None:
            # The kind was at its limit; a job that the last claim had to leave may now be taken.
            self._more = True
            self._wake.set()
        report_ending(attempt, ending, failure)

    def _free_slot(self, attempt: Attempt) -> None:
        self._full_since = None
        self._attempts.pop(attempt.job.token, None)
        self._wake.set()

    def _time_is_up(self, attempt: Attempt) -> None:
        attempt.stop("time")
        assert self._loop is not None
        attempt.alarm = self._loop.call_later(STOP_PATIENCE, self._abandon, attempt)

    def _abandon(self, attempt: Attempt) -> None:
        """The handler swallows its cancellation: end the attempt without it. The token keeps it from writing."""
        attempt.abandoned = True
        failure = failure_of(
            TimeLimitExceeded(f"The job did not stop at its limit of {attempt.time_limit:g} s and was abandoned.")
        )
        assert self._loop is not None
        self._abandoned.add(task := self._loop.create_task(self._conclude(attempt, failure)))
        task.add_done_callback(self._abandoned.discard)

    def _work_came(self) -> None:
        self._more = True
        self._wake.set()

    def _cancelled(self, job_id: UUID) -> None:
        for attempt in self._attempts.values():
            if attempt.job.job_id == job_id:
                attempt.stop("lost")

    def _lost(self, token: str) -> None:
        """From the heartbeat's thread: this lease is gone."""
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the loop has closed meanwhile
            self._loop.call_soon_threadsafe(self._drop, token)

    def _drop(self, token: str) -> None:
        if attempt := self._attempts.get(token):
            attempt.stop("lost")

    def _stuck(self, token: str) -> None:
        """From the heartbeat's thread: the event loop has not run for long after it should have stopped this job."""
        attempt = self._attempts.get(token)
        log.critical("worker_stuck", worker=self.name, job_id=str(attempt.job.job_id) if attempt else None)
        if self._on_stuck is not None:
            self._on_stuck()

    async def _register(self) -> None:
        values = (self.name, socket.gethostname(), os.getpid(), self._slots, sorted(self._kinds))
        await self._claims.fetch(REGISTER, values)
        await self._housekeeping.scheduler.declare()

    async def _wind_down(self, aides: list[asyncio.Task[None]]) -> None:
        """Bounded: what cannot be put on record in time is left to the leases."""
        self._stopping = True
        tasks = [attempt.task for attempt in self._attempts.values() if attempt.task is not None]
        for attempt in list(self._attempts.values()):
            attempt.stop("stop")
        if tasks:
            await asyncio.wait(tasks, timeout=STOP_PATIENCE)
        with contextlib.suppress(TimeoutError, *OUTAGE):
            async with asyncio.timeout(STOP_PATIENCE):
                if stubborn := [attempt.job for attempt in self._attempts.values()]:
                    await give_back_jobs(self._outcomes, stubborn)
                await self._finisher.drained()
                await self._claims.fetch(UNREGISTER, (self.name,))
        for task in (*aides, *tasks):
            task.cancel()
        await asyncio.wait([*aides, *tasks], timeout=STOP_PATIENCE)
        await asyncio.to_thread(self._heartbeat.close)
        await self._claims.close()
        await self._outcomes.close()


async def _undisturbed(work: Coroutine[Any, Any, None]) -> None:
    """See the work through even if this task is cancelled again meanwhile; the cancellation comes after."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError
    task.result()
