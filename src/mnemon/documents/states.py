"""The states of documents and of their runs."""

from enum import StrEnum


class DocumentStatus(StrEnum):
    """Active: a revision is served. Unread: no run has succeeded yet."""

    ACTIVE = "active"
    INACTIVE = "inactive"
    UNREAD = "unread"
    PURGED = "purged"


class RunStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
