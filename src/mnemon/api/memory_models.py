"""How memory objects look in requests and answers."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from mnemon.memory.drafts import MOST_CHARACTERS, MOST_FACETS
from mnemon.memory.fold import links_of, parents_of
from mnemon.memory.objects import EmoType, LinkKind, Relation, SourceKind

Tag = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=MOST_CHARACTERS)]
Reason = Annotated[str, Field(max_length=10_000)]
ViewName = Literal["current", "changelog", "diff", "rationale"]


class Asked(BaseModel):
    """What we do not know we refuse: a misspelt field must not vanish."""

    model_config = ConfigDict(extra="forbid")


class ParentIn(Asked):
    emo_id: UUID
    rel: Relation


class LinkIn(Asked):
    kind: LinkKind
    ref: str = Field(min_length=1, max_length=2000)


class SourceIn(Asked):
    kind: SourceKind | None = Field(None, description="Unset: `user` for a person, `agent` for an access token.")
    uri: str | None = Field(None, max_length=2000)


class NewObject(Asked):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"emo_type": "note", "content": "The archive moves to Frankfurt.", "tags": ["hosting"]},
            ]
        },
    )
    emo_type: EmoType = "note"
    content: Text
    emo_id: UUID | None = Field(None, description="Unset: a new one.")
    tenant_id: UUID | None = Field(None, description="If given, it must be the caller's own.")
    mime_type: str = Field("text/markdown", max_length=200)
    tags: list[Tag] = Field(default_factory=list, max_length=100)
    facets: dict[str, Text] = Field(default_factory=dict, max_length=MOST_FACETS)
    parents: list[ParentIn] = Field(default_factory=list, max_length=100)
    links: list[LinkIn] = Field(default_factory=list, max_length=100)
    source: SourceIn = Field(default_factory=SourceIn)
    subject_id: str | None = Field(
        None, min_length=1, max_length=200, description="Pseudonym of the person it is about: sealed with their key."
    )
    rationale: Reason | None = None


class NewContent(Asked):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"content": "It moves to Paris.", "rationale": "The board said so.", "expected_version": 1}]
        },
    )
    content: Text
    tags: list[Tag] | None = Field(None, max_length=100, description="Unset: as they are.")
    rationale: Reason | None = None
    expected_version: int | None = Field(None, ge=1, description="Unset: whatever it is.")


class NewLinks(Asked):
    parents: list[ParentIn] = Field(default_factory=list, max_length=100)
    links: list[LinkIn] = Field(default_factory=list, max_length=100)
    removed_parents: list[ParentIn] = Field(default_factory=list, max_length=100)
    removed_links: list[LinkIn] = Field(default_factory=list, max_length=100)
    rationale: Reason | None = None
    expected_version: int | None = Field(None, ge=1)


class NewFacet(Asked):
    value: Text
    rationale: Reason | None = None
    expected_version: int | None = Field(None, ge=1)


class Deletion(Asked):
    deletion_reason: Reason = ""
    expected_version: int | None = Field(None, ge=1)


class Restoration(Asked):
    rationale: Reason | None = None
    expected_version: int | None = Field(None, ge=1)


class ObjectOut(BaseModel):
    model_config = ConfigDict(extra="forbid")
    emo_id: UUID
    emo_type: EmoType
    emo_version: int
    world_id: UUID
    branch: str
    content: str
    mime_type: str
    tags: list[str]
    facets: dict[str, str]
    links: list[dict[str, str]]
    source: dict[str, str | None]
    subject_id: str | None
    created_at: datetime
    updated_at: datetime
    updated_by: str
    sequence: str = Field(description="Where in the log this version was made.")


class ViewedObject(ObjectOut):
    view_data: dict[str, Any]


class FoundObject(ObjectOut):
    score: float | None = Field(None, description="Of a search: from 0 to 1, beside the other hits.")


class ObjectPage(BaseModel):
    objects: list[FoundObject]
    total: int
    next_cursor: str | None
    mode: str | None = Field(None, description="What a search went by; `text` where no model is at hand.")


class HistoryOut(BaseModel):
    emo_id: UUID
    deleted: bool
    versions: list[dict[str, Any]]


def relations_in(asked: NewObject | NewLinks) -> dict[str, Any]:
    return {"parents": parents_of(_dumped(asked.parents)), "links": links_of(_dumped(asked.links))}


def removed_in(asked: NewLinks) -> dict[str, Any]:
    return {
        "removed_parents": parents_of(_dumped(asked.removed_parents)),
        "removed_links": links_of(_dumped(asked.removed_links)),
    }


def _dumped(models: Any) -> list[dict[str, Any]]:
    return [one.model_dump() for one in models]
