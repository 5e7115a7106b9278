"""The pages of branches of memory: begun, compared, merged, given up."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.errors import MnemonError
from mnemon.memory.operations import branches
from mnemon.operations import Caller, read_input
from mnemon.web.forms import binds, submitted
from mnemon.web.memory.memory_pages import OWN_WORLD, RARE, words_of
from mnemon.web.rendering import Visitor, as_page, render, visit
from mnemon.web.side_by_side import of_hunks

router = APIRouter(include_in_schema=False)


@router.get("/memory/branches")
@as_page
@binds(branches.listed, OWN_WORLD)
async def branches_page(request: Request, mnemon: MnemonPart) -> Response:
    return await _all(mnemon, await visit(request, branches.listed.action))


@router.post("/memory/branches")
@as_page
@binds(branches.begin, {**OWN_WORLD, "at": RARE})
async def begin_branch(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, branches.begin.action)
    try:
        made = await branches.begin(mnemon, Caller.of(visitor.principal), await submitted(request, branches.begin))
    except MnemonError as refusal:
        return await _all(mnemon, visitor, refusal)
    return RedirectResponse(f"/memory/branches/{made.branch}", 303)


@router.get("/memory/branches/{branch}")
@as_page
@binds(branches.compare, OWN_WORLD, also=[branches.get])
async def branch_page(request: Request, mnemon: MnemonPart, branch: str) -> Response:
    visitor = await visit(request, branches.compare.action)
    return await _branch(mnemon, visitor, branch)


@router.post("/memory/branches/{branch}/merge")
@as_page
@binds(branches.merge, OWN_WORLD)
async def merge(request: Request, mnemon: MnemonPart, branch: str) -> Response:
    visitor = await visit(request, branches.merge.action)
    chosen = {
        name.removeprefix("resolve-"): str(value)
        for name, value in (await request.form()).items()
        if name.startswith("resolve-") and value
    }
    try:
        asked = await submitted(request, branches.merge, resolutions=chosen or None)
        await branches.merge(mnemon, Caller.of(visitor.principal), asked)
    except MnemonError as refusal:
        return await _branch(mnemon, visitor, branch, refusal)
    return RedirectResponse("/memory", 303)


@router.post("/memory/branches/{branch}/abandon")
@as_page
@binds(branches.abandon, OWN_WORLD)
async def abandon(request: Request, mnemon: MnemonPart, branch: str) -> Response:
    visitor = await visit(request, branches.abandon.action)
    await branches.abandon(mnemon, Caller.of(visitor.principal), await submitted(request, branches.abandon))
    return RedirectResponse("/memory/branches", 303)


async def _all(mnemon: Mnemon, visitor: Visitor, problem: MnemonError | None = None) -> Response:
    found = await branches.listed(mnemon, Caller.of(visitor.principal), read_input(branches.listed, {}))
    return render(
        "branches.html", status_code=problem.status if problem else 200, here="memory", visitor=visitor,
        branches=found.branches, problem=problem,
    )  # fmt: skip


async def _branch(mnemon: Mnemon, visitor: Visitor, branch: str, problem: MnemonError | None = None) -> Response:
    caller = Caller.of(visitor.principal)
    compared = await branches.compare(mnemon, caller, read_input(branches.compare, {"branch": branch}))
    words = await words_of(mnemon, caller, branch, [one.emo_id for one in compared.objects])
    pairs = {one.emo_id: of_hunks(one.content_diff["hunks"]) for one in compared.objects}
    return render(
        "branch.html", status_code=problem.status if problem else 200, here="memory", visitor=visitor,
        compared=compared, one=compared.branch, problem=problem, words=words, pairs=pairs,
    )  # fmt: skip
