"""What a user may do with subscriptions: declare, look at, pause, resume, reset and remove them."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field

from mnemon.errors import Conflict
from mnemon.identity.roles import Action
from mnemon.log.append.incoming import EntityId, LegalEntity, Name, Word
from mnemon.log.errors import SubscriptionNotFound
from mnemon.log.read.pattern import Pattern
from mnemon.log.subscribe.positions import Position
from mnemon.log.subscribe.subscriptions import Holds, Start, Subscription, SubscriptionStatus
from mnemon.log_operations.fields import NO_TOOLS, Parts, SequenceNumber
from mnemon.operations import Caller, Input, Output, operation

SubscriptionId = Annotated[str, Field(max_length=100, description="The subscription's id.")]
ONE = {"subscription_id": "minutes-bot"}


class WantedEntity(BaseModel):
    """An entity whose events are wanted."""

    entity_type: Word
    entity_id: EntityId


class NewSubscription(Input):
    """Who follows the log, and which events. All parts that are given must fit."""

    subscription_id: str = Field(max_length=100, description="1 to 100 of a-z, 0-9 and ._:-")
    subscriber_type: str = Field("service", max_length=50, description="What kind of follower it is.")
    subscriber_id: str = Field(
        "", max_length=200, description="user:ID or token:ID, who may then acknowledge; else administrators only."
    )
    event_types: list[Name] = Field(
        default_factory=list, max_length=1000, description="Only these types; all unless given."
    )
    entities: list[WantedEntity] = Field(
        default_factory=list, max_length=1000, description="Only events of these entities."
    )
    legal_entities: list[LegalEntity] = Field(
        default_factory=list, max_length=1000, description="Only of these legal entities."
    )
    scopes: dict[Word, Name] = Field(
        default_factory=dict, max_length=50, description="Only in these, like region: north."
    )
    modules: list[Word] = Field(default_factory=list, max_length=100, description="Only events of these modules.")
    failure_holds: Holds = Field("entity", description="What waits behind an event that fails.")
    start: Start = Field("beginning", description="With the first event, or with the next one.")


class AllSubscriptions(Input):
    """Nothing to choose."""


class SubscriptionAsked(Input):
    """One subscription."""

    subscription_id: SubscriptionId


class SubscriptionReset(SubscriptionAsked):
    """Where it goes on."""

    positions: dict[LegalEntity, SequenceNumber] | None = Field(
        None, description="Go on after this sequence, by legal entity; from the very beginning if left out."
    )


class PositionOut(Output):
    """Where a subscription is in one partition."""

    legal_entity: str
    head: str
    sequence: str
    lag: int = Field(description="Events that it has not looked at.")
    parked: int
    dead: int
    holder: str | None
    advanced_at: datetime | None


class SubscriptionOut(Output):
    """One subscription."""

    id: str
    subscriber_type: str
    subscriber_id: str
    event_types: list[str]
    entities: list[WantedEntity]
    legal_entities: list[str]
    scopes: dict[str, str]
    modules: list[str]
    failure_holds: Holds
    status: SubscriptionStatus
    probe_at: datetime | None
    error_count: int
    last_error: str | None
    last_error_at: datetime | None
    created_at: datetime
    updated_at: datetime


class SubscriptionDetail(SubscriptionOut):
    """One subscription, and where it is in each partition."""

    lag: int = Field(description="Events that it has not looked at, in all partitions.")
    dead: int = Field(description="Its dead letters.")
    positions: list[PositionOut]


class SubscriptionList(Output):
    subscriptions: list[SubscriptionDetail]
    total: int


class Removed(Output):
    removed: str


@operation(
    "subscriptions.add", Action.MANAGE_LOG, errors=(Conflict,), absent=NO_TOOLS,
    example={**ONE, "subscriber_type": "agent", "event_types": ["board.decision.taken"]},
)  # fmt: skip
async def add(mnemon: Parts, caller: Caller, asked: NewSubscription) -> SubscriptionDetail:
    """Declare a subscription."""
    wanted = Subscription(
        subscription_id=asked.subscription_id,
        subscriber_type=asked.subscriber_type,
        subscriber_id=asked.subscriber_id,
        pattern=Pattern.from_json(asked.model_dump()),
        failure_holds=asked.failure_holds,
    )
    return await _detail(
        mnemon, caller, await mnemon.log.subscriptions.add(caller.tenant_id, wanted, start=asked.start)
    )


@operation("subscriptions.list", Action.READ_LOG, read_only=True, example={}, absent=NO_TOOLS)
async def listed(mnemon: Parts, caller: Caller, asked: AllSubscriptions) -> SubscriptionList:
    """List subscriptions with their state and how far behind they are."""
    found = [await _detail(mnemon, caller, one) for one in await mnemon.log.subscriptions.list(caller.tenant_id)]
    return SubscriptionList(subscriptions=found, total=len(found))


@operation(
    "subscriptions.get", Action.READ_LOG, read_only=True, errors=(SubscriptionNotFound,), example=ONE, absent=NO_TOOLS
)
async def get(mnemon: Parts, caller: Caller, asked: SubscriptionAsked) -> SubscriptionDetail:
    """One subscription, and where it is in each partition."""
    return await _detail(mnemon, caller, await _found(mnemon, caller, asked))


@operation(
    "subscriptions.remove", Action.MANAGE_LOG, destructive=True, errors=(SubscriptionNotFound,), example=ONE,
    absent=NO_TOOLS,
)  # fmt: skip
async def remove(mnemon: Parts, caller: Caller, asked: SubscriptionAsked) -> Removed:
    """Forget a subscription, its position and its dead letters."""
    await mnemon.log.subscriptions.remove(caller.tenant_id, asked.subscription_id)
    return Removed(removed=asked.subscription_id)


@operation(
    "subscriptions.pause", Action.MANAGE_LOG, idempotent=True, errors=(SubscriptionNotFound,), example=ONE,
    absent=NO_TOOLS,
)  # fmt: skip
async def pause(mnemon: Parts, caller: Caller, asked: SubscriptionAsked) -> SubscriptionOut:
    """Deliver nothing more until it is resumed."""
    return SubscriptionOut(**_fields(await mnemon.log.subscriptions.pause(caller.tenant_id, asked.subscription_id)))


@operation(
    "subscriptions.resume", Action.MANAGE_LOG, idempotent=True, errors=(SubscriptionNotFound,), example=ONE,
    absent=NO_TOOLS,
)  # fmt: skip
async def resume(mnemon: Parts, caller: Caller, asked: SubscriptionAsked) -> SubscriptionOut:
    """Go on from the cursor, after a pause or a broken circuit."""
    return SubscriptionOut(**_fields(await mnemon.log.subscriptions.resume(caller.tenant_id, asked.subscription_id)))


@operation(
    "subscriptions.reset", Action.MANAGE_LOG, errors=(SubscriptionNotFound,), absent=NO_TOOLS,
    example={**ONE, "positions": {"main": "41"}},
)  # fmt: skip
async def reset(mnemon: Parts, caller: Caller, asked: SubscriptionReset) -> SubscriptionDetail:
    """Go on after another position, back or forward."""
    given = asked.positions
    positions = None if given is None else {name: int(sequence) for name, sequence in given.items()}
    await mnemon.log.subscriptions.reset(caller.tenant_id, asked.subscription_id, positions)
    return await _detail(mnemon, caller, await _found(mnemon, caller, asked))


async def _found(mnemon: Parts, caller: Caller, asked: SubscriptionAsked) -> Subscription:
    return await mnemon.log.subscriptions.find(caller.tenant_id, asked.subscription_id)


async def _detail(mnemon: Parts, caller: Caller, one: Subscription) -> SubscriptionDetail:
    positions = await mnemon.log.subscriptions.positions(caller.tenant_id, one.subscription_id)
    return SubscriptionDetail(
        **_fields(one),
        lag=sum(position.lag for position in positions),
        dead=sum(position.dead for position in positions),
        positions=[_position(position) for position in positions],
    )


def _fields(one: Subscription) -> dict[str, Any]:
    return one.as_json()


def _position(one: Position) -> PositionOut:
    return PositionOut(**one.as_json())
