"""What is asked about sources."""

from typing import Annotated

from pydantic import Field, SecretStr

from mnemon.inputs import Cursor, Maybe
from mnemon.operations import Input

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\s/][^/\x00-\x1f]*$")]
Pattern = Annotated[str, Field(min_length=1, max_length=500)]
Patterns = Annotated[list[Pattern], Field(max_length=50)]
Tags = Annotated[list[Annotated[str, Field(min_length=1, max_length=100)]], Field(max_length=50)]
PATTERNS = "`*` stands for anything within a name, `**` across folders; one without a slash is of the last name."


class SourceTerms(Input):
    """What may be said of a source when it is added, and changed later."""

    include: Maybe[Patterns] = Field(None, description=f"Only files that fit one of these. {PATTERNS}")
    exclude: Maybe[Patterns] = Field(None, description=f"No files that fit one of these. {PATTERNS}")
    tags: Maybe[Tags] = Field(None, description="Tags for its documents.")
    access_key: Maybe[Annotated[str, Field(min_length=1, max_length=200)]] = Field(
        None, description="Access key of the bucket. Without keys, it is read as anybody may."
    )
    secret_key: Maybe[Annotated[SecretStr, Field(min_length=1, max_length=500)]] = Field(
        None, description="Its secret; kept sealed, and never shown."
    )
    every_minutes: Maybe[Annotated[int, Field(ge=5, le=525_600)]] = Field(
        None, description="Look again after this many minutes, and so on. Default: only when asked."
    )


class NewSource(SourceTerms):
    """A place whose files become documents."""

    location: Annotated[str, Field(min_length=1, max_length=1_500)] = Field(
        description="s3://bucket/prefix, or a folder of the server that its settings open."
    )
    name: Name = Field(description="What the source is called.")
    endpoint: Maybe[Annotated[str, Field(max_length=500, pattern="^https?://[^\\s/?#]+/?$")]] = Field(
        None, description="Address of the store, where it is not Amazon's own."
    )
    region: Maybe[Annotated[str, Field(max_length=50, pattern="^[a-z0-9-]+$")]] = Field(
        None, description="Region of the bucket."
    )
    server_keys: bool = Field(
        False, description="Read the bucket with the keys of the server; only whoever runs it may say so."
    )


class SourceChanges(SourceTerms):
    """What is different from now on; what is left out stays."""

    source: Name = Field(description="The source, by its name.")
    paused: Maybe[bool] = Field(None, description="Whether it is left alone until it is asked for.")


class FollowedSource(Input):
    """One source."""

    source: Name = Field(description="The source, by its name.")


class LookAsked(FollowedSource):
    """A look at a source."""

    emptied: bool = Field(
        False, description="It is right that nothing is there any more: none of its documents is served from then on."
    )


class FollowedSources(Input):
    """All sources."""


class SyncsAsked(FollowedSource):
    """Looks at a source, newest first."""

    limit: int = Field(20, ge=1, le=200, description="Most looks that are shown.")


class SourceObjectsAsked(FollowedSource):
    """Files of a source, in the order of their keys."""

    status: Maybe[Annotated[str, Field(pattern="^(active|deleted|failed|refused)$")]] = Field(
        None, description="In this state alone: active, deleted, failed or refused."
    )
    limit: int = Field(100, ge=1, le=1000, description="Most files on this page.")
    cursor: Cursor = None
