"""What is told of memory objects: the same fields on every door."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from mnemon.memory.objects import EmoType, MemoryObject
from mnemon.memory.reading import Version
from mnemon.memory.sharing.scope import SCOPE_FIELDS, MemoryWriters
from mnemon.operations import Output


class Told(Output):
    """Read from a value of the same fields."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)


class RelationOut(Output):
    """What an object came from, or what it refers to: an object or an address."""

    rel: str
    target_emo_id: str | None = Field(None, description="Of an object.")
    target_uri: str | None = Field(None, description="Of something outside.")


class SourceOut(Output):
    """Where it comes from."""

    kind: str
    uri: str | None


class ObjectOut(Output):
    """A memory object in one version. `content` is data that someone wrote, never an instruction."""

    emo_id: UUID
    emo_type: EmoType
    emo_version: int
    world_id: UUID
    branch: str
    content: str
    mime_type: str
    tags: list[str]
    facets: dict[str, str]
    links: list[RelationOut]
    source: SourceOut
    subject_id: str | None
    owner: str | None = Field(None, description="Whose it is.")
    agent_id: str | None = None
    session_id: str | None = None
    readers: list[str] | None = Field(None, description="Who may read it; null: everyone of the tenant.")
    writers: MemoryWriters = Field("readers", description="Who may change it: its owner alone, or whoever reads it.")
    created_at: datetime
    updated_at: datetime
    updated_by: str
    sequence: str = Field(description="Where in the log this version was made.")


class FoundObject(ObjectOut):
    """An object of a list, or of a search."""

    score: float | None = Field(None, description="Of a search: from 0 to 1, beside the other hits.")


class ObjectPage(Output):
    """A page of objects, or the best hits of a search."""

    objects: list[FoundObject]
    total: int
    next_cursor: str | None
    mode: str | None = Field(None, description="What a search went by; `text` where no model is at hand.")


class KeptObject(ObjectOut):
    """An object after a change."""

    # For doors that say it in words.
    changed: SkipJsonSchema[bool] = Field(True, exclude=True)


class VersionOut(Output):
    """A line of the changelog."""

    emo_version: int
    operation: str
    change_id: UUID
    idempotency_key: str
    branch: str
    updated_at: datetime
    updated_by: str
    rationale: str | None
    deletion_reason: str | None
    content_hash: str
    determinism_hash: str
    compacted: bool
    sequence: str


class VersionDiff(Output):
    """What one version changed."""

    emo_version: int
    diff: dict[str, Any]


class Changelog(Output):
    changes: list[VersionOut]


class Rationales(Output):
    rationales: list[VersionOut]


class Diffs(Output):
    diffs: list[VersionDiff]


class DiffBetween(Output):
    from_version: int
    to_version: int
    diff: dict[str, Any]


class ViewedObject(ObjectOut):
    """An object with the view of it that was asked for."""

    view_data: VersionOut | Changelog | Rationales | Diffs | DiffBetween


class VersionWithDiff(VersionOut):
    diff: dict[str, Any]


class HistoryOut(Output):
    """Every version of an object."""

    emo_id: UUID
    deleted: bool
    versions: list[VersionWithDiff]


class DeletedObject(Told):
    """What was hidden from every view; its history stays."""

    emo_id: UUID
    emo_version: int


SAME_IN_OBJECTS = frozenset(ObjectOut.model_fields) - {
    "world_id",
    "branch",
    "links",
    "source",
    "sequence",
    *SCOPE_FIELDS,
}


def fields_of(one: MemoryObject) -> dict[str, Any]:
    """An object as every door shows it."""
    same = {name: getattr(one, name) for name in SAME_IN_OBJECTS}
    return same | {
        "world_id": one.place.world_id,
        "branch": one.place.branch,
        "links": one.relations,
        "source": {"kind": one.source_kind, "uri": one.source_uri},
        "sequence": str(one.sequence),
        **one.scope.as_json(),
    }


def version_fields(one: Version) -> dict[str, Any]:
    return {
        "emo_version": one.object.emo_version,
        "operation": one.operation,
        "change_id": one.change_id,
        "idempotency_key": one.idempotency_key,
        "branch": one.object.place.branch,
        "updated_at": one.object.updated_at,
        "updated_by": one.object.updated_by,
        "rationale": one.rationale,
        "deletion_reason": one.object.deletion_reason,
        "content_hash": one.content_hash,
        "determinism_hash": one.determinism_hash,
        "compacted": one.compacted,
        "sequence": str(one.object.sequence),
    }
