"""What a broker does for the bus: it takes envelopes for good, and brings those of others."""

from collections.abc import Awaitable, Callable
from typing import Protocol
from uuid import UUID

from mnemon.errors import MnemonError

# How often an envelope is brought that was not acknowledged, before it is a dead letter.
DELIVERIES = 20


class BusUnavailable(MnemonError):
    """The broker does not take envelopes: they stay in the log, in order, until it does."""

    code = "BUS_UNAVAILABLE"
    status = 503
    retry = True


class EnvelopeTooLarge(BusUnavailable):
    """The broker takes no message of that size: it and what comes after it wait until its servers are told to."""

    code = "ENVELOPE_TOO_LARGE"


class EnvelopeRefused(MnemonError):
    """What came from a queue is no envelope that the log can take; it goes to the dead letters."""

    code = "ENVELOPE_REFUSED"
    status = 422


OnEnvelope = Callable[[bytes], Awaitable[None]]


class BusCarrier(Protocol):
    """One broker."""

    @property
    def name(self) -> str: ...

    async def publish(self, tenant: UUID, routing_key: str, event_id: str, body: bytes) -> None:
        """Return once the broker has confirmed that it has the envelope for good, or raise BusUnavailable. Two tenants
        may have events of the same id: callers choose them."""
        ...

    async def receive(self, queue: str, handler: OnEnvelope) -> None:
        """For ever: one envelope after the other; acknowledged when the handler returns, a dead letter when it raises
        EnvelopeRefused, and when it raises anything else that is raised here and the envelope brought again, up to
        DELIVERIES times. Raises BusUnavailable when the broker goes away."""
        ...

    async def close(self) -> None: ...
