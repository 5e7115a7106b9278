"""The pages to ask and to search on."""

from fastapi import APIRouter, Request, Response

from mnemon.api.access import MnemonPart
from mnemon.documents.access import read_as
from mnemon.documents.library import list_documents
from mnemon.identity.roles import Action
from mnemon.web.rendering import as_page, render, visit

router = APIRouter(include_in_schema=False)
ON_A_PAGE = 10
# As far as a search ranks.
FURTHEST = 900


@router.get("/")
@as_page
async def ask_page(request: Request, mnemon: MnemonPart, q: str = "") -> Response:
    visitor = await visit(request, Action.QUERY)
    async with mnemon.database.transaction(visitor.tenant_id) as tx:
        await read_as(tx, visitor.reader)
        documents = (await list_documents(tx, limit=1)).total
    return render("ask.html", here="ask", visitor=visitor, question=q, documents=documents)


@router.get("/search")
@as_page
async def search_page(request: Request, mnemon: MnemonPart, q: str = "", offset: int = 0) -> Response:
    visitor = await visit(request, Action.QUERY)
    first = min(max(offset, 0), FURTHEST)
    found = None
    if q.strip():
        found = await mnemon.searcher.search(visitor.tenant_id, q, limit=ON_A_PAGE, offset=first, reader=visitor.reader)
    return render(
        "search.html",
        here="search",
        visitor=visitor,
        words=q,
        found=found,
        offset=first,
        before=max(0, first - ON_A_PAGE),
    )
