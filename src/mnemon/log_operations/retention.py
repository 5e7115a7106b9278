"""What an administrator may see of terms: which personal data will be destroyed, and when."""

from datetime import UTC, datetime, timedelta

from pydantic import Field

from mnemon.identity.roles import Action
from mnemon.log_operations.fields import NO_TOOLS, Parts
from mnemon.operations import Caller, Input, Output, operation


class RetentionAsked(Input):
    """How far ahead to look."""

    days: int = Field(90, ge=0, le=36_500, description="Terms that end within so many days.")
    limit: int = Field(1000, ge=1, le=10_000, description="Most terms listed, the earliest first.")


class EndingTermOut(Output):
    """Personal data that has outlived, or will outlive, the term of its event type."""

    subject_id: str = Field(
        description="`term:CLASS:YEARS:MONTH`, what was recorded in a month under a term; or a person, for what was "
        "recorded before its type had one."
    )
    events: int = Field(description="Events that hold it.")
    ends_at: datetime = Field(description="When the last term of these events ends.")
    erasure_id: str | None = Field(description="The erasure that was asked for; decline it to hold the data.")
    status: str | None = Field(description="What became of it: requested, declined, key_destroyed or completed.")


class RetentionReport(Output):
    """What will be destroyed, and when."""

    notice_days: int = Field(description="How long before the day an erasure is asked for, so that it can be declined.")
    items: list[EndingTermOut]


@operation("privacy.retention", Action.MANAGE_PRIVACY, read_only=True, example={"days": 90}, absent=NO_TOOLS)
async def retention(mnemon: Parts, caller: Caller, asked: RetentionAsked) -> RetentionReport:
    """Which personal data will be destroyed because its term ends, and when."""
    terms = mnemon.privacy.retention
    ending = await terms.ending(caller.tenant_id, datetime.now(UTC) + timedelta(days=asked.days), asked.limit)
    words = await terms.last_words(caller.tenant_id, [one.subject_id for one in ending])
    items = []
    for one in ending:
        word = words.get(one.subject_id)
        items.append(
            EndingTermOut(
                subject_id=one.subject_id,
                events=one.events,
                ends_at=one.ends_at,
                erasure_id=word.erasure_id if word else None,
                status=word.status if word else None,
            )
        )
    return RetentionReport(notice_days=terms.notice.days, items=items)
