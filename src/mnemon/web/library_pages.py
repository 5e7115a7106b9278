"""The pages about what is stored: documents, uploads, runs."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from mnemon.api.access import MnemonPart
from mnemon.documents.access import read_as
from mnemon.documents.extraction.sniff import EXTENSIONS
from mnemon.documents.ingest.job import INGEST
from mnemon.documents.library import ALL, DocumentStatus, list_documents
from mnemon.documents.runs import RunStatus, list_runs, retry_run
from mnemon.errors import InvalidRequest
from mnemon.identity.roles import Action
from mnemon.web.rendering import as_page, has_worker, id_of, render, visit

router = APIRouter(include_in_schema=False)
ON_A_PAGE = 20
LAST_PAGE = 1_000_000
EVERY = "all"


@router.get("/documents")
@as_page
async def documents_page(
    request: Request, mnemon: MnemonPart, search: str = "", status: str = DocumentStatus.ACTIVE, page: int = 1
) -> Response:
    visitor = await visit(request, Action.VIEW_DOCUMENTS)
    number = min(max(page, 1), LAST_PAGE)
    async with mnemon.database.transaction(visitor.tenant_id) as tx:
        await read_as(tx, visitor.reader)
        listed = await list_documents(
            tx, page=number, limit=ON_A_PAGE, search=search.strip()[:200] or None, statuses=_statuses(status)
        )
    return render(
        "documents.html", here="documents", visitor=visitor, listed=listed, search=search, status=status, page=number,
        pages=_pages(listed.total), statuses=[*DocumentStatus, EVERY],
    )  # fmt: skip


@router.get("/upload")
@as_page
async def upload_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, Action.UPLOAD_DOCUMENTS)
    return render(
        "upload.html", here="upload", visitor=visitor, extensions=EXTENSIONS, largest=mnemon.files.largest,
    )  # fmt: skip


@router.get("/upload/worker")
@as_page
async def worker_state(request: Request, mnemon: MnemonPart) -> Response:
    """For the script of the upload page: whether what waits will be read."""
    await visit(request, Action.VIEW_RUNS)
    return JSONResponse({"alive": await has_worker(mnemon, INGEST)})


@router.get("/runs")
@as_page
async def runs_page(request: Request, mnemon: MnemonPart, status: str = "", page: int = 1) -> Response:
    visitor = await visit(request, Action.VIEW_RUNS)
    number = min(max(page, 1), LAST_PAGE)
    async with mnemon.database.transaction(visitor.tenant_id) as tx:
        await read_as(tx, visitor.reader)
        listed = await list_runs(tx, page=number, limit=ON_A_PAGE, status=_run_status(status))
    waits = any(run.status == RunStatus.QUEUED for run in listed.runs)
    return render(
        "runs.html", here="runs", visitor=visitor, listed=listed, status=status, page=number,
        pages=_pages(listed.total), statuses=list(RunStatus), no_worker=waits and not await has_worker(mnemon, INGEST),
    )  # fmt: skip


@router.post("/runs/{run_id}/retry")
@as_page
async def retry(request: Request, mnemon: MnemonPart, run_id: str) -> Response:
    visitor = await visit(request, Action.UPLOAD_DOCUMENTS)
    await retry_run(mnemon.database, mnemon.files, visitor.tenant_id, id_of(run_id))
    return RedirectResponse("/runs", 303)


def _statuses(named: str) -> tuple[DocumentStatus, ...]:
    if named == EVERY:
        return ALL
    if named not in list(DocumentStatus):
        raise InvalidRequest(f"{named[:50]!r} is no status of a document.")
    return (DocumentStatus(named),)


def _run_status(named: str) -> RunStatus | None:
    if named and named not in list(RunStatus):
        raise InvalidRequest(f"{named[:50]!r} is no status of a run.")
    return RunStatus(named) if named else None


def _pages(total: int) -> int:
    return max(1, -(-total // ON_A_PAGE))
