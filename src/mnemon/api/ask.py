"""Search, ask and evidence over REST."""

from collections.abc import AsyncIterator
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, StreamingResponse

from mnemon.api.bind import route
from mnemon.app import Mnemon
from mnemon.ask import operations
from mnemon.ask.inputs import Question
from mnemon.ask.proving.filed import AnswerFileAsked
from mnemon.ask.proving.printable import as_page
from mnemon.errors import MnemonError
from mnemon.operations import Caller
from mnemon.search.questions import checked_question

router = APIRouter(tags=["search and ask"])
EVENT_STREAM = "text/event-stream"
STEPS: dict[int | str, dict[str, Any]] = {
    200: {"content": {EVENT_STREAM: {}}, "description": "The answer, or its steps as they come"}
}
PRINTED: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/html": {}}, "description": "The file, or a page to print"}
}


async def _streamed(request: Request, mnemon: Mnemon, caller: Caller, asked: Question) -> Response | None:
    """The answer in steps, if it is wanted so."""
    if not asked.stream and EVENT_STREAM not in request.headers.get("accept", ""):
        return None
    # Refused here, while an error can still be answered as one.
    checked_question(asked.question)
    steps = mnemon.asking.stream(caller.tenant_id, caller.actor, asked.question, asked)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_messages(steps), media_type=EVENT_STREAM, headers=headers)


route(router, "GET", "/search", operations.search)
route(router, "POST", "/ask", operations.ask, instead=_streamed, answers=STEPS)
route(router, "GET", "/evidence/{doc_version_id}/{start}-{end}", operations.evidence)


async def _printed(request: Request, mnemon: Mnemon, caller: Caller, asked: AnswerFileAsked) -> Response | None:
    """The page, if that is wanted."""
    if asked.form != "html":
        return None
    return HTMLResponse(as_page(await operations.answer_file(mnemon, caller, asked)))


route(router, "GET", "/answers/{query_id}/file", operations.answer_file, instead=_printed, answers=PRINTED)


async def _messages(steps: AsyncIterator[tuple[str, dict[str, Any]]]) -> AsyncIterator[bytes]:
    """One message per step. What fails after the beginning is a message too."""
    try:
        async for name, data in steps:
            yield _message(name, data)
    except MnemonError as failure:
        yield _message("error", failure.as_json())


def _message(name: str, data: dict[str, Any]) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), orjson.dumps(data, default=str))
