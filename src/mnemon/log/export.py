"""Exports: a partition as lines of JSON that anyone can check without Mnemon or a database."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import orjson

from mnemon.log.events import MAIN, Event
from mnemon.log.moments import written
from mnemon.log.read import Reader

FORMAT = "mnemon/export/1"


async def export_lines(reader: Reader, tenant: UUID, legal_entity: str = MAIN) -> AsyncIterator[bytes]:
    """A line that says what this is, then one per event, in order. Personal fields stay encrypted."""
    yield _line({"format": FORMAT, "tenant_id": str(tenant), "legal_entity": legal_entity})
    async for event in reader.scan(tenant, legal_entity=legal_entity, opened=False):
        yield _line(exported(event))


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
