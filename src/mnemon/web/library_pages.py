"""The pages about what is stored: documents, the sample, runs."""

import asyncio
import re
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from mnemon.api.access import MnemonPart
from mnemon.documents import operations
from mnemon.documents.ingest.job import INGEST
from mnemon.documents.intake.upload import upload
from mnemon.documents.samples import sample_corpus, sample_files
from mnemon.documents.states import DocumentStatus, RunStatus
from mnemon.operations import Caller, Differs, read_input
from mnemon.web.forms import binds, form_of
from mnemon.web.pictures.stages import stages_of
from mnemon.web.rendering import as_page, has_worker, render, templates, visit

router = APIRouter(include_in_schema=False)
# What the sample answers best, for whoever sees it first: a changed rule, a name, something replaced.
ASKED_FIRST = ("How long are bookings kept?", "Who revoked the leaked key?", "What did we decide about pricing?")
ON_A_PAGE = 20
SAMPLE = "sample:///"
WAITING = (RunStatus.QUEUED, RunStatus.RUNNING)
VERSION = re.compile(r"-v\d+(?=\.\w+$)")
EVERY = "all"
FIXED = Differs("A page of the web has a fixed length.")
BY_WORDS = Differs("The words of a search find it too.")
ONE_PAGE = {
    "limit": FIXED, "all": Differs("It is one of the states that the page offers."), "tag": BY_WORDS,
    "source_type": Differs("Few people know it; REST and the command have it."),
}  # fmt: skip
ONE_PAGE_OF_RUNS = {
    "limit": FIXED,
    "run_type": Differs("Few people know it; REST and the command have it."),
}


@router.get("/documents")
@as_page
@binds(operations.list_documents, ONE_PAGE)
async def documents_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.list_documents.action)
    status = request.query_params.get("status", DocumentStatus.ACTIVE)
    given = {**request.query_params, "status": "" if status == EVERY else status}
    form = form_of(operations.list_documents, given, differences=ONE_PAGE)
    asked = form.asked(limit=ON_A_PAGE, all=status == EVERY)
    listed = await operations.list_documents(mnemon, Caller.of(visitor.principal), asked)
    return render(
        "documents.html", here="documents", visitor=visitor, listed=listed, search=asked.search or "", status=status,
        pages=_pages(listed.total), statuses=[*DocumentStatus, EVERY],
    )  # fmt: skip


@router.post("/sample")
@as_page
async def take_sample(request: Request, mnemon: MnemonPart) -> Response:
    """The sample corpus, in one click."""
    visitor = await visit(request, upload.action)
    caller = Caller.of(visitor.principal)
    # What is replaced comes first and what replaces it last: workers read several files at once, and the version that
    # is done last is the one in service.
    for path in sorted(sample_files(), key=lambda one: ("-v2." in one.name) - ("-v1." in one.name)):
        received = await asyncio.to_thread(mnemon.files.take_copy, visitor.tenant_id, path)
        # The policy comes in two versions of one document: the second takes the place of the first.
        place = VERSION.sub("", str(path.relative_to(sample_corpus())))
        about: dict[str, Any] = {"source_uri": f"{SAMPLE}{place}", "tags": ["sample"]}
        if VERSION.search(path.name):
            about["title"] = f"{VERSION.sub('', path.name).split('.')[0]} {path.parent.name}".replace(
                "-", " "
            ).capitalize()
        await upload(mnemon, caller, read_input(upload, {"file": received, **about}))
    return RedirectResponse("/runs?sample=1", 303)


@router.get("/runs")
@as_page
@binds(operations.list_runs, ONE_PAGE_OF_RUNS)
async def runs_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.list_runs.action)
    form = form_of(operations.list_runs, request.query_params, differences=ONE_PAGE_OF_RUNS)
    listed = await operations.list_runs(mnemon, Caller.of(visitor.principal), form.asked(limit=ON_A_PAGE))
    waits = any(run.status == RunStatus.QUEUED for run in listed.items)
    sample = [run for run in listed.items if str(run.config.get("source_uri")).startswith(SAMPLE)]
    return render(
        "runs.html", here="runs", visitor=visitor, listed=listed, status=form.value("status"),
        pages=_pages(listed.total), statuses=list(RunStatus), no_worker=waits and not await has_worker(mnemon, INGEST),
        sample=ASKED_FIRST if sample and "sample" in request.query_params else (),
        sample_waits=any(run.status in WAITING for run in sample),
    )  # fmt: skip


@router.post("/runs/{run_id}/retry")
@as_page
@binds(operations.retry_run)
async def retry(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.retry_run.action)
    asked = read_input(operations.retry_run, request.path_params)
    await operations.retry_run(mnemon, Caller.of(visitor.principal), asked)
    return RedirectResponse("/runs", 303)


def _pages(total: int) -> int:
    return max(1, -(-total // ON_A_PAGE))


templates.filters["stages"] = stages_of
