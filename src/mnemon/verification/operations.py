"""What a user may do to have everything verified: start it, and see what the last verification found."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from pydantic import BaseModel, Field

from mnemon.identity.roles import Action
from mnemon.operations import Caller, Door, Input, Output, operation
from mnemon.verification.findings import Verifiable
from mnemon.verification.jobs import VERIFY_EVERYTHING, VerificationJob
from mnemon.verification.run import last_verified
from mnemon.work.enqueue import enqueue

FOR_ADMINISTRATORS: Mapping[Door, str] = {"mcp": "For those who run the server."}


class Parts(Verifiable, Protocol):
    """What these operations need of Mnemon."""


class EverythingWanted(Input):
    """How much to verify."""

    complete: bool = Field(True, description="Everything; else what is new and a seventh part of the old.")


class LastAsked(Input):
    """The last verification; nothing has to be said."""


class VerificationStarted(Output):
    """A verification that a worker carries out."""

    job_id: UUID


class FindingOut(BaseModel):
    """Something that is not as it was recorded."""

    part: str
    where: str
    message: str


class CheckedPart(BaseModel):
    """One check."""

    checked: int = Field(description="How many things were looked at.")
    findings: int


class LastVerification(Output):
    """What the last verification found, by its event."""

    verified_at: datetime | None = Field(description="When; none if there was no verification yet.")
    complete: bool | None = Field(description="Whether it looked at everything.")
    intact: bool | None
    event_id: str | None = Field(description="The event that records it.")
    parts: dict[str, CheckedPart]
    findings: list[FindingOut] = Field(description="The first twenty.")
    total: int = Field(description="How many there were.")


@operation(
    "verification.start", Action.MANAGE_LOG, idempotent=True, example={"complete": True},
    absent={**FOR_ADMINISTRATORS, "command": "`mnemon verify` checks at once and shows what it finds."},
)  # fmt: skip
async def start(mnemon: Parts, caller: Caller, asked: EverythingWanted) -> VerificationStarted:
    """Start to verify everything: log, lenses, files, texts, people and the guards of the database."""
    wanted = VerificationJob(complete=asked.complete, actor=caller.actor)
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        # Two people who ask at the same time are told of the same run.
        job = await enqueue(tx, VERIFY_EVERYTHING, wanted, dedupe_key=f"verify\n{asked.complete}")
    return VerificationStarted(job_id=job.job_id)


@operation(
    "verification.last", Action.READ_LOG, read_only=True, example={},
    absent={**FOR_ADMINISTRATORS, "command": "`mnemon verify` checks at once; `mnemon log read` shows the event."},
)  # fmt: skip
async def last(mnemon: Parts, caller: Caller, asked: LastAsked) -> LastVerification:
    """What the last verification of everything found, and when it was."""
    event = await last_verified(mnemon, caller.tenant_id)
    if event is None:
        return LastVerification(
            verified_at=None, complete=None, intact=None, event_id=None, parts={}, findings=[], total=0
        )
    data: dict[str, Any] = event.data
    return LastVerification(
        verified_at=event.recorded_at,
        complete=data["complete"],
        intact=data["intact"],
        event_id=event.id,
        parts={name: CheckedPart(**part) for name, part in data["parts"].items()},
        findings=[FindingOut(**one) for one in data["found"]],
        total=data["findings"],
    )
