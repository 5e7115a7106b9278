"""The queue's statements for a worker: claim in turns, finish, fail, give back, rescue; each a short transaction."""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from mnemon.work.failures import JobFailure
from mnemon.work.job import Job
from mnemon.work.kinds import JobKind
from mnemon.work.line import WorkerLine

CLAIM = "SELECT * FROM mnemon.claim_jobs(%s, %s, %s, %s, %s, %s, %s)"
FINISH_MANY = "SELECT mnemon.finish_jobs(%s::text::jsonb) AS token"
FAIL = "SELECT mnemon.fail_job(%s, %s, %s::uuid, %s, %s, %s, %s) AS status"
GIVE_BACK = "SELECT mnemon.give_back_jobs(%s::text::jsonb, %s) AS token"
RESCUE = "SELECT * FROM mnemon.rescue_jobs(%s)"
RELEASE = "SELECT mnemon.release_delayed_jobs(%s) AS released"
RESCUED_AT_ONCE = 100
RELEASED_AT_ONCE = 1000
LONGEST_MESSAGE = 2000
NOBODY = UUID(int=0)


class Turns:
    """One worker's memory of whom it served. Each worker has its own, and nothing is lost with it."""

    def __init__(self, kinds: Iterable[JobKind[Any]]) -> None:
        self.kinds = list(kinds)
        self._served: dict[str, UUID] = {}

    def served_last(self, kind: str) -> UUID:
        """The tenant that had the last turn within a kind."""
        return self._served.get(kind, NOBODY)

    def pass_on(self, claimed: Sequence[dict[str, Any]]) -> None:
        """The kind that came first goes to the end; within each kind the tenants after the last served come next."""
        if not claimed:
            return
        first = [kind.name for kind in self.kinds].index(claimed[0]["kind"]) + 1
        self.kinds = self.kinds[first:] + self.kinds[:first]
        self._served.update((row["kind"], row["tenant_id"]) for row in claimed)


async def claim_jobs(
    line: WorkerLine, worker: str, turns: Turns, wanted: int, lease: timedelta, besides: Iterable[UUID] = ()
) -> list[dict[str, Any]]:
    """Take up to `wanted` due jobs, of the kinds and tenants whose turn it is; the attempt counts from here.

    Tenants of `besides` are left out.
    """
    kinds = turns.kinds
    names = [kind.name for kind in kinds]
    limits = [kind.at_once for kind in kinds]
    served = [turns.served_last(kind.name) for kind in kinds]
    rows = await line.fetch(CLAIM, (worker, names, limits, served, wanted, lease, list(besides)))
    turns.pass_on(rows)
    return rows


async def finish_jobs(line: WorkerLine, outcomes: Sequence[tuple[Job[Any], str | None]]) -> set[str]:
    """Mark jobs done, each with its result; the tokens that were still held."""
    items = ",".join(_identified(job, result) for job, result in outcomes)
    return {row["token"] for row in await line.fetch(FINISH_MANY, (f"[{items}]",))}


async def fail_job(line: WorkerLine, job: Job[Any], failure: JobFailure) -> str | None:
    """End the attempt: PENDING for another try, FAILED for none, or None when the lease was lost."""
    message = _storable(failure.message)[:LONGEST_MESSAGE]
    values = (job.tenant_id, job.job_id, job.token, failure.code, message, failure.permanent, failure.delay)
    rows = await line.fetch(FAIL, values)
    status: str | None = rows[0]["status"]
    return status


async def give_back_jobs(line: WorkerLine, jobs: Collection[Job[Any]], delay: timedelta = timedelta(0)) -> set[str]:
    """Return jobs as if they had not been claimed; the tokens that were still held."""
    items = ",".join(_identified(job, None) for job in jobs)
    return {row["token"] for row in await line.fetch(GIVE_BACK, (f"[{items}]", delay))}


async def rescue_jobs(line: WorkerLine) -> list[dict[str, Any]]:
    """End the attempts of workers that stopped answering."""
    return await line.fetch(RESCUE, (RESCUED_AT_ONCE,))


async def release_delayed_jobs(line: WorkerLine) -> None:
    """Let every job that was put off until now be claimed."""
    while (await line.fetch(RELEASE, (RELEASED_AT_ONCE,)))[0]["released"] == RELEASED_AT_ONCE:
        pass


def _storable(text: str) -> str:
    """Without what PostgreSQL cannot keep: zero bytes, and halves of characters, as odd file names have them."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def _identified(job: Job[Any], result: str | None) -> str:
    return (
        f'{{"tenant_id":"{job.tenant_id.hex}","job_id":"{job.job_id.hex}","token":"{job.token}",'
        f'"result":{"null" if result is None else result}}}'
    )
