"""The names under which tools speak of documents, and what they open, for the eyes of the caller alone."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.documents.access import Reader, read_as
from mnemon.documents.artifact_names import revision_name, uid_of
from mnemon.documents.ingest.revision_texts import read_span
from mnemon.mcp.caller import AgentCaller
from mnemon.mcp.links import artifact_uri
from mnemon.semantics.artifact_reading import Artifact, ArtifactRevision, find_artifact, find_revision

NAMES = """
SELECT r.doc_version_id, r.doc_id, d.source_uri, d.document_type, r.content_hash
  FROM mnemon.document_revisions r
  JOIN mnemon.documents d ON d.tenant_id = r.tenant_id AND d.doc_id = r.doc_id
 WHERE r.tenant_id = mnemon.current_tenant() AND r.doc_version_id = ANY(%s) AND r.purged_at IS NULL
   AND mnemon.may_read(d.readers)
"""


@dataclass(frozen=True)
class Named:
    """A revision by its names."""

    artifact_uid: str
    revision_id: str
    artifact_type: str

    def uri(self, start: int | None = None, end: int | None = None) -> str:
        return artifact_uri(self.artifact_uid, self.revision_id, start, end)


async def names_of(caller: AgentCaller, revisions: Iterable[UUID]) -> dict[UUID, Named]:
    """The names of those that the caller may see; a revision that is missing here must not be shown."""
    async with caller.mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, reader_of(caller))
        rows = await (await tx.execute(NAMES, (list({*revisions}),))).fetchall()
    return {
        row["doc_version_id"]: Named(
            uid_of(row["doc_id"], row["source_uri"]), revision_name(row["content_hash"]), row["document_type"]
        )
        for row in rows
    }


def reader_of(caller: AgentCaller) -> Reader:
    return Reader.of(caller.principal.actor)


async def open_revision(tx: Connection, artifact: str, revision: str | None) -> tuple[Artifact, ArtifactRevision]:
    """By the names of tools or by ids of documents. The transaction knows its reader."""
    found = await find_artifact(tx, artifact)
    return found, await find_revision(tx, found, revision)


async def open_span(caller: AgentCaller, artifact: str, revision: str, start: int, end: int) -> str:
    """`text[start:end]` of a revision."""
    async with caller.mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, reader_of(caller))
        _, found = await open_revision(tx, artifact, revision)
        return await read_span(tx, found.doc_version_id, start, end)
