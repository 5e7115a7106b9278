"""Search among semantic events: by words and meaning, category, time, people, subject and state, then and now."""

from datetime import date, timedelta
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mnemon.db.database import Connection, Database
from mnemon.documents.access import Reader, read_as
from mnemon.errors import MnemonError, NotFound
from mnemon.models.active import active_model
from mnemon.models.embedder import Embedder
from mnemon.models.vectors import as_vector
from mnemon.semantics.artifact_reading import find_artifact, find_revision
from mnemon.semantics.corrections.correct import shown
from mnemon.semantics.inputs import EventFilters
from mnemon.semantics.search.cursor import CursorFields, from_cursor, moment, offset, to_cursor
from mnemon.semantics.search.event_vectors import VECTORS
from mnemon.semantics.search.occasions import asked_for, without_kind
from mnemon.semantics.shapes import Shape, event_shape, read_events, read_evidence, with_replacements
from mnemon.telemetry import histogram

# Counted, ranked and paged through up to here; a search that finds more says so instead of reading them all.
COUNTED = 1_000
BY_RANK: CursorFields = {"offset": offset, "any_word": bool}
BY_TIME: CursorFields = {"after_time": moment, "after_id": str}
# Behind all that has a day.
UNDATED: CursorFields = {**BY_TIME, "after_undated": bool}
FIND = "SELECT event_id, happened_at, score, total FROM mnemon.find_semantic_events(%s, %s::vector, %s)"
STATUS_THEN = "SELECT event_id, status FROM mnemon.statuses_as_of(%s, %s::timestamptz, %s::timestamptz)"

SECONDS = histogram("mnemon_event_search_seconds", "Time of one search among semantic events.")


async def event_search(
    database: Database, tenant: UUID, reader: Reader, filters: EventFilters | None = None, *, limit: int = 20,
    cursor: str | None = None, include_evidence: bool = True, embedder: Embedder | None = None, counted: int = COUNTED,
) -> Shape:  # fmt: skip
    """One page: with words the best first, each with its relevance as `score`, else the latest; `total` counts all
    matches, up to `counted`. With an embedder, events that say it in other words are found too.
    """
    filters = filters or EventFilters()
    with SECONDS.time():
        vector = await embedded_query(embedder, filters.query)
        async with database.transaction(tenant) as tx:
            await read_as(tx, reader)
            wanted = await wanted_events(tx, filters, limit, cursor)
            if vector is not None and not await comparable(tx, embedder):
                vector = None
            rows = await _find(tx, wanted, vector, counted) if wanted is not None else []
            found = await read_events(tx, [row["event_id"] for row in rows[:limit]])
            if filters.as_of or filters.known_at:
                found = await _as_they_stood(tx, found, filters)
            shapes = [event_shape(row) for row in found]
            if wanted is not None and "query" in wanted:
                relevance = {row["event_id"]: round(row["score"], 6) for row in rows}
                shapes = [shape | {"score": relevance[shape["event_id"]]} for shape in shapes]
            shapes = await with_replacements(tx, shapes)
            if include_evidence:
                evidence = await read_evidence(tx, found)
                shapes = [shape | {"evidence": evidence[shape["event_id"]]} for shape in shapes]
    total = rows[0]["total"] if rows else 0
    return {
        "events": shapes,
        "total": min(total, counted),
        "total_is_exact": total <= counted,
        "next_cursor": _next(wanted, rows, limit),
        "filters_applied": filters.applied(),
    }


async def event_get(database: Database, tenant: UUID, reader: Reader, event_id: str) -> Shape:
    """One event with all its evidence, what it is tied to, and what people said of it."""
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        return await shown(tx, event_id)


async def event_list_for_revision(
    database: Database, tenant: UUID, reader: Reader, artifact_uid: str, revision_id: str | None = None, *,
    include_evidence: bool = False, first: int = 0, limit: int | None = None,
) -> Shape:  # fmt: skip
    """Everything that one revision says, the latest unless told, in the order of its text; or a page of it."""
    async with database.transaction(tenant) as tx:
        await read_as(tx, reader)
        artifact = await find_artifact(tx, artifact_uid)
        revision = await find_revision(tx, artifact, revision_id)
        ids = await (await tx.execute(OF_REVISION, (revision.doc_version_id,))).fetchall()
        wanted = ids[first:] if limit is None else ids[first : first + limit]
        rows = await read_events(tx, [row["event_id"] for row in wanted])
        shapes = [event_shape(row) for row in rows]
        if include_evidence:
            evidence = await read_evidence(tx, rows)
            shapes = [shape | {"evidence": evidence[shape["event_id"]]} for shape in shapes]
    return {
        "artifact_uid": artifact_uid,
        "revision_id": revision.revision_id,
        "is_latest": revision.is_latest,
        "events": shapes,
        "total": len(ids),
    }


OF_REVISION = """
SELECT event_id FROM mnemon.semantic_events
 WHERE tenant_id = mnemon.current_tenant() AND doc_version_id = %s AND status <> 'dismissed'
 ORDER BY position, event_id
"""


async def wanted_events(tx: Connection, filters: EventFilters, limit: int, cursor: str | None) -> dict[str, Any] | None:
    """What the database is asked; None where the artifact is not there, or not for this reader."""
    wanted = _heard(filters.applied()) | {"limit": limit + 1}
    if wanted.pop("due_to", None):
        wanted["due_before"] = first_day_after(filters.due_to, filters.due_before).isoformat()
    if "artifact_uid" in wanted:
        try:
            wanted["doc_id"] = str((await find_artifact(tx, wanted["artifact_uid"])).doc_id)
        except NotFound:
            return None
    # What was superseded often stands in a revision that is no longer served.
    wanted["past"] = filters.all_revisions or filters.status == "superseded"
    return wanted | from_cursor(cursor, BY_RANK, BY_TIME, UNDATED)


def _heard(wanted: dict[str, Any]) -> dict[str, Any]:
    """A question for decisions, promises or risks puts these first, by what it is about; else it lists them."""
    asked = asked_for(wanted.get("query") or "")
    if asked is None or "category" in wanted:
        return wanted
    category, about = asked[0].value, without_kind(wanted["query"])
    if not about:
        return {name: value for name, value in wanted.items() if name != "query"} | {"category": category}
    return wanted | {"query": about, "favoured": category}


def first_day_after(due_to: date | None, due_before: date | None) -> date:
    """The day before which something has to be due, whichever way it was asked."""
    ends = [due_before] if due_before else []
    if due_to and due_to < date.max:
        ends.append(due_to + timedelta(days=1))
    return min(ends, default=date.max)


async def embedded_query(embedder: Embedder | None, query: str | None) -> str | None:
    """The query's vector; none where there is no model, or it fails: words alone find events too."""
    if embedder is None or embedder.source == "none" or not query or not query.strip():
        return None
    try:
        return as_vector((await embedder.embed([query], purpose="query"))[0])
    except MnemonError:
        return None


async def comparable(tx: Connection, embedder: Embedder | None) -> bool:
    """Whether the stored vectors are of the same model."""
    active = await active_model(tx, VECTORS)
    return active is not None and embedder is not None and active.model_id == embedder.model_id


async def _as_they_stood(tx: Connection, rows: list[dict[str, Any]], filters: EventFilters) -> list[dict[str, Any]]:
    """With the status of that time: what ended them later had not happened, or was not known."""
    values = ([row["event_id"] for row in rows], filters.as_of, filters.known_at)
    then = {one["event_id"]: one["status"] for one in await (await tx.execute(STATUS_THEN, values)).fetchall()}
    return [row | {"status": then[row["event_id"]]} for row in rows]


async def _find(tx: Connection, wanted: dict[str, Any], vector: str | None, counted: int) -> list[dict[str, Any]]:
    """Events with all the words; where there are none, those with some of them. Without words the latest."""
    if "query" not in wanted:
        return await _latest(tx, wanted, counted)
    rows = await (await tx.execute(FIND, (Jsonb(wanted), vector, counted + 1))).fetchall()
    if rows or wanted.get("offset"):
        return rows
    wanted["any_word"] = True
    return await (await tx.execute(FIND, (Jsonb(wanted), vector, counted + 1))).fetchall()


async def _latest(tx: Connection, wanted: dict[str, Any], counted: int) -> list[dict[str, Any]]:
    """What has a day, the latest first; then, apart, that of which no text tells a day. `total` counts both."""
    place = {name: wanted[name] for name in ("after_time", "after_id") if name in wanted}
    asked = {name: value for name, value in wanted.items() if name not in (*place, "after_undated")}
    behind = wanted.get("after_undated", False)
    found = []
    for undated in (False, True):
        part = asked | {"undated": "only" if undated else "none"} | (place if behind is undated else {})
        rows = await (await tx.execute(FIND, (Jsonb(part), None, counted + 1))).fetchall()
        found.append([row | {"undated": undated} for row in rows])
    total = sum(rows[0]["total"] for rows in found if rows)
    if place and not behind and not found[0]:
        # The page before ended with the last that has a day: no row is left that tells how many have one.
        [first] = await (await tx.execute(FIND, (Jsonb(asked | {"limit": 1}), None, counted + 1))).fetchall()
        total = first["total"]
    page = found[1] if behind else [*found[0], *found[1]]
    return [row | {"total": total} for row in page[: wanted["limit"]]]


def _next(wanted: dict[str, Any] | None, rows: list[dict[str, Any]], limit: int) -> str | None:
    if wanted is None or len(rows) <= limit:
        return None
    if "query" in wanted:
        place = {"offset": wanted.get("offset", 0) + limit, "any_word": wanted.get("any_word", False)}
    else:
        last = rows[limit - 1]
        place = {"after_time": last["happened_at"].isoformat(), "after_id": last["event_id"]}
        if last["undated"]:
            place["after_undated"] = True
    return to_cursor(place)
