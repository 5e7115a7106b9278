"""The names under which tools speak of documents, and what they open, for the eyes of the caller alone."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.documents.ingest.revision_texts import read_span
from mnemon.documents.readers import Reader, read_as
from mnemon.errors import NotFound
from mnemon.mcp.caller import Caller
from mnemon.mcp.links import artifact_uri
from mnemon.semantics.artifact_lookup import Artifact, ArtifactRevision, find_artifact, find_revision

NAMES = """
SELECT r.doc_version_id, a.artifact_uid, a.artifact_type, r.revision_id, mnemon.may_read(a.readers) AS readable
  FROM mnemon.artifact_revisions r
  JOIN mnemon.artifacts a ON a.tenant_id = r.tenant_id AND a.doc_id = r.doc_id
 WHERE r.tenant_id = mnemon.current_tenant() AND r.doc_version_id = ANY(%s)
"""
# An address may also name a document and its version by their own ids.
UID = "SELECT artifact_uid FROM mnemon.artifacts WHERE tenant_id = mnemon.current_tenant() AND doc_id = %s"
REVISION = """
SELECT revision_id FROM mnemon.artifact_revisions WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = %s
"""


@dataclass(frozen=True)
class Named:
    """A revision by its names."""

    artifact_uid: str
    revision_id: str
    artifact_type: str

    def uri(self, start: int | None = None, end: int | None = None) -> str:
        return artifact_uri(self.artifact_uid, self.revision_id, start, end)


async def names_of(caller: Caller, revisions: Iterable[UUID]) -> dict[UUID, Named]:
    """The names of those that the caller may see; a revision that is missing here must not be shown."""
    async with caller.mnemon.database.transaction(caller.tenant) as tx:
        await read_as(tx, reader_of(caller))
        rows = await (await tx.execute(NAMES, (list({*revisions}),))).fetchall()
    return {
        row["doc_version_id"]: Named(row["artifact_uid"], row["revision_id"], row["artifact_type"])
        for row in rows
        if row["readable"]
    }


def reader_of(caller: Caller) -> Reader:
    return Reader.of(caller.principal.actor)


async def open_revision(tx: Connection, artifact: str, revision: str | None) -> tuple[Artifact, ArtifactRevision]:
    """By the names of tools or by ids of documents. The transaction knows its reader."""
    uid = await _first(tx, UID, artifact) or artifact
    found = await find_artifact(tx, uid)
    name = await _first(tx, REVISION, revision) or revision if revision else None
    return found, await find_revision(tx, found, name)


async def open_span(caller: Caller, artifact: str, revision: str, start: int, end: int) -> str:
    """`text[start:end]` of a revision."""
    async with caller.mnemon.database.transaction(caller.tenant) as tx:
        await read_as(tx, reader_of(caller))
        _, found = await open_revision(tx, artifact, revision)
        return await read_span(tx, found.doc_version_id, start, end)


async def _first(tx: Connection, query: str, name: str | None) -> str | None:
    try:
        known = UUID(name or "")
    except ValueError:
        return None
    row = await (await tx.execute(query, (known,))).fetchone()
    if row is None:
        raise NotFound(f"{name} names nothing here.")
    return str(next(iter(row.values())))
