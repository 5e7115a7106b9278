"""The pages of what was decided and promised: all of it, and what is still open."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.documents import operations as documents
from mnemon.documents.access import read_as
from mnemon.documents.artifact_names import uid_of
from mnemon.documents.ingest.extract_job import EXTRACT
from mnemon.documents.listing import list_documents
from mnemon.errors import InvalidRequest, MnemonError, NotFound
from mnemon.operations import Caller, Differs, as_json, read_input
from mnemon.semantics import operations
from mnemon.semantics.inputs import EventSearch
from mnemon.semantics.search.standing import Standing, standing_of
from mnemon.semantics.shapes import Shape
from mnemon.tasks import end
from mnemon.web.correction_pages import here_of, just_said, people_in
from mnemon.web.forms import Form, binds, form_of
from mnemon.web.pictures.density import DensityPicture, density_picture
from mnemon.web.rendering import Visitor, as_page, has_worker, query_of, render, templates, visit

router = APIRouter(include_in_schema=False)
ON_A_PAGE = 20
LABELS = {
    "status": {"open": "open, or still stands", "superseded": "replaced"},
    "category": {"QualityRisk": "Quality risk"},
}
ONE_PAGE = {
    "limit": Differs("A page of the web has a fixed length."),
    "include_evidence": Differs("A page of the web always shows the quotes."),
}
ONE_PAGE_OF_PROMISES = {
    "limit": Differs("A page of the web has a fixed length."),
    "today": Differs("A person who looks means today."),
}
NOTHING: Shape = {"total": 0, "total_is_exact": True, "next_cursor": None}


@dataclass(frozen=True)
class StoredSoFar:
    """What a page tells that has no event to show."""

    documents: int
    # Whether a worker is there to read them.
    has_worker: bool


@router.get("/events")
@as_page
@binds(operations.search, ONE_PAGE, also=[operations.density])
async def events_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.search.action)
    form = form_of(operations.search, request.query_params, differences=ONE_PAGE, labels=LABELS)
    found: Shape = NOTHING | {"events": []}
    problem: MnemonError | None = None
    standings: dict[str, Standing] = {}
    picture: DensityPicture | None = None
    document = request.query_params.get("document", "").strip()
    try:
        if document:
            return RedirectResponse(await _of_document(mnemon, visitor, form, document), 303)
        found, standings, picture = await _found(mnemon, visitor, form)
    except (InvalidRequest, NotFound) as refusal:
        problem = refusal
    events = _shown(found["events"], standings)
    said = await just_said(request, mnemon, visitor)
    people = await people_in(mnemon, visitor, [*found["events"], *([said] if said else [])])
    return render(
        "events.html", said=said, people=people, back=here_of(request),
        status_code=problem.status if problem else 200, here="events", visitor=visitor, form=form, found=found,
        events=events, problem=problem, stored=None if events else await _stored(mnemon, visitor), picture=picture,
        today=datetime.now(UTC).date(), document=document,
    )  # fmt: skip


async def _of_document(mnemon: Mnemon, visitor: Visitor, form: Form[EventSearch], name: str) -> str:
    """The address of the same list, of the one document that is called so."""
    asked = read_input(documents.named, {"name": name})
    one = await documents.named(mnemon, Caller.of(visitor.principal), asked)
    return f"/events{query_of(**form.narrowed('artifact_uid'), artifact_uid=uid_of(one.doc_id, one.source_uri))}"


async def _found(
    mnemon: Mnemon, visitor: Visitor, form: Form[EventSearch]
) -> tuple[Shape, dict[str, Standing], DensityPicture | None]:
    """The list and its picture at once: each goes through the index by itself, the page waits for the slower one."""
    asked, caller = form.asked(limit=ON_A_PAGE), Caller.of(visitor.principal)
    drawing = asyncio.create_task(_picture(mnemon, visitor, form))
    try:
        found = as_json(await operations.search(mnemon, caller, asked))
        events = found["events"]
        standings = await standing_of(mnemon.database, visitor.tenant_id, visitor.reader, events, as_of=asked.as_of)
        return found, standings, await drawing
    except BaseException:
        with suppress(Exception):
            await end(drawing)
        raise


async def _picture(mnemon: Mnemon, visitor: Visitor, form: Form[EventSearch]) -> DensityPicture | None:
    """Of everything that fits, not of this page alone; whole in time, so that a day can be chosen in it."""
    asked = form_of(operations.density, form.narrowed("as_of", "known_at")).asked()
    return density_picture(await operations.density(mnemon, Caller.of(visitor.principal), asked))


@router.get("/events/export")
@as_page
@binds(operations.export)
async def events_file(request: Request, mnemon: MnemonPart) -> Response:
    """What the page of events shows, all of it, as a file."""
    visitor = await visit(request, operations.export.action)
    form = form_of(operations.export, request.query_params)
    written = await operations.export(mnemon, Caller.of(visitor.principal), form.asked())
    ending = "md" if written.format == "markdown" else "csv"
    headers = {"Content-Disposition": f'attachment; filename="events.{ending}"', "Cache-Control": "no-store"}
    return Response(written.text, media_type=f"text/{written.format}; charset=utf-8", headers=headers)


@router.get("/events/commitments")
@as_page
@binds(operations.commitments, ONE_PAGE_OF_PROMISES)
async def commitments_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.commitments.action)
    form = form_of(operations.commitments, request.query_params, differences=ONE_PAGE_OF_PROMISES)
    found, problem = NOTHING | {"commitments": []}, None
    standings: dict[str, Standing] = {}
    try:
        asked = form.asked(limit=ON_A_PAGE)
        found = as_json(await operations.commitments(mnemon, Caller.of(visitor.principal), asked))
        standings = await standing_of(mnemon.database, visitor.tenant_id, visitor.reader, found["commitments"])
    except InvalidRequest as refusal:
        problem = refusal
    events = _shown(found["commitments"], standings)
    said = await just_said(request, mnemon, visitor)
    people = await people_in(mnemon, visitor, [*found["commitments"], *([said] if said else [])])
    return render(
        "commitments.html", said=said, people=people, back=here_of(request),
        status_code=problem.status if problem else 200, here="events", visitor=visitor, form=form, found=found,
        events=events, problem=problem, stored=None if events else await _stored(mnemon, visitor),
    )  # fmt: skip


def _shown(events: Sequence[Shape], standings: dict[str, Standing]) -> list[tuple[Shape, Standing]]:
    """Without what was purged or read anew in between."""
    return [(event, standings[event["event_id"]]) for event in events if event["event_id"] in standings]


async def _stored(mnemon: Mnemon, visitor: Visitor) -> StoredSoFar:
    async with mnemon.database.transaction(visitor.tenant_id) as tx:
        await read_as(tx, visitor.reader)
        stored = (await list_documents(tx, limit=1)).total
    return StoredSoFar(stored, await has_worker(mnemon, EXTRACT))


def _lead(event: Shape) -> str | None:
    """What stands before the quote in a narrative that ends with it; none where it says it in other words."""
    said = " ".join(event["evidence"][0]["quote"].split())
    narrative = " ".join(event["narrative"].split())
    return narrative.removesuffix(said) if narrative.endswith(said) else None


templates.filters["lead"] = _lead
