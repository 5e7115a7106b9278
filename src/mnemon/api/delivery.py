"""A subscription's events over REST: poll, claim, server-sent events, acknowledge, reject."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from mnemon.api.access import MnemonPart, allow, principal_of
from mnemon.api.event_models import EventOut, Shape, answer
from mnemon.api.shown_events import shown_events
from mnemon.app import Mnemon
from mnemon.errors import NotAllowed, NotAuthenticated
from mnemon.identity.following import refuse_strangers
from mnemon.identity.roles import Action, Principal, authorise
from mnemon.log.events import Event
from mnemon.log.read.reader import LARGEST_PAGE
from mnemon.log.subscribe.gathering import Batch
from mnemon.log.subscribe.pull import LONGEST_CLAIM, LONGEST_WAIT

# Below the minute after which most proxies take a silent connection for a dead one.
HEARTBEAT_SECONDS = 15.0

router = APIRouter(tags=["subscriptions"])
Reader = Annotated[Principal, allow(Action.READ_LOG)]
Follower = Annotated[Principal, allow(Action.FOLLOW_LOG)]
SubscriptionId = Annotated[str, Path(max_length=100)]


class BatchOut(Shape):
    events: list[EventOut]
    has_more: bool
    tokens: dict[str, str] = Field(
        description="By legal entity; sent back with an acknowledgement, one from before a reset is refused."
    )

    failures: dict[str, int] = Field(
        description="How often an event failed before, by event id; such events are settled one by one."
    )
    held: dict[str, str] = Field(description="By legal entity, who has claimed events that are not in this batch.")
    claimed_until: datetime | None = Field(description="Of a claim: when others may be given these events.")


class NewClaim(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"consumer": "worker-1", "seconds": 60, "limit": 10, "wait": 30}]},
    )
    consumer: str = Field(
        "", pattern=r"^[A-Za-z0-9._:-]{0,100}$", description="Tells apart processes that use the same credential."
    )
    seconds: float = Field(30, gt=0, le=LONGEST_CLAIM, description="How long nobody else is given the same events.")
    limit: int | None = Field(None, ge=1, le=LARGEST_PAGE)
    wait: float = Field(0, ge=0, le=LONGEST_WAIT, description="Seconds to wait for the first event.")


class Acknowledgement(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"event_id": "01KJQ6Y0Q5M8ZQ3T3M6S8V4X2B", "sequence": "42", "token": "3"}]},
    )
    event_id: str = Field(max_length=100)
    sequence: str = Field(pattern=r"^[0-9]{1,18}$", description="This event and all before it are handled.")
    token: str | None = Field(None, pattern=r"^[0-9]{1,18}$", description="From the poll or claim.")

    @property
    def fence(self) -> int | None:
        return int(self.token) if self.token else None


class Rejection(Acknowledgement):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"event_id": "01KJQ6Y0Q5M8ZQ3T3M6S8V4X2B", "sequence": "42", "token": "3", "error": "HTTP 502"}
            ]
        }
    )
    sequence: str = Field(
        pattern=r"^[0-9]{1,18}$", description="This event failed, all before it are handled, all after it come again."
    )
    error: str = Field(max_length=2000, description="Why; without anything personal.")


class RejectedOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    attempts: int = Field(description="How often the event has failed by now.")
    state: str = Field(description="retrying, or dead: a dead letter until someone replays or discards it")
    status: str = Field(description="Of the subscription: active, or broken if too much failed.")


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
    return await _answered(mnemon, principal, batch)


@router.post(
    "/subscriptions/{subscription_id}/claim",
    summary="The next events, for this consumer alone; with `wait`, as soon as there are any",
    response_model=BatchOut,
)
async def claim(subscription_id: SubscriptionId, wanted: NewClaim, mnemon: MnemonPart, principal: Follower) -> Response:
    await _own(mnemon, principal, subscription_id)
    holder = f"{principal.actor.id}/{wanted.consumer}" if wanted.consumer else principal.actor.id
    batch = await mnemon.log.pull.claim(
        principal.tenant_id,
        subscription_id,
        holder,
        seconds=wanted.seconds,
        limit=wanted.limit,
        wait_seconds=wanted.wait,
    )
    return await _answered(mnemon, principal, batch)


@router.get(
    "/subscriptions/{subscription_id}/events",
    summary="The events as they come, as server-sent events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "One message per event, until it is closed"}},
)
async def stream(
    subscription_id: SubscriptionId, request: Request, mnemon: MnemonPart, principal: Reader
) -> StreamingResponse:
    # Asked for here, while an error can still be answered as one.
    await mnemon.log.subscriptions.find(principal.tenant_id, subscription_id)
    events = mnemon.log.pull.stream(principal.tenant_id, subscription_id)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

    async def shown(event: Event) -> dict[str, Any]:
        return (await shown_events(mnemon, principal, [event]))[0]

    messages = _messages(events, shown, lambda: _may_go_on(request))
    return StreamingResponse(messages, media_type="text/event-stream", headers=headers)


@router.post("/subscriptions/{subscription_id}/acknowledge", summary="Say what is handled")
async def acknowledge(
    subscription_id: SubscriptionId, done: Acknowledgement, mnemon: MnemonPart, principal: Follower
) -> Acknowledged:
    await _own(mnemon, principal, subscription_id)
    position = await mnemon.log.pull.acknowledge_event(
        principal.tenant_id, subscription_id, done.event_id, int(done.sequence), token=done.fence
    )
    return Acknowledged(sequence=str(position))


@router.post("/subscriptions/{subscription_id}/reject", summary="Say that an event could not be handled")
async def reject(
    subscription_id: SubscriptionId, failed: Rejection, mnemon: MnemonPart, principal: Follower
) -> RejectedOut:
    await _own(mnemon, principal, subscription_id)
    rejected = await mnemon.log.pull.reject(
        principal.tenant_id, subscription_id, failed.event_id, int(failed.sequence), failed.error, token=failed.fence
    )
    return RejectedOut.model_validate(rejected)


async def _own(mnemon: Mnemon, principal: Principal, subscription_id: str) -> None:
    refuse_strangers(principal, await mnemon.log.subscriptions.find(principal.tenant_id, subscription_id))


async def _answered(mnemon: Mnemon, principal: Principal, batch: Batch) -> Response:
    return answer(
        {
            "events": await shown_events(mnemon, principal, batch.events),
            "has_more": batch.has_more,
            "tokens": {name: str(token) for name, token in batch.tokens.items()},
            "failures": batch.failures,
            "held": batch.held,
            "claimed_until": batch.claimed_until,
        }
    )


async def _may_go_on(request: Request) -> bool:
    """Whether the credential that opened a stream would still open it: it may have been revoked, or run out."""
    try:
        authorise(await principal_of(request), Action.READ_LOG)
    except (NotAuthenticated, NotAllowed):
        return False
    return True


async def _messages(
    events: AsyncIterator[Event],
    shown: Callable[[Event], Awaitable[dict[str, Any]]],
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
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following
        if isinstance(events, AsyncGenerator):
            await events.aclose()


async def _next(events: AsyncIterator[Event]) -> Event:
    return await anext(events)


def _message(event: Event, shown: dict[str, Any]) -> bytes:
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (event.id.encode(), event.type.encode(), orjson.dumps(shown))
