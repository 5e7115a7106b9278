"""The pages of where mail comes from: sources and what goes wrong there, archives, imports, and the check of it all."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.errors import InvalidRequest, MnemonError
from mnemon.mail import inputs, operations
from mnemon.mail.outputs import ArchivePage, MailChecked
from mnemon.operations import Caller, Differs, read_input
from mnemon.web.forms import binds, form_of, perform, submitted
from mnemon.web.rendering import Visitor, as_page, render, visit

router = APIRouter(include_in_schema=False)
ON_A_PAGE, LAST_IMPORTS = 30, 20
ONE_PAGE = {"limit": Differs("A page of the web has a fixed length.")}


@router.get("/lists/sources")
@as_page
@binds(operations.archives, ONE_PAGE, also=[operations.sources])
async def sources_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.archives.action)
    return await _shown(mnemon, visitor, request.query_params)


@router.get("/lists/imports")
@as_page
@binds(operations.imports, ONE_PAGE)
async def imports_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.imports.action)
    asked = inputs.MailImportsAsked(limit=LAST_IMPORTS)
    found = await operations.imports(mnemon, Caller.of(visitor.principal), asked)
    return render("mail_imports.html", here="lists", visitor=visitor, imports=found.items)


@router.post("/lists/sources")
@as_page
@binds(operations.import_mail)
async def add_source(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.import_mail.action)
    try:
        asked = await submitted(request, operations.import_mail)
        await operations.import_mail(mnemon, Caller.of(visitor.principal), asked)
    except MnemonError as refusal:
        return await _shown(mnemon, visitor, {}, refusal)
    return RedirectResponse("/lists/imports", 303)


@router.post("/lists/sources/remove")
@as_page
@binds(operations.remove_source)
async def remove_source(request: Request, mnemon: MnemonPart) -> Response:
    return await perform(request, mnemon, operations.remove_source, "/lists/sources")


@router.post("/lists/check")
@as_page
@binds(operations.check)
async def check_lists(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.check.action)
    caller = Caller.of(visitor.principal)
    checked = await operations.check(mnemon, caller, await submitted(request, operations.check))
    return await _shown(mnemon, visitor, {}, checked=checked)


@router.get("/lists/archives/{archive_id}")
@as_page
@binds(operations.archive)
async def archive_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.archive.action)
    asked = read_input(operations.archive, request.path_params)
    one = await operations.archive(mnemon, Caller.of(visitor.principal), asked)
    return render("mail_archive.html", here="lists", visitor=visitor, one=one)


async def _shown(
    mnemon: Mnemon, visitor: Visitor, query: Any, problem: MnemonError | None = None, *,
    checked: MailChecked | None = None,
) -> Response:  # fmt: skip
    caller = Caller.of(visitor.principal)
    form = form_of(operations.archives, query, differences=ONE_PAGE)
    archives = ArchivePage(items=[])
    try:
        archives = await operations.archives(mnemon, caller, form.asked(limit=ON_A_PAGE))
    except InvalidRequest as refusal:
        problem = problem or refusal
    known = await operations.sources(mnemon, caller, inputs.SourcesAsked()) if visitor.is_admin else None
    return render(
        "mail_sources.html", status_code=problem.status if problem else 200, here="lists", visitor=visitor, form=form,
        archives=archives, sources=known.items if known else None, problem=problem, checked=checked,
    )  # fmt: skip
