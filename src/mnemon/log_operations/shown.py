"""Events of the log as a caller may see them: what came from a document or memory object that is not for them is
withheld, and what others asked."""

from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID

from mnemon.ask.query_log import ASKED
from mnemon.documents.access import Reader, hidden_documents, read_as
from mnemon.documents.events import document_of
from mnemon.log.events import Event
from mnemon.log_operations.event_outputs import LogEventOut
from mnemon.log_operations.fields import Parts
from mnemon.memory.sharing.hidden import hidden_objects
from mnemon.operations import Caller

WITHHELD = "not for this reader"
# A question often holds the very words that the asker alone may read.
ASKED_WORDS = frozenset({"question", "filters"})


async def shown_events(mnemon: Parts, caller: Caller, events: Sequence[Event]) -> list[LogEventOut]:
    """In the same order, all of them: that something happened is no secret, what it says may be.

    Whoever owns the machine could read the tables just as well: from them nothing is withheld.
    """
    shapes = [event.as_json() for event in events]
    if caller.principal is not None:
        await _withhold(mnemon, caller, shapes)
    return cast(list[LogEventOut], shapes)


async def _withhold(mnemon: Parts, caller: Caller, shapes: list[dict[str, Any]]) -> None:
    reader = Reader.of(caller.actor)
    shapes[:] = [_without_questions_of_others(shape, reader) for shape in shapes]
    await _withhold_memory(mnemon, caller, reader, shapes)
    documents = {place: doc for place, shape in enumerate(shapes) if (doc := _document(shape)) is not None}
    if not documents:
        return
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        hidden = await hidden_documents(tx, reader, sorted(set(documents.values())))
    for place, doc_id in documents.items():
        if doc_id in hidden:
            shapes[place]["data"] = {"subject": shapes[place]["data"]["subject"], "withheld": WITHHELD}


async def _withhold_memory(mnemon: Parts, caller: Caller, reader: Reader, shapes: list[dict[str, Any]]) -> None:
    found: dict[UUID, dict[int, UUID]] = {}
    for place, shape in enumerate(shapes):
        data = shape["data"]
        if shape["type"].startswith("emo.") and isinstance(data, dict) and "emo_id" in data:
            found.setdefault(UUID(data["world_id"]), {})[place] = UUID(data["emo_id"])
    if not found:
        return
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, reader)
        for world, objects in found.items():
            hidden = await hidden_objects(tx, world, set(objects.values()))
            for place, emo_id in objects.items():
                if emo_id in hidden:
                    kept = {name: shapes[place]["data"].get(name) for name in ("world_id", "emo_id", "emo_version")}
                    shapes[place]["data"] = kept | {"withheld": WITHHELD}


def _without_questions_of_others(shape: dict[str, Any], reader: Reader) -> dict[str, Any]:
    if shape["type"] != ASKED.type or _asker(shape) == reader.name or not isinstance(shape["data"], dict):
        return shape
    kept = {name: value for name, value in shape["data"].items() if name not in ASKED_WORDS}
    return shape | {"data": kept | {"withheld": WITHHELD}}


def _asker(shape: dict[str, Any]) -> str:
    actor = shape["actor"]
    return str(actor.get("on_behalf_of", actor)["id"])


def _document(shape: dict[str, Any]) -> UUID | None:
    data = shape["data"]
    subject = data.get("subject") if isinstance(data, dict) else None
    return document_of(subject) if isinstance(subject, str) else None
