"""A subscription's events as they come, as server-sent events."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Path, Request
from fastapi.responses import StreamingResponse

from mnemon.api.access import MnemonPart, allow, principal_of
from mnemon.api.bind import refuse_unknown
from mnemon.api.failures import failure_answers
from mnemon.errors import NotAllowed, NotAuthenticated
from mnemon.identity.roles import Action, Principal, authorise
from mnemon.log.events import Event
from mnemon.log_operations.delivery import stream as operation
from mnemon.log_operations.shown import shown_events
from mnemon.log_operations.subscriptions import SubscriptionAsked
from mnemon.operations import Bound, Caller
from mnemon.tasks import end

# Below the minute after which most proxies take a silent connection for a dead one.
HEARTBEAT_SECONDS = 15.0

router = APIRouter(tags=["subscriptions"])
STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {}}, "description": "One message per event, until it is closed"}
}


@router.get(
    "/subscriptions/{subscription_id}/events",
    summary=operation.summary.rstrip("."),
    response_class=StreamingResponse,
    responses={**failure_answers(operation.errors), **STREAM},
)
async def stream(
    subscription_id: Annotated[str, Path(max_length=100, description="The subscription's id.")],
    request: Request,
    mnemon: MnemonPart,
    principal: Annotated[Principal, allow(operation.action)],
) -> StreamingResponse:
    refuse_unknown(request)
    caller = Caller.of(principal)
    # Asked for here, while an error can still be answered as one.
    opened = await operation(mnemon, caller, SubscriptionAsked(subscription_id=subscription_id))

    async def shown(event: Event) -> Mapping[str, Any]:
        return (await shown_events(mnemon, caller, [event]))[0]

    messages = _messages(opened.events, shown, lambda: _may_go_on(request))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(messages, media_type="text/event-stream", headers=headers)


stream.bound = Bound(operation)  # type: ignore[attr-defined]


async def _may_go_on(request: Request) -> bool:
    """Whether the credential that opened a stream would still open it: it may have been revoked, or run out."""
    try:
        authorise(await principal_of(request), Action.READ_LOG)
    except (NotAuthenticated, NotAllowed):
        return False
    return True


async def _messages(
    events: AsyncIterator[Event],
    shown: Callable[[Event], Awaitable[Mapping[str, Any]]],
    may_go_on: Callable[[], Awaitable[bool]],
) -> AsyncIterator[bytes]:
    """Each event as a message, and a comment now and then, so that both sides notice when the other is gone."""
    yield b": connected\n\n"
    clock = asyncio.get_running_loop().time
    following: asyncio.Task[Event] | None = None
    checked = clock()
    try:
        while True:
            following = following or asyncio.create_task(_next(events))
            done, _ = await asyncio.wait({following}, timeout=max(0.0, checked + HEARTBEAT_SECONDS - clock()))
            if clock() >= checked + HEARTBEAT_SECONDS:
                if not await may_go_on():
                    return
                checked = clock()
                yield b": still here\n\n"
            if done:
                event, following = following.result(), None
                yield _message(event, await shown(event))
    finally:
        if following is not None:
            await end(following)
        if isinstance(events, AsyncGenerator):
            await events.aclose()


async def _next(events: AsyncIterator[Event]) -> Event:
    return await anext(events)


def _message(event: Event, shown: Mapping[str, Any]) -> bytes:
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (event.id.encode(), event.type.encode(), orjson.dumps(shown))
