"""`mnemon add` of a folder: what it held when it was added before, and holds no more."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from mnemon.app import Mnemon
from mnemon.documents.inputs import DocumentAsked
from mnemon.documents.intake.gone import gone_files
from mnemon.documents.operations import deactivate
from mnemon.operations import Caller

# Of files that are told of in one line.
MOST_NAMED = 10


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
