"""`mnemon documents`: list, read and download documents; take them out of service, rebuild or destroy them."""

import shutil
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer
from typer.core import TyperGroup

from mnemon.app import Mnemon
from mnemon.cli.binding.bind import call, command
from mnemon.cli.context import run_async, server_calls
from mnemon.cli.naming import document_meant
from mnemon.cli.output import console, counted, say, show, table
from mnemon.client.remote import filename_of
from mnemon.documents import operations
from mnemon.documents.extraction.recognition.tesseract import RECOGNISED
from mnemon.documents.inputs import DocumentAsked, VersionAsked
from mnemon.documents.library import Document
from mnemon.documents.outputs import ChunkList, DocumentList, VersionList
from mnemon.documents.rebuild import active_documents
from mnemon.errors import Conflict, InvalidRequest
from mnemon.operations import Differs


class DocumentCommands(TyperGroup):
    """`open` is no command here, and what comes to mind first."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        if args[:1] == ["open"]:
            raise InvalidRequest(
                "Documents are not opened here: `mnemon documents text NAME` prints what was read, `mnemon documents "
                "download NAME` gives the file, and `mnemon open 1` shows the source of a number in the last answer."
            )
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=DocumentCommands, help="Documents: what has been read, in which versions.", no_args_is_help=True)

ID = "01890a5d-ac96-774b-bcce-b302099a8057"
ALL_CHUNKS = {"limit": Differs("Whoever prints chunks wants all of them.", default=1_000_000)}


def print_documents(found: DocumentList) -> None:
    rows = [(one.doc_id, one.title, one.status, one.version_number, one.updated_at) for one in found.items]
    table(["Id", "Title", "Status", "Version", "Changed"], rows, "No documents: add some with `mnemon add PATH`.")
    if found.total > len(rows):
        more = "" if found.total_is_exact else " or more"
        say(f"{counted(found.total, 'document')}{more} in all; --page shows the others.")


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
    for one in found.root:
        if by := one.details.get(RECOGNISED):
            say(f"The text of version {one.version_number} was recognised, by {by}.")


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
command(
    app, "show", operations.get, print_document, arguments=["doc_id"], prepare=document_meant,
    example="mnemon documents show travel-policy.pdf",
)  # fmt: skip
command(
    app, "versions", operations.versions, print_versions, arguments=["doc_id"], prepare=document_meant,
    example=f"mnemon documents versions {ID}",
)  # fmt: skip
command(
    app, "text", operations.text, lambda found: _write(found.text), arguments=["doc_id"], prepare=document_meant,
    example=f"mnemon documents text {ID} --version 2",
)  # fmt: skip
command(
    app, "chunks", operations.chunks, print_chunks, arguments=["doc_id"], prepare=document_meant,
    differences=ALL_CHUNKS, written=lambda answer: answer["items"], example=f"mnemon documents chunks {ID}",
)  # fmt: skip


def _download(tenant: str, asked: VersionAsked, wants_json: bool, left: dict[str, Any]) -> None:
    target = run_async(_saved(tenant, asked, left["to"]))
    show({"file": target}, wants_json, lambda: say(f"Saved {target}."))


async def _saved(tenant: str, asked: VersionAsked, to: Path | None) -> Path:
    async with server_calls(tenant) as server:
        if server is not None:
            version = {"version": asked.version} if asked.version else {}
            sent = await server.send("GET", f"/v1/documents/{asked.doc_id}/download", again=True, params=version)
            return _written(to or Path(filename_of(sent)), lambda target: target.write_bytes(sent.content))
    found = await call(operations.download, tenant, asked)
    return _written(to or Path(found.filename), lambda target: shutil.copyfile(found.path, target))


def _written(target: Path, write: Callable[[Path], object]) -> Path:
    if target.exists():
        raise Conflict(f"{target} exists already: name another file.")
    write(target)
    return target


async def _one_or_all(mnemon: Mnemon, tenant_id: UUID, values: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    if (values["doc_id"] is None) != values["every"]:
        raise InvalidRequest("Name a document, or give --all.")
    if values["doc_id"] is not None:
        yield {"doc_id": values["doc_id"]}
        return
    async for one in active_documents(mnemon.database, tenant_id):
        yield {"doc_id": one}


def _which_one(values: dict[str, Any], tenant: str) -> str:
    """Nobody knows a document by its id."""
    known: Document = run_async(call(operations.get, tenant, DocumentAsked(doc_id=UUID(str(values["doc_id"])))))
    return f"Destroy “{known.title}” ({known.doc_id}) for good, in all its versions?"


command(
    app, "download", operations.download, lambda found: None, arguments=["doc_id"], prepare=document_meant,
    perform=_download, in_pieces=False,
    beside={
        "to": Annotated[Path | None, typer.Argument(help="File to write. Default: the name it was uploaded with.")]
    },
    example=f"mnemon documents download {ID} policy.pdf",
)  # fmt: skip
command(
    app, "deactivate", operations.deactivate, lambda one: say(f"{one.title} is no longer served."),
    arguments=["doc_id"], prepare=document_meant, example=f"mnemon documents deactivate {ID}",
)  # fmt: skip
command(
    app, "reactivate", operations.reactivate,
    lambda one: say(f"{one.title} is served in version {one.version_number}."),
    arguments=["doc_id"], prepare=document_meant, example=f"mnemon documents reactivate {ID} --version 2",
)  # fmt: skip
command(
    app, "purge", operations.purge,
    lambda gone: say(f"Gone: {counted(gone.versions, 'version')}, {counted(gone.runs, 'run')}."),
    arguments=["doc_id"], prepare=document_meant, question=_which_one,
    example=f"mnemon documents purge {ID}",
)  # fmt: skip


command(
    app, "rebuild", operations.rebuild, lambda queued: say(f"Queued {counted(len(queued), 'run')}."),
    arguments=["doc_id"], differences={"doc_id": Differs("--all rebuilds every document.", default=None)},
    beside={"every": Annotated[bool, typer.Option("--all", help="Every document with an active version.")]},
    each=_one_or_all, written=lambda queued: {"run_ids": [one["run_id"] for one in queued]},
    example="mnemon documents rebuild --all",
)  # fmt: skip


def _write(whole: str) -> None:
    sys.stdout.write(whole + "\n")
