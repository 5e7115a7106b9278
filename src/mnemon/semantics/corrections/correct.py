"""Records what a person says about a semantic event, once it is clear that it can be said."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.documents import events as documents
from mnemon.documents.access import Reader, read_as
from mnemon.documents.intake.locks import lock_documents, lock_linking
from mnemon.errors import Conflict, NotFound
from mnemon.log.events import NewEvent
from mnemon.log.store import EventLog
from mnemon.operations import Caller
from mnemon.semantics import events as happened
from mnemon.semantics.shapes import Shape, read_events, read_evidence, read_links, whole_shape
from mnemon.settings import Settings

STANDING = """
SELECT e.event_id, e.stood, e.merged_into, e.vouched_for, coalesce(e.as_read, jsonb_build_object(
           'category', e.category, 'subject_type', e.subject_type, 'subject_ref', e.subject_ref, 'actors', e.actors,
           'due', e.due, 'kind', e.kind, 'confidence', e.confidence)) AS as_read
  FROM mnemon.semantic_events e WHERE e.tenant_id = mnemon.current_tenant() AND e.event_id = ANY(%s)
"""
SAID = """
SELECT event_id, correction_id, action, said, other_id, said_by, said_at, undone_by, undone_at
  FROM mnemon.event_corrections
 WHERE tenant_id = mnemon.current_tenant() AND event_id = %s ORDER BY sequence
"""


class CorrectingParts(Protocol):
    """What corrections need of Mnemon."""

    @property
    def log(self) -> EventLog: ...


class LearningParts(CorrectingParts, Protocol):
    """What learning from them needs of Mnemon."""

    @property
    def database(self) -> Database: ...
    @property
    def settings(self) -> Settings: ...


@dataclass(frozen=True)
class SpokenOf:
    """The event that is spoken of, first, and the others that it is brought together with."""

    tx: Connection
    events: Sequence[dict[str, Any]]
    said: Sequence[dict[str, Any]]
    evidence: dict[str, list[Shape]]

    @property
    def event(self) -> dict[str, Any]:
        return self.events[0]

    @property
    def live(self) -> list[dict[str, Any]]:
        return [one for one in self.said if one["undone_at"] is None]


@dataclass(frozen=True)
class NewCorrection:
    """What is recorded; `words` are the person's own, `parts` the document's."""

    action: str
    words: dict[str, Any] = field(default_factory=dict)
    others: Sequence[str] = ()
    parts: Sequence[dict[str, Any]] = ()


class Judge(Protocol):
    """Decides what is recorded, if anything: None where it is so already. Refuses what cannot be said."""

    async def __call__(self, about: SpokenOf) -> NewCorrection | NewEvent | None: ...


async def correct(
    parts: CorrectingParts, caller: Caller, ids: Sequence[str], judge: Judge, expected_version: int | None = None
) -> Shape:
    """The first of these events as it is then. Two people take turns; a document that is read meanwhile waits."""
    async with parts.log.transaction(caller.tenant_id) as transaction:
        tx = transaction.connection
        await read_as(tx, Reader.of(caller.actor))
        seen = await _known(tx, ids)
        await lock_documents(tx, [one["doc_id"] for one in seen])
        await lock_linking(tx)
        about = await _spoken_of(tx, ids)
        new = await judge(about)
        if new is not None:
            _refuse_changed(about, expected_version)
            await transaction.append([new if isinstance(new, NewEvent) else _event(caller, about, new)])
        return await shown(tx, ids[0])


async def shown(tx: Connection, event_id: str) -> Shape:
    """One event with all that was said of it."""
    [row] = await _known(tx, [event_id])
    evidence = await read_evidence(tx, [row], whole=True)
    links = await read_links(tx, [event_id])
    said = await (await tx.execute(SAID, (event_id,))).fetchall()
    return whole_shape(row, evidence[event_id], links[event_id]) | {"corrections": [_told(one) for one in said]}


async def _known(tx: Connection, ids: Sequence[str]) -> list[dict[str, Any]]:
    found = await read_events(tx, ids)
    known = {row["event_id"] for row in found}
    for one in ids:
        if one not in known:
            raise NotFound(f"Event {one} not found", event_id=one)
    return found


async def _spoken_of(tx: Connection, ids: Sequence[str]) -> SpokenOf:
    rows = await _known(tx, ids)
    standing = {one["event_id"]: one for one in await (await tx.execute(STANDING, (list(ids),))).fetchall()}
    said = await (await tx.execute(SAID, (ids[0],))).fetchall()
    return SpokenOf(tx, [row | standing[row["event_id"]] for row in rows], said, await read_evidence(tx, rows))


def _refuse_changed(about: SpokenOf, expected: int | None) -> None:
    if expected is not None and expected != about.event["version"]:
        raise Conflict(
            f"{about.event['event_id']} is at version {about.event['version']}, not {expected}: somebody corrected it "
            "meanwhile. Look at it again.",
            event_id=about.event["event_id"],
            version=about.event["version"],
        )


def _event(caller: Caller, about: SpokenOf, new: NewCorrection) -> NewEvent:
    event = about.event
    spans = [[one["start_char"], one["end_char"]] for one in about.evidence[event["event_id"]]]
    said = {"words": new.words, "spans": spans, **({"parts": list(new.parts)} if new.parts else {})}
    return documents.about(
        happened.CORRECTED, event["doc_id"], caller.actor,
        doc_version_id=str(event["doc_version_id"]), event_id=event["event_id"],
        corrector=_corrector(caller), action=new.action, others=list(new.others), said=said,
    )  # fmt: skip


def _corrector(caller: Caller) -> str:
    """The person, also where an agent speaks for them."""
    return caller.actor.person_id


def undone_event(caller: Caller, doc_id: UUID, doc_version_id: UUID, event_id: str, correction_id: str) -> NewEvent:
    return documents.about(
        happened.CORRECTION_UNDONE, doc_id, caller.actor,
        doc_version_id=str(doc_version_id), event_id=event_id, corrector=_corrector(caller),
        correction_id=correction_id,
    )  # fmt: skip


def _told(row: dict[str, Any]) -> Shape:
    return {
        "correction_id": row["correction_id"],
        "action": row["action"],
        "changed": row["said"],
        "by": row["said_by"],
        "at": row["said_at"],
        **({"other": row["other_id"]} if row["other_id"] else {}),
        **({"undone_by": row["undone_by"], "undone_at": row["undone_at"]} if row["undone_at"] else {}),
    }
