"""An answer in the page that asks: the page is sent at once, and the answer follows in it when it is there.

To find and weigh statements takes longer than a page may; the reader has the question, the filters and a line that says
what goes on before that. It is plain HTML that comes in pieces: no script takes part, and nothing that was shown moves.
"""

import asyncio
from collections.abc import AsyncIterator

import psycopg
from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from mnemon.api.failures import unusable_value
from mnemon.app import Mnemon
from mnemon.ask.answer import Answer
from mnemon.ask.inputs import Question
from mnemon.documents.samples import sample_files
from mnemon.errors import MnemonError
from mnemon.ids import new_uuid
from mnemon.telemetry import logger
from mnemon.web.asking.cited import cited_sentences
from mnemon.web.asking.own_questions import own_questions
from mnemon.web.forms import Form
from mnemon.web.rendering import PROBLEMS, Visitor, written

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

log = logger(__name__)


def stream_answer(
    request: Request, mnemon: Mnemon, visitor: Visitor, form: Form[Question], asked: Question
) -> Response:  # fmt: skip
    """The answer is begun before the page is: it goes on, and is recorded, even if the reader leaves."""
    principal = visitor.principal
    answering = mnemon.asking.begin(principal.tenant_id, principal.actor, asked.question, asked)
    # Splits the page where the answer comes; nobody who writes a question or a name can know it.
    place = f"answer-{new_uuid()}"
    page = written(
        "ask.html", visitor=visitor, here="ask", form=form, problem=None, glance=None, history=[],
        sample=len(sample_files()), answer_here=place, conversation=conversation_of(form),
    )  # fmt: skip
    before, _, after = page.partition(place)
    pieces = _pieces(before, after, answering, request, mnemon, visitor, form)
    return StreamingResponse(pieces, media_type="text/html; charset=utf-8", headers=HEADERS)


def conversation_of(form: Form[Question]) -> str:
    """The one that this question is part of, or a new one for those that follow it."""
    return form.value("conversation_id") or f"page-{new_uuid()}"


async def _pieces(
    before: str, after: str, answering: "asyncio.Task[Answer]", request: Request, mnemon: Mnemon, visitor: Visitor,
    form: Form[Question],
) -> AsyncIterator[str]:  # fmt: skip
    yield before
    try:
        told = await _told(answering, request, visitor, form)
    except Exception:
        # The page has begun: it ends whole, and says what its status no longer can.
        log.exception("answer_not_shown")
        told = _answered(request, visitor, form, None, " ".join(PROBLEMS[500]))
    # Sent before the earlier questions are read: what fails there takes no answer away.
    yield told
    yield await _asked_before(mnemon, visitor)
    yield after


async def _told(answering: "asyncio.Task[Answer]", request: Request, visitor: Visitor, form: Form[Question]) -> str:
    try:
        answer = await asyncio.shield(answering)
    except MnemonError as refusal:
        return _answered(request, visitor, form, None, refusal.message)
    except psycopg.DataError as failure:
        return _answered(request, visitor, form, None, unusable_value(failure).message)
    return _answered(request, visitor, form, answer, None)


async def _asked_before(mnemon: Mnemon, visitor: Visitor) -> str:
    history = None
    try:
        history = await own_questions(mnemon, visitor)
    except Exception:
        log.exception("earlier questions could not be read")
    return written("ask_before.html", visitor=visitor, history=history)


def _answered(
    request: Request, visitor: Visitor, form: Form[Question], answer: Answer | None, problem: str | None
) -> str:  # fmt: skip
    """`origin` makes what is copied a link that opens elsewhere too."""
    return written(
        "ask_answered.html", visitor=visitor, form=form, answer=answer, problem=problem,
        sentences=cited_sentences(answer.sentences, answer.frames) if answer else [],
        origin=str(request.base_url).rstrip("/"),
    )  # fmt: skip
