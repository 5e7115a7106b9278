"""Binds declared operations to routes: parameters, answers, failures and rights come from the declaration."""

import inspect
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Body, Header, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from mnemon.api.access import MnemonPart, address_of, allow
from mnemon.api.failures import failure_answers, malformed_of
from mnemon.app import Mnemon
from mnemon.errors import InvalidRequest
from mnemon.identity.roles import Principal
from mnemon.operations import (
    Bound,
    Caller,
    Differences,
    Differs,
    Operation,
    as_declared,
    model_of,
    offered,
    own_defaults,
    shown_by,
)

IN_BODY = frozenset({"POST", "PUT", "PATCH"})
IN_PATH = re.compile(r"{(\w+)(?::\w+)?}")
A_HEADER = "HTTP has a header for it."
Present = Callable[[Any], Any]
Told = Callable[[Any], Mapping[str, str]]
Instead = Callable[[Request, Mnemon, Caller, Any], Awaitable[Response | None]]


@dataclass(frozen=True)
class RoutePlaces:
    """Where a request has each field of its operation, by the operation's own names: for those who call by address."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, str]
    header: Mapping[str, str]
    # Another form than the operation's answer is shown.
    presented: bool
    status: int


def route(
    router: APIRouter,
    method: str,
    path: str,
    operation: Operation[Any, Any],
    *,
    status: int = 200,
    in_query: bool | Collection[str] = False,
    in_body: bool = False,
    in_either: bool = False,
    in_header: Mapping[str, str] | None = None,
    differences: Differences | None = None,
    present: Present | None = None,
    told: Told | None = None,
    instead: Instead | None = None,
    answers: Mapping[int | str, dict[str, Any]] | None = None,
) -> None:
    """A route for an operation. Fields named in the path come from there, those `in_header` from that header, the
    others from the query, or from the body of a method that has one unless they are `in_query`, or where they are
    `in_either`. `present` gives the
    model that is shown, or a response that is no JSON; `told` has further headers of the answer; `instead` answers a
    request that wants it in another way."""
    headers = {name: Differs(A_HEADER, name=header) for name, header in (in_header or {}).items()}
    bound = Bound(operation, {**(differences or {}), **headers})
    has_body = (in_body or method in IN_BODY) and in_query is not True
    queried = in_query if has_body and not isinstance(in_query, bool) else ()
    parameters, names = _parameters(path, bound, in_header or {}, queried, has_body, in_either)
    places = _places(path, bound, in_header or {}, queried, has_body)
    shown = _shown(operation, present, status)
    handle = _handler(bound, _writer(present, status, told), instead, parameters, names)
    handle.query_names = names  # type: ignore[attr-defined]
    handle.places = RoutePlaces(**places, presented=present is not None, status=status)  # type: ignore[attr-defined]
    router.add_api_route(
        path,
        handle,
        methods=[method],
        status_code=status,
        summary=operation.summary.rstrip("."),
        description=operation.description,
        response_model=shown,
        response_class=JSONResponse if shown else Response,
        responses={**failure_answers(operation.errors, malformed_of(router)), **(answers or {})},
    )


def _parameters(
    path: str,
    bound: Bound,
    in_header: Mapping[str, str],
    in_query: Collection[str],
    has_body: bool,
    in_either: bool,
) -> tuple[list[inspect.Parameter], frozenset[str]]:
    """The parameters of the handler, and the names of those in the query."""
    fields = offered(bound.operation, bound.differences)
    taken: dict[str, tuple[Any, Any]] = {}
    for name in IN_PATH.findall(path):
        one = fields.pop(name)
        taken[name] = _placed(one, Path(description=one.description)), inspect.Parameter.empty
    for name, header in in_header.items():
        one = fields.pop(header)
        taken[name] = _placed(one, Header(alias=header, description=one.description)), one.default
    body = {name: one for name, one in fields.items() if has_body and name not in in_query}
    query = {name: one for name, one in fields.items() if in_either or name not in body}
    for part, group, place in (("queried", query, Query()), ("given", body, Body())):
        if group:
            whole = group.keys() == bound.operation.input.model_fields.keys() and not bound.differences
            title = bound.operation.input.__name__ + ("" if whole else "Fields")
            example = shown_by(bound.differences, bound.operation.example) if part == "given" else None
            model = bound.operation.input if whole and not example else model_of(title, group, example)
            needed = any(one.is_required() for one in group.values()) or part == "queried"
            taken[part] = Annotated[model, place], inspect.Parameter.empty if needed else model()
    taken["request"] = Request, inspect.Parameter.empty
    taken["mnemon"] = MnemonPart, inspect.Parameter.empty
    if not bound.operation.open_to_all:
        taken["principal"] = Annotated[Principal, allow(bound.operation.action)], inspect.Parameter.empty
    kind = inspect.Parameter.KEYWORD_ONLY
    made = [inspect.Parameter(name, kind, annotation=what, default=unset) for name, (what, unset) in taken.items()]
    return made, frozenset(query)


def _places(
    path: str, bound: Bound, in_header: Mapping[str, str], in_query: Collection[str], has_body: bool
) -> dict[str, dict[str, str]]:
    """Each field by its own name, with the name that the request gives it."""
    own = {(one.name or name): name for name, one in bound.differences.items() if not one.hides}
    found: dict[str, dict[str, str]] = {"path": {}, "query": {}, "body": {}, "header": {}}
    in_path = set(IN_PATH.findall(path))
    for shown in offered(bound.operation, bound.differences):
        name = own.get(shown, shown)
        if shown in in_path:
            place = "path"
        elif shown in in_header.values():
            place = "header"
        else:
            place = "body" if has_body and shown not in in_query else "query"
        found[place][name] = shown
    return found


def _placed(one: FieldInfo, place: Any) -> Any:
    kind: Any = one.annotation
    for limit in (*one.metadata, place):
        kind = Annotated[kind, limit]
    return kind


def _shown(operation: Operation[Any, Any], present: Present | None, status: int) -> type[BaseModel] | None:
    if status == 204:
        return None
    if present is None:
        return operation.output
    shown = get_type_hints(present).get("return")
    return shown if isinstance(shown, type) and issubclass(shown, BaseModel) else None


def _writer(present: Present | None, status: int, told: Told | None) -> Callable[[Any], Response]:
    """What was not asked for is left out. The answer is no more than what was declared, so it is not checked again."""

    def written(answer: BaseModel) -> Response:
        if status == 204:
            return Response(status_code=204)
        shown = present(answer) if present else answer
        if isinstance(shown, Response):
            return shown
        text = shown.model_dump_json(by_alias=True, exclude_unset=True)
        return Response(text, status, told(answer) if told else None, media_type="application/json")

    return written


def refuse_unknown(request: Request, known: Collection[str] = ()) -> None:
    """A misspelt parameter must not vanish: the answer would look like one to the question that was meant."""
    strange = sorted(set(request.query_params) - set(known))
    if strange:
        taken = f"It takes: {', '.join(sorted(known))}." if known else "It takes none."
        problem = f"This route has no such parameter. {taken}"
        raise RequestValidationError([{"loc": ("query", name), "msg": problem} for name in strange])


def refuse_two_values(asked: Mapping[str, Any], said: Mapping[str, Any]) -> None:
    """What may stand in the query or in the body is not meant twice, in two ways."""
    for name in asked.keys() & said.keys():
        if asked[name] != said[name]:
            raise InvalidRequest(f"{name} is {asked[name]!r} in the query and {said[name]!r} in the body: say one.")


def _handler(
    bound: Bound, write: Callable[[Any], Response], instead: Instead | None, parameters: list[inspect.Parameter],
    names: Collection[str],
) -> Callable[..., Awaitable[Response]]:  # fmt: skip
    operation, defaults = bound.operation, own_defaults(bound.differences)

    async def handle(request: Request, **values: Any) -> Response:
        refuse_unknown(request, names)
        mnemon, principal = values.pop("mnemon"), values.pop("principal", None)
        parts = [values.pop(part) for part in ("queried", "given") if part in values]
        asked = as_declared(bound.differences, {name: value for name, value in values.items() if value is not None})
        for part in parts:
            chosen = {*part.model_fields_set, *(defaults & type(part).model_fields.keys())}
            said = as_declared(bound.differences, {name: getattr(part, name) for name in chosen})
            refuse_two_values(asked, said)
            asked |= said
        try:
            read = operation.input.model_validate(asked)
        except ValidationError as failure:
            raise RequestValidationError(failure.errors(include_url=False, include_input=False)) from None
        address = address_of(request)
        caller = Caller.of(principal, address) if principal else Caller.unknown(address)
        answered = await instead(request, mnemon, caller, read) if instead else None
        return answered or write(await operation(mnemon, caller, read))

    handle.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    handle.__name__ = operation.name.replace(".", "_")
    handle.bound = bound  # type: ignore[attr-defined]
    return handle
