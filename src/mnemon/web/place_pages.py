"""The pages of folders and buckets whose files become documents, for administrators: followed, looked at, left."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.documents.sources import inputs, operations
from mnemon.documents.sources.folder_place import opened_folders
from mnemon.documents.sources.syncing import SYNC
from mnemon.errors import MnemonError
from mnemon.operations import Caller, Differs, read_input
from mnemon.web.forms import binds, perform, submitted
from mnemon.web.rendering import Visitor, as_page, has_worker, render, visit

router = APIRouter(include_in_schema=False)
ON_A_PAGE, LAST_LOOKS = 50, 10
ONE_PAGE = {"limit": Differs("A page of the web has a fixed length.")}
AT_THE_MACHINE = {"server_keys": Differs("Only whoever runs the server may say so, with the command.")}
UNDER_WAY = ("queued", "running")


@router.get("/sources")
@as_page
@binds(operations.list_sources)
async def places_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.list_sources.action)
    return await _all(mnemon, visitor)


@router.post("/sources")
@as_page
@binds(operations.add, AT_THE_MACHINE)
async def follow(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.add.action)
    given = {name: str(value) for name, value in (await request.form()).items()}
    try:
        asked = await submitted(request, operations.add, server_keys=False, **_lists(given))
        made = await operations.add(mnemon, Caller.of(visitor.principal), asked)
    except MnemonError as refusal:
        return await _all(mnemon, visitor, refusal)
    return RedirectResponse(f"/sources/{made.name}", 303)


@router.get("/sources/{source}")
@as_page
@binds(operations.objects, ONE_PAGE, also=[operations.get_source, operations.syncs])
async def place_page(request: Request, mnemon: MnemonPart, source: str) -> Response:
    visitor = await visit(request, operations.objects.action)
    return await _one(mnemon, visitor, source, request.query_params)


@router.post("/sources/{source}/sync")
@as_page
@binds(operations.sync_now)
async def look_now(request: Request, mnemon: MnemonPart, source: str) -> Response:
    return await perform(request, mnemon, operations.sync_now, f"/sources/{source}#looks")


@router.post("/sources/{source}")
@as_page
@binds(operations.change)
async def change(request: Request, mnemon: MnemonPart, source: str) -> Response:
    visitor = await visit(request, operations.change.action)
    given = {name: str(value) for name, value in (await request.form()).items()}
    # A field that was emptied means none; one that the form did not have stays as it is.
    emptied: dict[str, Any] = {name: [] for name in ("include", "exclude", "tags") if name in given}
    try:
        asked = await submitted(request, operations.change, **{**emptied, **_lists(given)})
        await operations.change(mnemon, Caller.of(visitor.principal), asked)
    except MnemonError as refusal:
        return await _one(mnemon, visitor, source, {}, refusal)
    return RedirectResponse(f"/sources/{source}", 303)


@router.post("/sources/{source}/remove")
@as_page
@binds(operations.remove)
async def remove(request: Request, mnemon: MnemonPart, source: str) -> Response:
    return await perform(request, mnemon, operations.remove, "/sources")


async def _all(mnemon: Mnemon, visitor: Visitor, problem: MnemonError | None = None) -> Response:
    listed = await operations.list_sources(mnemon, Caller.of(visitor.principal), inputs.FollowedSources())
    return render(
        "places.html", status_code=problem.status if problem else 200, here="sources", visitor=visitor,
        places=listed.items, problem=problem,
        folders=opened_folders(mnemon.settings, visitor.tenant.slug),
    )  # fmt: skip


async def _one(
    mnemon: Mnemon, visitor: Visitor, source: str, query: Any, problem: MnemonError | None = None
) -> Response:
    caller = Caller.of(visitor.principal)
    one = await operations.get_source(mnemon, caller, read_input(operations.get_source, {"source": source}))
    given = {name: query[name] for name in ("status", "cursor") if query.get(name)}
    asked = read_input(operations.objects, {"source": source, "limit": ON_A_PAGE, **given})
    files = await operations.objects(mnemon, caller, asked)
    found = await operations.syncs(mnemon, caller, inputs.SyncsAsked(source=source, limit=LAST_LOOKS))
    under_way = any(look.status in UNDER_WAY for look in found.items)
    return render(
        "place.html", status_code=problem.status if problem else 200, here="sources", visitor=visitor, one=one,
        files=files, given=given, looks=found.items, problem=problem,
        no_worker=under_way and not await has_worker(mnemon, SYNC),
    )  # fmt: skip


def _lists(given: dict[str, str]) -> dict[str, list[str]]:
    """Patterns and tags, as people write them: separated by commas or lines."""
    written = {name: given.get(name, "").replace("\n", ",").split(",") for name in ("include", "exclude", "tags")}
    return {name: kept for name, parts in written.items() if (kept := [one.strip() for one in parts if one.strip()])}
