"""`mnemon documents`: list, read and download documents; take them out of service, rebuild or destroy them."""

import shutil
import sys
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from mnemon.cli.bind import binds, call, command
from mnemon.cli.context import OPERATOR, run_async, tenant_of
from mnemon.cli.output import Json, TenantOption, console, counted, say, show, table
from mnemon.documents import operations
from mnemon.documents.inputs import DocumentAsked, VersionAsked
from mnemon.documents.library import Document
from mnemon.documents.outputs import ChunkList, DocumentList, VersionList
from mnemon.documents.rebuild import active_documents
from mnemon.errors import Conflict, InvalidRequest
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.operations import Caller, Differs, read_input

app = typer.Typer(help="Documents: what has been read, in which versions.", no_args_is_help=True)

ID = "01890a5d-ac96-774b-bcce-b302099a8057"
ALL_CHUNKS = {"limit": Differs("Whoever prints chunks wants all of them.", default=1_000_000)}


def print_documents(found: DocumentList) -> None:
    rows = [(one.doc_id, one.title, one.status, one.version_number, one.updated_at) for one in found.items]
    table(["Id", "Title", "Status", "Version", "Changed"], rows, "No documents: add some with `mnemon add PATH`.")
    if found.total > len(rows):
        say(f"{counted(found.total, 'document')} in all; --page shows the others.")


def print_document(one: Document) -> None:
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
    table(["Document", str(one.doc_id)], fields, "")


def print_versions(found: VersionList) -> None:
    rows = [
        (
            one.version_number,
            one.doc_version_id,
            "yes" if one.is_active else "no",
            one.original_filename,
            one.created_at,
        )
        for one in found.root
    ]
    table(["Number", "Id", "Active", "File", "Read"], rows, "No version yet.")


def print_chunks(found: ChunkList) -> None:
    for one in found.items:
        place = " > ".join(one.heading_path)
        say(f"[{one.ordinal}] {one.start_offset}-{one.end_offset}, {one.tokens} tokens  {place}", "bold")
        say(one.text)
        console.print()


def _as_documents(answer: dict[str, Any]) -> dict[str, Any]:
    return {"documents": answer.pop("items"), **answer}


command(
    app, "list", operations.list_documents, print_documents, arguments=["search"], written=_as_documents,
    example="mnemon documents list policy --all",
)  # fmt: skip
command(app, "show", operations.get, print_document, arguments=["doc_id"], example=f"mnemon documents show {ID}")
command(
    app, "versions", operations.versions, print_versions, arguments=["doc_id"],
    example=f"mnemon documents versions {ID}",
)  # fmt: skip
command(
    app, "text", operations.text, lambda found: _write(found.text), arguments=["doc_id"],
    example=f"mnemon documents text {ID} --version 2",
)  # fmt: skip
command(
    app, "chunks", operations.chunks, print_chunks, arguments=["doc_id"], differences=ALL_CHUNKS,
    written=lambda answer: answer["items"], example=f"mnemon documents chunks {ID}",
)  # fmt: skip


@app.command()
@binds(operations.download)
def download(
    doc_id: Annotated[str, typer.Argument(help="From `mnemon documents list`.")],
    to: Annotated[Path | None, typer.Argument(help="File to write. Default: the name it was uploaded with.")] = None,
    version: Annotated[
        str | None, typer.Option("--version", help=VersionAsked.model_fields["version"].description)
    ] = None,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Save the raw file of a document."""
    asked = read_input(operations.download, {"doc_id": doc_id, "version": version})
    found = run_async(call(operations.download, tenant, asked))
    target = to or Path(found.filename)
    if target.exists():
        raise Conflict(f"{target} exists already: name another file.")
    shutil.copyfile(found.path, target)
    show({"file": target}, as_json, lambda: say(f"Saved {target}."))


command(
    app, "deactivate", operations.deactivate, lambda one: say(f"{one.title} is no longer served."),
    arguments=["doc_id"], example=f"mnemon documents deactivate {ID}",
)  # fmt: skip
command(
    app, "reactivate", operations.reactivate,
    lambda one: say(f"{one.title} is served in version {one.version_number}."),
    arguments=["doc_id"], example=f"mnemon documents reactivate {ID} --version 2",
)  # fmt: skip
command(
    app, "purge", operations.purge,
    lambda gone: say(f"Gone: {counted(gone.versions, 'version')}, {counted(gone.runs, 'run')}."),
    arguments=["doc_id"], question="Destroy document {doc_id} for good?", example=f"mnemon documents purge {ID}",
)  # fmt: skip


@app.command()
@binds(operations.rebuild)
def rebuild(
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
            caller = Caller(tenant_id, OPERATOR, channel="cli")
            wanted = [doc_id] if doc_id else [one async for one in active_documents(mnemon.database, tenant_id)]
            return [(await operations.rebuild(mnemon, caller, DocumentAsked(doc_id=one))).run_id for one in wanted]

    queued = run_async(work())
    show({"run_ids": queued}, as_json, lambda: say(f"Queued {counted(len(queued), 'run')}."))


def _write(whole: str) -> None:
    sys.stdout.write(whole + "\n")
