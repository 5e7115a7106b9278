"""What the log refuses, and why."""

from collections.abc import Iterable

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
    """The event does not fit its type; details list the first hundred violations."""

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


class WitnessRefused(Conflict):
    """The log did not grow out of the one that was witnessed before, or another key signed it."""

    code = "WITNESS_REFUSED"


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
    """The subscription was reset, claimed or taken over since; fetch again and go on from there."""

    code = "SUBSCRIPTION_MOVED"
    retry = True


class DeadLetterNotFound(NotFound):
    """No dead letter at that place of the subscription."""

    code = "DEAD_LETTER_NOT_FOUND"


class TypeDeprecated(Conflict):
    """Events of this type are no longer recorded; those that are there are read as before."""

    code = "EVENT_TYPE_DEPRECATED"


class SubjectErased(Conflict):
    """The event tells something about a person whose key was destroyed; details name them."""

    code = "SUBJECT_ERASED"


class NotNew(TransactionConflict):
    """Someone whom an append brought a first key for has one by now; details name them. Seal again and retry."""


class KeyUnavailable(MnemonError):
    """The key-encryption key that wraps a person's key is not at hand; nothing is lost as long as it exists."""

    code = "KEY_UNAVAILABLE"
    status = 503


class ErasureNotListed(MnemonError):
    """The list of erasures that is kept with the keys cannot be written; nobody was erased."""

    code = "ERASURE_NOT_LISTED"
    status = 503


class SealBroken(MnemonError):
    """A sealed field was changed, or moved from another event or field."""

    code = "SEAL_BROKEN"


class TooManyLegalEntities(Conflict):
    """The tenant has as many legal entities as it may; each is a partition with tables of its own."""

    code = "TOO_MANY_LEGAL_ENTITIES"


class ArchiveRefused(Conflict):
    """Payloads cannot be archived yet, or not restored; details say what stands against it."""

    code = "ARCHIVE_REFUSED"


class ArchiveDamaged(MnemonError):
    """An archived payload is missing, or is not the one that was recorded."""

    code = "ARCHIVE_DAMAGED"


# Raised by the trigger that holds the keys of those whom an append names.
KEY_IS_GONE = "MN001"


def erased(subjects: Iterable[str]) -> SubjectErased:
    names = sorted(subjects)
    return SubjectErased(
        f"{', '.join(names)} was erased, and nothing more is recorded about them: leave the personal fields out, use "
        "another id, or readmit them with `mnemon privacy readmit`.",
        subjects=names,
    )
