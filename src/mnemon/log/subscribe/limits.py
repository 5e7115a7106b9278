"""Limits of delivery: how much at a time, how often, how long, and how many failures."""

from dataclasses import dataclass
from typing import Self

from mnemon.settings import Settings


@dataclass(frozen=True, slots=True)
class DeliveryLimits:
    """What the settings say about subscriptions; times in seconds."""

    poll_seconds: float = 0.5
    batch_events: int = 100
    event_seconds: float = 30.0
    failures: int = 5
    breaker_failures: int = 20
    breaker_seconds: float = 60.0
    lease_seconds: float = 15.0
    # A failed event is tried again after 0.2, 0.8, 3.2, 12.8 s …
    retry_seconds: float = 0.2
    partitions_at_once: int = 4

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(
            poll_seconds=settings.subscription_poll_ms / 1000,
            batch_events=settings.subscription_batch_events,
            event_seconds=settings.subscription_event_seconds,
            failures=settings.subscription_failures,
            breaker_failures=settings.subscription_breaker_failures,
            breaker_seconds=settings.subscription_breaker_seconds,
            lease_seconds=settings.subscription_lease_seconds,
        )

    def retry_after(self, attempts: int) -> float:
        return float(min(self.retry_seconds * 4 ** (attempts - 1), 600.0))


DEFAULT_LIMITS = DeliveryLimits()
