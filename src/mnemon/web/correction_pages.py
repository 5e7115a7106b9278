"""The page of one event, and the forms with which people say what is right; they work without script."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.documents.access import read_as
from mnemon.errors import Conflict, InvalidRequest, MnemonError, NotFound
from mnemon.identity.users import user_by_id
from mnemon.operations import Caller, Operation, as_json, read_input
from mnemon.semantics import operations
from mnemon.semantics.corrections import operations as corrections
from mnemon.semantics.inputs import CATEGORIES, EventAsked, EventFilters, EventsOfRevisionAsked
from mnemon.semantics.search.query import event_search
from mnemon.semantics.search.standing import standing_of
from mnemon.semantics.shapes import Shape, read_events
from mnemon.web.forms import binds
from mnemon.web.rendering import Visitor, as_page, query_of, render, visit

router = APIRouter(include_in_schema=False)
# Fields of forms that hold several values: one for each line, or for each box that is ticked.
SEVERAL = frozenset({"merged", "quotes", "clear"})
OTHERS_SHOWN = 100
LONGEST_CHAIN = 12
LIKELY = 12


@router.get("/events/{event_id}")
@as_page
@binds(operations.get)
async def event_page(request: Request, mnemon: MnemonPart, event_id: str) -> Response:
    return await _shown(mnemon, await visit(request, operations.get.action), event_id)


async def _shown(mnemon: Mnemon, visitor: Visitor, event_id: str, problem: MnemonError | None = None) -> Response:
    caller = Caller.of(visitor.principal)
    event = as_json(await operations.get(mnemon, caller, read_input(operations.get, {"event_id": event_id})))
    standings = await standing_of(mnemon.database, visitor.tenant_id, visitor.reader, [event])
    listed = EventsOfRevisionAsked(
        artifact_uid=event["artifact_uid"], revision_id=event["revision_id"], limit=OTHERS_SHOWN
    )
    others = as_json(await operations.of_revision(mnemon, caller, listed))["events"]
    return render(
        "event.html", status_code=problem.status if problem else 200, here="events", visitor=visitor,
        problem=problem, event=event, standing=standings[event_id],
        others=[one for one in others if one["event_id"] != event_id], categories=CATEGORIES,
        people=await people_in(mnemon, visitor, [event]), chain=await chain_of(mnemon, visitor, event),
        told=await told_of(mnemon, visitor, event), likely=await likely_earlier(mnemon, visitor, event),
    )  # fmt: skip


async def told_of(mnemon: Mnemon, visitor: Visitor, event: Shape) -> dict[str, str]:
    """What the events say that this one is tied to, as far as the visitor may read them."""
    named = {link[end] for link in event["links"] for end in ("later", "earlier")}
    named |= {one["other"] for one in event.get("corrections", ()) if "other" in one}
    async with mnemon.database.transaction(visitor.tenant_id) as tx:
        await read_as(tx, visitor.reader)
        rows = await read_events(tx, sorted(named))
    return {row["event_id"]: row["narrative"] for row in rows}


async def likely_earlier(mnemon: Mnemon, visitor: Visitor, event: Shape) -> list[Shape]:
    """Events about the same subject, of which a person may say that this one ends them."""
    subject = event["subject"]["ref"].strip()
    if not subject:
        return []
    asked = EventFilters(query=subject)
    found = await event_search(
        mnemon.database, visitor.tenant_id, visitor.reader, asked, limit=LIKELY, counted=LIKELY, include_evidence=False
    )
    tied = {link[end] for link in event["links"] for end in ("later", "earlier")} | {event["event_id"]}
    day = event["happened_at"] or ""
    earlier = (one for one in found["events"] if not day or (one["happened_at"] or "") <= day)
    return [one for one in earlier if one["event_id"] not in tied]


async def chain_of(mnemon: Mnemon, visitor: Visitor, event: Shape) -> list[Shape]:
    """What this event replaced, and what replaced it, and so on, the earliest first."""
    known, edge = {event["event_id"]: event}, [event]
    # Each as (what was ended, what ended it).
    ends: set[tuple[str, str]] = set()
    for _ in range(LONGEST_CHAIN):
        standings = await standing_of(mnemon.database, visitor.tenant_id, visitor.reader, edge)
        for name, each in standings.items():
            ends |= {(one.event["event_id"], name) for one in each.ended}
            ends |= {(name, one.event["event_id"]) for one in each.ended_by}
        tied = [one.event for each in standings.values() for one in (*each.ended, *each.ended_by)]
        edge = [one for one in tied if one["event_id"] not in known]
        known |= {one["event_id"]: one for one in edge}
        if not edge or len(known) > LONGEST_CHAIN:
            break
    return in_order(known, ends)


def in_order(known: Mapping[str, Shape], ends: Collection[tuple[str, str]]) -> list[Shape]:
    """By day, and of one day what was replaced before what replaced it."""
    ordered: list[Shape] = []
    waiting = sorted(known.values(), key=lambda one: (one["happened_at"] or "", one["event_id"]))
    while waiting:
        left = {one["event_id"] for one in waiting}
        held = {later for earlier, later in ends if earlier in left}
        free = (one for one in waiting if one["event_id"] not in held)
        # Links that go in a circle have no order.
        ordered.append(next(free, waiting[0]))
        waiting.remove(ordered[-1])
    return ordered


async def _said(request: Request, mnemon: Mnemon, operation: Operation[Any, Any]) -> Response:
    """Back to the page that the form stands on, which then tells what was said."""
    visitor = await visit(request, operation.action)
    given = await request.form()
    caller, values = Caller.of(visitor.principal), _values(operation, given)
    if operation is corrections.edit:
        event = read_input(operations.get, request.path_params)
        values = _changed(values, as_json(await operations.get(mnemon, caller, event)))
        if not values.keys() - {"expected_version"}:
            return RedirectResponse(_back(given.get("back"), event.event_id), 303)
    event_id = str(request.path_params["event_id"])
    try:
        await operation(mnemon, caller, read_input(operation, {**values, **request.path_params}))
    except (Conflict, InvalidRequest, NotFound) as refusal:
        return await _shown(mnemon, visitor, event_id, refusal)
    return RedirectResponse(_back(given.get("back"), event_id), 303)


def _changed(values: dict[str, Any], event: Shape) -> dict[str, Any]:
    """The form shows every field: nobody says anything of those that they leave as they are."""
    owner = next((one["ref"] for one in event["actors"] if one["role"] == "owner"), None)
    shown = {
        "category": event["category"], "owner": owner, "due": event.get("due"), "subject": event["subject"]["ref"],
    }  # fmt: skip
    return {name: value for name, value in values.items() if name not in shown or value != shown[name]}


def _values(operation: Operation[Any, Any], given: FormData) -> dict[str, Any]:
    """What a form has of the operation's fields; what is blank was not said."""
    values: dict[str, Any] = {}
    for name in operation.input.model_fields:
        texts = [text.strip() for one in given.getlist(name) if isinstance(one, str) for text in one.splitlines()]
        texts = [text for text in texts if text]
        if texts:
            values[name] = texts if name in SEVERAL else texts[0]
    return values


def _back(wanted: object, event_id: str) -> str:
    """Only a page of ours; what is dismissed is named there, to be taken back."""
    place = urlsplit(wanted if isinstance(wanted, str) else "")
    if place.scheme or place.netloc or place.path not in ("/events", "/events/commitments"):
        return f"/events/{event_id}"
    return f"{place.path}?{place.query + '&' if place.query else ''}said={event_id}#{event_id}"


async def just_said(request: Request, mnemon: Mnemon, visitor: Visitor) -> Shape | None:
    """The event that a form on this page was about, where it is still there."""
    named = request.query_params.get("said", "")
    if not named.startswith("evt_"):
        return None
    try:
        asked = EventAsked(event_id=named)
        return as_json(await operations.get(mnemon, Caller.of(visitor.principal), asked))
    except (NotFound, ValueError):
        return None


async def people_in(mnemon: Mnemon, visitor: Visitor, events: Iterable[Shape]) -> Mapping[str, str]:
    """How those who corrected these events are called."""
    ids: set[str] = {one["corrected_by"] for one in events if one.get("corrected_by")}
    every = [said for one in events for said in one.get("corrections", ())]
    ids |= {said[by] for said in every for by in ("by", "undone_by") if by in said}
    own = visitor.reader.name
    names = {own or "": "you"}
    async with mnemon.database.transaction(visitor.tenant_id) as tx:
        for one in ids - {own}:
            try:
                names[one] = (await user_by_id(tx, UUID(one.removeprefix("user:")))).name
            except (NotFound, ValueError):
                names[one] = "the operator" if one.startswith("operator") else "somebody who is no longer here"
    return names


def here_of(request: Request) -> str:
    """This page's own address, without what was said on it last."""
    kept = {name: value for name, value in request.query_params.items() if name != "said"}
    return request.url.path + (query_of(**kept) if kept else "")


def _form(operation: Operation[Any, Any]) -> None:
    """A form of the event's page, at the last word of the operation's name."""

    @as_page
    @binds(operation)
    async def said(request: Request, mnemon: MnemonPart) -> Response:
        return await _said(request, mnemon, operation)

    router.post(f"/events/{{event_id}}/{operation.name.rpartition('.')[2]}")(said)


for _correction in (
    corrections.mark, corrections.edit, corrections.merge, corrections.split, corrections.link, corrections.unlink,
    corrections.undo,
):  # fmt: skip
    _form(_correction)
