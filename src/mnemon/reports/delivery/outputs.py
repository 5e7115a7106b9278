"""What operations on webhooks and digests answer."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from mnemon.operations import Output


class WebhookShown(Output):
    """An address that is called, and how its deliveries fare."""

    webhook: str = Field(description="Its name.")
    url: str
    event_types: list[str]
    report_kinds: list[str] = Field(description="Of reports these alone; none for all.")
    created_at: datetime
    waiting: int = Field(description="Deliveries that are due or will be tried again.")
    dead: int = Field(description="Deliveries that were given up: replay does them again.")
    sent: int = Field(description="Deliveries that arrived, as far as their jobs are still kept.")


class WebhookAdded(WebhookShown):
    """The new webhook."""

    secret: str = Field(description="What deliveries to it are signed with: it is shown this once.")


class WebhookList(Output):
    items: list[WebhookShown]


class DigestShown(Output):
    """An address that is written to, and how its deliveries fare."""

    address: str
    report_kinds: list[str]
    created_at: datetime
    waiting: int
    dead: int
    sent: int


class DigestList(Output):
    items: list[DigestShown]


class RecipientRemoved(Output):
    """Who is told no more."""

    name: str
    removed: bool


class TrialMade(Output):
    """What came of a trial that was sent just now."""

    name: str
    event_id: str = Field(description="By which it is known: a webhook has it as its Idempotency-Key.")
    status: int | None = Field(description="What a webhook answered; nothing for a mail server that took it.")


class DeliveryShown(Output):
    """One delivery of one event."""

    job_id: UUID
    event_id: str
    event_type: str
    state: str = Field(description="waiting, running, sent or dead.")
    attempts: int
    next_try_at: datetime | None
    error_code: str | None
    error: str | None
    created_at: datetime


class DeliveryPage(Output):
    items: list[DeliveryShown]
    next_cursor: str | None


class ReplayBegun(Output):
    """How many deliveries are made again."""

    name: str
    replayed: int
