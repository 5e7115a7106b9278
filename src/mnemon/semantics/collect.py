"""All events that a search finds, page by page, up to a bound: for exports."""

from uuid import UUID

from mnemon.db.database import Database
from mnemon.documents.readers import Reader
from mnemon.semantics.query import MOST, EventFilters, event_search
from mnemon.semantics.shapes import Shape

MOST_COLLECTED = 10_000


async def collect(database: Database, tenant: UUID, reader: Reader, filters: EventFilters) -> list[Shape]:
    """In the order of the search, each with its evidence; at most ten thousand."""
    events: list[Shape] = []
    cursor = None
    while len(events) < MOST_COLLECTED:
        page = await event_search(database, tenant, reader, filters, limit=MOST, cursor=cursor, counted=MOST_COLLECTED)
        events += page["events"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    return events
