"""`mnemon documents`: list, read and download documents; take them out of service, rebuild or destroy them."""

import asyncio
import shutil
import sys
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from mnemon.cli.context import OPERATOR, run_async, tenant_of
from mnemon.cli.output import Json, TenantOption, console, counted, say, show, table
from mnemon.documents import activation, library
from mnemon.documents.access import Reader, open_as, read_as
from mnemon.documents.errors import FileGone
from mnemon.documents.ingest.revision_texts import read_span
from mnemon.documents.library import (
    ALL,
    Document,
    DocumentRevision,
    DocumentStatus,
    ListedDocuments,
    StoredChunk,
    which_revision,
)
from mnemon.documents.purge import Purged
from mnemon.documents.rebuild import active_documents, rebuild
from mnemon.errors import Conflict, InvalidRequest
from mnemon.identity.tenants import DEFAULT_SLUG

app = typer.Typer(help="Documents: what has been read, in which versions.", no_args_is_help=True)

# Whoever runs the command owns the machine, and still is shown no document that is for others alone.
READER = Reader.of(OPERATOR)
DocumentId = Annotated[UUID, typer.Argument(help="From `mnemon documents list`.")]
WhichVersion = Annotated[
    str | None, typer.Option("--version", help="A version by its number or id. Default: the active one.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@app.command("list")
def list_(
    search: Annotated[str | None, typer.Argument(help="Words in the title, the file name or a tag.")] = None,
    status: Annotated[DocumentStatus | None, typer.Option(help="Default: active.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Inactive and purged ones too.")] = False,
    page: Annotated[int, typer.Option(help="Which page.", min=1)] = 1,
    limit: Annotated[int, typer.Option(help="Most documents to show.", min=1, max=10_000)] = 20,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """List documents, newest first.

    Example: mnemon documents list policy --all
    """
    statuses = (status,) if status else ALL if every else (DocumentStatus.ACTIVE,)

    async def work() -> ListedDocuments:
        async with tenant_of(tenant) as (mnemon, tenant_id), mnemon.database.transaction(tenant_id) as tx:
            await read_as(tx, READER)
            return await library.list_documents(tx, page=page, limit=limit, search=search, statuses=statuses)

    listed = run_async(work())
    rows = [(one.doc_id, one.title, one.status, one.version_number, one.updated_at) for one in listed.documents]

    def human() -> None:
        table(["Id", "Title", "Status", "Version", "Changed"], rows, "No documents: add some with `mnemon add PATH`.")
        if listed.total > len(rows):
            say(f"{counted(listed.total, 'document')} in all; --page shows the others.")

    show({"documents": listed.documents, "total": listed.total, "page": page, "limit": limit}, as_json, human)


@app.command("show")
def show_(doc_id: DocumentId, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Show one document."""

    async def work() -> Document:
        async with tenant_of(tenant) as (mnemon, tenant_id), mnemon.database.transaction(tenant_id) as tx:
            await open_as(tx, READER, doc_id)
            return await library.document_by_id(tx, doc_id)

    one = run_async(work())
    fields = [
        ("Title", one.title),
        ("Tags", ", ".join(one.tags) or None),
        ("Status", one.status),
        ("Source", one.source_uri),
        ("File", one.original_filename),
        ("Size", one.size_bytes),
        ("Version", one.version_number),
        ("Pages", one.page_count),
        ("Characters", one.char_count),
        ("Chunks", one.chunk_count),
        ("Written", one.written_at),
        ("Authors", ", ".join(one.authors or ()) or None),
        ("Added", one.created_at),
        ("By", one.created_by),
    ]
    show(one, as_json, lambda: table(["Document", str(one.doc_id)], fields, ""))


@app.command()
def versions(doc_id: DocumentId, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """List the versions of a document, newest first."""

    async def work() -> list[DocumentRevision]:
        async with tenant_of(tenant) as (mnemon, tenant_id), mnemon.database.transaction(tenant_id) as tx:
            await open_as(tx, READER, doc_id)
            return await library.revisions_of(tx, doc_id)

    found = run_async(work())
    rows = [
        (
            one.version_number,
            one.doc_version_id,
            "yes" if one.is_active else "no",
            one.original_filename,
            one.created_at,
        )
        for one in found
    ]
    show(found, as_json, lambda: table(["Number", "Id", "Active", "File", "Read"], rows, "No version yet."))


@app.command()
def text(
    doc_id: DocumentId, version: WhichVersion = None, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False
) -> None:
    """Print the text of a document, as it is searched and quoted."""

    async def work() -> tuple[DocumentRevision, str]:
        async with tenant_of(tenant) as (mnemon, tenant_id), mnemon.database.transaction(tenant_id) as tx:
            await open_as(tx, READER, doc_id)
            chosen = await library.revision_of(tx, doc_id, which_revision(version))
            return chosen, await read_span(tx, chosen.doc_version_id, 0, chosen.char_count)

    chosen, whole = run_async(work())
    answer = {"doc_id": doc_id, "doc_version_id": chosen.doc_version_id, "text": whole}
    show(answer, as_json, lambda: _write(whole))


@app.command()
def chunks(
    doc_id: DocumentId, version: WhichVersion = None, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False
) -> None:
    """Print the chunks of a document with their places in the text."""

    async def work() -> list[StoredChunk]:
        async with tenant_of(tenant) as (mnemon, tenant_id), mnemon.database.transaction(tenant_id) as tx:
            await open_as(tx, READER, doc_id)
            chosen = await library.revision_of(tx, doc_id, which_revision(version))
            return await library.chunks_of(tx, chosen, limit=max(chosen.chunk_count or 0, 1))

    found = run_async(work())

    def human() -> None:
        for one in found:
            place = " > ".join(one.heading_path)
            say(f"[{one.ordinal}] {one.start_offset}-{one.end_offset}, {one.tokens} tokens  {place}", "bold")
            say(one.text)
            console.print()

    show(found, as_json, human)


@app.command()
def download(
    doc_id: DocumentId,
    to: Annotated[Path | None, typer.Argument(help="File to write. Default: the name it was uploaded with.")] = None,
    version: WhichVersion = None,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Save the raw file of a document."""

    async def work() -> Path:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            async with mnemon.database.transaction(tenant_id) as tx:
                await open_as(tx, READER, doc_id)
                chosen = await library.revision_of(tx, doc_id, which_revision(version))
            blob = mnemon.files.blob(tenant_id, chosen.content_hash)
            target = to or Path(chosen.original_filename)
            await asyncio.to_thread(_copy, blob, target)
            return target

    target = run_async(work())
    show({"file": target}, as_json, lambda: say(f"Saved {target}."))


@app.command()
def deactivate(doc_id: DocumentId, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Serve no version of a document any more; nothing is deleted."""

    async def work() -> Document:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await activation.deactivate(mnemon.log, tenant_id, OPERATOR, doc_id)

    one = run_async(work())
    show(one, as_json, lambda: say(f"{one.title} is no longer served."))


@app.command()
def reactivate(
    doc_id: DocumentId, version: WhichVersion = None, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False
) -> None:
    """Serve a version of a document again, the last one unless told."""

    async def work() -> Document:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await activation.reactivate(mnemon.log, tenant_id, OPERATOR, doc_id, which_revision(version))

    one = run_async(work())
    show(one, as_json, lambda: say(f"{one.title} is served in version {one.version_number}."))


@app.command()
def purge(doc_id: DocumentId, yes: Yes = False, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Destroy a document's content, names and files for good. That there was one stays in the log."""

    async def work() -> Purged:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await mnemon.purge_document(tenant_id, OPERATOR, doc_id)

    if not yes:
        typer.confirm(f"Destroy document {doc_id} for good?", abort=True, err=True)
    purged = run_async(work())
    show(purged, as_json, lambda: say(f"Gone: {counted(purged.versions, 'version')}, {counted(purged.runs, 'run')}."))


@app.command("rebuild")
def rebuild_(
    doc_id: Annotated[UUID | None, typer.Argument(help="A document. Without it: --all.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every document with an active version.")] = False,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Make text, chunks and vectors again from the stored files, by runs that a worker carries out."""
    if (doc_id is None) != every:
        raise InvalidRequest("Name a document, or give --all.")

    async def work() -> list[UUID]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            wanted = [doc_id] if doc_id else [one async for one in active_documents(mnemon.database, tenant_id)]
            return [await rebuild(mnemon.database, mnemon.files, tenant_id, OPERATOR, one) for one in wanted]

    queued = run_async(work())
    show({"run_ids": queued}, as_json, lambda: say(f"Queued {counted(len(queued), 'run')}."))


def _write(whole: str) -> None:
    sys.stdout.write(whole + "\n")


def _copy(blob: Path, target: Path) -> None:
    if not blob.exists():
        raise FileGone("The file is missing.")
    if target.exists():
        raise Conflict(f"{target} exists already: name another file.")
    shutil.copyfile(blob, target)
