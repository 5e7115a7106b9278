"""How events lie in time: how many of each category in each day, week, month, quarter or year."""

from uuid import UUID

from psycopg.types.json import Jsonb

from mnemon.db.database import Database
from mnemon.documents.access import Reader, read_as
from mnemon.models.embedder import Embedder
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.search.query import COUNTED, comparable, embedded_query, wanted_events
from mnemon.semantics.shapes import Shape, moment

# Without words so many of the latest are counted; with words, as many as a search ranks.
MOST_COUNTED = 2_000
DENSITY = "SELECT unit, since, category, events FROM mnemon.density_of_events(%s, %s::vector, %s)"


async def event_density(
    database: Database, tenant: UUID, reader: Reader, filters: EventFilters, embedder: Embedder | None = None
) -> Shape:
    """Of what fits; where there is more than is counted, of the latest or the best of it."""
    most = COUNTED if filters.query else MOST_COUNTED
    vector = await embedded_query(embedder, filters.query)
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        wanted = await wanted_events(tx, filters, most, None)
        if vector is not None and not await comparable(tx, embedder):
            vector = None
        rows = await (await tx.execute(DENSITY, (Jsonb(wanted), vector, most))).fetchall() if wanted else []
    counted = sum(row["events"] for row in rows)
    return {
        "unit": rows[0]["unit"] if rows else "day",
        "counts": [
            {"since": moment(row["since"]), "category": row["category"], "events": row["events"]} for row in rows
        ],
        "counted": counted,
        "complete": counted < most,
    }
