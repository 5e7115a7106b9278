"""Events of the log as a caller may see them: what came from a document or memory object that is not for them is
withheld, and what others asked."""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, cast
from uuid import UUID

import orjson

from mnemon.ask.query_log import ASKED
from mnemon.documents.access import Reader, hidden_documents, read_as
from mnemon.documents.events import document_of
from mnemon.log.events import Event
from mnemon.log.privacy.privacy import PersonalData
from mnemon.log_operations.event_outputs import LogEventOut
from mnemon.log_operations.fields import Parts
from mnemon.mail.catalogue import ARCHIVE_FAILED, ARCHIVE_INGESTED
from mnemon.memory.sharing.hidden import hidden_about, hidden_objects
from mnemon.operations import Caller

WITHHELD = "not for this reader"
OF_ARCHIVES = (ARCHIVE_INGESTED.type, ARCHIVE_FAILED.type)
# How the types of a memory object's events begin.
MEMORY = "emo."
# A question often holds the very words that the asker alone may read.
ASKED_WORDS = frozenset({"question", "filters", "conversation"})


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
    shapes[:] = [_without_lists_of_others(_without_questions_of_others(shape, reader), reader) for shape in shapes]
    await _withhold_memory(mnemon, caller, shapes)
    documents = {place: doc for place, shape in enumerate(shapes) if (doc := _document(shape)) is not None}
    if not documents:
        return
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        hidden = await hidden_documents(tx, reader, sorted(set(documents.values())))
    for place, doc_id in documents.items():
        if doc_id in hidden:
            shapes[place]["data"] = {"subject": shapes[place]["data"]["subject"], "withheld": WITHHELD}


async def _withhold_memory(mnemon: Parts, caller: Caller, shapes: list[dict[str, Any]]) -> None:
    for place in await _hidden_memory(mnemon, caller, [(shape["type"], shape["data"]) for shape in shapes]):
        kept = {name: shapes[place]["data"].get(name) for name in ("world_id", "emo_id", "emo_version")}
        shapes[place]["data"] = kept | {"withheld": WITHHELD}


async def _hidden_memory(mnemon: Parts, caller: Caller, events: Iterable[tuple[str, Any]]) -> set[int]:
    """Which of these events, by type and data, are of memory objects that are not for the caller."""
    found: dict[UUID, dict[int, UUID]] = {}
    for place, (kind, data) in enumerate(events):
        if kind.startswith(MEMORY) and isinstance(data, dict) and "emo_id" in data:
            found.setdefault(UUID(data["world_id"]), {})[place] = UUID(data["emo_id"])
    if not found:
        return set()
    places: set[int] = set()
    async with mnemon.database.transaction(caller.tenant_id) as tx:
        await read_as(tx, Reader.of(caller.actor))
        for world, objects in found.items():
            hidden = await hidden_objects(tx, world, set(objects.values()))
            places |= {place for place, emo_id in objects.items() if emo_id in hidden}
    return places


async def withhold_payloads(mnemon: Parts, caller: Caller, events: Sequence[dict[str, Any]]) -> None:
    """Of exported events; the digest of a payload stands for it, and every check of the chain still holds."""
    if caller.principal is None:
        return
    with_text = [event for event in events if event.get("payload") is not None]
    said = [(orjson.loads(one["envelope"])["type"], orjson.loads(one["payload"]).get("data")) for one in with_text]
    for place in await _hidden_memory(mnemon, caller, said):
        with_text[place]["payload"] = None


async def shown_lines(mnemon: Parts, caller: Caller, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """An export, some lines at a time, without the payloads that are not for the caller."""
    async for part in parts:
        if caller.principal is None or MEMORY.encode() not in part:
            yield part
            continue
        events = [orjson.loads(line) for line in part.split(b"\n") if line]
        await withhold_payloads(mnemon, caller, events)
        yield b"".join(orjson.dumps(event) + b"\n" for event in events)


async def shown_data(mnemon: Parts, caller: Caller, subject_id: str) -> AsyncIterator[PersonalData]:
    """What the log holds about a person, without what stands in memory objects that are not for the caller."""
    hidden: set[UUID] = set()
    if caller.principal is not None:
        async with mnemon.database.transaction(caller.tenant_id) as tx:
            await read_as(tx, Reader.of(caller.actor))
            hidden = await hidden_about(tx, subject_id)
    async for one in mnemon.privacy.data_of(caller.tenant_id, subject_id):
        if hidden and one.event_type.startswith(MEMORY):
            event = await mnemon.log.read_event(caller.tenant_id, one.event_id)
            if UUID(event.data["emo_id"]) in hidden:
                continue
        yield one


def _without_questions_of_others(shape: dict[str, Any], reader: Reader) -> dict[str, Any]:
    if shape["type"] != ASKED.type or reader.is_among([_asker(shape)]) or not isinstance(shape["data"], dict):
        return shape
    kept = {name: value for name, value in shape["data"].items() if name not in ASKED_WORDS}
    return shape | {"data": kept | {"withheld": WITHHELD}}


def _without_lists_of_others(shape: dict[str, Any], reader: Reader) -> dict[str, Any]:
    """Where the archive of a list for few came from is named for those few."""
    data = shape["data"]
    if shape["type"] not in OF_ARCHIVES or not isinstance(data, dict) or not data.get("readers"):
        return shape
    if reader.is_among(data["readers"]):
        return shape
    return shape | {"data": {"subject": data["subject"], "withheld": WITHHELD}}


def _asker(shape: dict[str, Any]) -> str:
    actor = shape["actor"]
    return str(actor.get("on_behalf_of", actor)["id"])


def _document(shape: dict[str, Any]) -> UUID | None:
    data = shape["data"]
    subject = data.get("subject") if isinstance(data, dict) else None
    return document_of(subject) if isinstance(subject, str) else None
