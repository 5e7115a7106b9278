"""The web pages: text made on the server, a little script, no build step."""

from collections.abc import Iterator
from importlib import resources
from typing import Annotated

from fastapi import APIRouter, FastAPI, Form, Request, Response
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles

from mnemon.api.access import SESSION_COOKIE, MnemonPart, address_of, refuse_foreign_pages
from mnemon.app import Mnemon
from mnemon.errors import MnemonError
from mnemon.identity.login import login_with_link, login_with_password
from mnemon.identity.roles import Action
from mnemon.identity.sessions import Session
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.operations import Bound
from mnemon.web import document_page, event_pages, library_pages, question_pages
from mnemon.web.rendering import as_page, render, visit

router = APIRouter(include_in_schema=False)
PARTS = (router, question_pages.router, event_pages.router, library_pages.router, document_page.router)


def add_pages(site: FastAPI) -> None:
    for part in PARTS:
        site.include_router(part)
    site.mount("/static", StaticFiles(directory=str(resources.files("mnemon.web") / "static")), name="static")


def pages() -> Iterator[tuple[str, Bound | None]]:
    """The address of every page, with the operation that it is for."""
    for part in PARTS:
        for route in part.routes:
            if isinstance(route, APIRoute):
                yield route.path, getattr(route.endpoint, "bound", None)


@router.get("/server")
@as_page
async def server_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, Action.VIEW_OWN_ACCOUNT)
    return render("server.html", here="server", visitor=visitor, parts=await mnemon.readiness())


@router.get("/login")
async def login_page() -> Response:
    return _login_form()


@router.post("/login")
async def log_in(
    request: Request,
    mnemon: MnemonPart,
    email: Annotated[str, Form()] = "",
    password: Annotated[str, Form()] = "",
    tenant: Annotated[str, Form()] = DEFAULT_SLUG,
    link: Annotated[str, Form()] = "",
) -> Response:
    refuse_foreign_pages(request)
    try:
        session = await _session(mnemon, request, email, password, tenant, link)
    except MnemonError as failure:
        return _login_form(failure.message, email=email, tenant=tenant, status=failure.status)
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        SESSION_COOKIE,
        session.token,
        expires=session.expires_at,
        httponly=True,
        samesite="lax",
        secure=mnemon.url.startswith("https:"),
    )
    return answer


@router.post("/logout")
async def log_out(request: Request) -> Response:
    refuse_foreign_pages(request)
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(SESSION_COOKIE)
    return answer


async def _session(mnemon: Mnemon, request: Request, email: str, password: str, tenant: str, link: str) -> Session:
    if link:
        return await login_with_link(mnemon.database, mnemon.sessions, secret=link)
    return await login_with_password(
        mnemon.database,
        mnemon.sessions,
        tenant_slug=tenant or DEFAULT_SLUG,
        email=email,
        password=password,
        address=address_of(request),
        allowed=mnemon.settings.login_failures,
    )


def _login_form(problem: str = "", *, email: str = "", tenant: str = DEFAULT_SLUG, status: int = 200) -> Response:
    return render(
        "login.html", status_code=status, here="login", visitor=None, problem=problem, email=email, tenant_slug=tenant
    )
