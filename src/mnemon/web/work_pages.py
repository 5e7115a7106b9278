"""The pages about background work: what waits, what died and why, and who does it."""

from fastapi import APIRouter, Request, Response

from mnemon.api.access import MnemonPart
from mnemon.operations import Caller, Differs, read_input
from mnemon.web.forms import binds, form_of, perform
from mnemon.web.rendering import as_page, render, visit
from mnemon.work import operations
from mnemon.work.jobs import list_workers

router = APIRouter(include_in_schema=False)
ON_A_PAGE = 30
ONE_PAGE = {"limit": Differs("A page of the web has a fixed length.")}
# As the list below calls them.
LABELS = {"status": {"PENDING": "waiting", "PROCESSING": "running", "DONE": "done", "FAILED": "given up"}}


@router.get("/work")
@as_page
@binds(operations.list_jobs, ONE_PAGE, also=[operations.stats])
async def work_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.list_jobs.action)
    caller = Caller.of(visitor.principal)
    form = form_of(operations.list_jobs, request.query_params, differences=ONE_PAGE, labels=LABELS)
    stats = await operations.stats(mnemon, caller, operations.NoChoice())
    listed = await operations.list_jobs(mnemon, caller, form.asked(limit=ON_A_PAGE))
    # Workers serve all tenants: which machines they are on is for administrators.
    workers = []
    if visitor.is_admin:
        async with mnemon.database.session() as session:
            workers = [one for one in await list_workers(session) if one.alive]
    return render(
        "work.html", here="work", visitor=visitor, stats=stats, listed=listed, form=form, workers=workers,
        oldest=max((one.oldest_waiting_seconds for one in stats.kinds), default=0.0),
    )  # fmt: skip


@router.get("/work/{job_id}")
@as_page
@binds(operations.get)
async def job_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.get.action)
    job = await operations.get(mnemon, Caller.of(visitor.principal), read_input(operations.get, request.path_params))
    return render("job.html", here="work", visitor=visitor, job=job)


@router.post("/work/{job_id}/retry")
@as_page
@binds(operations.retry)
async def retry(request: Request, mnemon: MnemonPart, job_id: str) -> Response:
    return await perform(request, mnemon, operations.retry, f"/work/{job_id}")


@router.post("/work/{job_id}/cancel")
@as_page
@binds(operations.cancel)
async def cancel(request: Request, mnemon: MnemonPart, job_id: str) -> Response:
    return await perform(request, mnemon, operations.cancel, f"/work/{job_id}")
