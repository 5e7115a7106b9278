"""The web pages: text made on the server, a little script, no build step."""

from importlib import resources
from typing import Annotated

from fastapi import APIRouter, FastAPI, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from mnemon import __version__
from mnemon.api.access import SESSION_COOKIE, MnemonPart, principal_of, refuse_foreign_pages
from mnemon.api.auth import address_of
from mnemon.app import Mnemon
from mnemon.errors import MnemonError, NotAuthenticated
from mnemon.identity.login import login_with_link, login_with_password
from mnemon.identity.sessions import Session
from mnemon.identity.tenants import DEFAULT_SLUG, own_tenant
from mnemon.identity.users import user_by_id

router = APIRouter(include_in_schema=False)
templates = Environment(
    loader=PackageLoader("mnemon.web"), autoescape=select_autoescape(), undefined=StrictUndefined, trim_blocks=True
)


def add_pages(site: FastAPI) -> None:
    site.include_router(router)
    site.mount("/static", StaticFiles(directory=str(resources.files("mnemon.web") / "static")), name="static")


@router.get("/")
async def home(request: Request, mnemon: MnemonPart) -> Response:
    try:
        principal = await principal_of(request)
    except NotAuthenticated:
        return RedirectResponse("/login", 303)
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        user = await user_by_id(tx, principal.user_id)
        tenant = await own_tenant(tx, principal.tenant_id)
    parts = await mnemon.readiness()
    return _page("home.html", user=user, tenant=tenant, parts=parts, signed_in=mnemon.settings.auth_enabled)


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
    return _page("login.html", status=status, problem=problem, email=email, tenant_slug=tenant)


def _page(name: str, status: int = 200, **values: object) -> Response:
    text = templates.get_template(name).render(version=__version__, **values)
    return HTMLResponse(text, status, {"Cache-Control": "no-store"})
