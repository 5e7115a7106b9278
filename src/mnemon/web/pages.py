"""The web pages: text made on the server, a little script, no build step."""

import contextlib
from collections.abc import Iterator
from importlib import resources
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Form, Request, Response
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles

from mnemon.api.access import SESSION_COOKIE, MnemonPart, address_of, refuse_foreign_pages
from mnemon.errors import MnemonError, NotAuthenticated
from mnemon.identity.operations import account
from mnemon.identity.roles import Action
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.operations import Bound, Caller, Operation, read_input
from mnemon.verification import operations as verification
from mnemon.web import document_page, event_pages, library_pages, question_pages
from mnemon.web.forms import binds
from mnemon.web.rendering import as_page, render, visit

router = APIRouter(include_in_schema=False)
PARTS = (router, question_pages.router, event_pages.router, library_pages.router, document_page.router)


def add_pages(site: FastAPI) -> None:
    for part in PARTS:
        site.include_router(part)
    site.mount("/static", StaticFiles(directory=str(resources.files("mnemon.web") / "static")), name="static")


def pages() -> Iterator[tuple[str, Bound]]:
    """The address of every page, with each operation that it is for."""
    for part in PARTS:
        for route in part.routes:
            if isinstance(route, APIRoute):
                yield from ((route.path, bound) for bound in getattr(route.endpoint, "bound", ()))


@router.get("/server")
@as_page
async def server_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, Action.VIEW_OWN_ACCOUNT)
    return render("server.html", here="server", visitor=visitor, parts=await mnemon.readiness())


@router.get("/integrity")
@as_page
@binds(verification.last)
async def integrity_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, verification.last.action)
    last = await verification.last(mnemon, Caller.of(visitor.principal), verification.LastAsked())
    return render("integrity.html", here="server", visitor=visitor, last=last, key=mnemon.log.signing_key)


@router.get("/login")
async def login_page() -> Response:
    return _login_form()


@router.post("/login")
@binds(account.log_in, also=[account.log_in_by_link])
async def log_in(
    request: Request,
    mnemon: MnemonPart,
    email: Annotated[str, Form()] = "",
    password: Annotated[str, Form()] = "",
    tenant: Annotated[str, Form()] = DEFAULT_SLUG,
    link: Annotated[str, Form()] = "",
) -> Response:
    refuse_foreign_pages(request)
    given = {"link": link} if link else {"email": email, "password": password, "tenant": tenant or DEFAULT_SLUG}
    wanted: Operation[Any, account.LoggedIn] = account.log_in_by_link if link else account.log_in
    try:
        session = await wanted(mnemon, Caller.unknown(address_of(request)), read_input(wanted, given))
    except MnemonError as failure:
        return _login_form(failure.message, email=email, tenant=tenant, status=failure.status)
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        SESSION_COOKIE,
        session.access_token,
        expires=session.expires_at,
        httponly=True,
        samesite="lax",
        secure=mnemon.url.startswith("https:"),
    )
    return answer


@router.post("/logout")
@binds(account.log_out)
async def log_out(request: Request, mnemon: MnemonPart) -> Response:
    refuse_foreign_pages(request)
    with contextlib.suppress(NotAuthenticated):
        principal = await mnemon.sessions.principal_of(request.cookies.get(SESSION_COOKIE, ""))
        await account.log_out(mnemon, Caller.of(principal), account.OwnAccountAsked())
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(SESSION_COOKIE)
    return answer


def _login_form(problem: str = "", *, email: str = "", tenant: str = DEFAULT_SLUG, status: int = 200) -> Response:
    return render(
        "login.html", status_code=status, here="login", visitor=None, problem=problem, email=email, tenant_slug=tenant
    )
