"""Memory objects over REST: create, read in four views, change, delete, restore."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request, Response

from mnemon.api.access import MnemonPart
from mnemon.api.memory_models import (
    Deletion,
    HistoryOut,
    NewContent,
    NewFacet,
    NewLinks,
    NewObject,
    ObjectOut,
    ObjectPage,
    Restoration,
    ViewedObject,
    ViewName,
    relations_in,
    removed_in,
)
from mnemon.api.memory_requests import (
    AsOf,
    ChangeAsked,
    IdempotencyKey,
    MemoryRoute,
    ReadingAsked,
    Where,
    Writer,
    author_of,
)
from mnemon.api.paging import Cursor, from_cursor, to_cursor
from mnemon.identity.recording import refuse_other_tenant
from mnemon.log.moments import read_moment, written
from mnemon.memory.answers import object_as_json, version_as_json
from mnemon.memory.errors import InvalidMemory, MemoryNotFound
from mnemon.memory.objects import EmoType
from mnemon.memory.reading import Version, Wanted, not_found
from mnemon.memory.relations import difference
from mnemon.memory.search import Mode

router = APIRouter(tags=["memory"], route_class=MemoryRoute)
MOST_HITS = 100
FacetName = Annotated[str, Path(max_length=100)]


@router.post("/memory/objects", summary="Create a memory object", status_code=201, response_model=ObjectOut)
async def post_object(
    new: NewObject,
    request: Request,
    response: Response,
    mnemon: MnemonPart,
    principal: Writer,
    where: Where,
    idempotency_key: IdempotencyKey = None,
) -> dict[str, Any]:
    refuse_other_tenant(principal, new.tenant_id)
    made = await mnemon.memory.changes.create(
        principal.tenant_id,
        where.place(principal),
        author_of(principal, idempotency_key),
        content=new.content,
        emo_type=new.emo_type,
        emo_id=new.emo_id,
        mime_type=new.mime_type,
        tags=new.tags,
        facets=new.facets,
        source_kind=new.source.kind,
        source_uri=new.source.uri,
        subject_id=new.subject_id,
        rationale=new.rationale,
        **relations_in(new),
    )
    prefix = request.url.path.rstrip("/")
    response.headers["Location"] = f"{prefix}/{made.object.emo_id}"
    return object_as_json(made.object)


@router.get(
    "/memory/objects",
    summary="List memory objects, newest first; with `text`, search them, best first",
    response_model=ObjectPage,
)
async def list_objects(
    asked: ReadingAsked,
    text: Annotated[str | None, Query(min_length=1, max_length=2000)] = None,
    mode: Annotated[Mode, Query(description="Of a search: by words, by meaning, or both.")] = "hybrid",
    emo_type: Annotated[EmoType | None, Query(alias="type")] = None,
    tag: Annotated[list[str] | None, Query(max_length=20, description="All of these; may be repeated.")] = None,
    updated_since: datetime | None = None,
    as_of: AsOf = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Cursor = None,
) -> dict[str, Any]:
    reading = asked.memory.reading
    wanted = Wanted(emo_type=emo_type, tags=tag or (), updated_since=updated_since)
    if text is not None:
        if as_of is not None or cursor is not None:
            raise InvalidMemory("A search is of the present and has one page: leave out as_of and cursor.")
        sought = await asked.memory.search.search(
            *asked.here, text, mode=mode, wanted=wanted, limit=min(limit, MOST_HITS)
        )
        hits = [object_as_json(one.object) | {"score": round(one.score, 6)} for one in sought.hits]
        return {"objects": hits, "total": len(hits), "next_cursor": None, "mode": sought.mode}
    found = await reading.page(*asked.here, wanted, as_of=as_of, limit=limit + 1, before=_position(cursor))
    total = await reading.count(*asked.here, wanted, as_of=as_of)
    last = found[limit - 1].object if len(found) > limit else None
    following = to_cursor(f"{written(last.updated_at)} {last.emo_id}") if last else None
    return {
        "objects": [object_as_json(one.object) for one in found[:limit]],
        "total": total,
        "next_cursor": following,
    }


@router.get(
    "/memory/objects/{emo_id}",
    summary="One object: as it is, its changelog, its diffs or its rationales",
    response_model=ViewedObject,
)
async def get_object(
    emo_id: UUID,
    asked: ReadingAsked,
    view: ViewName = "current",
    as_of: AsOf = None,
    from_version: Annotated[int | None, Query(ge=1, description="Of the view `diff`.")] = None,
    to_version: Annotated[int | None, Query(ge=1, description="Of the view `diff`.")] = None,
) -> dict[str, Any]:
    found = await asked.memory.reading.get(*asked.here, emo_id, as_of)
    if view == "current":
        data = version_as_json(found)
    else:
        ends = (from_version, to_version) if from_version or to_version else None
        data = await _viewed(asked, found, view, ends)
    return object_as_json(found.object) | {"view_data": data}


@router.get(
    "/memory/objects/{emo_id}/history",
    summary="Every version of an object, also of a deleted one",
    response_model=HistoryOut,
)
async def get_history(emo_id: UUID, asked: ReadingAsked) -> dict[str, Any]:
    versions = await asked.memory.reading.history(*asked.here, emo_id)
    return {
        "emo_id": emo_id,
        "deleted": versions[-1].object.deleted,
        "versions": [version_as_json(one) | {"diff": one.diff} for one in versions],
    }


@router.put("/memory/objects/{emo_id}/content", summary="Change the content", response_model=ObjectOut)
async def put_content(asked: ChangeAsked, new: NewContent) -> dict[str, Any]:
    changed = await asked.changes.update(*asked.target, **dict(new))
    return object_as_json(changed.object)


@router.post("/memory/objects/{emo_id}/links", summary="Add or take away relations", response_model=ObjectOut)
async def post_links(asked: ChangeAsked, new: NewLinks) -> dict[str, Any]:
    relations = relations_in(new) | removed_in(new)
    changed = await asked.changes.link(
        *asked.target, rationale=new.rationale, expected_version=new.expected_version, **relations
    )
    return object_as_json(changed.object)


@router.put("/memory/objects/{emo_id}/facets/{name:path}", summary="Add or replace a facet", response_model=ObjectOut)
async def put_facet(asked: ChangeAsked, name: FacetName, new: NewFacet) -> dict[str, Any]:
    changed = await asked.changes.set_facet(*asked.target, name, **dict(new))
    return object_as_json(changed.object)


@router.delete("/memory/objects/{emo_id}/facets/{name:path}", summary="Take a facet away", response_model=ObjectOut)
async def delete_facet(asked: ChangeAsked, name: FacetName, why: Restoration | None = None) -> dict[str, Any]:
    changed = await asked.changes.remove_facet(*asked.target, name, **dict(why or Restoration()))
    if changed.appended is None:
        raise MemoryNotFound(f"{changed.object.emo_id} has no facet {name!r}.", facet=name)
    return object_as_json(changed.object)


@router.delete("/memory/objects/{emo_id}", summary="Hide an object; its history stays", status_code=204)
async def delete_object(asked: ChangeAsked, why: Deletion | None = None) -> None:
    why = why or Deletion()
    await asked.changes.delete(*asked.target, reason=why.deletion_reason, expected_version=why.expected_version)


@router.post("/memory/objects/{emo_id}/restore", summary="Bring a deleted object back", response_model=ObjectOut)
async def restore_object(asked: ChangeAsked, why: Restoration | None = None) -> dict[str, Any]:
    changed = await asked.changes.restore(*asked.target, **dict(why or Restoration()))
    return object_as_json(changed.object)


async def _viewed(
    asked: ReadingAsked, found: Version, view: ViewName, ends: tuple[int | None, int | None] | None
) -> dict[str, Any]:
    """The changes that led to the version that was asked for."""
    emo_id, seen = found.object.emo_id, found.object.emo_version
    versions = await asked.memory.reading.history(*asked.here, emo_id, contents=ends is not None)
    versions = [one for one in versions if one.object.emo_version <= seen]
    if view == "changelog":
        return {"changes": [version_as_json(one) for one in versions]}
    if view == "rationale":
        return {"rationales": [version_as_json(one) for one in versions if one.rationale]}
    if ends is None:
        return {"diffs": [{"emo_version": one.object.emo_version, "diff": one.diff} for one in versions]}
    first, last = ends[0] or 1, ends[1] or seen
    known = {one.object.emo_version: one.object for one in versions}
    for version in (first, last):
        if version not in known:
            raise not_found(asked.place, emo_id, f"v{version}")
    return {"from_version": first, "to_version": last, "diff": difference(known[first], known[last])}


def _position(cursor: str | None) -> tuple[datetime, UUID] | None:
    text = from_cursor(cursor)
    if text is None:
        return None
    moment, _, emo_id = text.partition(" ")
    try:
        return read_moment(moment), UUID(emo_id)
    except ValueError:
        raise InvalidMemory("This cursor is of another list: leave it out to start over.", cursor=cursor) from None
