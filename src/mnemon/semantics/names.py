"""The names that tools and people use for artifacts, revisions, chunks and jobs."""

import hashlib
import re
from uuid import UUID

from mnemon.documents.ingest.chunk_store import chunk_id_of
from mnemon.ids import new_uuid

SHOWN = 16
_HASH = re.compile(r"sha256:([0-9a-f]{64})")


def artifact_uid_of(source_system: str, source_id: str | None) -> str:
    """Stable for a source that has an id of its own; else a new one."""
    if source_id is None:
        return "uid_" + new_uuid().hex[:SHOWN]
    # No name has a zero byte: "a:b" with the id "c" is not "a" with the id "b:c".
    between = "\0" if ":" in source_system else ":"
    return "uid_" + hashlib.sha256(f"{source_system}{between}{source_id}".encode()).hexdigest()[:SHOWN]


def upload_uid_of(subject: str) -> str:
    """For a document that came as a file: made of its own id, given as its key's name."""
    return "uid_" + subject.partition(":")[2].replace("-", "")[:SHOWN]


def revision_name(content_hash: str) -> str:
    """By the content, so that the same content is the same revision of its artifact."""
    match = _HASH.fullmatch(content_hash)
    return f"rev_{match[1][:SHOWN]}" if match else "rev_purged"


def artifact_name(doc_id: UUID) -> str:
    return f"art_{doc_id.hex[:SHOWN]}"


def chunk_name(doc_id: UUID, doc_version_id: UUID, ordinal: int) -> str:
    return f"{artifact_name(doc_id)}::chunk::{ordinal:03d}::{chunk_id_of(doc_version_id, ordinal).hex[:8]}"


def job_name(job_id: UUID) -> str:
    return f"job_{job_id.hex}"
