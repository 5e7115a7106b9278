"""Forms made of declared operations: a field of the input is a field of the form, with label, limits and choices."""

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Generic, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le, MaxLen
from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from pydantic.fields import FieldInfo

from mnemon.app import Mnemon
from mnemon.operations import Bound, Caller, Differences, In, Operation, offered, read_input
from mnemon.web.rendering import Handler, visit

Labels = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class FormField:
    """One field as a page shows it: `kind` is select, checkbox, or the type of an input."""

    name: str
    label: str
    hint: str
    kind: str
    value: str
    choices: Mapping[str, str]
    limits: Mapping[str, Any]


@dataclass(frozen=True)
class Form(Generic[In]):
    """What stands in the address, as it was written, for one operation."""

    operation: Operation[In, Any]
    given: Mapping[str, str]
    differences: Differences
    labels: Labels

    def asked(self, **fixed: Any) -> In:
        return read_input(self.operation, {**self.given, **fixed})

    def value(self, name: str) -> str:
        return self.given.get(name, "")

    def fields(self, *without: str, first: Sequence[str] = ()) -> Iterator[FormField]:
        """`first` stand before the others: what people look for, before what programs name."""
        known = offered(self.operation, self.differences)
        for name in [*(name for name in first if name in known), *(name for name in known if name not in first)]:
            if name not in (*without, "cursor"):
                yield self._field(name, known[name])

    def narrowed(self, *without: str) -> dict[str, str]:
        """What is set, for the address of the next page; without these."""
        return {name: value for name, value in self.given.items() if name not in (*without, "cursor")}

    def _field(self, name: str, one: FieldInfo) -> FormField:
        kind, choices = _kind(one)
        labels = self.labels.get(name, {})
        if kind == "text" and labels:
            # Its declaration says by a pattern what it may be.
            kind, choices = "select", tuple(labels)
        label = one.title or name.replace("_", " ").capitalize()
        shown = {choice: labels.get(choice, choice) for choice in choices}
        return FormField(name, label, one.description or "", kind, self.value(name), shown, _limits(one))


def form_of(
    operation: Operation[In, Any], given: Mapping[str, str], *, differences: Differences | None = None,
    labels: Labels | None = None,
) -> Form[In]:  # fmt: skip
    """Blank fields ask for nothing; what the operation does not know is not its own."""
    known = offered(operation, differences)
    written = {name: value.strip() for name, value in given.items() if name in known and value.strip()}
    return Form(operation, written, differences or {}, labels or {})


async def submitted(request: Request, operation: Operation[In, Any], **fixed: Any) -> In:
    """What a form sent, with what its address names; a blank field says nothing."""
    written = {name: value.strip() for name, value in (await request.form()).items() if isinstance(value, str)}
    given = {name: value for name, value in written.items() if value and name in operation.input.model_fields}
    return read_input(operation, {**given, **request.path_params, **fixed})


async def perform(
    request: Request, mnemon: Mnemon, operation: Operation[Any, Any], back: str, **fixed: Any
) -> Response:
    """Do what a form asks for, then show the page that it came from."""
    visitor = await visit(request, operation.action)
    await operation(mnemon, Caller.of(visitor.principal), await submitted(request, operation, **fixed))
    return RedirectResponse(back, 303)


def binds(
    operation: Operation[Any, Any], differences: Differences | None = None, *,
    also: Sequence[Operation[Any, Any]] = (),
) -> Callable[[Handler], Handler]:  # fmt: skip
    """Says which operations a page is for, where the doors are compared."""

    def mark(handler: Handler) -> Handler:
        handler.bound = [Bound(operation, differences or {}), *(Bound(one) for one in also)]  # type: ignore[attr-defined]
        return handler

    return mark


def _kind(one: FieldInfo) -> tuple[str, tuple[str, ...]]:
    members = get_args(one.annotation) if get_origin(one.annotation) in (Union, types.UnionType) else (one.annotation,)
    kind = next(member for member in members if member is not type(None))
    extra: Any = {}
    if get_origin(kind) is Annotated:
        kind, *metadata = get_args(kind)
        extra = next((each.json_schema_extra for each in metadata if isinstance(each, FieldInfo)), None) or {}
    if get_origin(kind) is Literal:
        return "select", get_args(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "select", tuple(str(one.value) for one in kind)
    if "enum" in extra:
        return "select", tuple(extra["enum"])
    if kind is bool:
        return "checkbox", ()
    if kind in (int, float):
        return "number", ()
    return ("date" if isinstance(kind, type) and issubclass(kind, date) else "text"), ()


def _limits(one: FieldInfo) -> dict[str, Any]:
    """As attributes of an input."""
    found: dict[str, Any] = {}
    nested = [
        each
        for kind in get_args(one.annotation)
        if get_origin(kind) is Annotated
        for info in get_args(kind)[1:]
        for each in (info.metadata if isinstance(info, FieldInfo) else [info])
    ]
    for limit in (*one.metadata, *nested):
        if isinstance(limit, MaxLen):
            found["maxlength"] = limit.max_length
        elif isinstance(limit, Ge):
            found["min"] = limit.ge
        elif isinstance(limit, Le):
            found["max"] = limit.le
    if float in get_args(one.annotation) or one.annotation is float:
        found["step"] = "any"
    return found
