"""What changed between two revisions of an artifact, told in semantic events with their evidence."""

from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.documents.readers import Reader, read_as
from mnemon.semantics.artifact_lookup import ArtifactRevision, NoSuchArtifact, find_artifact, revisions_of
from mnemon.semantics.changes import changes
from mnemon.semantics.linking import EVENTS, event_of
from mnemon.semantics.query import OF_REVISION
from mnemon.semantics.semantic_event import SemanticEvent
from mnemon.semantics.shapes import Shape, event_shape, read_events, read_evidence


async def changes_between(
    database: Database, tenant: UUID, reader: Reader, artifact_uid: str, before: str | None = None,
    after: str | None = None,
) -> Shape:  # fmt: skip
    """Events added, dropped and changed. Without names: from the revision before the latest to the latest."""
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        revisions = await revisions_of(tx, await find_artifact(tx, artifact_uid))
        last = _named(revisions, after, artifact_uid) if after else revisions[0]
        first = _named(revisions, before, artifact_uid) if before else _earlier(revisions, last, artifact_uid)
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


async def _events(tx: Connection, revision: UUID) -> list[SemanticEvent]:
    ids = [row["event_id"] for row in await (await tx.execute(OF_REVISION, (revision,))).fetchall()]
    rows = {row["event_id"]: row for row in await (await tx.execute(EVENTS, (ids,))).fetchall()}
    return [event_of(rows[one]) for one in ids]


def _named(revisions: list[ArtifactRevision], name: str, artifact_uid: str) -> ArtifactRevision:
    """By its id, or by its number among the revisions."""
    for one in revisions:
        if name in (one.revision_id, str(one.version_number)):
            return one
    raise NoSuchArtifact(f"Artifact {artifact_uid} has no revision {name}", artifact_uid=artifact_uid)


def _earlier(revisions: list[ArtifactRevision], last: ArtifactRevision, artifact_uid: str) -> ArtifactRevision:
    earlier = [one for one in revisions if one.version_number < last.version_number]
    if not earlier:
        raise NoSuchArtifact(f"Artifact {artifact_uid} has no earlier revision", artifact_uid=artifact_uid)
    return max(earlier, key=lambda one: one.version_number)
