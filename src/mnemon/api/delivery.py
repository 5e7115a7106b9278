"""A subscription's events over REST: poll, long poll, server-sent events, acknowledge."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Annotated

import orjson
from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.api.event_models import EventOut, Shape, answer, events_as_json
from mnemon.identity.following import refuse_strangers
from mnemon.identity.roles import Action, Principal
from mnemon.log.events import Event
from mnemon.log.pull import LONGEST_WAIT
from mnemon.log.read import LARGEST_PAGE

# Below the minute after which most proxies take a silent connection for a dead one.
HEARTBEAT_SECONDS = 15.0

router = APIRouter(tags=["subscriptions"])
Reader = Annotated[Principal, allow(Action.READ_LOG)]
SubscriptionId = Annotated[str, Path(max_length=100)]


class BatchOut(Shape):
    events: list[EventOut]
    has_more: bool
    tokens: dict[str, str] = Field(
        description="By legal entity; sent back with an acknowledgement, one from before a reset is refused."
    )


class Acknowledgement(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"event_id": "01KJQ6Y0Q5M8ZQ3T3M6S8V4X2B", "sequence": "42", "token": "3"}]},
    )
    event_id: str = Field(max_length=100)
    sequence: str = Field(pattern=r"^[0-9]{1,18}$", description="This event and all before it are handled.")
    token: str | None = Field(None, pattern=r"^[0-9]{1,18}$", description="From the poll.")


class Acknowledged(BaseModel):
    sequence: str = Field(description="Where the cursor is now.")


@router.get(
    "/subscriptions/{subscription_id}/poll",
    summary="The next events; with `wait`, as soon as there are any",
    response_model=BatchOut,
)
async def poll(
    subscription_id: SubscriptionId,
    mnemon: MnemonPart,
    principal: Reader,
    limit: Annotated[int | None, Query(ge=1, le=LARGEST_PAGE)] = None,
    wait: Annotated[float, Query(ge=0, le=LONGEST_WAIT, description="Seconds to wait for the first event.")] = 0,
) -> Response:
    batch = await mnemon.log.pull.fetch(principal.tenant_id, subscription_id, limit=limit, wait_seconds=wait)
    tokens = {name: str(token) for name, token in batch.tokens.items()}
    return answer({"events": events_as_json(batch.events), "has_more": batch.has_more, "tokens": tokens})


@router.get(
    "/subscriptions/{subscription_id}/events",
    summary="The events as they come, as server-sent events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "One message per event, until it is closed"}},
)
async def stream(subscription_id: SubscriptionId, mnemon: MnemonPart, principal: Reader) -> StreamingResponse:
    # Asked for here, while an error can still be answered as one.
    await mnemon.log.subscriptions.find(principal.tenant_id, subscription_id)
    events = mnemon.log.pull.stream(principal.tenant_id, subscription_id)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_messages(events), media_type="text/event-stream", headers=headers)


@router.post("/subscriptions/{subscription_id}/acknowledge", summary="Say what is handled")
async def acknowledge(
    subscription_id: SubscriptionId,
    done: Acknowledgement,
    mnemon: MnemonPart,
    principal: Annotated[Principal, allow(Action.FOLLOW_LOG)],
) -> Acknowledged:
    subscription = await mnemon.log.subscriptions.find(principal.tenant_id, subscription_id)
    refuse_strangers(principal, subscription)
    position = await mnemon.log.pull.acknowledge_event(
        principal.tenant_id,
        subscription_id,
        done.event_id,
        int(done.sequence),
        token=int(done.token) if done.token else None,
    )
    return Acknowledged(sequence=str(position))


async def _messages(events: AsyncIterator[Event]) -> AsyncIterator[bytes]:
    """Each event as a message, and a comment now and then, so that both sides notice when the other is gone."""
    yield b": connected\n\n"
    following: asyncio.Task[Event] | None = None
    try:
        while True:
            following = following or asyncio.create_task(_next(events))
            done, _ = await asyncio.wait({following}, timeout=HEARTBEAT_SECONDS)
            if not done:
                yield b": still here\n\n"
                continue
            event, following = following.result(), None
            yield _message(event)
    finally:
        if following is not None:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following
        if isinstance(events, AsyncGenerator):
            await events.aclose()


async def _next(events: AsyncIterator[Event]) -> Event:
    return await anext(events)


def _message(event: Event) -> bytes:
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (event.id.encode(), event.type.encode(), orjson.dumps(event.as_json()))
