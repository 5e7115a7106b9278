"""All events that a search finds, page by page, up to a bound: for exports."""

from dataclasses import dataclass
from uuid import UUID

from mnemon.db.database import Database
from mnemon.documents.access import Reader
from mnemon.semantics.inputs import MOST, EventFilters
from mnemon.semantics.search.query import event_search
from mnemon.semantics.shapes import Shape

MOST_COLLECTED = 10_000


@dataclass(frozen=True)
class Collected:
    """The events, and whether these are all that there are."""

    events: list[Shape]
    complete: bool


async def collect(database: Database, tenant: UUID, reader: Reader, filters: EventFilters) -> Collected:
    """In the order of the search, each with its evidence; at most ten thousand."""
    events: list[Shape] = []
    cursor = None
    while True:
        page = await event_search(database, tenant, reader, filters, limit=MOST, cursor=cursor, counted=MOST_COLLECTED)
        events += page["events"]
        cursor = page["next_cursor"]
        if cursor is None or len(events) >= MOST_COLLECTED:
            return Collected(events, cursor is None and page["total_is_exact"])
