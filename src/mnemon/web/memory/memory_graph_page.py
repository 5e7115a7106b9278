"""The page of the graph of memory: what is tied to what, as a picture and a table, of a branch or around one object."""

from fastapi import APIRouter, Request, Response

from mnemon.api.access import MnemonPart
from mnemon.errors import MnemonError
from mnemon.memory.operations import graph, objects
from mnemon.operations import Caller, Differs, read_input
from mnemon.web.forms import binds, form_of
from mnemon.web.pictures.graph import graph_picture
from mnemon.web.rendering import as_page, render, visit

router = APIRouter(include_in_schema=False)
RARE = Differs("Few people ask for it; REST and the command have it.")
SHOWN = ("branch", "emo_id", "depth")
ON_THE_PAGE = {name: RARE for name in graph.whole.input.model_fields if name not in SHOWN}
MOST_WORDS = 60
MOST_EDGES = 300


@router.get("/memory/graph")
@as_page
@binds(graph.whole, ON_THE_PAGE)
async def graph_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, graph.whole.action)
    caller = Caller.of(visitor.principal)
    form = form_of(graph.whole, request.query_params, differences=ON_THE_PAGE)
    found, problem, words = None, None, dict[str, str]()
    try:
        found = await graph.whole(mnemon, caller, form.asked())
        listed = read_input(objects.find, {"branch": form.value("branch") or "main", "limit": MOST_WORDS})
        page = await objects.find(mnemon, caller, listed)
        words = {str(one.emo_id): " ".join(one.content.split()) for one in page.objects}
    except MnemonError as refusal:
        problem = refusal
    return render(
        "memory_graph.html", status_code=problem.status if problem else 200, here="memory", visitor=visitor, form=form,
        found=found, problem=problem, words=words, picture=graph_picture(found, words) if found else None,
        branch=form.value("branch") or "main", most=MOST_EDGES,
    )  # fmt: skip
