"""The page of reports on mailing lists: what was agreed and disputed, each line with its proof, and as a file."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from mnemon.api.access import MnemonPart
from mnemon.errors import InvalidRequest, NotFound
from mnemon.operations import Caller, Differs
from mnemon.reports import operations
from mnemon.reports.operations import CitationShown
from mnemon.web.forms import Form, FormField, binds, form_of
from mnemon.web.lists.thread_pages import LABELS as THREAD_LABELS
from mnemon.web.markdown import render_markdown
from mnemon.web.rendering import as_page, render, visit

router = APIRouter(include_in_schema=False)
ON_A_PAGE = 50
ONE_PAGE = {
    "limit": Differs("A page of the web has a fixed length."),
    "form": Differs("The page is one form; links below it give the others."),
}
FILES = {
    "markdown": ("md", "text/markdown"),
    "html": ("html", "text/html"),
    "print": ("html", "text/html"),
    "text": ("txt", "text/plain"),
}
FOOTNOTE = re.compile(r"\[\^(\d{1,5})\]")
# What a report's text has below it: the page shows the places as links.
PLACES = re.compile(r"^\[\^\d+\]:.*\n?", re.MULTILINE)
BELOW_THE_TITLE = re.compile(r"^#(#+ )", re.MULTILINE)
LABELS = {"kind": {"draft-focused": "on a draft", "thread": "one thread"}, **THREAD_LABELS}


@router.get("/lists/report")
@as_page
@binds(operations.report, ONE_PAGE)
async def report_page(request: Request, mnemon: MnemonPart) -> Response:
    visitor = await visit(request, operations.report.action)
    form = form_of(operations.report, request.query_params, differences=ONE_PAGE, labels=LABELS)
    made, problem = None, None
    try:
        asked = form.asked(form="markdown", limit=ON_A_PAGE)
        made = await operations.report(mnemon, Caller.of(visitor.principal), asked)
    except (InvalidRequest, NotFound) as refusal:
        problem = refusal
    return render(
        "report.html", status_code=problem.status if problem else 200, here="lists", visitor=visitor, form=form,
        fields=_fields(form), made=made, problem=problem,
        content=with_places(made.content, made.citations) if made else None,
    )  # fmt: skip


def _fields(form: Form[Any]) -> list[FormField]:
    """A report on one thread is of no other kind, and its thread is chosen on the page of threads alone."""
    if form.value("thread"):
        return list(form.fields("thread", "kind"))
    return [_without_thread(one) if one.name == "kind" else one for one in form.fields("thread")]


def _without_thread(kind: FormField) -> FormField:
    return replace(kind, choices={name: shown for name, shown in kind.choices.items() if name != "thread"})


@router.get("/lists/report/file")
@as_page
async def report_file(request: Request, mnemon: MnemonPart) -> Response:
    """The same report to take away. No browser opens it as a page of ours: foreign words are in it."""
    visitor = await visit(request, operations.report.action)
    form = form_of(operations.report, request.query_params)
    made = await operations.report(mnemon, Caller.of(visitor.principal), form.asked())
    ending, media_type = FILES.get(made.form, ("txt", "text/plain"))
    headers = {"Content-Disposition": f'attachment; filename="report.{ending}"', "Cache-Control": "no-store"}
    return Response(made.content, media_type=f"{media_type}; charset=utf-8", headers=headers)


def with_places(content: str, citations: Sequence[CitationShown]) -> Markup:
    """The report as it reads, each number a link to the words that it stands for."""

    def linked(found: re.Match[str]) -> str:
        number = int(found[1])
        if not 1 <= number <= len(citations):
            return found[0]
        one = citations[number - 1]
        place = f"/evidence/{one.doc_version_id}/{one.start}-{one.end}"
        says = Markup("“%s”") % " ".join(one.quote.split())[:300]
        label = f"Source {number}"
        return Markup('<a class="cite" href="%s" title="%s" aria-label="%s">[%d]</a>') % (place, says, label, number)

    # The title stands above the page already; what it has below it is of the next level.
    body = PLACES.sub("", content).partition("\n")[2] if content.startswith("# ") else PLACES.sub("", content)
    body = BELOW_THE_TITLE.sub(r"\1", body)
    return Markup(FOOTNOTE.sub(linked, str(render_markdown(body))))  # noqa: S704  escaped piece by piece
