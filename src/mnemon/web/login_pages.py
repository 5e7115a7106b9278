"""The page that lets people in, by password or by link, and the way out."""

import contextlib
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from mnemon.api.access import SESSION_COOKIE, MnemonPart, address_of, refuse_foreign_pages
from mnemon.app import Mnemon
from mnemon.errors import MnemonError, NotAuthenticated
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.identity.operations import account
from mnemon.operations import Caller, Operation, read_input
from mnemon.web.forms import binds
from mnemon.web.rendering import render

router = APIRouter(include_in_schema=False)
LONGEST_ADDRESS = 2000


@router.get("/login")
async def login_page(next: str = "/") -> Response:  # noqa: A002  the usual name of it in an address
    return _login_form(wanted=own_place(next))


@router.post("/login")
@binds(account.log_in, also=[account.log_in_by_link])
async def log_in(
    request: Request,
    mnemon: MnemonPart,
    email: Annotated[str, Form()] = "",
    password: Annotated[str, Form()] = "",
    tenant: Annotated[str, Form()] = DEFAULT_SLUG,
    link: Annotated[str, Form()] = "",
    next: Annotated[str, Form()] = "/",  # noqa: A002
) -> Response:
    refuse_foreign_pages(request)
    given = {"link": link} if link else {"email": email, "password": password, "tenant": tenant or DEFAULT_SLUG}
    wanted: Operation[Any, account.LoggedIn] = account.log_in_by_link if link else account.log_in
    place = own_place(next)
    try:
        session = await wanted(mnemon, Caller.unknown(address_of(request)), read_input(wanted, given))
    except MnemonError as failure:
        return _login_form(failure.message, email=email, tenant=tenant, wanted=place, status=failure.status)
    return with_session(RedirectResponse(place, 303), mnemon, session)


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


def with_session(answer: Response, mnemon: Mnemon, session: account.LoggedIn) -> Response:
    answer.set_cookie(
        SESSION_COOKIE,
        session.access_token,
        expires=session.expires_at,
        httponly=True,
        samesite="lax",
        secure=mnemon.url.startswith("https:"),
    )
    return answer


def own_place(address: str) -> str:
    """A page of ours; anything that a browser could read as another site's is the first page."""
    foreign = not address.startswith("/") or address[1:2] in ("/", "\\") or len(address) > LONGEST_ADDRESS
    return "/" if foreign or any(ord(one) < 32 for one in address) else address


def _login_form(
    problem: str = "", *, email: str = "", tenant: str = DEFAULT_SLUG, wanted: str = "/", status: int = 200
) -> Response:
    return render(
        "login.html", status_code=status, here="login", visitor=None, problem=problem, email=email, tenant_slug=tenant,
        wanted=wanted,
    )  # fmt: skip
