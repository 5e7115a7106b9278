"""What operations on mail answer, with the field names of the specification."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from mnemon.operations import Output


class MailPerson(Output):
    """Somebody as a header gives them."""

    name: str
    email: str


class SpanShown(Output):
    """`body_raw[start:end]` is of one kind."""

    label: str
    start: int
    end: int
    depth: int = 0


class CopyShown(Output):
    """Where a message stands in an archive."""

    archive_id: str
    offset: int
    length: int
    digest: str


class MailListed(Output):
    """A message in a list."""

    message_key: str
    message_id: str
    thread_id: str | None
    in_reply_to: str | None
    subject: str
    sender: MailPerson = Field(serialization_alias="from")
    date: datetime | None
    list_name: str
    draft_mentions: list[str]
    doc_id: UUID
    created_at: datetime


class MailShown(MailListed):
    """A message whole."""

    doc_version_id: UUID
    references: list[str]
    to: list[MailPerson]
    cc: list[MailPerson]
    date_source: str
    body_raw: str
    body_normalized: str
    spans: list[SpanShown]
    headers: dict[str, str]
    attachments: list[dict[str, Any]]
    defects: list[str]
    parent_id: str | None
    result_of: str | None = Field(description="The vote that this message tells the result of.")
    copies: list[CopyShown]


class MailPage(Output):
    items: list[MailListed]
    next_cursor: str | None = None


class ThreadListed(Output):
    """A thread in a list."""

    thread_id: str
    thread_key: str
    list_name: str
    subject: str
    participants: list[MailPerson]
    message_count: int
    ghost_count: int = Field(description="Messages that others refer to and no archive holds.")
    first_message_date: datetime | None
    last_message_date: datetime | None
    draft_mentions: list[str]
    consensus: str | None = Field(
        None, description="What it came to: agreement, dissent, mixed or none; null: nobody read it yet."
    )


class ThreadNode(MailListed):
    """A message in its thread: whom it answers, and how deep that is."""

    parent_id: str | None
    result_of: str | None
    depth: int


class ThreadShown(ThreadListed):
    """A thread with its messages, each below the one that it answers."""

    messages: list[ThreadNode]


class ThreadPage(Output):
    items: list[ThreadListed]
    next_cursor: str | None = None


class ArchiveShown(Output):
    """An archive."""

    archive_id: str
    file_hash: str
    file_size_bytes: int
    source: str
    source_type: str
    source_url: str
    format: str
    start_offset: int
    continues: str | None
    status: str
    message_count: int
    defect_count: int
    ingestion_date: datetime


class DefectShown(Output):
    offset: int
    length: int
    reason: str


class ArchiveWhole(ArchiveShown):
    """An archive, with the bytes in it that are no messages."""

    defects: list[DefectShown]


class ArchivePage(Output):
    items: list[ArchiveShown]
    next_cursor: str | None = None


class ImportBegun(Output):
    """A look at a source was queued; `mnemon mail imports` follows what it finds."""

    source_id: UUID
    name: str
    source_type: str
    job_id: UUID


class SourceShown(Output):
    """A source of mail, and how it is."""

    source_id: UUID
    name: str
    source_type: str
    location: str
    every_minutes: int | None
    paused: bool
    status: str
    failures: int
    last_error: str | None
    last_checked_at: datetime | None
    next_check_at: datetime | None
    visibility_scope: str = Field(description="Who may read what comes from it: org, me or custom.")
    readers: list[str] | None = Field(description="null: everyone.")


class SourceList(Output):
    items: list[SourceShown]


class SourceRemoved(Output):
    name: str
    removed: bool


class MailImportShown(Output):
    """One import of one archive."""

    import_id: UUID
    source: str
    source_url: str
    archive_id: str | None
    status: str
    stage: str | None
    position: int
    total: int
    counts: dict[str, int]
    attempts: int
    error_code: str | None
    error: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class MailImportList(Output):
    items: list[MailImportShown]


class CheckLine(Output):
    """One thing that was looked at."""

    check: str
    looked_at: int
    found: int
    repaired: int
    examples: list[str]


class MailChecked(Output):
    """What a check found."""

    holds: bool
    checks: list[CheckLine]
