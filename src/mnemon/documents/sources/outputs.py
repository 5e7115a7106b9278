"""What is answered about sources."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from mnemon.operations import Output


class SyncShown(Output):
    """One look at a source."""

    sync_id: UUID
    status: Literal["queued", "running", "succeeded", "failed"]
    counts: dict[str, Any] = Field(
        description="How many were listed, ignored, new, changed, unchanged, deactivated, restored, refused, failed, "
        "waiting for their run to end, kept_by_another (unwanted here, and followed by another source) …"
    )
    attempts: int
    error_code: str | None
    error: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    job_id: UUID | None


class SyncList(Output):
    items: list[SyncShown]


class SyncBegun(Output):
    """The look that was begun, or was under way."""

    sync_id: UUID
    source: str
    begun: bool = Field(description="False where one was under way already.")


class FollowedPlace(Output):
    """A source; its secret is shown to nobody."""

    source_id: UUID
    name: str
    kind: Literal["s3", "folder"]
    location: str
    include: list[str]
    exclude: list[str]
    tags: list[str]
    endpoint: str | None
    region: str | None
    access: Literal["keys", "server", "none"] = Field(
        description="Read with keys of its own, as the server, or as anybody may."
    )
    every_minutes: int | None
    paused: bool
    next_sync_at: datetime | None
    objects: dict[str, int] = Field(description="How many files are in each state.")
    last_sync: SyncShown | None


class FollowedPlaces(Output):
    items: list[FollowedPlace]


class FollowedPlaceRemoved(Output):
    name: str
    removed: bool


class SourceObjectShown(Output):
    """A file of a source."""

    key: str
    status: Literal["active", "deleted", "failed", "refused"]
    size_bytes: int
    modified_at: datetime | None
    doc_id: UUID | None
    error: str | None
    synced_at: datetime


class SourceObjectPage(Output):
    """A page of files; the last one has no cursor."""

    items: list[SourceObjectShown]
    next_cursor: str | None
