"""What the log refuses, and why."""

from mnemon.errors import Conflict, MnemonError, NotAllowed, NotFound


class TypeNotRegistered(MnemonError):
    """No such event type, or not in that version."""

    code = "EVENT_TYPE_NOT_REGISTERED"
    status = 422


class TypeReserved(NotAllowed):
    """Events of a built-in type are recorded by Mnemon itself, when the thing happens."""

    code = "EVENT_TYPE_RESERVED"


class TypeIncompatible(Conflict):
    """The declaration contradicts one that events were already recorded under."""

    code = "EVENT_TYPE_INCOMPATIBLE"


class InvalidEvent(MnemonError):
    """The event does not fit its type; details list every violation."""

    code = "INVALID_EVENT"
    status = 422


class BatchRefused(MnemonError):
    """The batch is empty, too large or spans partitions."""

    code = "BATCH_REFUSED"
    status = 422


class VersionConflict(Conflict):
    """An entity has moved on since the caller looked; details name expected and actual version."""

    code = "VERSION_CONFLICT"
    retry = True


class KeyConflict(Conflict):
    """An idempotency or business key was used before for something else; details name the original."""

    code = "KEY_CONFLICT"


class TransactionConflict(Conflict):
    """Two transactions got in each other's way and this one was undone."""

    code = "TRANSACTION_CONFLICT"
    retry = True


class PeriodClosed(NotAllowed):
    """The effective date lies in a closed period; soft-closed ones accept an approver."""

    code = "PERIOD_CLOSED"
    status = 409


class EventNotFound(NotFound):
    """No event by that id, or not for this tenant."""

    code = "EVENT_NOT_FOUND"


class CheckpointRefused(Conflict):
    """The log contradicts the last checkpoint, so no new one is signed over it."""

    code = "CHECKPOINT_REFUSED"


class NothingToAttest(NotFound):
    """The partition has no events, or the event is younger than the last checkpoint."""

    code = "NOTHING_TO_ATTEST"


class BadCursor(MnemonError):
    """The cursor was not made by this log for this stream."""

    code = "BAD_CURSOR"
    status = 422


class SubscriptionNotFound(NotFound):
    """No subscription by that id, or not for this tenant."""

    code = "SUBSCRIPTION_NOT_FOUND"


class SubscriptionMoved(Conflict):
    """The subscription was reset or taken over since; fetch again and go on from there."""

    code = "SUBSCRIPTION_MOVED"
    retry = True


class DeadLetterNotFound(NotFound):
    """No dead letter at that place of the subscription."""

    code = "DEAD_LETTER_NOT_FOUND"
