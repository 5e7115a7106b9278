"""A stream over all legal entities of a tenant: partitions merged by recorded time, each with its own place."""

import base64
import binascii
import heapq
import zlib
from collections.abc import Mapping
from itertools import islice
from uuid import UUID

import orjson

from mnemon.errors import InvalidRequest
from mnemon.log.errors import BadCursor
from mnemon.log.events import Event
from mnemon.log.read.reader import LARGEST_PAGE, LogReader, StreamPage
from mnemon.log.read.streams import Direction, Filter, Stream, fingerprint_of

# No legal entity can be called so.
ALL_LEGAL_ENTITIES = "*"
LONGEST_CURSOR = 20_000


async def page_of_all(
    reader: LogReader, tenant: UUID, stream: Stream, wanted: Filter, *, direction: Direction, cursor: str | None,
    limit: int, tolerant: bool = False,
) -> StreamPage:  # fmt: skip
    """In the order of recorded time. Partitions commit independently, so what is recorded in one while another is read
    may come after later events of the other; with a place in each, nothing is left out or told twice."""
    if not 1 <= limit <= LARGEST_PAGE:
        raise InvalidRequest(f"A page has 1 to {LARGEST_PAGE} events, not {limit}.", limit=limit)
    places = _read(cursor, stream, direction) if cursor else {}
    pages: list[list[Event]] = []
    async with reader.transaction(tenant) as connection:
        for number, name in sorted((await reader.partition_names(connection, tenant)).items()):
            page = await reader.page_in(
                connection, tenant, stream, wanted,
                legal_entity=name, direction=direction, start=places.get(number), limit=limit + 1,
            )  # fmt: skip
            pages.append(page)
    merged = heapq.merge(*pages, key=_time, reverse=direction == "backward")
    found = list(islice(merged, limit + 1))
    taken = found[:limit]
    places |= {event.partition_id: event.sequence for event in taken}
    following = _write(places, stream, direction) if len(found) > limit else None
    return StreamPage(await reader.open(tenant, taken, tolerant=tolerant), following)


def _time(event: Event) -> tuple[object, int, int]:
    return event.recorded_at, event.partition_id, event.sequence


def _write(places: Mapping[int, int], stream: Stream, direction: Direction) -> str:
    named = {str(number): sequence for number, sequence in places.items()}
    content = orjson.dumps([2, named, fingerprint_of(ALL_LEGAL_ENTITIES, stream), direction])
    return base64.urlsafe_b64encode(zlib.compress(content)).rstrip(b"=").decode()


def _read(cursor: str, stream: Stream, direction: Direction) -> dict[int, int]:
    try:
        packed = zlib.decompressobj().decompress(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), 1 << 20)
        version, named, fingerprint, way = orjson.loads(packed)
        places = {int(number): sequence for number, sequence in named.items()}
    except (binascii.Error, zlib.error, ValueError, TypeError, AttributeError):
        raise BadCursor(f"{cursor!r} is not a cursor: pass one back as it was given.") from None
    plain = all(type(one) is int and 0 <= one < 2**63 for one in places.values())
    if not plain or (version, fingerprint, way) != (2, fingerprint_of(ALL_LEGAL_ENTITIES, stream), direction):
        raise BadCursor("The cursor belongs to another stream: start that stream without one.")
    return places
