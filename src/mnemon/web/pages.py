"""The web pages: text made on the server, a little script, no build step."""

from collections.abc import Iterator
from importlib import resources

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles

from mnemon.api.access import MnemonPart
from mnemon.identity.roles import Action
from mnemon.operations import Bound, Caller
from mnemon.verification import operations as verification
from mnemon.web import (
    account_pages,
    api_page,
    correction_pages,
    document_page,
    event_pages,
    help_pages,
    library_pages,
    login_pages,
    question_pages,
)
from mnemon.web.forms import binds
from mnemon.web.rendering import KNOWN_PAGES, as_page, render, visit

router = APIRouter(include_in_schema=False)
PARTS = (
    router, login_pages.router, account_pages.router, question_pages.router, event_pages.router,
    correction_pages.router, library_pages.router, document_page.router, api_page.router, help_pages.router,
)  # fmt: skip


def add_pages(site: FastAPI) -> None:
    for part in PARTS:
        site.include_router(part)
        KNOWN_PAGES.update(route.path for route in part.routes if isinstance(route, APIRoute))
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
    visitor = await visit(request, Action.MANAGE_USERS)
    return render("server.html", here="server", visitor=visitor, parts=await mnemon.readiness())


@router.get("/integrity")
@as_page
@binds(verification.last)
async def integrity_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, verification.last.action)
    last = await verification.last(mnemon, Caller.of(visitor.principal), verification.LastAsked())
    return render("integrity.html", here="server", visitor=visitor, last=last, key=mnemon.log.signing_key)
