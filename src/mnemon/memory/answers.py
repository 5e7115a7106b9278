"""Objects and versions as REST, MCP and the command line show them."""

from typing import Any

from mnemon.log.moments import written
from mnemon.memory.objects import MemoryObject
from mnemon.memory.reading import Version


def object_as_json(one: MemoryObject) -> dict[str, Any]:
    return {
        "emo_id": str(one.emo_id),
        "emo_type": one.emo_type,
        "emo_version": one.emo_version,
        "world_id": str(one.place.world_id),
        "branch": one.place.branch,
        "content": one.content,
        "mime_type": one.mime_type,
        "tags": list(one.tags),
        "facets": dict(one.facets),
        "links": one.relations,
        "source": {"kind": one.source_kind, "uri": one.source_uri},
        "subject_id": one.subject_id,
        "created_at": written(one.created_at),
        "updated_at": written(one.updated_at),
        "updated_by": one.updated_by,
        "sequence": str(one.sequence),
    }


def version_as_json(one: Version) -> dict[str, Any]:
    """A line of the changelog."""
    return {
        "emo_version": one.object.emo_version,
        "operation": one.operation,
        "change_id": str(one.change_id),
        "idempotency_key": one.idempotency_key,
        "branch": one.object.place.branch,
        "updated_at": written(one.object.updated_at),
        "updated_by": one.object.updated_by,
        "rationale": one.rationale,
        "deletion_reason": one.object.deletion_reason,
        "content_hash": one.content_hash,
        "determinism_hash": one.determinism_hash,
        "compacted": one.compacted,
        "sequence": str(one.object.sequence),
    }
