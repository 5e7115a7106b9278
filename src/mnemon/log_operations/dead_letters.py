"""What a user may do with dead letters: events that a subscriber failed to handle."""

from datetime import datetime

from pydantic import Field

from mnemon.errors import InvalidRequest
from mnemon.identity.roles import Action
from mnemon.log.append.incoming import LegalEntity
from mnemon.log.errors import DeadLetterNotFound, SubscriptionNotFound
from mnemon.log_operations.fields import NO_TOOLS, Parts, SequenceNumber
from mnemon.log_operations.subscriptions import SubscriptionAsked
from mnemon.operations import Caller, Output, operation

ONE = {"subscription_id": "minutes-bot", "legal_entity": "main", "sequence": "42"}
ERRORS = (SubscriptionNotFound, DeadLetterNotFound)


class LetterAsked(SubscriptionAsked):
    """One dead letter by its place, or with nothing given all of them."""

    legal_entity: LegalEntity | None = Field(None, description="The legal entity of that sequence.")
    sequence: SequenceNumber | None = Field(None, description="Only the one at this sequence. Otherwise all of them.")

    @property
    def place(self) -> tuple[str, int] | None:
        if self.legal_entity is None and self.sequence is None:
            return None
        if self.legal_entity is None or self.sequence is None:
            raise InvalidRequest("Name a dead letter by legal_entity and sequence, or leave both out for all of them.")
        return self.legal_entity, int(self.sequence)


class DeadLetterOut(Output):
    """An event that could not be handled."""

    legal_entity: str
    sequence: str
    event_id: str
    type: str
    attempts: int
    error: str
    failed_at: datetime
    waiting: int = Field(description="Later events of the same entities that wait behind it.")


class DeadLetterList(Output):
    dead_letters: list[DeadLetterOut]
    total: int


class LettersCounted(Output):
    count: int


@operation(
    "dead_letters.list", Action.READ_LOG, read_only=True, errors=(SubscriptionNotFound,), absent=NO_TOOLS,
    example={"subscription_id": "minutes-bot"},
)  # fmt: skip
async def listed(mnemon: Parts, caller: Caller, asked: SubscriptionAsked) -> DeadLetterList:
    """What the subscriber failed to handle, and what waits behind each."""
    letters = await mnemon.log.dead_letters.list(caller.tenant_id, asked.subscription_id)
    return DeadLetterList(dead_letters=[DeadLetterOut(**one.as_json()) for one in letters], total=len(letters))


@operation("dead_letters.replay", Action.MANAGE_LOG, errors=ERRORS, example=ONE, absent=NO_TOOLS)
async def replay(mnemon: Parts, caller: Caller, asked: LetterAsked) -> LettersCounted:
    """Have dead letters delivered again; what waits behind them follows."""
    replayed = await mnemon.log.dead_letters.replay(caller.tenant_id, asked.subscription_id, asked.place)
    return LettersCounted(count=replayed)


@operation("dead_letters.discard", Action.MANAGE_LOG, destructive=True, errors=ERRORS, example=ONE, absent=NO_TOOLS)
async def discard(mnemon: Parts, caller: Caller, asked: LetterAsked) -> LettersCounted:
    """Give dead letters up for good; what waits behind them is delivered."""
    discarded = await mnemon.log.dead_letters.discard(caller.tenant_id, asked.subscription_id, asked.place)
    return LettersCounted(count=discarded)
