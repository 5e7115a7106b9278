"""The pages of memory: objects, their history and differences, and changes with a reason."""

import re
from collections.abc import Iterable
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from markupsafe import Markup, escape

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.errors import InvalidRequest, MnemonError
from mnemon.memory.operations import objects
from mnemon.memory.operations.object_outputs import HistoryOut, ViewedObject
from mnemon.operations import Caller, Differs, Operation, read_input
from mnemon.web.forms import binds, form_of, submitted
from mnemon.web.markdown import MARKDOWN, render_markdown
from mnemon.web.rendering import Visitor, as_page, query_of, render, templates, visit
from mnemon.web.side_by_side import side_by_side

router = APIRouter(include_in_schema=False)
ON_A_PAGE = 30
MOST_TIED = 20
RARE = Differs("Few people ask for it; REST and the command have it.")
LISTED = ("query", "type", "tags", "updated_since", "branch", "cursor")
ONE_PAGE = {name: RARE for name in objects.find.input.model_fields if name not in LISTED}
WRITTEN = ("branch", "content", "emo_type", "tags", "rationale", "subject_id")
ON_A_FORM = {name: RARE for name in objects.create.input.model_fields if name not in WRITTEN}
BY_PAGE = {
    name: Differs("The page shows history and differences beside it.")
    for name in ("view", "from_version", "to_version")
}
OWN_WORLD = {"world_id": Differs("The pages show the tenant's own world.")}


@router.get("/memory")
@as_page
@binds(objects.find, ONE_PAGE)
async def memory_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, objects.find.action)
    form = form_of(objects.find, request.query_params, differences=ONE_PAGE)
    found, problem = None, None
    try:
        found = await objects.find(
            mnemon, Caller.of(visitor.principal), form.asked(tags=tags_in(form.value("tags")), limit=ON_A_PAGE)
        )
    except MnemonError as refusal:
        problem = refusal
    return render(
        "memory.html", status_code=problem.status if problem else 200, here="memory", visitor=visitor, form=form,
        found=found, problem=problem, branch=form.value("branch") or "main",
    )  # fmt: skip


@router.get("/memory/new")
@as_page
async def new_page(request: Request, mnemon: MnemonPart, branch: str = "main") -> Response:
    visitor = await visit(request, objects.create.action)
    return _new(visitor, {"branch": branch})


@router.post("/memory")
@as_page
@binds(objects.create, ON_A_FORM)
async def create(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, objects.create.action)
    given = {name: str(value) for name, value in (await request.form()).items()}
    try:
        asked = await submitted(request, objects.create, tags=tags_in(given.get("tags", "")))
        made = await objects.create(mnemon, Caller.of(visitor.principal), asked)
    except MnemonError as refusal:
        return _new(visitor, given, refusal)
    return RedirectResponse(_address(made.emo_id, made.branch), 303)


def _new(visitor: Visitor, given: dict[str, str], problem: MnemonError | None = None) -> Response:
    form = form_of(objects.create, given, differences=ON_A_FORM)
    status = problem.status if problem else 200
    return render("memory_new.html", status_code=status, here="memory", visitor=visitor, form=form, problem=problem)


@router.get("/memory/{emo_id}")
@as_page
@binds(objects.get, BY_PAGE, also=[objects.history])
async def object_page(
    request: Request, mnemon: MnemonPart, emo_id: str, branch: str = "main", start: int = 0, end: int = 0
) -> Response:
    """Of a version, with the cited words marked, where a citation opens it."""
    visitor = await visit(request, objects.get.action)
    as_of = request.query_params.get("as_of")
    return await _object(mnemon, visitor, emo_id, branch or "main", as_of=as_of, cited=(start, end))


@router.get("/memory/{emo_id}/diff")
@as_page
async def diff_page(
    request: Request, mnemon: MnemonPart, emo_id: str, before: int, after: int, branch: str = "main"
) -> Response:
    visitor = await visit(request, objects.get.action)
    caller, here = Caller.of(visitor.principal), {"emo_id": emo_id, "branch": branch or "main"}
    left, right = [
        await objects.get(mnemon, caller, read_input(objects.get, {**here, "as_of": f"v{version}"}))
        for version in (before, after)
    ]
    return render(
        "memory_diff.html", here="memory", visitor=visitor, left=left, right=right, branch=branch,
        pairs=side_by_side(left.content, right.content),
    )  # fmt: skip


@router.post("/memory/{emo_id}/update")
@as_page
@binds(objects.update, OWN_WORLD)
async def update(request: Request, mnemon: MnemonPart, emo_id: str) -> Response:
    tags = tags_in(str((await request.form()).get("tags", ""))) or []
    return await _changed(request, mnemon, objects.update, emo_id, tags=tags)


@router.post("/memory/{emo_id}/link")
@as_page
@binds(objects.link, OWN_WORLD)
async def link(request: Request, mnemon: MnemonPart, emo_id: str) -> Response:
    form = await request.form()
    one = {"kind": str(form.get("kind", "uri")), "ref": str(form.get("ref", "")).strip()}
    name = "removed_links" if form.get("remove") else "links"
    return await _changed(request, mnemon, objects.link, emo_id, **{name: [one]})


@router.post("/memory/{emo_id}/share")
@as_page
@binds(objects.share, OWN_WORLD)
async def share(request: Request, mnemon: MnemonPart, emo_id: str) -> Response:
    form = await request.form()
    named = [one.strip() for one in re.split(r"[,\s]+", str(form.get("names", ""))) if one.strip()]
    readers = {"everyone": ["everyone"], "owner": [], "named": named}.get(str(form.get("who", "")))
    return await _changed(request, mnemon, objects.share, emo_id, readers=readers)


@router.post("/memory/{emo_id}/delete")
@as_page
@binds(objects.delete, OWN_WORLD)
async def delete(request: Request, mnemon: MnemonPart, emo_id: str) -> Response:
    return await _changed(request, mnemon, objects.delete, emo_id)


@router.post("/memory/{emo_id}/restore")
@as_page
@binds(objects.restore, OWN_WORLD)
async def restore(request: Request, mnemon: MnemonPart, emo_id: str) -> Response:
    return await _changed(request, mnemon, objects.restore, emo_id)


async def _changed(
    request: Request, mnemon: Mnemon, change: Operation[Any, Any], emo_id: str, **fixed: Any
) -> Response:
    """The object's page; where someone else was faster, with what one wrote and what stands there now."""
    visitor = await visit(request, change.action)
    written = {name: str(value) for name, value in (await request.form()).items()}
    branch = written.get("branch") or "main"
    try:
        await change(mnemon, Caller.of(visitor.principal), await submitted(request, change, **fixed))
    except MnemonError as refusal:
        return await _object(mnemon, visitor, emo_id, branch, problem=refusal, mine=written.get("content"))
    return RedirectResponse(_address(emo_id, branch), 303)


async def _object(
    mnemon: Mnemon, visitor: Visitor, emo_id: str, branch: str, *, as_of: str | None = None,
    problem: MnemonError | None = None, mine: str | None = None, cited: tuple[int, int] = (0, 0),
) -> Response:  # fmt: skip
    caller, here = Caller.of(visitor.principal), {"emo_id": emo_id, "branch": branch}
    history: HistoryOut = await objects.history(mnemon, caller, read_input(objects.history, here))
    one: ViewedObject | None = None
    if not history.deleted or as_of:
        asked = read_input(objects.get, here | ({"as_of": as_of} if as_of else {}))
        one = await objects.get(mnemon, caller, asked)
    tied = await words_of(mnemon, caller, branch, [tie.target_emo_id for tie in one.links]) if one else {}
    words = _as_it_reads(one, *cited) if one else None
    crossed = problem is not None and problem.status == HTTPStatus.CONFLICT
    pairs = side_by_side(one.content, mine) if one and mine and crossed else None
    return render(
        "memory_object.html", status_code=problem.status if problem else 200, here="memory", visitor=visitor, one=one,
        history=history, emo_id=emo_id, branch=branch, as_of=as_of, problem=problem, words=words,
        cited=cited[1] > 0, tied=tied, pairs=pairs,
    )  # fmt: skip


def _as_it_reads(one: ViewedObject, start: int, end: int) -> Markup:
    """Its content, with `[start, end)` marked where that is asked for."""
    marked = end > 0
    if marked and not 0 <= start < end <= len(one.content):
        raise InvalidRequest(f"{start}-{end} is no span of this text of {len(one.content)} characters.")
    if one.mime_type == MARKDOWN:
        return render_markdown(one.content, 0, None, *((start, end) if marked else (-1, -1)))
    if not marked:
        return escape(one.content)
    pieces = (one.content[:start], one.content[start:end], one.content[end:])
    return Markup('%s<mark id="cited">%s</mark>%s') % pieces


async def words_of(mnemon: Mnemon, caller: Caller, branch: str, ids: Iterable[object]) -> dict[str, str]:
    """How the objects that one is tied to begin; without those that are gone, or not for the visitor."""
    words: dict[str, str] = {}
    for emo_id in [one for one in ids if one][:MOST_TIED]:
        with suppress(MnemonError):
            found = await objects.get(mnemon, caller, read_input(objects.get, {"emo_id": emo_id, "branch": branch}))
            words[str(emo_id)] = " ".join(found.content.split())[:120]
    return words


def tags_in(text: str) -> list[str] | None:
    return [one.strip() for one in text.split(",") if one.strip()] or None


def _address(emo_id: object, branch: str) -> str:
    return f"/memory/{emo_id}" + (query_of(branch=branch) if branch != "main" else "")


templates.globals["memory_address"] = _address
