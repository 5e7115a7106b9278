"""Search, ask and evidence over REST."""

from collections.abc import AsyncIterator
from typing import Annotated, Any
from uuid import UUID

import orjson
from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from mnemon.api.access import MnemonPart, allow
from mnemon.api.ask_models import AnswerOut, AskIn, SearchOut, SearchQuery
from mnemon.ask.citations import Evidence, open_evidence
from mnemon.documents.access import Reader, open_revision_as
from mnemon.errors import MnemonError
from mnemon.identity.roles import Action, Principal
from mnemon.search.questions import checked_question

router = APIRouter(tags=["search and ask"])
Asker = Annotated[Principal, allow(Action.QUERY)]
Viewer = Annotated[Principal, allow(Action.VIEW_DOCUMENTS)]
EVENT_STREAM = "text/event-stream"


@router.get("/search", summary="Find passages by words and meaning", response_model=SearchOut)
async def get_search(query: Annotated[SearchQuery, Query()], mnemon: MnemonPart, principal: Asker) -> Response:
    found = await mnemon.searcher.search(
        principal.tenant_id,
        query.q,
        query.filters,
        limit=query.limit,
        offset=query.offset,
        explain=query.explain,
        reader=Reader.of(principal.actor),
    )
    return _json(found.as_json())


@router.post(
    "/ask",
    summary="Answer a question with citations, or refuse",
    response_model=AnswerOut,
    responses={200: {"content": {EVENT_STREAM: {}}, "description": "The answer, or its steps as they come"}},
)
async def post_ask(asked: AskIn, request: Request, mnemon: MnemonPart, principal: Asker) -> Response:
    if asked.stream or EVENT_STREAM in request.headers.get("accept", ""):
        # Refused here, while an error can still be answered as one.
        checked_question(asked.question)
        steps = mnemon.asking.stream(principal.tenant_id, principal.actor, asked.question, asked.filters)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(_messages(steps), media_type=EVENT_STREAM, headers=headers)
    answer = await mnemon.asking.ask(principal.tenant_id, principal.actor, asked.question, asked.filters)
    return _json(answer.as_json())


@router.get(
    "/evidence/{doc_version_id}/{start}-{end}",
    summary="Open a citation: the exact span of the exact version",
    response_model=Evidence,
)
async def get_evidence(
    doc_version_id: UUID,
    start: Annotated[int, Path(ge=0, le=2**31 - 1)],
    end: Annotated[int, Path(ge=1, le=2**31 - 1)],
    mnemon: MnemonPart,
    principal: Viewer,
) -> Response:
    async with mnemon.database.transaction(principal.tenant_id) as tx:
        await open_revision_as(tx, Reader.of(principal.actor), doc_version_id)
        evidence = await open_evidence(tx, doc_version_id, start, end)
    return _json(evidence.as_json())


async def _messages(steps: AsyncIterator[tuple[str, dict[str, Any]]]) -> AsyncIterator[bytes]:
    """One message per step. What fails after the beginning is a message too."""
    try:
        async for name, data in steps:
            yield _message(name, data)
    except MnemonError as failure:
        yield _message("error", failure.as_json())


def _message(name: str, data: dict[str, Any]) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), orjson.dumps(data, default=str))


def _json(content: Any) -> Response:
    return Response(orjson.dumps(content), media_type="application/json")
