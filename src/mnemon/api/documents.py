"""Documents over REST: list, read and download them; as an administrator take them out of service or destroy them."""

import asyncio
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse

from mnemon.api.access import MnemonPart, allow
from mnemon.api.document_models import PageOut, QueuedOut, StructureOut, TextOut
from mnemon.api.paging import Numbered, PageNumber, PageSize
from mnemon.app import Mnemon
from mnemon.documents import activation, library, rebuild
from mnemon.documents.access import Reader, open_as, read_as
from mnemon.documents.errors import FileGone
from mnemon.documents.ingest.revision_texts import read_span, read_text
from mnemon.documents.library import ALL, Document, DocumentRevision, DocumentStatus, StoredChunk, which_revision
from mnemon.documents.purge import Purged
from mnemon.identity.roles import Action, Principal

router = APIRouter(tags=["documents"])
Viewer = Annotated[Principal, allow(Action.VIEW_DOCUMENTS)]
Admin = Annotated[Principal, allow(Action.DEACTIVATE_DOCUMENTS)]
Purger = Annotated[Principal, allow(Action.MANAGE_PRIVACY)]
WhichVersion = Annotated[
    str | None, Query(max_length=40, description="A version by its id or number. Default: the active one.")
]
# The file is a stranger's: whatever it is, no browser runs it in our name.
DOWNLOAD_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, no-store",
}


@router.get("/documents", summary="List documents that have been read, newest first")
async def list_documents(
    mnemon: MnemonPart,
    principal: Viewer,
    page: PageNumber = 1,
    limit: PageSize = 20,
    search: Annotated[
        str | None, Query(max_length=200, description="Words in the title, the file name or a tag.")
    ] = None,
    status: Annotated[
        DocumentStatus | None, Query(description="Default: active. `unread` shows those that no run has read yet.")
    ] = None,
    every: Annotated[bool, Query(alias="all", description="Inactive and purged ones too.")] = False,
    tag: Annotated[str | None, Query(max_length=100)] = None,
    source_type: Annotated[str | None, Query(max_length=50)] = None,
) -> Numbered[Document]:
    statuses = (status,) if status else ALL if every else (DocumentStatus.ACTIVE,)
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        await read_as(tx, Reader.of(principal.actor))
        listed = await library.list_documents(
            tx, page=page, limit=limit, search=search, statuses=statuses, tag=tag, source_type=source_type
        )
    return Numbered[Document](items=listed.documents, total=listed.total, page=page, limit=limit)


@router.get("/documents/{doc_id}", summary="One document")
async def get_document(doc_id: UUID, mnemon: MnemonPart, principal: Viewer) -> Document:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        await open_as(tx, Reader.of(principal.actor), doc_id)
        return await library.document_by_id(tx, doc_id)


@router.get("/documents/{doc_id}/versions", summary="Its versions, newest first")
async def list_versions(doc_id: UUID, mnemon: MnemonPart, principal: Viewer) -> list[DocumentRevision]:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        await open_as(tx, Reader.of(principal.actor), doc_id)
        return await library.revisions_of(tx, doc_id)


@router.get("/documents/{doc_id}/text", summary="The text of a version, or a part of it")
async def get_text(
    doc_id: UUID,
    mnemon: MnemonPart,
    principal: Viewer,
    version: WhichVersion = None,
    start: Annotated[int, Query(ge=0, description="First code point.")] = 0,
    end: Annotated[int | None, Query(ge=0, description="One past the last code point. Default: the end.")] = None,
) -> TextOut:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        await open_as(tx, Reader.of(principal.actor), doc_id)
        chosen = await library.revision_of(tx, doc_id, which_revision(version))
        last = min(chosen.char_count if end is None else end, chosen.char_count)
        text = await read_span(tx, chosen.doc_version_id, start, last)
    return TextOut(
        doc_id=doc_id,
        doc_version_id=chosen.doc_version_id,
        version_number=chosen.version_number,
        start=start,
        end=start + len(text),
        char_count=chosen.char_count,
        text=text,
    )


@router.get("/documents/{doc_id}/structure", summary="Blocks, pages and remarks of a version's text")
async def get_structure(
    doc_id: UUID, mnemon: MnemonPart, principal: Viewer, version: WhichVersion = None
) -> StructureOut:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        await open_as(tx, Reader.of(principal.actor), doc_id)
        chosen = await library.revision_of(tx, doc_id, which_revision(version))
        read = await read_text(tx, chosen.doc_version_id)
    return StructureOut(
        doc_version_id=chosen.doc_version_id,
        blocks=list(read.blocks),
        pages=[PageOut.model_validate(one) for one in read.pages],
        remarks=list(read.remarks),
    )


@router.get("/documents/{doc_id}/chunks", summary="The chunks of a version, in the order of its text")
async def list_chunks(
    doc_id: UUID,
    mnemon: MnemonPart,
    principal: Viewer,
    version: WhichVersion = None,
    page: PageNumber = 1,
    limit: PageSize = 100,
) -> Numbered[StoredChunk]:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        await open_as(tx, Reader.of(principal.actor), doc_id)
        chosen = await library.revision_of(tx, doc_id, which_revision(version))
        found = await library.chunks_of(tx, chosen, page=page, limit=limit)
    return Numbered[StoredChunk](items=found, total=chosen.chunk_count or 0, page=page, limit=limit)


@router.get("/documents/{doc_id}/download", summary="The raw file of a version", response_class=FileResponse)
async def download(doc_id: UUID, mnemon: MnemonPart, principal: Viewer, version: WhichVersion = None) -> FileResponse:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        await open_as(tx, Reader.of(principal.actor), doc_id)
        chosen = await library.revision_of(tx, doc_id, which_revision(version))
    file = mnemon.files.blob(principal.tenant_id, chosen.content_hash)
    if not await asyncio.to_thread(file.exists):
        raise FileGone(f"The file of document {doc_id} is missing.", doc_id=str(doc_id))
    return FileResponse(file, media_type=chosen.media_type, filename=chosen.original_filename, headers=DOWNLOAD_HEADERS)


@router.post("/documents/{doc_id}/deactivate", summary="Serve no version any more")
async def deactivate(doc_id: UUID, mnemon: MnemonPart, principal: Admin) -> Document:
    await _refuse_hidden(mnemon, principal, doc_id)
    return await activation.deactivate(mnemon.log, principal.tenant_id, principal.actor, doc_id)


@router.post("/documents/{doc_id}/reactivate", summary="Serve a version again")
async def reactivate(doc_id: UUID, mnemon: MnemonPart, principal: Admin, version: WhichVersion = None) -> Document:
    await _refuse_hidden(mnemon, principal, doc_id)
    return await activation.reactivate(
        mnemon.log, principal.tenant_id, principal.actor, doc_id, which_revision(version)
    )


@router.post("/documents/{doc_id}/rebuild", summary="Make text, chunks and vectors again", status_code=202)
async def rebuild_document(doc_id: UUID, mnemon: MnemonPart, principal: Admin) -> QueuedOut:
    run_id = await rebuild.rebuild(mnemon.database, mnemon.files, principal.tenant_id, principal.actor, doc_id)
    return QueuedOut(doc_id=doc_id, run_id=run_id)


@router.post("/documents/{doc_id}/purge", summary="Destroy content, names and files for good")
async def purge(doc_id: UUID, mnemon: MnemonPart, principal: Purger) -> Purged:
    return await mnemon.purge_document(principal.tenant_id, principal.actor, doc_id)


async def _refuse_hidden(mnemon: Mnemon, principal: Principal, doc_id: UUID) -> None:
    """The answer would tell an administrator what a private document is called."""
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        await open_as(tx, Reader.of(principal.actor), doc_id)
