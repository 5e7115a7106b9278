"""What changed between two revisions of an artifact, told in semantic events with their evidence."""

from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.documents.access import Reader, read_as
from mnemon.documents.errors import ArtifactNotFound
from mnemon.errors import Conflict
from mnemon.semantics.artifact_reading import Artifact, ArtifactRevision, find_artifact, find_revision, revisions_of
from mnemon.semantics.link.linking import EVENTS, event_of
from mnemon.semantics.search.changes import changes
from mnemon.semantics.search.query import OF_REVISION
from mnemon.semantics.semantic_event import SemanticEvent
from mnemon.semantics.shapes import Shape, event_shape, read_events, read_evidence

# What was served until this one came, or came back: a restored content has a lower number than what it replaces.
SERVED_BEFORE = """
SELECT r.doc_version_id
  FROM mnemon.document_revisions r, unnest(r.served) AS span
 WHERE r.tenant_id = mnemon.current_tenant() AND r.doc_id = %(doc)s AND r.doc_version_id <> %(last)s
   AND upper(span) <= (
       SELECT max(lower(own)) FROM mnemon.document_revisions l, unnest(l.served) AS own
        WHERE l.tenant_id = r.tenant_id AND l.doc_version_id = %(last)s)
 ORDER BY upper(span) DESC LIMIT 1
"""


async def changes_between(
    database: Database, tenant: UUID, reader: Reader, artifact_uid: str, before: str | None = None,
    after: str | None = None,
) -> Shape:  # fmt: skip
    """Events added, dropped and changed. Without names: from the revision that was served before to the latest."""
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        artifact = await find_artifact(tx, artifact_uid)
        last = await _named(tx, artifact, after) if after else await find_revision(tx, artifact)
        first = await _named(tx, artifact, before) if before else await _served_before(tx, artifact, last)
        for one in (first, last):
            _was_read(one)
        told = changes(await _events(tx, first.doc_version_id), await _events(tx, last.doc_version_id))
        wanted = {event.event_id for event in (*told.added, *told.dropped)}
        wanted |= {event.event_id for one in told.changed for event in (one.before, one.after)}
        rows = await read_events(tx, sorted(wanted))
        evidence = await read_evidence(tx, rows)
    shown = {row["event_id"]: event_shape(row) | {"evidence": evidence[row["event_id"]]} for row in rows}
    return {
        "artifact_uid": artifact_uid,
        "before": first.revision_id,
        "after": last.revision_id,
        "added": [shown[event.event_id] for event in told.added],
        "dropped": [shown[event.event_id] for event in told.dropped],
        "changed": [
            {"before": shown[one.before.event_id], "after": shown[one.after.event_id], "fields": list(one.fields)}
            for one in told.changed
        ],
    }


def _was_read(revision: ArtifactRevision) -> None:
    """What was not read says nothing yet: as it stands, everything would look dropped."""
    if revision.extracted_at is None:
        raise Conflict(
            f"The events of {revision.revision_id} were not read yet: ask again when its extraction job is done.",
            revision_id=revision.revision_id,
        )


async def _events(tx: Connection, revision: UUID) -> list[SemanticEvent]:
    ids = [row["event_id"] for row in await (await tx.execute(OF_REVISION, (revision,))).fetchall()]
    rows = {row["event_id"]: row for row in await (await tx.execute(EVENTS, (ids,))).fetchall()}
    return [event_of(rows[one]) for one in ids]


async def _named(tx: Connection, artifact: Artifact, name: str) -> ArtifactRevision:
    """By its id, or by its number among the revisions."""
    for one in await revisions_of(tx, artifact):
        if name in (one.revision_id, str(one.version_number)):
            return one
    raise ArtifactNotFound(
        f"Artifact {artifact.artifact_uid} has no revision {name}", artifact_uid=artifact.artifact_uid
    )


async def _served_before(tx: Connection, artifact: Artifact, last: ArtifactRevision) -> ArtifactRevision:
    values = {"doc": artifact.doc_id, "last": last.doc_version_id}
    found = await (await tx.execute(SERVED_BEFORE, values)).fetchone()
    for one in await revisions_of(tx, artifact):
        if found is not None and one.doc_version_id == found["doc_version_id"]:
            return one
    raise ArtifactNotFound(
        f"Artifact {artifact.artifact_uid} has no revision before {last.revision_id}: it came first",
        artifact_uid=artifact.artifact_uid,
    )
