"""An answer as one file: question, quotes, where they stand, and the proof that the log has it."""

from collections.abc import Sequence
from typing import Any, Protocol
from uuid import UUID

from mnemon.ask.citations import open_evidence
from mnemon.ask.proving.filed import FORMAT, AnswerFile, FiledCitation, FiledRevision, FiledSentence
from mnemon.ask.proving.words import words_digest
from mnemon.ask.query_log import ENTITY
from mnemon.db.database import Connection, Database
from mnemon.documents.access import Reader, open_revision_as
from mnemon.documents.events import ENTITY as DOCUMENT
from mnemon.documents.events import FILED, INGESTED
from mnemon.errors import NotFound
from mnemon.log.errors import NothingToAttest
from mnemon.log.events import Event
from mnemon.log.proof.integrity import Integrity
from mnemon.log.read.streams import Filter, Stream
from mnemon.log.store import EventLog
from mnemon.operations import Caller

REVISIONS = """
SELECT r.doc_version_id, r.doc_id, d.title, r.version_number, r.content_hash, r.text_hash
FROM mnemon.document_revisions AS r
JOIN mnemon.documents AS d ON d.tenant_id = r.tenant_id AND d.doc_id = r.doc_id
WHERE r.tenant_id = mnemon.current_tenant() AND r.doc_version_id = ANY(%s) AND r.purged_at IS NULL
ORDER BY r.doc_version_id
"""


class Parts(Protocol):
    """What it needs of Mnemon."""

    @property
    def database(self) -> Database: ...

    @property
    def log(self) -> EventLog: ...

    @property
    def integrity(self) -> Integrity: ...


async def make_answer_file(mnemon: Parts, caller: Caller, query_id: UUID) -> AnswerFile:
    event = await _asked(mnemon, caller, query_id)
    told, reader = event.data, Reader.of(caller.actor)
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        quotes = [await _quoted(tx, reader, span) for span in told["evidence"]]
        revisions = await (await tx.execute(REVISIONS, (list({one.doc_version_id for one in quotes}),))).fetchall()
    sentences = _sentences(told.get("sentences", ()), quotes)
    words = words_digest(told["salt"], told["question"], [one.model_dump(mode="json") for one in sentences])
    if words != told["words_digest"]:
        raise NotFound(f"The words of answer {query_id} are not those that were given.", query_id=str(query_id))
    # What has a default is shown by the doors only where it was set.
    return AnswerFile(
        format=FORMAT, query_id=query_id, question=told["question"], asked_at=event.recorded_at,
        outcome=told["outcome"], reason=told["reason"], model=told["model"], salt=told["salt"], sentences=sentences,
        revisions=[await _revision(mnemon, caller.tenant_id, row) for row in revisions],
        receipt=await _receipt(mnemon, caller.tenant_id, event.id),
    )  # fmt: skip


async def _asked(mnemon: Parts, caller: Caller, query_id: UUID) -> Event:
    """Only the asker's own, and for whoever owns the machine: a question may hold what the asker alone may read."""
    page = await mnemon.log.read_page(caller.tenant_id, Stream.of_entity(ENTITY, str(query_id)), limit=1)
    event = page.events[0] if page.events else None
    if event is None or (caller.principal is not None and event.actor_id != caller.actor.id):
        raise NotFound(f"You asked no question {query_id}.", query_id=str(query_id))
    if not all(isinstance(event.data.get(name), str) for name in ("question", "salt", "words_digest")):
        raise NotFound(f"The words of question {query_id} were forgotten, or never kept.", query_id=str(query_id))
    return event


async def _quoted(tx: Connection, reader: Reader, span: dict[str, Any]) -> FiledCitation:
    revision = UUID(span["doc_version_id"])
    await open_revision_as(tx, reader, revision)
    found = await open_evidence(tx, revision, span["start"], span["end"])
    return FiledCitation(doc_version_id=revision, start=span["start"], end=span["end"], quote=found.quote)


def _sentences(told: Sequence[dict[str, Any]], quotes: Sequence[FiledCitation]) -> list[FiledSentence]:
    made, at = [], 0
    for one in told:
        own = list(quotes[at : at + one["citations"]])
        made.append(FiledSentence(role=one["role"], note=one["note"], citations=own))
        at += one["citations"]
    return made


async def _revision(mnemon: Parts, tenant: UUID, row: dict[str, Any]) -> FiledRevision:
    stream, wanted = Stream.of_entity(DOCUMENT, str(row["doc_id"])), Filter(types=[INGESTED.type, FILED.type])
    cursor: str | None = None
    while True:
        page = await mnemon.log.read_page(tenant, stream, wanted, cursor=cursor)
        for event in page.events:
            if event.data.get("doc_version_id") == str(row["doc_version_id"]):
                return FiledRevision(**row, receipt=await _receipt(mnemon, tenant, event.id))
        if page.next_cursor is None:
            raise NotFound(f"The log does not tell of version {row['doc_version_id']}.")
        cursor = page.next_cursor


async def _receipt(mnemon: Parts, tenant: UUID, event_id: str) -> dict[str, Any]:
    """What no checkpoint covers yet is signed now: whoever asked should not have to wait for the clock."""
    try:
        return (await mnemon.integrity.receipt(tenant, event_id)).as_json()
    except NothingToAttest:
        await mnemon.integrity.checkpoint(tenant)
        return (await mnemon.integrity.receipt(tenant, event_id)).as_json()
