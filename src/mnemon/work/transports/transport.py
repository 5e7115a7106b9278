"""What a transport is: it may lose, repeat and reorder messages, and jobs are done once all the same."""

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

import orjson

from mnemon.errors import MnemonError


class TransportUnavailable(MnemonError):
    """The broker, or every worker, does not answer: jobs wait in their table until one does."""

    code = "TRANSPORT_UNAVAILABLE"
    status = 503
    retry = True


class WorkersBusy(TransportUnavailable):
    """Every worker that was asked has its slots taken; the job is offered again."""

    code = "WORKERS_BUSY"


@dataclass(frozen=True, slots=True)
class JobMessage:
    """Which job. What it is to do stands in its row."""

    tenant_id: UUID
    job_id: UUID
    kind: str

    def as_bytes(self) -> bytes:
        told = {"job_id": str(self.job_id), "tenant_id": str(self.tenant_id), "job_type": self.kind}
        return orjson.dumps(told)

    @classmethod
    def read(cls, body: bytes | str) -> "JobMessage | None":
        """None for what is no message of ours."""
        try:
            told = orjson.loads(body)
            return cls(UUID(told["tenant_id"]), UUID(told["job_id"]), str(told["job_type"]))
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
            return None


class JobDelivery(Protocol):
    """A message that was given to this worker, until it says what became of it."""

    @property
    def message(self) -> JobMessage | None: ...

    async def done(self) -> None:
        """Never deliver it again: what came of the job is on record."""
        ...

    async def keep(self) -> None:
        """Still at it: do not give it to another yet."""
        ...

    async def reject(self) -> None:
        """It can never be read: put it where a person finds it."""
        ...


class Transport(Protocol):
    """Carries ids of jobs from whoever announces them to workers."""

    @property
    def keep_seconds(self) -> float:
        """How often a delivery must be kept."""
        ...

    async def publish(self, message: JobMessage) -> None:
        """Return once the transport has it for good, or raise TransportUnavailable."""
        ...

    async def take(self, most: int) -> list[JobDelivery]:
        """Wait a moment for up to so many messages."""
        ...

    async def close(self) -> None: ...
