"""The pages about the log: its events by stream, one event with its causes and its receipt, who follows it."""

from fastapi import APIRouter, Request, Response

from mnemon.api.access import MnemonPart
from mnemon.errors import InvalidRequest
from mnemon.log_operations import dead_letters, events, integrity, partitions, subscriptions
from mnemon.log_operations.event_inputs import CausesAsked
from mnemon.log_operations.event_outputs import EventsRead
from mnemon.operations import Caller, Differs, read_input
from mnemon.verification import operations as verification
from mnemon.web.forms import binds, form_of, perform
from mnemon.web.rendering import as_page, render, visit

router = APIRouter(include_in_schema=False)
ON_A_PAGE = 40
RARE = Differs("Few people ask for it; REST and the command have it.")
STREAM_FIELDS = ("stream_type", "stream_id", "entity_type", "legal_entity", "type", "from_date", "to_date", "cursor")
ONE_PAGE = {name: RARE for name in events.read.input.model_fields if name not in STREAM_FIELDS}
NEARBY = {"depth": Differs("The page shows the nearest.")}
CAUSES_SHOWN = 20


@router.get("/log")
@as_page
@binds(events.read, ONE_PAGE, also=[partitions.listed])
async def log_page(request: Request, mnemon: MnemonPart) -> Response:
    """The newest first."""
    visitor = await visit(request, events.read.action)
    caller = Caller.of(visitor.principal)
    form = form_of(events.read, request.query_params, differences=ONE_PAGE)
    found, problem = EventsRead(events=[], has_more=False, next_cursor=None), None
    try:
        types = [one.strip() for one in form.value("type").split(",") if one.strip()]
        asked = form.asked(type=types, direction="backward", limit=ON_A_PAGE)
        found = await events.read(mnemon, caller, asked)
    except InvalidRequest as refusal:
        problem = refusal
    known = await partitions.listed(mnemon, caller, partitions.AllPartitions())
    return render(
        "log.html", status_code=problem.status if problem else 200, here="log", visitor=visitor, form=form,
        found=found, problem=problem, partitions=known.partitions,
    )  # fmt: skip


@router.get("/log/{event_id}")
@as_page
@binds(events.get, also=[events.lineage, events.descendants])
async def event_page(request: Request, mnemon: MnemonPart, event_id: str) -> Response:
    visitor = await visit(request, events.get.action)
    caller = Caller.of(visitor.principal)
    event = (await events.get(mnemon, caller, read_input(events.get, {"event_id": event_id}))).event
    near = CausesAsked(event_id=event_id, depth=CAUSES_SHOWN)
    led = await events.lineage(mnemon, caller, near)
    followed = await events.descendants(mnemon, caller, near)
    return render("log_event.html", here="log", visitor=visitor, event=event, led=led, followed=followed)


@router.get("/log/{event_id}/receipt")
@as_page
@binds(integrity.receipt)
async def receipt(request: Request, mnemon: MnemonPart, event_id: str) -> Response:
    """A file that proves the event to someone who has no access here."""
    visitor = await visit(request, integrity.receipt.action)
    asked = read_input(integrity.receipt, {"event_id": event_id})
    made = await integrity.receipt(mnemon, Caller.of(visitor.principal), asked)
    headers = {"Content-Disposition": f'attachment; filename="receipt-{event_id}.json"'}
    return Response(made.model_dump_json(indent=2, by_alias=True), media_type="application/json", headers=headers)


@router.get("/integrity")
@as_page
@binds(verification.last)
async def integrity_page(request: Request, mnemon: MnemonPart, started: str = "") -> Response:
    visitor = await visit(request, verification.last.action)
    last = await verification.last(mnemon, Caller.of(visitor.principal), verification.LastAsked())
    return render(
        "integrity.html", here="integrity", visitor=visitor, last=last, key=mnemon.log.signing_key, started=started
    )


@router.post("/integrity")
@as_page
@binds(verification.start)
async def verify_now(request: Request, mnemon: MnemonPart) -> Response:
    return await perform(request, mnemon, verification.start, "/integrity?started=1")


@router.get("/subscriptions")
@as_page
@binds(subscriptions.listed)
async def subscriptions_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, subscriptions.listed.action)
    found = await subscriptions.listed(mnemon, Caller.of(visitor.principal), subscriptions.AllSubscriptions())
    return render("subscriptions.html", here="subscriptions", visitor=visitor, found=found.subscriptions)


@router.get("/subscriptions/{subscription_id}")
@as_page
@binds(subscriptions.get, also=[dead_letters.listed])
async def subscription_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, subscriptions.get.action)
    caller, asked = Caller.of(visitor.principal), read_input(subscriptions.get, request.path_params)
    one = await subscriptions.get(mnemon, caller, asked)
    letters = await dead_letters.listed(mnemon, caller, asked)
    return render("subscription.html", here="subscriptions", visitor=visitor, one=one, letters=letters.dead_letters)


@router.post("/subscriptions/{subscription_id}/pause")
@as_page
@binds(subscriptions.pause)
async def pause(request: Request, mnemon: MnemonPart, subscription_id: str) -> Response:
    return await perform(request, mnemon, subscriptions.pause, f"/subscriptions/{subscription_id}")


@router.post("/subscriptions/{subscription_id}/resume")
@as_page
@binds(subscriptions.resume)
async def resume(request: Request, mnemon: MnemonPart, subscription_id: str) -> Response:
    return await perform(request, mnemon, subscriptions.resume, f"/subscriptions/{subscription_id}")


@router.post("/subscriptions/{subscription_id}/replay")
@as_page
@binds(dead_letters.replay)
async def replay(request: Request, mnemon: MnemonPart, subscription_id: str) -> Response:
    return await perform(request, mnemon, dead_letters.replay, f"/subscriptions/{subscription_id}")


@router.post("/subscriptions/{subscription_id}/discard")
@as_page
@binds(dead_letters.discard)
async def discard(request: Request, mnemon: MnemonPart, subscription_id: str) -> Response:
    return await perform(request, mnemon, dead_letters.discard, f"/subscriptions/{subscription_id}")
