"""The web pages: text made on the server, a little script, no build step."""

from collections.abc import Iterator
from importlib import resources
from os import PathLike
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles

from mnemon.api.access import MnemonPart
from mnemon.identity.roles import Action
from mnemon.operations import Bound
from mnemon.web import (
    account_pages,
    api_page,
    approval_pages,
    correction_pages,
    document_page,
    event_pages,
    help_pages,
    integrity_pages,
    involvement_page,
    library_pages,
    log_pages,
    login_pages,
    people_pages,
    place_pages,
    privacy_pages,
    revision_page,
    tenant_page,
    upload_page,
    work_pages,
)
from mnemon.web.asking import question_pages
from mnemon.web.lists import recipient_pages, report_page, source_pages, thread_pages
from mnemon.web.memory import branch_pages, memory_graph_page, memory_pages
from mnemon.web.rendering import KNOWN_PAGES, as_page, render, visit
from mnemon.web.workbench import pages as workbench_pages

router = APIRouter(include_in_schema=False)
PARTS = (
    router, login_pages.router, account_pages.router, question_pages.router, event_pages.router,
    involvement_page.router, revision_page.router, correction_pages.router, library_pages.router, upload_page.router,
    document_page.router, api_page.router, help_pages.router, memory_graph_page.router, branch_pages.router,
    memory_pages.router, log_pages.router, integrity_pages.router, privacy_pages.router, approval_pages.router,
    people_pages.router, work_pages.router, thread_pages.router, source_pages.router,
    recipient_pages.router, report_page.router,
    workbench_pages.router, place_pages.router, tenant_page.router,
)  # fmt: skip


class OwnFiles(StaticFiles):
    """A browser asks each time whether style and scripts are still those of this version."""

    def file_response(self, full_path: str | PathLike[str], *args: Any, **more: Any) -> Response:
        answer = super().file_response(full_path, *args, **more)
        answer.headers["Cache-Control"] = "no-cache"
        return answer


def add_pages(site: FastAPI) -> None:
    for part in PARTS:
        site.include_router(part)
        KNOWN_PAGES.update(route.path for route in part.routes if isinstance(route, APIRoute))
    site.mount("/static", OwnFiles(directory=str(resources.files("mnemon.web") / "static")), name="static")


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
    return render(
        "server.html", here="server", visitor=visitor, parts=await mnemon.readiness(),
        settings=people_pages.shown_settings(mnemon.settings),
    )  # fmt: skip
