"""Binds declared operations to routes: parameters, answers, failures and rights come from the declaration."""

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from mnemon.api.access import MnemonPart, allow
from mnemon.api.failures import failure_answers
from mnemon.identity.roles import Principal
from mnemon.operations import Bound, Caller, Differences, Operation, model_of, offered, own_defaults

IN_BODY = frozenset({"POST", "PUT", "PATCH"})
Present = Callable[[Any], Response]


def route(
    router: APIRouter,
    method: str,
    path: str,
    operation: Operation[Any, Any],
    *,
    status: int = 200,
    in_query: bool = False,
    differences: Differences | None = None,
    present: Present | None = None,
    answers: Mapping[int | str, dict[str, Any]] | None = None,
) -> None:
    """A route for an operation. Fields named in the path come from there, the others from the query, or from the body
    of a method that has one unless they are `in_query`. `present` writes an answer that is no JSON."""
    place = Body() if method in IN_BODY and not in_query else Query()
    parameters = _parameters(path, operation, place, differences or {})
    router.add_api_route(
        path,
        _handler(Bound(operation, differences or {}), present or json_answer(status), parameters),
        methods=[method],
        status_code=status,
        summary=operation.summary.rstrip("."),
        description=operation.description,
        response_model=None if present else operation.output,
        response_class=Response if present else JSONResponse,
        responses={**failure_answers(operation.errors), **(answers or {})},
    )


def _parameters(
    path: str, operation: Operation[Any, Any], place: Any, differences: Differences
) -> list[inspect.Parameter]:
    fields = offered(operation, differences)
    named = re.findall(r"{(\w+)}", path)
    taken = {name: _in_path(fields.pop(name)) for name in named}
    if fields:
        whole = not named and not differences
        model = operation.input if whole else model_of(f"{operation.input.__name__}Fields", fields)
        taken["given"] = Annotated[model, place]
    taken["mnemon"] = MnemonPart
    taken["principal"] = Annotated[Principal, allow(operation.action)]
    return [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind) for name, kind in taken.items()]


def _in_path(one: FieldInfo) -> Any:
    kind: Any = one.annotation
    for limit in (*one.metadata, Path(description=one.description)):
        kind = Annotated[kind, limit]
    return kind


def json_answer(status: int) -> Present:
    """What was not asked for is left out. The answer is no more than what was declared, so it is not checked again."""

    def written(answer: BaseModel) -> Response:
        text = answer.model_dump_json(by_alias=True, exclude_unset=True)
        return Response(text, status, media_type="application/json")

    return written


def _handler(bound: Bound, present: Present, parameters: list[inspect.Parameter]) -> Callable[..., Awaitable[Response]]:
    operation, defaults = bound.operation, own_defaults(bound.differences)

    async def handle(**values: Any) -> Response:
        mnemon, principal, given = values.pop("mnemon"), values.pop("principal"), values.pop("given", None)
        if given is not None:
            values |= {name: getattr(given, name) for name in {*given.model_fields_set, *defaults}}
        try:
            asked = operation.input.model_validate(values)
        except ValidationError as failure:
            raise RequestValidationError(failure.errors(include_url=False, include_input=False)) from None
        return present(await operation(mnemon, Caller.of(principal), asked))

    handle.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    handle.__name__ = operation.name.replace(".", "_")
    handle.bound = bound  # type: ignore[attr-defined]
    return handle
