"""The page of what changed between two versions of a document: events added, dropped and changed, and the text."""

from uuid import UUID

from fastapi import APIRouter, Request, Response

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.documents.access import open_as
from mnemon.documents.artifact_names import uid_of
from mnemon.documents.ingest.revision_texts import read_text
from mnemon.documents.library import document_by_id, revision_of, revisions_of, which_revision
from mnemon.errors import Conflict, NotFound
from mnemon.operations import Caller, Differs, as_json, read_input
from mnemon.semantics import operations
from mnemon.semantics.shapes import Shape
from mnemon.web.forms import binds
from mnemon.web.rendering import Visitor, as_page, id_of, render, visit
from mnemon.web.side_by_side import LinePair, side_by_side

router = APIRouter(include_in_schema=False)
BY_DOCUMENT = {"artifact_uid": Differs("The page's address names the document.")}
# Longer texts are not laid beside each other: nobody reads a page of that length.
LONGEST_COMPARED = 300_000
AROUND = 2
# How people call what differs in an event.
CALLED = {
    "narrative": "the words", "event_time": "the day", "due": "the due date", "category": "the category",
    "actors": "the people", "subject": "the subject",
}  # fmt: skip


@router.get("/documents/{doc_id}/changes")
@as_page
@binds(operations.changes, BY_DOCUMENT)
async def changes_page(
    request: Request, mnemon: MnemonPart, doc_id: str, before: str = "", after: str = ""
) -> Response:
    visitor = await visit(request, operations.changes.action)
    async with mnemon.database.transaction(visitor.tenant_id) as tx:
        await open_as(tx, visitor.reader, id_of(doc_id))
        document = await document_by_id(tx, id_of(doc_id))
        versions = await revisions_of(tx, document.doc_id)
    if len(versions) < 2:
        raise NotFound("This document has one version: there is nothing to compare it with.")
    numbers = sorted(one.version_number for one in versions)
    unknown = next((one for one in (before, after) if one and one not in map(str, numbers)), None)
    if unknown:
        raise NotFound(f"This document has no version {unknown[:40]}.")
    last = after or str(numbers[-1])
    first = before or str(max([one for one in numbers if str(one) != last and one < int(last)] or numbers[:1]))
    changed, not_read = await _changed(mnemon, visitor, uid_of(document.doc_id, document.source_uri), first, last)
    return render(
        "revision_changes.html", here="documents", visitor=visitor, document=document, versions=versions,
        first=first, last=last, changed=changed, not_read=not_read,
        called=CALLED, pairs=await _compared(mnemon, visitor, document.doc_id, first, last),
    )  # fmt: skip


async def _changed(
    mnemon: Mnemon, visitor: Visitor, uid: str, first: str, last: str
) -> tuple[Shape | None, Conflict | None]:
    """What the events say; the reason where one of the versions was not read for them yet."""
    asked = read_input(operations.changes, {"artifact_uid": uid, "before": first, "after": last})
    try:
        return as_json(await operations.changes(mnemon, Caller.of(visitor.principal), asked)), None
    except Conflict as refusal:
        return None, refusal


async def _compared(mnemon: Mnemon, visitor: Visitor, doc_id: UUID, first: str, last: str) -> list[LinePair | None]:
    """Lines that differ with a few around them; None stands for lines left out."""
    async with mnemon.database.transaction(visitor.tenant_id) as tx:
        texts = []
        for number in (first, last):
            revision = await revision_of(tx, doc_id, which_revision(number))
            texts.append((await read_text(tx, revision.doc_version_id)).text)
    if max(map(len, texts)) > LONGEST_COMPARED:
        return []
    pairs = side_by_side(*texts)
    near = {at + step for at, one in enumerate(pairs) if one.kind != "same" for step in range(-AROUND, AROUND + 1)}
    shown: list[LinePair | None] = []
    for at, one in enumerate(pairs):
        if at in near:
            shown.append(one)
        elif shown and shown[-1] is not None:
            shown.append(None)
    return shown
