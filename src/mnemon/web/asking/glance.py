"""What the first page shows before anything is asked: lately decided, due next, lately read."""

from dataclasses import dataclass
from datetime import UTC, datetime

from mnemon.app import Mnemon
from mnemon.documents.access import read_as
from mnemon.documents.library import Document, newest_documents
from mnemon.operations import Caller, as_json, read_input
from mnemon.semantics import operations
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
    caller = Caller.of(visitor.principal)
    async with mnemon.database.transaction(visitor.tenant_id) as tx:
        await read_as(tx, visitor.reader)
        documents = await newest_documents(tx, EACH)
    if not documents:
        return Glance([], [], [], True)
    asked = read_input(operations.search, {"category": "Decision", "status": "open", "limit": EACH})
    decided = as_json(await operations.search(mnemon, caller, asked))["events"]
    due = await _due(mnemon, caller, due_from=datetime.now(UTC).date().isoformat())
    return Glance(documents, decided, due or await _due(mnemon, caller), bool(due))


async def _due(mnemon: Mnemon, caller: Caller, **narrowed: str) -> list[Shape]:
    asked = read_input(operations.commitments, {"limit": EACH, **narrowed})
    found: list[Shape] = as_json(await operations.commitments(mnemon, caller, asked))["commitments"]
    return found
