"""The pages about people in the log, for administrators: who is there, what is held, and how someone is forgotten."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.errors import MnemonError
from mnemon.log_operations import erasures, event_types, retention, scanning
from mnemon.operations import Caller, Differs, read_input
from mnemon.web.forms import binds, form_of, perform, submitted
from mnemon.web.rendering import Visitor, as_page, render, visit

router = APIRouter(include_in_schema=False)
ON_A_PAGE, LAST_ERASURES = 50, 50
MOST_TERMS = 200
LONGEST_LIST = {"limit": Differs("A page of the web has a fixed length.")}
ONE_PAGE = {"limit": Differs("A page of the web has a fixed length.")}


@router.get("/privacy")
@as_page
@binds(erasures.people, ONE_PAGE, also=[erasures.listed])
async def privacy_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, erasures.people.action)
    return await _shown(mnemon, visitor, request.query_params.get("cursor", ""))


@router.get("/privacy/person")
@as_page
@binds(erasures.data)
async def person_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, erasures.data.action)
    subject = form_of(erasures.data, request.query_params).asked().subject_id
    return await _person(mnemon, visitor, subject)


@router.post("/privacy/person")
@as_page
@binds(scanning.scan)
async def scan_person(request: Request, mnemon: MnemonPart) -> Response:
    """Words come in a form and not in an address, which would be kept by browsers and proxies."""
    visitor = await visit(request, scanning.scan.action)
    given = await request.form()
    words = [word.strip() for word in str(given.get("words", "")).splitlines() if word.strip()]
    subject = str(given.get("subject_id", ""))
    asked = read_input(scanning.scan, {"subject_id": subject, "words": words})
    return await _person(mnemon, visitor, subject, await scanning.scan(mnemon, Caller.of(visitor.principal), asked))


async def _person(
    mnemon: Mnemon, visitor: Visitor, subject: str, scan: scanning.ScanReport | None = None
) -> Response:  # fmt: skip
    asked = read_input(erasures.data, {"subject_id": subject})
    held = await erasures.data(mnemon, Caller.of(visitor.principal), asked)
    return render("person.html", here="privacy", visitor=visitor, held=held.root, subject=subject, scan=scan)


@router.post("/privacy/readmissions")
@as_page
@binds(erasures.readmit)
async def readmit(request: Request, mnemon: MnemonPart) -> Response:
    """Whoever was forgotten may be recorded again; what was erased stays erased."""
    visitor = await visit(request, erasures.readmit.action)
    try:
        await erasures.readmit(mnemon, Caller.of(visitor.principal), await submitted(request, erasures.readmit))
    except MnemonError as refusal:
        return await _shown(mnemon, visitor, "", refusal)
    return RedirectResponse("/privacy#people", 303)


@router.get("/privacy/terms")
@as_page
@binds(retention.retention, LONGEST_LIST)
async def terms_page(request: Request, mnemon: MnemonPart) -> Response:
    """Which personal data will be destroyed because its term ends, and the terms that event types have."""
    visitor = await visit(request, retention.retention.action)
    caller = Caller.of(visitor.principal)
    form = form_of(retention.retention, request.query_params, differences=LONGEST_LIST)
    ending, problem = None, None
    try:
        ending = await retention.retention(mnemon, caller, form.asked(limit=MOST_TERMS))
    except MnemonError as refusal:
        problem = refusal
    known = await event_types.listed(mnemon, caller, event_types.TypesAsked())
    types = [one for one in known.event_types if one.retention_class != "standard" or one.minimum_retention_years]
    return render(
        "terms.html", status_code=problem.status if problem else 200, here="privacy", visitor=visitor, form=form,
        ending=ending, types=types, problem=problem,
    )  # fmt: skip


@router.post("/privacy/erasures")
@as_page
@binds(erasures.request)
async def request_erasure(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, erasures.request.action)
    try:
        await erasures.request(mnemon, Caller.of(visitor.principal), await submitted(request, erasures.request))
    except MnemonError as refusal:
        return await _shown(mnemon, visitor, "", refusal)
    return RedirectResponse("/privacy#erasures", 303)


@router.post("/privacy/erasures/{erasure_id}/approve")
@as_page
@binds(erasures.approve)
async def approve(request: Request, mnemon: MnemonPart) -> Response:
    return await perform(request, mnemon, erasures.approve, "/privacy#erasures")


@router.post("/privacy/erasures/{erasure_id}/decline")
@as_page
@binds(erasures.decline)
async def decline(request: Request, mnemon: MnemonPart) -> Response:
    return await perform(request, mnemon, erasures.decline, "/privacy#erasures")


async def _shown(mnemon: Mnemon, visitor: Visitor, cursor: str, problem: MnemonError | None = None) -> Response:
    caller = Caller.of(visitor.principal)
    given = {"cursor": cursor} if cursor else {}
    form = form_of(erasures.people, given, differences=ONE_PAGE)
    people = await erasures.people(mnemon, caller, form.asked(limit=ON_A_PAGE))
    asked = await erasures.listed(mnemon, caller, erasures.PrivacyPageAsked(limit=LAST_ERASURES))
    return render(
        "privacy.html", status_code=problem.status if problem else 200, here="privacy", visitor=visitor, people=people,
        erasures=asked.items, problem=problem, cursor=cursor, own=caller.actor.id,
    )  # fmt: skip
