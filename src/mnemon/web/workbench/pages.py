"""The pages of the workbench: the list, and for each operation a form with its answer below."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from jinja2 import Undefined
from markupsafe import Markup, escape

from mnemon.api.access import MnemonPart
from mnemon.app import Mnemon
from mnemon.errors import MnemonError, NotAllowed
from mnemon.identity.roles import Principal, authorise
from mnemon.operations import Caller, Operation, as_json
from mnemon.web.forms import binds
from mnemon.web.rendering import FORM_FIELD, Handler, Visitor, as_page, render, templates, visit
from mnemon.web.workbench.bench import WORKBENCH
from mnemon.web.workbench.written import fields_of, read_written

router = APIRouter(include_in_schema=False)
# What a reader who asks for nothing yet sends along, so that a form without fields can be sent too.
ASKED = "asked"


@router.get("/workbench")
@as_page
async def workbench_page(request: Request, mnemon: MnemonPart) -> Response:
    """What this visitor may do."""
    visitor = await visit(request, WORKBENCH["Memory"][0].action)
    groups = {name: [one for one in group if _may(visitor.principal, one)] for name, group in WORKBENCH.items()}
    return render("workbench.html", here="workbench", visitor=visitor, groups=groups)


def _may(principal: Principal, operation: Operation[Any, Any]) -> bool:
    try:
        authorise(principal, operation.action)
    except NotAllowed:
        return False
    return True


def _add(operation: Operation[Any, Any]) -> None:
    """What only reads is asked for by a link that can be shared; what changes something is sent."""
    place = f"/workbench/{operation.name}"

    @as_page
    async def form(request: Request, mnemon: MnemonPart) -> Response:
        visitor = await visit(request, operation.action)
        given = dict(request.query_params)
        if operation.read_only and ASKED in given:
            return await _answered(mnemon, visitor, operation, given)
        return _form(visitor, operation, given)

    @as_page
    async def sent(request: Request, mnemon: MnemonPart) -> Response:
        visitor = await visit(request, operation.action)
        given = {name: str(value) for name, value in (await request.form()).items() if name != FORM_FIELD}
        return await _answered(mnemon, visitor, operation, given)

    marked: Handler = binds(operation)(form)
    router.add_api_route(place, marked, methods=["GET"], include_in_schema=False)
    if not operation.read_only:
        router.add_api_route(place, sent, methods=["POST"], include_in_schema=False)


async def _answered(
    mnemon: Mnemon, visitor: Visitor, operation: Operation[Any, Any], given: Mapping[str, str]
) -> Response:
    try:
        answer = await operation(mnemon, Caller.of(visitor.principal), read_written(operation, given))
    except MnemonError as refusal:
        return _form(visitor, operation, given, problem=refusal)
    told = as_json(answer)
    # Some operations answer with a list and nothing around it.
    return _form(visitor, operation, given, answer=told if isinstance(told, dict) else {"items": told})


def _form(
    visitor: Visitor, operation: Operation[Any, Any], given: Mapping[str, str], *,
    answer: dict[str, Any] | None = None, problem: MnemonError | None = None,
) -> Response:  # fmt: skip
    return render(
        "workbench_form.html", status_code=problem.status if problem else 200, here="workbench", visitor=visitor,
        one=operation, fields=fields_of(operation, given), answer=answer, problem=problem, asked=ASKED,
    )  # fmt: skip


def _table(value: Any) -> list[str]:
    """The columns of a list of like things; none where it is no such list."""
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        return []
    return list(dict.fromkeys(name for one in value for name, cell in one.items() if not isinstance(cell, dict | list)))


def _told(value: Any) -> Any:
    """A value as people read it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None or isinstance(value, Undefined) else value


def _coded(text: str) -> Markup:
    """What stands between backticks, in the letters of code."""
    parts = text.split("`")
    shown = (Markup("<code>%s</code>") % part if at % 2 else escape(part) for at, part in enumerate(parts))
    return Markup("").join(shown)


for _group in WORKBENCH.values():
    for _one in _group:
        _add(_one)
templates.filters |= {"columns": _table, "told": _told, "coded": _coded}
