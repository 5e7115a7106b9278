"""What the first page shows before anything is asked: lately decided, due next, lately read."""

from dataclasses import dataclass
from datetime import UTC, date, datetime

from mnemon.app import Mnemon
from mnemon.documents.access import read_as
from mnemon.documents.library import Document
from mnemon.documents.listing import newest_documents
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.search.query import event_search
from mnemon.semantics.search.views import open_commitments
from mnemon.semantics.shapes import Shape
from mnemon.web.rendering import Visitor

EACH = 4


@dataclass(frozen=True)
class Glance:
    """A few of each; empty where nothing is stored."""

    documents: list[Document]
    decided: list[Shape]
    due: list[Shape]
    # Whether what is due lies ahead; else it is overdue.
    ahead: bool


async def glance(mnemon: Mnemon, visitor: Visitor) -> Glance:
    async with mnemon.database.transaction(visitor.tenant_id) as tx:
        await read_as(tx, visitor.reader)
        documents = await newest_documents(tx, EACH)
    if not documents:
        return Glance([], [], [], True)
    due = await _due(mnemon, visitor, datetime.now(UTC).date())
    return Glance(documents, await _decided(mnemon, visitor), due or await _due(mnemon, visitor), bool(due))


async def _decided(mnemon: Mnemon, visitor: Visitor) -> list[Shape]:
    """Nobody reads here how many there are: they are not counted."""
    asked = EventFilters(category="Decision", status="open")
    found: list[Shape] = (
        await event_search(
            mnemon.database, visitor.tenant_id, visitor.reader, asked, limit=EACH, counted=EACH, include_evidence=False
        )
    )["events"]
    return found


async def _due(mnemon: Mnemon, visitor: Visitor, due_from: date | None = None) -> list[Shape]:
    found: list[Shape] = (
        await open_commitments(
            mnemon.database, visitor.tenant_id, visitor.reader, due_from=due_from, limit=EACH, counted=EACH
        )
    )["commitments"]
    return found
