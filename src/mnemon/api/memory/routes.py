"""Memory over REST: objects, branches, the graph, what is similar, upkeep."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Depends, Response
from fastapi.responses import JSONResponse

from mnemon.api.bind import route
from mnemon.api.memory.requests import HEADERS, MemoryRoute, named_place
from mnemon.memory.operations import branches, graph, many, meaning, objects, upkeep
from mnemon.memory.operations.object_outputs import ObjectOut
from mnemon.operations import Differs, Operation, as_json

router = APIRouter(tags=["memory"], route_class=MemoryRoute, dependencies=[Depends(named_place)])
OBJECT = "/memory/objects/{emo_id}"
BRANCH = "/memory/branches/{branch}"
KEY = {"key": "Idempotency-Key"}
MEDIA = {"graphml": "application/graphml+xml", "mermaid": "text/vnd.mermaid; charset=utf-8"}
ONE_OBJECT = {
    "emo_id": Differs("The path names it.", default=..., takes=UUID), "versions": Differs("The path names one object."),
}  # fmt: skip
ALWAYS_COMPARED = {"verify": Differs("Only whoever sits at the machine needs a rebuild without a comparison.")}
GRAPH = {200: {"model": graph.GraphOut, "content": {media: {} for media in MEDIA.values()}}}


def _location(made: ObjectOut) -> dict[str, str]:
    return {"Location": f"/v1/memory/objects/{made.emo_id}"}


def _drawn(found: graph.GraphOut) -> Response:
    if found.format == "json":
        return JSONResponse(as_json(found))
    return Response(found.text, media_type=MEDIA[found.format])


def _one(done: upkeep.Compactions) -> upkeep.CompactedOut:
    return done.compacted[0]


def bind(method: str, path: str, operation: Operation[Any, Any], **how: Any) -> None:
    """The world and branch stand in the query, whatever the method."""
    route(router, method, path, operation, in_query=HEADERS, **how)


bind("POST", "/memory/objects", objects.create, status=201, in_header=KEY, told=_location)
bind("GET", "/memory/objects", objects.find)
bind("POST", "/memory/objects/bulk", many.create_many, status=201)
bind("POST", "/memory/objects/forget", many.forget)
bind("GET", OBJECT, objects.get)
bind("DELETE", OBJECT, objects.delete, status=204, in_body=True, in_header=KEY)
bind("GET", f"{OBJECT}/history", objects.history)
bind("PUT", f"{OBJECT}/content", objects.update, in_header=KEY)
bind("PUT", f"{OBJECT}/readers", objects.share, in_header=KEY)
bind("POST", f"{OBJECT}/links", objects.link, in_header=KEY)
bind("PUT", OBJECT + "/facets/{name:path}", objects.set_facet, in_header=KEY)
bind("DELETE", OBJECT + "/facets/{name:path}", objects.remove_facet, in_body=True, in_header=KEY)
bind("POST", f"{OBJECT}/restore", objects.restore, in_header=KEY)
bind("GET", f"{OBJECT}/lineage", graph.lineage)
bind("GET", f"{OBJECT}/neighbours", graph.neighbours)
bind("GET", f"{OBJECT}/path", graph.path)
bind("GET", "/memory/graph", graph.whole, present=_drawn, answers=GRAPH)
bind("GET", "/memory/graph/integrity", graph.integrity)
bind("GET", f"{OBJECT}/similar", meaning.similar)
bind("GET", f"{OBJECT}/similar-facets", meaning.similar_facets)
bind("GET", "/memory/rationales", meaning.similar_rationales)
bind("GET", "/memory/status", meaning.status)
bind("GET", "/memory/branches", branches.listed)
# Here the body says which branch.
route(router, "POST", "/memory/branches", branches.begin, status=201, in_query={"world_id"})
bind("GET", BRANCH, branches.get)
bind("GET", f"{BRANCH}/compare", branches.compare)
bind("POST", f"{BRANCH}/merge", branches.merge)
bind("POST", f"{BRANCH}/abandon", branches.abandon)
bind("POST", f"{OBJECT}/compact", upkeep.compact, differences=ONE_OBJECT, present=_one)
bind("POST", "/memory/replay", upkeep.replay, differences=ALWAYS_COMPARED)
