"""What operations on webhooks and digests take."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, SecretStr

from mnemon.inputs import Cursor, Maybe
from mnemon.operations import Input
from mnemon.reports.report import ReportKind

RecipientName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
# As brokers write them: words with dots between, `*` for one word, `#` for any number.
TypePattern = Annotated[str, Field(pattern=r"^(#|\*|[a-z0-9_]+)(\.(#|\*|[a-z0-9_]+))*$", max_length=200)]
Address = Annotated[str, Field(pattern=r"^[^\s@<>,;]+@[^\s@<>,;]+$", max_length=254)]
WEEKLY_ALONE: list[ReportKind] = ["weekly"]
ADDRESS = "The address that is written to."


class NewWebhook(Input):
    """An address that is called."""

    url: Annotated[str, Field(min_length=8, max_length=2000)] = Field(description="The http(s) address that is called.")
    name: Maybe[RecipientName] = Field(None, description="What the webhook is called. Default: the address's host.")
    event_types: list[TypePattern] = Field(
        default_factory=lambda: ["report.published"], min_length=1, max_length=50,
        description="Types of events that it is told of, as routing keys: report.published, report.*, # for all.",
    )  # fmt: skip
    report_kinds: list[ReportKind] = Field(
        default_factory=list, max_length=4, description="Of reports these kinds alone. Default: all."
    )
    secret: Maybe[Annotated[SecretStr, Field(min_length=16, max_length=200)]] = Field(
        None, description="What deliveries are signed with (HMAC-SHA-256). Default: one is made, and shown once."
    )


class WebhookAsked(Input):
    """One webhook."""

    webhook: RecipientName = Field(description="The webhook's name.")


class WebhooksAsked(Input):
    """All webhooks of the tenant."""


class DeliveriesAsked(WebhookAsked):
    """What a webhook was told, newest first."""

    dead: bool = Field(False, description="Only what was given up.")
    limit: Annotated[int, Field(ge=1, le=100)] = Field(50, description="How many at most.")
    cursor: Cursor = None


class RedeliveryAsked(WebhookAsked):
    """What was given up, again."""

    job_id: Maybe[UUID] = Field(None, description="This delivery alone. Default: all that were given up.")


class NewDigest(Input):
    """An address that is written to."""

    address: Address = Field(description=ADDRESS)
    report_kinds: list[ReportKind] = Field(
        default_factory=lambda: list(WEEKLY_ALONE), min_length=1, max_length=4, description="Which reports it gets."
    )


class DigestAsked(Input):
    """One digest."""

    address: Address = Field(description=ADDRESS)


class DigestsAsked(Input):
    """All digests of the tenant."""
