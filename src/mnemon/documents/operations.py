"""What a user may do with documents and their runs, declared once for REST, the command line and the web."""

import asyncio
from collections.abc import Mapping
from typing import Protocol
from uuid import UUID

from mnemon.db.database import Connection, Database
from mnemon.documents import activation, library, listing, outputs, runs
from mnemon.documents import rebuild as rebuilding
from mnemon.documents.access import Reader, open_as, read_as
from mnemon.documents.errors import DocumentPurged, FileChanged, FileGone, NothingActive, RunNotRetriable
from mnemon.documents.ingest.revision_texts import read_span, read_text
from mnemon.documents.inputs import (
    ChunksAsked,
    DocumentAsked,
    DocumentNamed,
    DocumentsAsked,
    RunAsked,
    RunsAsked,
    TextAsked,
    VersionAsked,
)
from mnemon.documents.intake.files import Files
from mnemon.documents.library import Document, DocumentRevision, which_revision
from mnemon.documents.listing import ALL
from mnemon.documents.named import document_named
from mnemon.documents.purge import Purged
from mnemon.documents.runs import Run
from mnemon.documents.states import DocumentStatus
from mnemon.errors import InvalidRequest, NotFound
from mnemon.identity.roles import Action
from mnemon.log.events import Actor
from mnemon.log.store import EventLog
from mnemon.operations import Caller, Door, operation

ONE = {"doc_id": "01890a5d-ac96-774b-bcce-b302099a8057"}
ONE_RUN = {"run_id": "01890a5d-ac96-774b-bcce-b302099a8057"}
BY_ARTIFACT: Mapping[Door, str] = {"mcp": "Agents speak of artifacts: artifact_get reads one."}
ON_ITS_PAGE: Mapping[Door, str] = {**BY_ARTIFACT, "web": "The page of the document shows it."}
FOR_PEOPLE: Mapping[Door, str] = {"mcp": "An administrator's decision, not an agent's."}


class Parts(Protocol):
    """What these operations need of Mnemon."""

    @property
    def database(self) -> Database: ...

    @property
    def log(self) -> EventLog: ...

    @property
    def files(self) -> Files: ...
    async def purge_document(self, tenant: UUID, actor: Actor, doc_id: UUID) -> Purged: ...


@operation(
    "documents.list", Action.VIEW_DOCUMENTS, read_only=True, example={"search": "travel policy"},
    absent={"mcp": "Agents find documents by what they say, with search."},
)  # fmt: skip
async def list_documents(mnemon: Parts, caller: Caller, asked: DocumentsAsked) -> outputs.DocumentList:
    """List documents that have been read, newest first."""
    statuses = (asked.status,) if asked.status else ALL if asked.all else (DocumentStatus.ACTIVE,)
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, Reader.of(caller.actor))
        listed = await listing.list_documents(
            tx, page=asked.page, limit=asked.limit, search=asked.search, statuses=statuses, tag=asked.tag,
            source_type=asked.source_type,
        )  # fmt: skip
    return outputs.DocumentList(
        items=listed.documents, total=listed.total, total_is_exact=listed.total_is_exact, page=asked.page,
        limit=asked.limit,
    )  # fmt: skip


@operation(
    "documents.named", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound, InvalidRequest),
    example={"name": "travel-policy.pdf"},
    absent={
        "mcp": "Agents find documents by what they say, with search.", "web": "The list has a search.",
        "command": "Every command that takes a document takes its name too.",
    },
)  # fmt: skip
async def named(mnemon: Parts, caller: Caller, asked: DocumentNamed) -> Document:
    """The document that is called so: by its title, its file's name or the beginning of its id."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        doc_id = await document_named(tx, Reader.of(caller.actor), asked.name)
        await open_as(tx, Reader.of(caller.actor), doc_id)
        return await library.document_by_id(tx, doc_id)


@operation("documents.get", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound,), example=ONE, absent=BY_ARTIFACT)
async def get(mnemon: Parts, caller: Caller, asked: DocumentAsked) -> Document:
    """One document."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await open_as(tx, Reader.of(caller.actor), asked.doc_id)
        return await library.document_by_id(tx, asked.doc_id)


@operation(
    "documents.versions", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound,), example=ONE, absent=ON_ITS_PAGE
)
async def versions(mnemon: Parts, caller: Caller, asked: DocumentAsked) -> outputs.VersionList:
    """The versions of a document, newest first."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await open_as(tx, Reader.of(caller.actor), asked.doc_id)
        return outputs.VersionList(await library.revisions_of(tx, asked.doc_id))


@operation(
    "documents.text", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound, InvalidRequest), absent=ON_ITS_PAGE,
    example={**ONE, "start": 0, "end": 500},
)  # fmt: skip
async def text(mnemon: Parts, caller: Caller, asked: TextAsked) -> outputs.DocumentText:
    """The text of a version, as it is searched and quoted, or a part of it."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        chosen = await _version(tx, caller, asked)
        last = min(chosen.char_count if asked.end is None else asked.end, chosen.char_count)
        found = await read_span(tx, chosen.doc_version_id, asked.start, last)
    return outputs.DocumentText(
        doc_id=asked.doc_id, doc_version_id=chosen.doc_version_id, version_number=chosen.version_number,
        start=asked.start, end=asked.start + len(found), char_count=chosen.char_count, text=found,
    )  # fmt: skip


@operation(
    "documents.structure", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound, InvalidRequest), example=ONE,
    absent={**ON_ITS_PAGE, "command": "It is for programs that show a text; `mnemon documents text` prints it."},
)  # fmt: skip
async def structure(mnemon: Parts, caller: Caller, asked: VersionAsked) -> outputs.TextStructure:
    """Blocks, pages and remarks of a version's text."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        chosen = await _version(tx, caller, asked)
        read = await read_text(tx, chosen.doc_version_id)
    return outputs.TextStructure(
        doc_version_id=chosen.doc_version_id, blocks=list(read.blocks), remarks=list(read.remarks),
        pages=[outputs.PageOut.model_validate(one) for one in read.pages],
    )  # fmt: skip


@operation(
    "documents.chunks", Action.VIEW_DOCUMENTS, read_only=True, errors=(NotFound, InvalidRequest), example=ONE,
    absent={**BY_ARTIFACT, "web": "The page shows the whole text."},
)  # fmt: skip
async def chunks(mnemon: Parts, caller: Caller, asked: ChunksAsked) -> outputs.ChunkList:
    """The chunks of a version with their places, in the order of its text."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        chosen = await _version(tx, caller, asked)
        found = await library.chunks_of(tx, chosen, page=asked.page, limit=asked.limit)
    return outputs.ChunkList(items=found, total=chosen.chunk_count or 0, page=asked.page, limit=asked.limit)


@operation(
    "documents.download", Action.VIEW_DOCUMENTS, read_only=True, example=ONE,
    errors=(NotFound, InvalidRequest, FileGone, FileChanged),
    absent={**BY_ARTIFACT, "web": "The page of the document links to the file over REST."},
)  # fmt: skip
async def download(mnemon: Parts, caller: Caller, asked: VersionAsked) -> outputs.RawFile:
    """The raw file of a version."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        chosen = await _version(tx, caller, asked)
    file = await asyncio.to_thread(
        mnemon.files.intact_blob, caller.tenant_id, chosen.content_hash,
        f"The file of document {asked.doc_id} is missing.", doc_id=str(asked.doc_id),
    )  # fmt: skip
    return outputs.RawFile(path=file, media_type=chosen.media_type, filename=chosen.original_filename)


@operation(
    "documents.deactivate", Action.DEACTIVATE_DOCUMENTS, errors=(NotFound, DocumentPurged, NothingActive),
    example=ONE, absent=FOR_PEOPLE,
)  # fmt: skip
async def deactivate(mnemon: Parts, caller: Caller, asked: DocumentAsked) -> Document:
    """Serve no version of a document any more; nothing is deleted."""
    await _refuse_hidden(mnemon, caller, asked.doc_id)
    return await activation.deactivate(mnemon.log, caller.tenant_id, caller.actor, asked.doc_id)


@operation(
    "documents.reactivate", Action.DEACTIVATE_DOCUMENTS, example={**ONE, "version": "2"}, absent=FOR_PEOPLE,
    errors=(NotFound, DocumentPurged, NothingActive, InvalidRequest),
)  # fmt: skip
async def reactivate(mnemon: Parts, caller: Caller, asked: VersionAsked) -> Document:
    """Serve a version of a document again, the last one unless told."""
    await _refuse_hidden(mnemon, caller, asked.doc_id)
    named = which_revision(asked.version)
    return await activation.reactivate(mnemon.log, caller.tenant_id, caller.actor, asked.doc_id, named)


@operation(
    "documents.rebuild", Action.DEACTIVATE_DOCUMENTS, example=ONE,
    errors=(NotFound, DocumentPurged, NothingActive, FileGone, FileChanged),
    absent=FOR_PEOPLE,
)  # fmt: skip
async def rebuild(mnemon: Parts, caller: Caller, asked: DocumentAsked) -> outputs.RebuildQueued:
    """Make text, chunks and vectors again from the stored file, by a run that a worker carries out."""
    await _refuse_hidden(mnemon, caller, asked.doc_id)
    run_id = await rebuilding.rebuild(mnemon.database, mnemon.files, caller.tenant_id, caller.actor, asked.doc_id)
    return outputs.RebuildQueued(doc_id=asked.doc_id, run_id=run_id, status="queued")


@operation(
    "documents.purge", Action.MANAGE_PRIVACY, destructive=True, idempotent=True, errors=(NotFound,), example=ONE,
    absent={"mcp": "artifact_delete destroys one, after the person behind the agent has agreed."},
)  # fmt: skip
async def purge(mnemon: Parts, caller: Caller, asked: DocumentAsked) -> Purged:
    """Destroy a document's content, names and files for good. That there was one stays in the log."""
    await _refuse_hidden(mnemon, caller, asked.doc_id)
    return await mnemon.purge_document(caller.tenant_id, caller.actor, asked.doc_id)


@operation(
    "ingestion_runs.list", Action.VIEW_RUNS, read_only=True, example={"status": "failed"},
    absent={"mcp": "artifact_ingest tells an agent how its text fares."},
)  # fmt: skip
async def list_runs(mnemon: Parts, caller: Caller, asked: RunsAsked) -> outputs.RunList:
    """List ingestion runs, newest first."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, Reader.of(caller.actor))
        listed = await runs.list_runs(
            tx, page=asked.page, limit=asked.limit, status=asked.status, doc_id=asked.doc_id, run_type=asked.run_type,
            everyones=caller.principal is None,
        )  # fmt: skip
    return outputs.RunList(items=listed.runs, total=listed.total, page=asked.page, limit=asked.limit)


@operation(
    "ingestion_runs.get", Action.VIEW_RUNS, read_only=True, errors=(NotFound,), example=ONE_RUN,
    absent={"mcp": "artifact_ingest tells an agent how its text fares.", "web": "The list of runs shows all of it."},
)  # fmt: skip
async def get_run(mnemon: Parts, caller: Caller, asked: RunAsked) -> Run:
    """One ingestion run: its file, its timings, and what went wrong."""
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, Reader.of(caller.actor))
        return await runs.run_by_id(tx, asked.run_id, everyones=caller.principal is None)


@operation(
    "ingestion_runs.retry", Action.UPLOAD_DOCUMENTS, errors=(NotFound, RunNotRetriable, DocumentPurged, FileGone),
    example=ONE_RUN, absent={"mcp": "A repair, for those who sent the file."},
)  # fmt: skip
async def retry_run(mnemon: Parts, caller: Caller, asked: RunAsked) -> Run:
    """Start a failed run over, with the file that it was given."""
    return await runs.retry_run(
        mnemon.database, mnemon.files, caller.tenant_id, asked.run_id, Reader.of(caller.actor),
        everyones=caller.principal is None,
    )  # fmt: skip


async def _version(tx: Connection, caller: Caller, asked: VersionAsked) -> DocumentRevision:
    await open_as(tx, Reader.of(caller.actor), asked.doc_id)
    return await library.revision_of(tx, asked.doc_id, which_revision(asked.version))


async def _refuse_hidden(mnemon: Parts, caller: Caller, doc_id: UUID) -> None:
    """The answer would tell an administrator what a private document is called; the operator owns the machine."""
    if caller.principal is not None:
        async with mnemon.database.transaction(caller.tenant_id) as tx:
            await open_as(tx, Reader.of(caller.actor), doc_id)
