"""Artifacts as readers open them: what is known, the text of a revision, the history, and the end."""

from typing import Any, Protocol
from uuid import UUID

from mnemon.db.database import Database
from mnemon.documents.ingest.revision_texts import read_text
from mnemon.documents.purge import Purged
from mnemon.documents.readers import Reader, read_as
from mnemon.errors import InvalidRequest, NotAllowed
from mnemon.log.events import Actor
from mnemon.semantics.artifact_lookup import find_artifact, find_revision, revisions_of


class Purging(Protocol):
    """The running Mnemon, as far as a deletion needs it."""

    @property
    def database(self) -> Database: ...
    async def purge_document(self, tenant: UUID, actor: Actor, doc_id: UUID) -> Purged: ...


async def artifact_get(
    database: Database, tenant: UUID, reader: Reader, artifact_uid: str, revision_id: str | None = None, *,
    include_text: bool = False, start: int = 0, end: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The artifact with one revision, the latest unless told; with `text[start:end]` of it if wanted."""
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        artifact = await find_artifact(tx, artifact_uid)
        revision = await find_revision(tx, artifact, revision_id)
        shape = artifact.as_json() | revision.as_json()
        if include_text:
            text = (await read_text(tx, revision.doc_version_id)).text
            last = len(text) if end is None else end
            if not 0 <= start <= last <= len(text):
                raise InvalidRequest(f"{start}-{last} is no span of this text of {len(text)} characters.")
            shape |= {"text": text[start:last], "start_char": start, "end_char": last, "char_count": len(text)}
    return shape


async def artifact_revisions(database: Database, tenant: UUID, reader: Reader, artifact_uid: str) -> dict[str, Any]:
    """The history of an artifact, the latest first."""
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        revisions = await revisions_of(tx, await find_artifact(tx, artifact_uid))
    return {"artifact_uid": artifact_uid, "revisions": [one.as_json() for one in revisions], "total": len(revisions)}


async def artifact_delete(mnemon: Purging, tenant: UUID, actor: Actor, artifact_uid: str) -> dict[str, Any]:
    """Destroy an artifact of one's own for good, with its texts, vectors and events."""
    reader = Reader.of(actor)
    async with mnemon.database.transaction(tenant) as tx:
        await read_as(tx, reader)
        artifact = await find_artifact(tx, artifact_uid)
    if artifact.owner != reader.name:
        raise NotAllowed("Only the owner of an artifact deletes it; an administrator purges its document.")
    purged = await mnemon.purge_document(tenant, actor, artifact.doc_id)
    return {"artifact_uid": artifact_uid, "deleted": True, "revisions": purged.versions}
