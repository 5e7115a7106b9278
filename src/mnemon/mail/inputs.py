"""What operations on mail take."""

from typing import Annotated, Literal

from pydantic import Field

from mnemon.inputs import Cursor, FirstMoment, LastMoment, Maybe
from mnemon.operations import Input

Name = Annotated[str, Field(min_length=1, max_length=200)]
PageSize = Annotated[int, Field(ge=1, le=100)]
HOW_MANY = "How many at most."


class MailFilters(Input):
    """Which messages or threads."""

    list_name: Maybe[Name] = Field(None, description="The list, as its List-Id or its source names it.")
    person: Maybe[Name] = Field(None, description="Who wrote: an address, or a full name in any spelling.")
    since: Maybe[FirstMoment] = Field(None, description="Not before this.")
    until: Maybe[LastMoment] = Field(None, description="Not after this.")
    draft: Maybe[Name] = Field(
        None, description="What is spoken of: draft-ietf-quic-transport (any version), draft-…-34 or rfc9000."
    )
    limit: PageSize = Field(50, description=HOW_MANY)
    cursor: Cursor = None


class MessagesAsked(MailFilters):
    """Messages, newest first."""

    thread_id: Maybe[Annotated[str, Field(max_length=600)]] = Field(None, description="Of this thread alone.")


class MessageAsked(Input):
    """One message."""

    message: Annotated[str, Field(min_length=1, max_length=600)] = Field(
        description="Its key, the key of a copy, or its Message-ID."
    )


class ThreadsAsked(MailFilters):
    """Threads, those with the newest messages first."""

    consensus: Maybe[Literal["agreement", "dissent", "mixed", "none"]] = Field(
        None, description="What they came to: agreement, dissent, mixed or none."
    )


class ThreadAsked(Input):
    """One thread."""

    thread: Annotated[str, Field(min_length=1, max_length=600)] = Field(
        description="Its id or key, or the Message-ID of any message in it."
    )


class MailArchivesAsked(Input):
    """Archives, newest first."""

    source: Maybe[Name] = Field(None, description="Of this source alone.")
    status: Maybe[Literal["pending", "processed", "failed"]] = Field(None, description="In this state alone.")
    limit: PageSize = Field(50, description=HOW_MANY)
    cursor: Cursor = None


class MailArchiveAsked(Input):
    archive_id: Annotated[str, Field(pattern="^[0-9a-f]{16}$")] = Field(description="The archive.")


class ImportAsked(Input):
    """Where an archive is, and what its list is called."""

    location: Annotated[str, Field(min_length=1, max_length=1000)] = Field(
        description="http(s)://…, rsync://…; at the machine itself a file, a folder or imap(s)://user@host/folder too."
    )
    name: Maybe[Name] = Field(None, description="What the source is called. Default: the last part of its place.")
    every_minutes: Maybe[Annotated[int, Field(ge=5, le=525_600)]] = Field(
        None, description="Look again after this many minutes, and so on. Default: only now."
    )

    visibility_scope: Maybe[Literal["org", "me", "custom"]] = Field(
        None, description="Who may read it: org (everyone, the default), me, or custom (me and the readers)."
    )
    readers: list[Name] = Field(
        default_factory=list, max_length=200, description="Addresses or ids of who else may read it, for custom."
    )


class SourceAsked(Input):
    name: Name = Field(description="The source.")


class SourcesAsked(Input):
    """All sources."""


class MailImportsAsked(Input):
    """Imports, newest first."""

    limit: PageSize = Field(50, description=HOW_MANY)


class CheckAsked(Input):
    """Whether mail is whole."""

    repair: bool = Field(False, description="Mend what can be mended.")
