"""The names under which tools speak of documents, and what they open, for the eyes of the caller alone."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import Connection
from mnemon.documents.access import Reader, read_as
from mnemon.documents.artifact_names import RevisionNames, names_of_revisions
from mnemon.documents.ingest.revision_texts import read_span
from mnemon.mcp.caller import AgentCaller
from mnemon.mcp.links import artifact_uri
from mnemon.semantics.artifact_reading import Artifact, ArtifactRevision, find_artifact, find_revision


@dataclass(frozen=True)
class Named(RevisionNames):
    """A revision by its names, and its address."""

    def uri(self, start: int | None = None, end: int | None = None) -> str:
        return artifact_uri(self.artifact_uid, self.revision_id, start, end)


async def names_of(caller: AgentCaller, revisions: Iterable[UUID]) -> dict[UUID, Named]:
    """The names of those that the caller may see; a revision that is missing here must not be shown."""
    async with caller.mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, reader_of(caller))
        names = await names_of_revisions(tx, revisions)
    return {revision: Named(**vars(named)) for revision, named in names.items()}


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
