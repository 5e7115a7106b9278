"""What a follower does with its events: poll, claim, acknowledge, reject."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import Field

from mnemon.errors import NotAllowed
from mnemon.identity.roles import Action, Principal, Role, user_actor_id
from mnemon.log.errors import EventNotFound, SubscriptionMoved, SubscriptionNotFound
from mnemon.log.read.reader import LARGEST_PAGE
from mnemon.log.subscribe.gathering import Batch
from mnemon.log.subscribe.pull import LONGEST_CLAIM, LONGEST_WAIT
from mnemon.log.subscribe.subscriptions import Subscription
from mnemon.log_operations.event_outputs import LogEventOut
from mnemon.log_operations.fields import BY_PROGRAMS, EVENT_ID, EventId, FromRecord, Parts, SequenceNumber
from mnemon.log_operations.shown import shown_events
from mnemon.log_operations.subscriptions import SubscriptionAsked
from mnemon.operations import Caller, Door, Output, operation

ONE = {"subscription_id": "minutes-bot"}
EVENT = {**ONE, "event_id": EVENT_ID, "sequence": "42", "token": "3"}
NOT_SETTLED = (SubscriptionNotFound, SubscriptionMoved, EventNotFound)
TAKEN_BY_PROGRAMS: Mapping[Door, str] = {
    **BY_PROGRAMS, "web": "A program takes its events and says so; a person who did would keep them from it.",
}  # fmt: skip


class PollAsked(SubscriptionAsked):
    """How many events, and how long to wait for them."""

    limit: int | None = Field(None, ge=1, le=LARGEST_PAGE, description="Most events of this batch.")
    wait: float = Field(0, ge=0, le=LONGEST_WAIT, description="Seconds to wait for the first event.")


class ClaimAsked(PollAsked):
    """Events for one consumer alone, for a while."""

    consumer: str = Field(
        "", pattern=r"^[A-Za-z0-9._:-]{0,100}$", description="Tells apart processes that use the same credential."
    )
    seconds: float = Field(30, gt=0, le=LONGEST_CLAIM, description="How long nobody else is given the same events.")


class Acknowledgement(SubscriptionAsked):
    """What is handled."""

    event_id: EventId
    sequence: SequenceNumber = Field(description="This event and all before it are handled.")
    token: SequenceNumber | None = Field(None, description="From the poll or claim.")

    @property
    def fence(self) -> int | None:
        return int(self.token) if self.token else None


class Rejection(Acknowledgement):
    """What failed."""

    sequence: SequenceNumber = Field(
        description="This event failed, all before it are handled, all after it come again."
    )
    error: str = Field(max_length=2000, description="Why; without anything personal.")


class BatchOut(Output):
    """The next events of a subscription."""

    events: list[LogEventOut]
    has_more: bool
    tokens: dict[str, str] = Field(
        description="By legal entity; sent back with an acknowledgement, one from before a reset is refused."
    )
    failures: dict[str, int] = Field(
        description="How often an event failed before, by event id; such events are settled one by one."
    )
    held: dict[str, str] = Field(description="By legal entity, who has claimed events that are not in this batch.")
    claimed_until: datetime | None = Field(description="Of a claim: when others may be given these events.")


class OpenedStream(Output):
    """Events of the log as they come; the door shows each as its reader may see it."""

    events: Any = Field(exclude=True)


class Acknowledged(Output):
    sequence: str = Field(description="Where the cursor is now.")


class RejectedOut(FromRecord):
    """What becomes of an event that failed."""

    attempts: int = Field(description="How often the event has failed by now.")
    state: str = Field(description="retrying, or dead: a dead letter until someone replays or discards it")
    status: str = Field(description="Of the subscription: active, or broken if too much failed.")


@operation(
    "subscriptions.poll", Action.READ_LOG, read_only=True, errors=(SubscriptionNotFound,), absent=TAKEN_BY_PROGRAMS,
    example={**ONE, "wait": 30},
)  # fmt: skip
async def poll(mnemon: Parts, caller: Caller, asked: PollAsked) -> BatchOut:
    """The next events; with `wait`, as soon as there are any."""
    batch = await mnemon.log.pull.fetch(
        caller.tenant_id, asked.subscription_id, limit=asked.limit, wait_seconds=asked.wait
    )
    return await _shown(mnemon, caller, batch)


@operation(
    "subscriptions.claim", Action.FOLLOW_LOG, errors=(SubscriptionNotFound,), absent=TAKEN_BY_PROGRAMS,
    example={**ONE, "consumer": "worker-1", "seconds": 60, "limit": 10, "wait": 30},
)  # fmt: skip
async def claim(mnemon: Parts, caller: Caller, asked: ClaimAsked) -> BatchOut:
    """The next events, for this consumer alone; with `wait`, as soon as there are any."""
    await _own(mnemon, caller, asked)
    holder = f"{caller.actor.id}/{asked.consumer}" if asked.consumer else caller.actor.id
    batch = await mnemon.log.pull.claim(
        caller.tenant_id, asked.subscription_id, holder,
        seconds=asked.seconds, limit=asked.limit, wait_seconds=asked.wait,
    )  # fmt: skip
    return await _shown(mnemon, caller, batch)


@operation(
    "subscriptions.stream",
    Action.READ_LOG,
    read_only=True,
    errors=(SubscriptionNotFound,),
    absent=TAKEN_BY_PROGRAMS,
    example=ONE,
)
async def stream(mnemon: Parts, caller: Caller, asked: SubscriptionAsked) -> OpenedStream:
    """The events as they come, as server-sent events."""
    await mnemon.log.subscriptions.find(caller.tenant_id, asked.subscription_id)
    return OpenedStream(events=mnemon.log.pull.stream(caller.tenant_id, asked.subscription_id))


@operation("subscriptions.acknowledge", Action.FOLLOW_LOG, errors=NOT_SETTLED, absent=TAKEN_BY_PROGRAMS, example=EVENT)
async def acknowledge(mnemon: Parts, caller: Caller, asked: Acknowledgement) -> Acknowledged:
    """Say what is handled."""
    await _own(mnemon, caller, asked)
    position = await mnemon.log.pull.acknowledge_event(
        caller.tenant_id, asked.subscription_id, asked.event_id, int(asked.sequence), token=asked.fence
    )
    return Acknowledged(sequence=str(position))


@operation(
    "subscriptions.reject", Action.FOLLOW_LOG, errors=NOT_SETTLED, absent=TAKEN_BY_PROGRAMS,
    example={**EVENT, "error": "HTTP 502"},
)  # fmt: skip
async def reject(mnemon: Parts, caller: Caller, asked: Rejection) -> RejectedOut:
    """Say that an event could not be handled."""
    await _own(mnemon, caller, asked)
    rejected = await mnemon.log.pull.reject(
        caller.tenant_id, asked.subscription_id, asked.event_id, int(asked.sequence), asked.error, token=asked.fence
    )
    return RejectedOut.model_validate(rejected)


async def _own(mnemon: Parts, caller: Caller, asked: SubscriptionAsked) -> None:
    found = await mnemon.log.subscriptions.find(caller.tenant_id, asked.subscription_id)
    if caller.principal is not None:
        _refuse_strangers(caller.principal, found)


async def _shown(mnemon: Parts, caller: Caller, batch: Batch) -> BatchOut:
    return BatchOut.model_construct(
        events=await shown_events(mnemon, caller, batch.events),
        has_more=batch.has_more,
        tokens={name: str(token) for name, token in batch.tokens.items()},
        failures=dict(batch.failures),
        held=dict(batch.held),
        claimed_until=batch.claimed_until,
    )


def _refuse_strangers(principal: Principal, subscription: Subscription) -> None:
    """To acknowledge is to say that nobody needs the events again: only the subscriber and administrators may."""
    owners = {principal.actor.id, user_actor_id(principal.user_id)}
    if principal.role is not Role.ADMIN and subscription.subscriber_id not in owners:
        raise NotAllowed(
            f"The subscription {subscription.subscription_id} belongs to {subscription.subscriber_id}: "
            "have an administrator make one with your subscriber_id.",
            id=subscription.subscription_id,
            subscriber_id=subscription.subscriber_id,
        )
