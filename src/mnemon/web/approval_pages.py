"""The page of what waits for a second person: erasures, redactions of events, and acts on closed periods."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.errors import MnemonError
from mnemon.identity.approvals import ApprovedAct
from mnemon.identity.operations import approvals
from mnemon.identity.roles import user_actor_id
from mnemon.log_operations import erasures, redactions
from mnemon.operations import Caller, Differs, Operation, read_input
from mnemon.web.forms import binds, perform, submitted
from mnemon.web.rendering import Visitor, as_page, render, visit

router = APIRouter(include_in_schema=False)
SHOWN = 50
ONE_PAGE = {name: Differs("The page shows the latest.") for name in ("limit", "page", "status")}


@router.get("/approvals")
@as_page
@binds(approvals.listed, ONE_PAGE, also=[redactions.listed])
async def approvals_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, approvals.listed.action)
    return await _shown(mnemon, visitor)


@router.post("/approvals")
@as_page
@binds(approvals.request)
async def request_approval(request: Request, mnemon: MnemonPart) -> Response:
    return await _asked(request, mnemon, approvals.request)


@router.post("/approvals/redactions")
@as_page
@binds(redactions.request)
async def request_redaction(request: Request, mnemon: MnemonPart) -> Response:
    lines = str((await request.form()).get("fields", "")).split()
    return await _asked(request, mnemon, redactions.request, fields=lines)


@router.post("/approvals/redactions/{redaction_id}/approve")
@as_page
@binds(redactions.approve)
async def approve_redaction(request: Request, mnemon: MnemonPart) -> Response:
    return await perform(request, mnemon, redactions.approve, "/approvals#redactions")


@router.post("/approvals/redactions/{redaction_id}/decline")
@as_page
@binds(redactions.decline)
async def decline_redaction(request: Request, mnemon: MnemonPart) -> Response:
    return await perform(request, mnemon, redactions.decline, "/approvals#redactions")


@router.post("/approvals/{approval_id}/approve")
@as_page
@binds(approvals.approve)
async def approve(request: Request, mnemon: MnemonPart) -> Response:
    return await perform(request, mnemon, approvals.approve, "/approvals")


@router.post("/approvals/{approval_id}/decline")
@as_page
@binds(approvals.decline)
async def decline(request: Request, mnemon: MnemonPart) -> Response:
    return await perform(request, mnemon, approvals.decline, "/approvals")


async def _asked(request: Request, mnemon: Mnemon, wanted: Operation[Any, Any], **fixed: Any) -> Response:
    """The page with the new request on it, or with the reason why there is none."""
    visitor = await visit(request, wanted.action)
    try:
        await wanted(mnemon, Caller.of(visitor.principal), await submitted(request, wanted, **fixed))
    except MnemonError as refusal:
        return await _shown(mnemon, visitor, refusal)
    return RedirectResponse("/approvals", 303)


async def _shown(mnemon: Mnemon, visitor: Visitor, problem: MnemonError | None = None) -> Response:
    caller = Caller.of(visitor.principal)
    listed = await approvals.listed(mnemon, caller, read_input(approvals.listed, {"limit": SHOWN}))
    page = erasures.PrivacyPageAsked(limit=SHOWN)
    redacted = await redactions.listed(mnemon, caller, page)
    erased = await erasures.listed(mnemon, caller, page)
    return render(
        "approvals.html", status_code=problem.status if problem else 200, here="approvals", visitor=visitor,
        approvals=listed.items, redactions=redacted.items, problem=problem,
        erasures=[one for one in erased.items if one.status in ("requested", "approved")],
        own=user_actor_id(visitor.principal.user_id), acts=list(ApprovedAct),
    )  # fmt: skip
