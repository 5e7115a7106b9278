"""What a chunk, a vector and an event take on the disk, indexes included: `python bench/bytes_of_rows.py`.

Chunks of 256 tokens without vectors of meaning: random ones take the same room. The figures stand in
docs/guide/capacity.md, and bench/capacity.py computes with them.
"""

import asyncio
import json
from uuid import UUID

import numpy as np
from bench_bulk import texts
from passages import Passage, add_document, add_tenant, own_database

from mnemon.db.database import Connection, Database
from mnemon.log.append.incoming import DECISION_TYPE
from mnemon.log.events import SYSTEM, EntityReference, NewEvent
from mnemon.log.store import EventLog
from mnemon.log.types.event_type import EventType
from mnemon.models.active import ModelInUse

MODEL = ModelInUse("all-MiniLM-L6-v2@1", 384)
PER_DOCUMENT = 10
EVENTS = 10_000
# Each table with what it is about, and all partitions with their parent.
SIZES = """
SELECT t.relname AS name, pg_table_size(t.oid) AS rows, pg_indexes_size(t.oid) AS indexes
  FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
 WHERE n.nspname IN ('mnemon', 'mnemon_partitions') AND t.relkind = 'r'
"""
OF_TEXT = ("chunks", "chunk_terms", "term_counts", "text_counts", "revision_texts", "document_revisions", "documents")


async def sizes(owner: Connection) -> dict[str, tuple[int, int]]:
    await owner.execute("VACUUM")
    found = await (await owner.execute(SIZES)).fetchall()
    return {row["name"]: (row["rows"], row["indexes"]) for row in found}


async def add_chunks(database: Database, tenant: UUID) -> int:
    chunks, chance = texts(), np.random.default_rng(7)
    for at in range(0, len(chunks), PER_DOCUMENT):
        some = [Passage(str(at + number), text) for number, text in enumerate(chunks[at : at + PER_DOCUMENT])]
        vectors = chance.standard_normal((len(some), MODEL.dimension)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        async with database.transaction(tenant) as tx:
            await add_document(tx, tenant, f"Document {at}", some, vectors, MODEL)
    return len(chunks)


async def add_events(database: Database, tenant: UUID) -> None:
    async with EventLog(database) as events:
        await events.register_type(tenant, EventType.from_json(DECISION_TYPE), SYSTEM)
        data = {"title": "Move the archive to Frankfurt", "outcome": "approved", "votes": {"for": 4, "against": 1}}
        for at in range(0, EVENTS, 100):
            batch = [
                NewEvent(
                    type=DECISION_TYPE["type"], data=data, entities=[EntityReference("decision", f"D-{number}")],
                    tags=["hosting"],
                )
                for number in range(at, at + 100)
            ]  # fmt: skip
            await events.append(tenant, batch)


def grown(before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]], *names: str) -> int:
    """By how many bytes tables and indexes have grown; without names, all of them."""
    return sum(sum(after[name]) - sum(before.get(name, (0, 0))) for name in after if not names or name in names)


async def main() -> None:
    async with own_database() as database, database.owner() as owner:
        tenant = await add_tenant(database)
        empty = await sizes(owner)
        chunks = await add_chunks(database, tenant)
        full = await sizes(owner)
        await add_events(database, tenant)
        logged = await sizes(owner)
    rows, indexes = full["chunk_vectors"]
    results = {
        "chunk_bytes": round(grown(empty, full, *OF_TEXT) / chunks),
        "vector_bytes": round((rows - empty["chunk_vectors"][0]) / chunks),
        "index_bytes": round((indexes - empty["chunk_vectors"][1]) / chunks),
        "event_bytes": round(grown(full, logged) / EVENTS),
    }
    print(f"{chunks:,} chunks, {EVENTS:,} events: {results}")
    print(json.dumps({"bench": "bytes", "results": results}))


if __name__ == "__main__":
    asyncio.run(main())
