"""The page of people and topics: who was involved in what, as a picture and a table."""

from fastapi import APIRouter, Request, Response

from mnemon.api.access import MnemonPart
from mnemon.errors import InvalidRequest
from mnemon.operations import Caller, Differs
from mnemon.semantics import operations
from mnemon.semantics.outputs import PeopleOut
from mnemon.web.forms import binds, form_of
from mnemon.web.pictures.ties import ties_picture
from mnemon.web.rendering import as_page, render, visit

router = APIRouter(include_in_schema=False)
ON_A_PAGE = 60
ONE_PAGE = {"limit": Differs("A page of the web has a fixed length.")}


@router.get("/events/people")
@as_page
@binds(operations.people, ONE_PAGE)
async def people_and_topics(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.people.action)
    form = form_of(operations.people, request.query_params, differences=ONE_PAGE)
    found, problem = PeopleOut(people=[], total=0, complete=True, next_cursor=None), None
    try:
        found = await operations.people(mnemon, Caller.of(visitor.principal), form.asked(limit=ON_A_PAGE))
    except InvalidRequest as refusal:
        problem = refusal
    pairs = [(one.person, one.topic, one.events) for one in found.people]
    return render(
        "involvement.html", status_code=problem.status if problem else 200, here="events", visitor=visitor, form=form,
        found=found, problem=problem, picture=ties_picture(pairs),
    )  # fmt: skip
