"""A running job, as its handler sees it: payload, tenant, stages, and the finish that commits with its effects."""

import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic
from uuid import UUID

import orjson
from pydantic import BaseModel, ValidationError

from mnemon.db.database import Connection, Database
from mnemon.work.errors import InvalidPayload, LeaseLost
from mnemon.work.kinds import JobKind, Payload, Result

FINISH = "SELECT mnemon.finish_job(%s, %s::uuid, %s::text::jsonb) AS held"
REPORT = "SELECT mnemon.report_progress(%s, %s::uuid, %s::text::jsonb) AS held"
# A process that is stopped inside the transaction must not keep the row locked: the server ends its session.
BOUND_THE_LOCK = "SELECT set_config('idle_in_transaction_session_timeout', %s, true)"
LONGEST_PAUSE = "30s"


@dataclass(eq=False)
class Job(Generic[Payload]):
    """One attempt at a job."""

    job_id: UUID
    tenant_id: UUID
    kind: JobKind[Payload]
    payload_text: str
    attempt: int
    max_attempts: int
    token: str
    database: Database
    waited_seconds: float = 0.0
    context: Any = None
    finished: bool = False
    stages: dict[str, float] = field(default_factory=dict)

    @cached_property
    def payload(self) -> Payload:
        """What the job was enqueued with; an error that is not retried when a newer program wants another form."""
        try:
            return self.kind.payload.model_validate_json(self.payload_text)
        except ValidationError as failure:
            wrong = ", ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in failure.errors())
            raise InvalidPayload(f"The payload of {self.kind.name} is not valid: {wrong}.") from None

    def transaction(self) -> AbstractAsyncContextManager[Connection]:
        """A transaction of the job's own tenant."""
        return self.database.transaction(self.tenant_id)

    async def finish(self, tx: Connection, result: Result = None) -> None:
        """Mark the job done in the transaction that holds its effects: both are seen, once, or neither.

        Call it last, so that the row is locked briefly. Raises LeaseLost, which undoes the transaction,
        when another worker has the job.
        """
        await tx.execute(BOUND_THE_LOCK, (LONGEST_PAUSE,))
        row = await (await tx.execute(FINISH, (self.job_id, self.token, result_text(result)))).fetchone()
        if row is None or not row["held"]:
            raise self._lost()
        self.finished = True

    async def report(self, progress: dict[str, Any]) -> None:
        """Say how far the job is, for whoever follows it. Of a job that another worker has by now nothing is kept."""
        async with self.transaction() as tx:
            await tx.execute(REPORT, (self.job_id, self.token, orjson.dumps(progress).decode()))

    async def report_in(self, tx: Connection, progress: dict[str, Any]) -> None:
        """The same in the transaction that keeps what was done so far. Raises LeaseLost, which undoes it, when another
        worker has the job; until it commits nobody can end the job and forget what it kept.
        """
        row = await (await tx.execute(REPORT, (self.job_id, self.token, orjson.dumps(progress).decode()))).fetchone()
        if row is None or not row["held"]:
            raise self._lost()

    def _lost(self) -> LeaseLost:
        return LeaseLost(f"Job {self.job_id} no longer belongs to this worker.", job_id=str(self.job_id))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a part of the work; the job's log line shows it as `name_ms`."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.stages[name] = self.stages.get(name, 0.0) + time.perf_counter() - started

    def stage_milliseconds(self) -> dict[str, int]:
        return {f"{name}_ms": round(seconds * 1000) for name, seconds in self.stages.items()}


def result_text(result: Result) -> str | None:
    """A handler's result as the JSON that is kept on the row."""
    if result is None:
        return None
    return result.model_dump_json() if isinstance(result, BaseModel) else orjson.dumps(result).decode()
