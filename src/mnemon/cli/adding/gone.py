"""`mnemon add` of a folder: what it held when it was added before, and holds no more."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from mnemon.app import Mnemon
from mnemon.client.remote import RemoteCalls
from mnemon.documents.inputs import DocumentAsked, DocumentsAsked
from mnemon.documents.intake.file_address import file_at
from mnemon.documents.intake.gone import gone_files
from mnemon.documents.operations import deactivate, list_documents
from mnemon.operations import Caller

# Of files that are told of in one line.
MOST_NAMED = 10
# Documents that a server tells of at once.
AT_ONCE = 200


@dataclass
class Gone:
    """A document whose file is in its folder no more."""

    path: Path
    doc_id: UUID
    title: str
    deactivated: bool


async def find_gone(mnemon: Mnemon, caller: Caller, folders: Sequence[Path], deactivates: bool) -> list[Gone]:
    """What these folders held when they were added before, and hold no more."""
    if not folders:
        return []
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        found = await gone_files(tx, folders)
    if deactivates:
        for one in found:
            await deactivate(mnemon, caller, DocumentAsked(doc_id=one.doc_id))
    return [Gone(one.path, one.doc_id, one.title, deactivates) for one in found]


async def find_gone_at(server: RemoteCalls, folders: Sequence[Path], deactivates: bool) -> list[Gone]:
    """The same of what a server has: its documents say where they came from, and this machine whether that is there."""
    found: list[Gone] = []
    listed, page = 0, 1
    while folders:
        asked = DocumentsAsked(source_type="file", page=page, limit=AT_ONCE)
        documents = await server.call(list_documents, asked)
        for one in documents.items:
            path = file_at(one.source_uri)
            if path and not path.exists() and any(path.is_relative_to(folder.resolve()) for folder in folders):
                found.append(Gone(path, one.doc_id, one.title, deactivates))
        listed, page = listed + len(documents.items), page + 1
        if not documents.items or listed >= documents.total:
            break
    if deactivates:
        for gone in found:
            await server.call(deactivate, DocumentAsked(doc_id=gone.doc_id))
    return found


def no_more_there(gone: Sequence[Gone]) -> Iterator[str]:
    if not gone:
        return
    names = some([one.path.name for one in gone])
    if gone[0].deactivated:
        yield f"Gone from the folder and served no more: {names}."
    else:
        yield f"Gone from the folder, still served: {names}. To serve them no more: --deactivate-gone"


def some(names: Sequence[str]) -> str:
    """The first few by name, the others by number."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
