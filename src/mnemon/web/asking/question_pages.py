"""The pages to ask and to search on, with one's own earlier questions."""

import re

from fastapi import APIRouter, Request, Response

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.ask import operations
from mnemon.ask.hits import PassageHit
from mnemon.ask.inputs import Question
from mnemon.ask.outputs import PassagesFound
from mnemon.ask.proving.printable import as_page as printed
from mnemon.ask.recall import Remembered
from mnemon.ask.wording import words_of
from mnemon.documents.access import read_as
from mnemon.documents.artifact_names import document_of_uid
from mnemon.documents.errors import ArtifactNotFound
from mnemon.documents.samples import sample_files
from mnemon.errors import InvalidRequest, MnemonError
from mnemon.operations import Caller, Differs
from mnemon.search.questions import checked_question
from mnemon.web.asking.glance import Glance, glance
from mnemon.web.asking.own_questions import OwnQuestion, own_questions
from mnemon.web.asking.streamed import conversation_of, stream_answer
from mnemon.web.forms import Form, binds, form_of
from mnemon.web.markdown import MARKDOWN, plain_words
from mnemon.web.rendering import Visitor, as_page, render, templates, visit

router = APIRouter(include_in_schema=False)
ON_A_PAGE = 10
SMALL_WORDS = (
    "the and for are was were not but with from that this which what when where who whom why how has have had did does "
    "can may will would should could you your our their his her its any all about into than then there been"
)
ONE_PAGE = {
    "limit": Differs("A page of the web has a fixed length."),
    "explain": Differs("The parts of a score are for those who tune the search."),
}
ANSWERED_HERE = {
    "stream": Differs("The page is sent at once and the answer follows in it, always."),
    "explain": Differs("What spoke for each statement is for those who tune the judgement."),
}


@router.get("/")
@as_page
@binds(operations.ask, ANSWERED_HERE)
async def ask_page(request: Request, mnemon: MnemonPart) -> Response:
    """The question's page, with its answer: it reads without a script, and its address can be shared."""
    visitor = await visit(request, operations.ask.action)
    form = form_of(operations.ask, request.query_params, differences=ANSWERED_HERE)
    try:
        asked = form.asked() if form.value("question") else None
        if asked:
            # Refused here, while the page can still say so in its status.
            checked_question(asked.question)
            await _known_artifact(mnemon, visitor, asked)
            return stream_answer(request, mnemon, visitor, form, asked)
    except (InvalidRequest, ArtifactNotFound) as refusal:
        return _unasked(visitor, form, await own_questions(mnemon, visitor), problem=refusal)
    return _unasked(
        visitor, form, await own_questions(mnemon, visitor), shown_first=await glance(mnemon, visitor)
    )  # fmt: skip


async def _known_artifact(mnemon: Mnemon, visitor: Visitor, asked: Question) -> None:
    if asked.artifact_uid is not None:
        async with mnemon.database.transaction(visitor.tenant_id) as tx:
            await read_as(tx, visitor.reader)
            await document_of_uid(tx, asked.artifact_uid)


def _unasked(
    visitor: Visitor, form: Form[Question], history: list[OwnQuestion], *, problem: MnemonError | None = None,
    shown_first: Glance | None = None,
) -> Response:  # fmt: skip
    return render(
        "ask.html", status_code=problem.status if problem else 200, here="ask", visitor=visitor, form=form,
        problem=problem, glance=shown_first, history=history, sample=len(sample_files()), answer_here=None,
        conversation=conversation_of(form),
    )  # fmt: skip


@router.get("/answers/{query_id}/file")
@as_page
@binds(operations.answer_file)
async def answer_file(request: Request, mnemon: MnemonPart) -> Response:
    """The answer with its proof, to keep or to print."""
    visitor = await visit(request, operations.answer_file.action)
    form = form_of(operations.answer_file, request.query_params)
    asked = form.asked(**request.path_params)
    made = await operations.answer_file(mnemon, Caller.of(visitor.principal), asked)
    content = printed(made) if asked.form == "html" else made.model_dump_json(indent=2)
    headers = {"Content-Disposition": f'attachment; filename="answer-{asked.query_id}.{asked.form}"'}
    kind = "text/html" if asked.form == "html" else "application/json"
    return Response(content, media_type=kind, headers=headers)


@router.get("/search")
@as_page
@binds(operations.search, ONE_PAGE)
async def search_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.search.action)
    form = form_of(operations.search, request.query_params, differences=ONE_PAGE)
    found: PassagesFound | None = None
    problem: MnemonError | None = None
    try:
        asked = form.asked(limit=ON_A_PAGE) if form.value("query") else None
        found = await operations.search(mnemon, Caller.of(visitor.principal), asked) if asked else None
    except (InvalidRequest, ArtifactNotFound) as refusal:
        problem = refusal
    first = int(form.value("offset") or 0) if found else 0
    return render(
        "search.html", status_code=problem.status if problem else 200, here="search", visitor=visitor, form=form,
        found=found, problem=problem, offset=first, before=max(0, first - ON_A_PAGE),
        looked_for=stems_of(form.value("query")), remembered=_telling(found) if found else [],
    )  # fmt: skip


def _telling(found: PassagesFound) -> list[Remembered]:
    """What memory says as well as the passages of this page do; its scores compare with theirs."""
    least = min((one.score for one in found.items), default=0.0)
    return [one for one in found.remembered if one.score >= least]


def stems_of(query: str) -> list[str]:
    """The words to mark in what was found, each without its ending. Small words are everywhere and say nothing."""
    words = [word for word in words_of(query) if len(word) > 2 and f" {word} " not in f" {SMALL_WORDS} "]
    return [re.sub(r"(?:ies|ing|ed|es|s|e|y)$", "", word) if len(word) > 4 else word for word in words]


def as_written_in(word: str, question: str) -> str:
    """A word that was looked for, in the letters of the question: "Berlin" and not "berlin"."""
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", question, re.IGNORECASE)
    return found[0] if found else word


def _shown_text(hit: PassageHit) -> str:
    """As people read it."""
    text = hit.snippet.text
    return plain_words(text) if hit.media_type == MARKDOWN else " ".join(text.split())


templates.filters["shown_text"] = _shown_text
templates.filters |= {"plain_words": plain_words, "as_written_in": as_written_in}
