"""Exports: a partition as lines of JSON that anyone can check without Mnemon or a database."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import orjson

from mnemon.log.events import MAIN, Event
from mnemon.log.moments import written
from mnemon.log.read.reader import LogReader

FORMAT = "mnemon/export/1"
BATCH = 500


async def export_lines(reader: LogReader, tenant: UUID, legal_entity: str = MAIN) -> AsyncIterator[bytes]:
    """A line that says what this is, then one per event, in order. Personal fields stay encrypted.

    Archived payloads are read from the archive. One that cannot be is null, and its digest stands for it.
    """
    yield _line({"format": FORMAT, "tenant_id": str(tenant), "legal_entity": legal_entity})
    batch: list[Event] = []
    async for event in reader.scan(tenant, legal_entity=legal_entity, opened=False):
        batch.append(event)
        if len(batch) == BATCH:
            yield await _lines(reader, tenant, batch)
            batch = []
    yield await _lines(reader, tenant, batch)


async def with_archived(reader: LogReader, tenant: UUID, events: Sequence[Event]) -> Sequence[Event]:
    """Events of one partition, still sealed, with the payloads that were moved to the archive."""
    moved = [event.sequence for event in events if event.payload_text is None]
    if not moved:
        return events
    texts = await reader.archived(tenant, events[0].partition_id, moved)
    return [replace(event, payload_text=texts.get(event.sequence, event.payload_text)) for event in events]


async def _lines(reader: LogReader, tenant: UUID, events: Sequence[Event]) -> bytes:
    return b"".join(_line(exported(event)) for event in await with_archived(reader, tenant, events))


def exported(event: Event) -> dict[str, Any]:
    """An event with its texts exactly as they were hashed."""
    return {
        "sequence": str(event.sequence),
        "recorded_at": written(event.recorded_at),
        "previous_hash": event.previous_hash.hex(),
        "hash": event.hash.hex(),
        "envelope": event.envelope_text,
        "payload": event.payload_text,
        "payload_digest": event.payload_digest.hex(),
    }


def _line(document: dict[str, Any]) -> bytes:
    return orjson.dumps(document) + b"\n"
