"""Events of the log as a caller may see them: what came from a document that is not for them is withheld."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from mnemon.app import Mnemon
from mnemon.documents.events import document_of
from mnemon.documents.readers import Reader, hidden_documents
from mnemon.identity.roles import Principal
from mnemon.log.events import Event

WITHHELD = "not for this reader"


async def shown_events(mnemon: Mnemon, principal: Principal, events: Sequence[Event]) -> list[dict[str, Any]]:
    """In the same order, all of them: that something happened is no secret, what it says may be."""
    shapes = [event.as_json() for event in events]
    documents = {place: doc for place, shape in enumerate(shapes) if (doc := _document(shape)) is not None}
    if not documents:
        return shapes
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        hidden = await hidden_documents(tx, Reader.of(principal.actor), sorted(set(documents.values())))
    for place, doc_id in documents.items():
        if doc_id in hidden:
            shapes[place]["data"] = {"subject": shapes[place]["data"]["subject"], "withheld": WITHHELD}
    return shapes


def _document(shape: dict[str, Any]) -> UUID | None:
    data = shape["data"]
    subject = data.get("subject") if isinstance(data, dict) else None
    return document_of(subject) if isinstance(subject, str) else None
