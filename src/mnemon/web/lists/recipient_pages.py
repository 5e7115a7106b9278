"""The page of who is told of what happens: webhooks and digests, how their deliveries fare, and a trial of each."""

from typing import Any

from fastapi import APIRouter, Request, Response

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.errors import MnemonError
from mnemon.operations import Caller, Differs, Operation, read_input
from mnemon.reports.delivery import digest_operations, inputs, operations, outputs
from mnemon.web.forms import binds, submitted
from mnemon.web.rendering import Visitor, as_page, render, visit

router = APIRouter(include_in_schema=False)
PLACE = "/lists/recipients"
ALL_DEAD = {"job_id": Differs("The page does all of them again; one alone, by `mnemon webhooks replay`.")}
ONE_PAGE = {
    "limit": Differs("A page of the web has a fixed length."),
    "cursor": Differs("The page shows the newest; `mnemon webhooks deliveries` has all."),
}
NEWEST = 30


@router.get(PLACE)
@as_page
@binds(operations.webhooks, also=[digest_operations.digests])
async def recipients_page(request: Request, mnemon: MnemonPart) -> Response:
    return await _shown(mnemon, await visit(request, operations.webhooks.action))


@router.get("/lists/webhooks/{webhook}")
@as_page
@binds(operations.deliveries, ONE_PAGE)
async def deliveries_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.deliveries.action)
    given = {"webhook": request.path_params["webhook"], "dead": request.query_params.get("dead", False)}
    asked = read_input(operations.deliveries, given | {"limit": NEWEST})
    found = await operations.deliveries(mnemon, Caller.of(visitor.principal), asked)
    return render("mail_deliveries.html", here="lists", visitor=visitor, webhook=asked.webhook, found=found.items)


@router.post("/lists/webhooks")
@as_page
@binds(operations.add_webhook)
async def add_webhook(request: Request, mnemon: MnemonPart) -> Response:
    """Types stand in one field, with blanks between them."""
    written = await request.form()
    types = {"event_types": str(written.get("event_types") or "report.published").split()}
    kinds = {"report_kinds": [str(one) for one in written.getlist("report_kinds") if one]}
    return await _done(request, mnemon, operations.add_webhook, **types, **kinds)


@router.post("/lists/webhooks/remove")
@as_page
@binds(operations.remove_webhook)
async def remove_webhook(request: Request, mnemon: MnemonPart) -> Response:
    return await _done(request, mnemon, operations.remove_webhook)


@router.post("/lists/webhooks/test")
@as_page
@binds(operations.test_webhook)
async def try_webhook(request: Request, mnemon: MnemonPart) -> Response:
    return await _done(request, mnemon, operations.test_webhook)


@router.post("/lists/webhooks/replay")
@as_page
@binds(operations.replay_webhook, ALL_DEAD)
async def replay_webhook(request: Request, mnemon: MnemonPart) -> Response:
    return await _done(request, mnemon, operations.replay_webhook)


@router.post("/lists/digests")
@as_page
@binds(digest_operations.add_digest)
async def add_digest(request: Request, mnemon: MnemonPart) -> Response:
    kinds = [str(one) for one in (await request.form()).getlist("report_kinds") if one]
    return await _done(request, mnemon, digest_operations.add_digest, report_kinds=kinds or ["weekly"])


@router.post("/lists/digests/remove")
@as_page
@binds(digest_operations.remove_digest)
async def remove_digest(request: Request, mnemon: MnemonPart) -> Response:
    return await _done(request, mnemon, digest_operations.remove_digest)


@router.post("/lists/digests/test")
@as_page
@binds(digest_operations.test_digest)
async def try_digest(request: Request, mnemon: MnemonPart) -> Response:
    return await _done(request, mnemon, digest_operations.test_digest)


@router.post("/lists/digests/replay")
@as_page
@binds(digest_operations.replay_digest)
async def replay_digest(request: Request, mnemon: MnemonPart) -> Response:
    return await _done(request, mnemon, digest_operations.replay_digest)


async def _done(request: Request, mnemon: Mnemon, wanted: Operation[Any, Any], **fixed: Any) -> Response:
    """Do it, and say what came of it on the same page: a new secret is shown this once."""
    visitor = await visit(request, wanted.action)
    try:
        answer = await wanted(mnemon, Caller.of(visitor.principal), await submitted(request, wanted, **fixed))
    except MnemonError as refusal:
        return await _shown(mnemon, visitor, problem=refusal)
    return await _shown(mnemon, visitor, said=_said(answer), secret=getattr(answer, "secret", None))


def _said(answer: Any) -> str:
    match answer:
        case outputs.WebhookAdded():
            return f"{answer.webhook} is told from now on."
        case outputs.DigestShown():
            return f"{answer.address} gets reports from now on."
        case outputs.TrialMade():
            return f"{answer.name} took the trial" + (f" ({answer.status})." if answer.status else ".")
        case outputs.ReplayBegun():
            return f"{answer.replayed} to {answer.name} will be made again."
        case _:
            return f"{answer.name} is told no more."


async def _shown(
    mnemon: Mnemon, visitor: Visitor, *, problem: MnemonError | None = None, said: str = "", secret: str | None = None
) -> Response:
    caller = Caller.of(visitor.principal)
    webhooks = await operations.webhooks(mnemon, caller, inputs.WebhooksAsked())
    digests = await digest_operations.digests(mnemon, caller, inputs.DigestsAsked())
    return render(
        "mail_recipients.html", status_code=problem.status if problem else 200, here="lists", visitor=visitor,
        webhooks=webhooks.items, digests=digests.items, problem=problem, said=said, secret=secret,
        by_mail=mnemon.settings.smtp_url is not None,
    )  # fmt: skip
