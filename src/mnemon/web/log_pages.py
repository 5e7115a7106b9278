"""The pages about the log: its events by stream and as they come, one event with its causes, who follows it."""

import asyncio
from collections.abc import AsyncIterator

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.errors import InvalidRequest, MnemonError
from mnemon.log.events import MAIN
from mnemon.log_operations import dead_letters, events, integrity, partitions, subscriptions
from mnemon.log_operations.event_inputs import CausesAsked
from mnemon.log_operations.event_outputs import EventsRead, LogEventOut
from mnemon.operations import Caller, Differs, read_input
from mnemon.web.forms import binds, form_of, perform
from mnemon.web.pictures.lineage import lineage_picture
from mnemon.web.rendering import Visitor, as_page, render, visit

router = APIRouter(include_in_schema=False)
ON_A_PAGE = 40
RARE = Differs("Few people ask for it; REST and the command have it.")
STREAM_FIELDS = ("stream_type", "stream_id", "entity_type", "legal_entity", "type", "from_date", "to_date", "cursor")
ONE_PAGE = {name: RARE for name in events.read.input.model_fields if name not in STREAM_FIELDS}
NEARBY = {"depth": Differs("The page shows the nearest.")}
CAUSES_SHOWN = 20
# How often the log is looked at for a page that follows it, how often the page hears that it is still heard, and after
# how long it has to ask anew: by then its session may have ended.
LOOK_SECONDS, HEARTBEATS, LONGEST_TAIL = 1.0, 15, 600


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


@router.get("/log/tail")
@as_page
async def tail(request: Request, mnemon: MnemonPart) -> Response:
    """Tells a page that follows the log when there is something new; the page then reads itself again."""
    visitor = await visit(request, partitions.listed.action)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    news = _news(request, mnemon, Caller.of(visitor.principal))
    return StreamingResponse(news, media_type="text/event-stream", headers=headers)


async def _news(request: Request, mnemon: Mnemon, caller: Caller) -> AsyncIterator[str]:
    told: str | None = None
    for look in range(LONGEST_TAIL):
        if await request.is_disconnected():
            return
        try:
            found = await partitions.listed(mnemon, caller, partitions.AllPartitions())
        except MnemonError:
            return
        heads = " ".join(f"{one.legal_entity}:{one.sequence}" for one in found.partitions)
        if told is not None and heads != told:
            yield f"event: more\ndata: {heads}\n\n".replace("\r", "")
        elif look % HEARTBEATS == 0:
            yield ": still here\n\n"
        told = heads
        await asyncio.sleep(LOOK_SECONDS)


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
    return render(
        "log_event.html", here="log", visitor=visitor, event=event, led=led, followed=followed,
        signed=await _signed(mnemon, visitor, event),
        picture=lineage_picture(event["id"], [*led.lineage, *followed.descendants]),
    )  # fmt: skip


async def _signed(mnemon: Mnemon, visitor: Visitor, event: LogEventOut) -> bool:
    """Whether a checkpoint covers it: before, there is no receipt."""
    where = event["scope"].get("legal_entity", MAIN)
    last = (await asyncio.to_thread(mnemon.integrity.checkpoints.newest, visitor.tenant_id, where)).furthest
    return last is not None and last.sequence >= int(event["sequence"])


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
