"""The page about tampering: what the last verification found, how far the present one is, the last checkpoint."""

import re
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.log_operations import integrity
from mnemon.operations import Caller
from mnemon.verification import operations as verification
from mnemon.verification.jobs import VERIFY_EVERYTHING
from mnemon.verification.run import CHECKS
from mnemon.web.forms import binds, perform
from mnemon.web.rendering import as_page, has_worker, render, visit
from mnemon.work import operations as work
from mnemon.work.jobs import JobStatus

router = APIRouter(include_in_schema=False)
EVENT = re.compile("[0-9A-Z]{26}")
UNFINISHED = ("PENDING", "PROCESSING")


@dataclass(frozen=True)
class VerificationUnderWay:
    """How far a verification is: the part that is looked at, and how many of them were."""

    status: str
    part: str
    done: int
    parts: int


@router.get("/integrity")
@as_page
@binds(verification.last, also=[integrity.checkpoints])
async def integrity_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, verification.last.action)
    caller = Caller.of(visitor.principal)
    last = await verification.last(mnemon, caller, verification.LastAsked())
    signed = await integrity.checkpoints(mnemon, caller, integrity.CheckpointsAsked(limit=1))
    under_way = await _under_way(mnemon, caller)
    return render(
        "integrity.html", here="integrity", visitor=visitor, last=last, key=mnemon.log.signing_key,
        under_way=under_way, no_worker=under_way is not None and not await has_worker(mnemon, VERIFY_EVERYTHING),
        checkpoints=signed.total, checkpoint=signed.checkpoints[-1] if signed.checkpoints else None,
    )  # fmt: skip


@router.post("/integrity")
@as_page
@binds(verification.start)
async def verify_now(request: Request, mnemon: MnemonPart) -> Response:
    return await perform(request, mnemon, verification.start, "/integrity")


@router.post("/integrity/checkpoint")
@as_page
@binds(integrity.checkpoint)
async def sign_now(request: Request, mnemon: MnemonPart) -> Response:
    """Asked for on the page of an event, it leads back there, where the receipt is now."""
    event = str((await request.form()).get("event", ""))
    back = f"/log/{event}" if EVENT.fullmatch(event) else "/integrity"
    return await perform(request, mnemon, integrity.checkpoint, back)


async def _under_way(mnemon: Mnemon, caller: Caller) -> VerificationUnderWay | None:
    asked = work.JobsAsked(kind=VERIFY_EVERYTHING.name, limit=1)
    job = next(iter((await work.list_jobs(mnemon, caller, asked)).items), None)
    if job is None or job.status not in UNFINISHED:
        return None
    progress = (await work.get(mnemon, caller, work.JobAsked(job_id=job.job_id))).progress or {}
    part = str(progress.get("part", ""))
    return VerificationUnderWay(
        "running" if job.status == JobStatus.PROCESSING else "queued", part.replace("_", " "),
        list(CHECKS).index(part) if part in CHECKS else 0, len(CHECKS),
    )  # fmt: skip
