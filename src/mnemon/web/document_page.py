"""The page of one document: its versions, its text with the cited words marked, and what administrators may do."""

import re
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse
from markupsafe import Markup

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.ask import operations as ask_operations
from mnemon.documents import operations
from mnemon.documents.access import open_as
from mnemon.documents.artifact_names import uid_of
from mnemon.documents.ingest.revision_texts import read_text
from mnemon.documents.library import (
    Document,
    DocumentRevision,
    StoredChunk,
    chunks_of,
    document_by_id,
    revision_of,
    revisions_of,
    which_revision,
)
from mnemon.documents.pictures import PDF
from mnemon.documents.states import DocumentStatus
from mnemon.errors import InvalidRequest
from mnemon.identity.roles import Action
from mnemon.operations import Caller, Operation, read_input
from mnemon.semantics.search.query import event_list_for_revision
from mnemon.semantics.shapes import Shape
from mnemon.web.forms import binds
from mnemon.web.markdown import MARKDOWN, render_markdown
from mnemon.web.passages import Sheet, TextView, sheet_of, view_of
from mnemon.web.rendering import Visitor, as_page, id_of, query_of, render, visit

router = APIRouter(include_in_schema=False)
# What one has to write to purge a document.
PURGE_WORD = "purge"
IN_THE_MARGIN = 60
# How the text of a message is addressed; an attachment has two slashes more.
MESSAGE = re.compile(r"mail:([^/]+)")


@router.get("/documents/{doc_id}")
@as_page
@binds(operations.get)
async def document_page(
    request: Request, mnemon: MnemonPart, doc_id: str, version: str = "", start: int = 0, end: int = 0, at: int = -1,
    page: int = 0, exact: bool = False,
) -> Response:  # fmt: skip
    visitor = await visit(request, Action.VIEW_DOCUMENTS)
    view: TextView | None = None
    sheet: Sheet | None = None
    prose: Markup | None = None
    chunks: list[StoredChunk] = []
    async with mnemon.database.transaction(visitor.tenant_id) as tx:
        await open_as(tx, visitor.reader, id_of(doc_id))
        document = await document_by_id(tx, id_of(doc_id))
        versions = await revisions_of(tx, document.doc_id)
        chosen = None
        if document.status not in (DocumentStatus.PURGED, DocumentStatus.UNREAD):
            chosen = await revision_of(tx, document.doc_id, which_revision(version or None))
            content = await read_text(tx, chosen.doc_version_id)
            view = view_of(content, start, end, at)
            if chosen.media_type == PDF:
                sheet = sheet_of(content.pages, page, start, end)
            if chosen.media_type == MARKDOWN and not exact:
                marked = (start, end) if view.marked else (-1, -1)
                prose = render_markdown(content.text, view.first, view.last, *marked)
            chunks = await chunks_of(tx, chosen, limit=IN_THE_MARGIN)
        artifact = uid_of(document.doc_id, document.source_uri) if document.purged_at is None else None
    return render(
        "document.html", here="documents", visitor=visitor, document=document, versions=versions, chosen=chosen,
        view=view, sheet=sheet, prose=prose, exact=exact, purge_word=PURGE_WORD,
        request_start=start if end else None, request_end=end or None, artifact=artifact,
        message=_message_of(document), chunks=chunks, said=await _said(mnemon, visitor, artifact, chosen),
    )  # fmt: skip


@router.get("/evidence/{doc_version_id}/{start}-{end}")
@as_page
@binds(ask_operations.evidence)
async def evidence_page(request: Request, mnemon: MnemonPart) -> Response:
    """A citation's link for people: the document at these words."""
    visitor = await visit(request, ask_operations.evidence.action)
    asked = read_input(ask_operations.evidence, request.path_params)
    evidence = await ask_operations.evidence(mnemon, Caller.of(visitor.principal), asked)
    place = query_of(version=evidence.doc_version_id, start=evidence.start, end=evidence.end)
    return RedirectResponse(f"/documents/{evidence.doc_id}{place}#cited", 303)


@router.post("/documents/{doc_id}/deactivate")
@as_page
@binds(operations.deactivate)
async def take_out_of_service(request: Request, mnemon: MnemonPart) -> Response:
    return await _changed(request, mnemon, operations.deactivate)


@router.post("/documents/{doc_id}/reactivate")
@as_page
@binds(operations.reactivate)
async def put_into_service(request: Request, mnemon: MnemonPart, version: Annotated[str, Form()] = "") -> Response:
    return await _changed(request, mnemon, operations.reactivate, version=version)


@router.post("/documents/{doc_id}/purge")
@as_page
@binds(operations.purge)
async def purge(request: Request, mnemon: MnemonPart, confirm: Annotated[str, Form()] = "") -> Response:
    visitor = await visit(request, operations.purge.action)
    if confirm.strip().lower() != PURGE_WORD:
        raise InvalidRequest(f"Nothing was purged: write {PURGE_WORD} to confirm that this document is destroyed.")
    return await _changed(request, mnemon, operations.purge, visitor)


async def _changed(
    request: Request, mnemon: Mnemon, change: Operation[Any, Any], visitor: Visitor | None = None, **given: str
) -> Response:
    """The document's page, once the change is made."""
    visitor = visitor or await visit(request, change.action)
    asked = read_input(change, {**request.path_params, **given})
    await change(mnemon, Caller.of(visitor.principal), asked)
    return RedirectResponse(f"/documents/{asked.doc_id}", 303)


def _message_of(document: Document) -> str | None:
    """The key of the message whose text this is, where it came with a mailing list."""
    found = MESSAGE.fullmatch(document.source_uri) if document.purged_at is None else None
    return found[1] if found else None


async def _said(mnemon: Mnemon, visitor: Visitor, artifact: str | None, chosen: DocumentRevision | None) -> Shape:
    """What was read from this version, in the order of its text, for the margin."""
    if artifact is None or chosen is None:
        return {"events": [], "total": 0}
    return await event_list_for_revision(
        mnemon.database, visitor.tenant_id, visitor.reader, artifact, str(chosen.doc_version_id),
        include_evidence=True, limit=IN_THE_MARGIN,
    )  # fmt: skip
