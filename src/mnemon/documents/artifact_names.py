"""The words of the tools, for what doors show: a document is an artifact `uid_…`, a revision of it `rev_…`."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.documents.errors import ArtifactNotFound
from mnemon.documents.ingest.chunk_store import chunk_id_of
from mnemon.ids import new_uuid

SHOWN = 16
# The address of a text that came with an origin instead of as a file.
ADDRESS = "artifact://"
# Between an address and the person whose document it is there, where another's at the same address is not for them.
OF = "#of="
# Of a file; of a message, which has none, its text's with a word before it.
_HASH = re.compile(r"(?:\w+:)?sha256:([0-9a-f]{64})")
_BEGUN_ID = re.compile(r"uid_([0-9a-f]{16})")
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

# By its own id, by its address, or by the beginning of its id where it came as a file.
FIND = """
SELECT doc_id FROM mnemon.documents
 WHERE tenant_id = mnemon.current_tenant() AND purged_at IS NULL AND mnemon.may_read(readers)
   AND (doc_id = %(own)s::uuid OR source_uri IN (%(address)s, %(address)s || '#of=' || mnemon.current_reader())
        OR doc_id BETWEEN %(first)s::uuid AND %(last)s::uuid AND NOT starts_with(source_uri, 'artifact://'))
 ORDER BY octet_length(source_uri) DESC LIMIT 1
"""
# Somebody else's own, which they let this reader see.
FIND_OF_OTHERS = """
SELECT doc_id FROM mnemon.documents
 WHERE tenant_id = mnemon.current_tenant() AND purged_at IS NULL AND mnemon.may_read(readers)
   AND starts_with(source_uri, %(address)s || '#of=')
 ORDER BY doc_id LIMIT 1
"""

NAMES = """
SELECT r.doc_version_id, r.doc_id, d.source_uri, d.document_type, r.content_hash
  FROM mnemon.document_revisions r
  JOIN mnemon.documents d ON d.tenant_id = r.tenant_id AND d.doc_id = r.doc_id
 WHERE r.tenant_id = mnemon.current_tenant() AND r.doc_version_id = ANY(%s) AND r.purged_at IS NULL
   AND mnemon.may_read(d.readers)
"""


@dataclass(frozen=True)
class RevisionNames:
    """A revision as the tools name it."""

    artifact_uid: str
    revision_id: str
    artifact_type: str


def uid_of_source(source_system: str, source_id: str | None) -> str:
    """Stable for a source that has an id of its own; else a new one."""
    if source_id is None:
        return "uid_" + new_uuid().hex[:SHOWN]
    # No name has a zero byte: "a:b" with the id "c" is not "a" with the id "b:c".
    between = "\0" if ":" in source_system else ":"
    return "uid_" + hashlib.sha256(f"{source_system}{between}{source_id}".encode()).hexdigest()[:SHOWN]


def uid_of(doc_id: UUID, source_uri: str) -> str:
    """What its address says; of a document that came as a file, the beginning of its own id."""
    address = shared_address(source_uri)
    return address.removeprefix(ADDRESS) if address.startswith(ADDRESS) else f"uid_{doc_id.hex[:SHOWN]}"


def own_address(address: str, person: str) -> str:
    """Where a person's document lies while another's, which is not for them, has the address itself."""
    return f"{address}{OF}{person}"


def shared_address(source_uri: str) -> str:
    """As its sender gave it: whether someone else has a document there is not told."""
    return source_uri.partition(OF)[0]


async def document_of_uid(tx: Connection, artifact_uid: str) -> UUID:
    """The document that the tools call so, or that has this id, if it is for the transaction's reader."""
    begun = _BEGUN_ID.fullmatch(artifact_uid)
    first, last = (begun[1].ljust(32, "0"), begun[1].ljust(32, "f")) if begun else (None, None)
    own = artifact_uid if _ID.fullmatch(artifact_uid) else None
    values = {"own": own, "address": f"{ADDRESS}{artifact_uid}", "first": first, "last": last}
    row = await (await tx.execute(FIND, values)).fetchone()
    row = row or await (await tx.execute(FIND_OF_OTHERS, values)).fetchone()
    if row is None:
        raise ArtifactNotFound(f"Artifact {artifact_uid} not found", artifact_uid=artifact_uid)
    found: UUID = row["doc_id"]
    return found


def revision_name(content_hash: str) -> str:
    """By the content, so that the same content is the same revision of its artifact."""
    match = _HASH.fullmatch(content_hash)
    return f"rev_{match[1][:SHOWN]}" if match else "rev_purged"


async def names_of_revisions(tx: Connection, revisions: Iterable[UUID]) -> dict[UUID, RevisionNames]:
    """Of those that the transaction's reader may see: a revision that is missing here must not be shown."""
    rows = await (await tx.execute(NAMES, (list({*revisions}),))).fetchall()
    return {
        row["doc_version_id"]: RevisionNames(
            uid_of(row["doc_id"], row["source_uri"]), revision_name(row["content_hash"]), row["document_type"]
        )
        for row in rows
    }


def artifact_name(doc_id: UUID) -> str:
    return f"art_{doc_id.hex[:SHOWN]}"


def chunk_name(doc_id: UUID, revision_id: UUID, ordinal: int) -> str:
    return f"{artifact_name(doc_id)}::chunk::{ordinal:03d}::{chunk_id_of(revision_id, ordinal).hex[:8]}"


def job_name(job_id: UUID) -> str:
    return f"job_{job_id.hex}"
