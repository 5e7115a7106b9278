"""Subscriptions over REST: declare, look at, pause, resume, reset and remove them; their dead letters."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from mnemon.api.access import MnemonPart, allow
from mnemon.errors import InvalidRequest
from mnemon.identity.roles import Action, Principal
from mnemon.log.append.incoming import EntityId, LegalEntity, Name, Word
from mnemon.log.read.pattern import Pattern
from mnemon.log.subscribe.subscriptions import Holds, Start, Subscription, SubscriptionStatus

router = APIRouter(tags=["subscriptions"])
Reader = Annotated[Principal, allow(Action.READ_LOG)]
Keeper = Annotated[Principal, allow(Action.MANAGE_LOG)]
SubscriptionId = Annotated[str, Path(max_length=100)]
Sequence = Annotated[str, Field(pattern=r"^[0-9]{1,18}$")]


class WantedEntity(BaseModel):
    entity_type: Word
    entity_id: EntityId


class NewSubscription(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"id": "minutes-bot", "subscriber_type": "agent", "event_types": ["board.decision.taken"]}]
        },
    )
    id: str = Field(max_length=100, description="1 to 100 of a-z, 0-9 and ._:-")
    subscriber_type: str = Field("service", max_length=50)
    subscriber_id: str = Field(
        "", max_length=200, description="user:ID or token:ID, who may then acknowledge; else administrators only."
    )
    event_types: list[Name] = Field(default_factory=list, max_length=1000, description="All unless given.")
    entities: list[WantedEntity] = Field(default_factory=list, max_length=1000)
    legal_entities: list[LegalEntity] = Field(default_factory=list, max_length=1000)
    scopes: dict[Word, Name] = Field(default_factory=dict, max_length=50)
    modules: list[Word] = Field(default_factory=list, max_length=100)
    failure_holds: Holds = Field("entity", description="What waits behind an event that fails.")
    start: Start = Field("beginning", description="With the first event, or with the next one.")


class PositionOut(BaseModel):
    legal_entity: str
    head: str
    sequence: str
    lag: int
    parked: int
    dead: int
    holder: str | None
    advanced_at: datetime | None


class SubscriptionOut(BaseModel):
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
    positions: list[PositionOut]


class Subscriptions(BaseModel):
    subscriptions: list[SubscriptionOut]
    total: int


class Reset(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"positions": {"main": "41"}}]})
    positions: dict[LegalEntity, Sequence] | None = Field(
        None, description="Go on after this sequence, by legal entity; from the very beginning if left out."
    )


class DeadLetterOut(BaseModel):
    legal_entity: str
    sequence: str
    event_id: str
    type: str
    attempts: int
    error: str
    failed_at: datetime
    waiting: int = Field(description="Later events of the same entities that wait behind it.")


class DeadLetters(BaseModel):
    dead_letters: list[DeadLetterOut]
    total: int


class Letter(BaseModel):
    """One dead letter by its place, or with nothing given all of them."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"legal_entity": "main", "sequence": "42"}]}
    )
    legal_entity: LegalEntity | None = None
    sequence: Sequence | None = None

    @property
    def place(self) -> tuple[str, int] | None:
        if self.legal_entity is None and self.sequence is None:
            return None
        if self.legal_entity is None or self.sequence is None:
            raise InvalidRequest("Name a dead letter by legal_entity and sequence, or leave both out for all of them.")
        return self.legal_entity, int(self.sequence)


class Counted(BaseModel):
    count: int


@router.post("/subscriptions", summary="Declare a subscription", status_code=201, response_model=SubscriptionOut)
async def post_subscription(new: NewSubscription, mnemon: MnemonPart, principal: Keeper) -> dict[str, Any]:
    wanted = Subscription(
        subscription_id=new.id,
        subscriber_type=new.subscriber_type,
        subscriber_id=new.subscriber_id,
        pattern=Pattern.from_json(new.model_dump()),
        failure_holds=new.failure_holds,
    )
    return (await mnemon.log.subscriptions.add(principal.tenant_id, wanted, start=new.start)).as_json()


@router.get("/subscriptions", summary="List subscriptions", response_model=Subscriptions)
async def get_subscriptions(mnemon: MnemonPart, principal: Reader) -> dict[str, Any]:
    found = [one.as_json() for one in await mnemon.log.subscriptions.list(principal.tenant_id)]
    return {"subscriptions": found, "total": len(found)}


@router.get(
    "/subscriptions/{subscription_id}",
    summary="One subscription, and where it is in each partition",
    response_model=SubscriptionDetail,
)
async def get_subscription(subscription_id: SubscriptionId, mnemon: MnemonPart, principal: Reader) -> dict[str, Any]:
    subscriptions = mnemon.log.subscriptions
    found = await subscriptions.find(principal.tenant_id, subscription_id)
    positions = await subscriptions.positions(principal.tenant_id, subscription_id)
    return found.as_json() | {"positions": [one.as_json() for one in positions]}


@router.delete(
    "/subscriptions/{subscription_id}", summary="Forget a subscription and its dead letters", status_code=204
)
async def delete_subscription(subscription_id: SubscriptionId, mnemon: MnemonPart, principal: Keeper) -> None:
    await mnemon.log.subscriptions.remove(principal.tenant_id, subscription_id)


@router.post("/subscriptions/{subscription_id}/pause", summary="Deliver nothing more", response_model=SubscriptionOut)
async def pause_subscription(subscription_id: SubscriptionId, mnemon: MnemonPart, principal: Keeper) -> dict[str, Any]:
    return (await mnemon.log.subscriptions.pause(principal.tenant_id, subscription_id)).as_json()


@router.post(
    "/subscriptions/{subscription_id}/resume",
    summary="Go on after a pause or a broken circuit",
    response_model=SubscriptionOut,
)
async def resume_subscription(subscription_id: SubscriptionId, mnemon: MnemonPart, principal: Keeper) -> dict[str, Any]:
    return (await mnemon.log.subscriptions.resume(principal.tenant_id, subscription_id)).as_json()


@router.post(
    "/subscriptions/{subscription_id}/reset",
    summary="Go on from another position, forward or back",
    response_model=SubscriptionDetail,
)
async def reset_subscription(
    subscription_id: SubscriptionId, wanted: Reset, mnemon: MnemonPart, principal: Keeper
) -> dict[str, Any]:
    given = wanted.positions
    positions = None if given is None else {name: int(sequence) for name, sequence in given.items()}
    await mnemon.log.subscriptions.reset(principal.tenant_id, subscription_id, positions)
    return await get_subscription(subscription_id, mnemon, principal)


@router.get(
    "/subscriptions/{subscription_id}/dead-letters", summary="What could not be handled", response_model=DeadLetters
)
async def get_dead_letters(subscription_id: SubscriptionId, mnemon: MnemonPart, principal: Reader) -> dict[str, Any]:
    found = [one.as_json() for one in await mnemon.log.dead_letters.list(principal.tenant_id, subscription_id)]
    return {"dead_letters": found, "total": len(found)}


@router.post("/subscriptions/{subscription_id}/dead-letters/replay", summary="Deliver dead letters again")
async def replay_dead_letters(
    subscription_id: SubscriptionId, letter: Letter, mnemon: MnemonPart, principal: Keeper
) -> Counted:
    return Counted(count=await mnemon.log.dead_letters.replay(principal.tenant_id, subscription_id, letter.place))


@router.post("/subscriptions/{subscription_id}/dead-letters/discard", summary="Give dead letters up for good")
async def discard_dead_letters(
    subscription_id: SubscriptionId, letter: Letter, mnemon: MnemonPart, principal: Keeper
) -> Counted:
    return Counted(count=await mnemon.log.dead_letters.discard(principal.tenant_id, subscription_id, letter.place))
