"""Binds declared operations to commands: arguments, options, limits and help come from the declaration."""

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from mnemon.cli.context import OPERATOR, run_async, tenant_of
from mnemon.cli.output import Json, JsonLines, TenantOption, show
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.operations import Bound, Caller, Differences, Operation, as_json, offered, read_input


def command(
    app: typer.Typer, name: str, operation: Operation[Any, Any], human: Callable[[Any], None], **how: Any
) -> None:
    """Adds `bound_command` to a group of commands."""
    app.command(name)(bound_command(operation, human, **how))


def bound_command(
    operation: Operation[Any, Any],
    human: Callable[[Any], None],
    *,
    example: str,
    arguments: Sequence[str] = (),
    words: str | None = None,
    short: Mapping[str, str] | None = None,
    question: str | None = None,
    failed: Callable[[Any], bool] | None = None,
    differences: Differences | None = None,
    beside: Mapping[str, Any] | None = None,
    prepare: Callable[[dict[str, Any], str], dict[str, Any]] | None = None,
    written: Callable[[Any], Any] | None = None,
    perform: Callable[[str, Any, bool, dict[str, Any]], None] | None = None,
    in_pieces: bool = True,
    also: Sequence[Operation[Any, Any]] = (),
) -> Callable[..., None]:
    """A command for an operation. `arguments` are fields given by place, `words` is the field that takes the words of
    the line, `short` has further names of options that people know. `human` prints the answer. `question` is what a
    person is asked first, with the fields in it; `failed` tells of an answer for which the exit code is 1.
    `prepare` makes fields of what the terminal has `beside` them, as a file; `written` picks what --json prints.
    `perform` does what takes more than a call, mostly what comes `in_pieces`: it gets the tenant, what is asked,
    whether to print JSON, and what is left of what stands beside; `also` are operations that it calls too."""
    fields = offered(operation, differences)

    def called(**values: Any) -> None:
        tenant, wants_json = values.pop("tenant"), values.pop("as_json")
        agreed = values.pop("yes", True)
        if words and values[words]:
            values[words] = " ".join(values[words])
        if prepare:
            values = prepare(values, tenant)
        known = operation.input.model_fields
        left = {name: values.pop(name) for name in beside or () if name in values and name not in known}
        asked = read_input(operation, {name: value for name, value in values.items() if value is not None})
        if not agreed:
            typer.confirm((question or "Go on?").format_map(values), abort=True, err=True)
        if perform:
            perform(tenant, asked, wants_json, left)
            return
        answer = run_async(call(operation, tenant, asked))
        show((written or _whole)(as_json(answer)), wants_json, lambda: human(answer))
        if failed and failed(answer):
            raise typer.Exit(1)

    parameters = [_argument(key, fields[key]) for key in arguments]
    if words:
        parameters.append(_words(words, fields[words]))
    shown = {key: one for key, one in fields.items() if key not in (*arguments, words)}
    parameters += [_option(key, one, (short or {}).get(key), needed=prepare is None) for key, one in shown.items()]
    parameters += [_parameter(key, kind, None) for key, kind in (beside or {}).items()]
    if question:
        parameters.append(_parameter("yes", Annotated[bool, typer.Option("--yes", help="Do not ask.")], False))
    as_lines = JsonLines if perform and in_pieces else Json
    parameters += [_parameter("tenant", TenantOption, DEFAULT_SLUG), _parameter("as_json", as_lines, False)]
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__doc__ = f"{operation.summary}\n\n{operation.description}\n\nExample: {example}"
    taken = frozenset(one.name for one in parameters)
    called.bound = [  # type: ignore[attr-defined]
        Bound(operation, differences or {}, frozenset(beside or ())), *(Bound(one, {}, taken) for one in also)
    ]  # fmt: skip
    return called


def _whole(answer: Any) -> Any:
    return answer


def binds(
    *operations: Operation[Any, Any], differences: Differences | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """For a command that several operations share: which they are, where the doors are compared."""

    def _of(one: Operation[Any, Any]) -> Differences:
        return {name: why for name, why in (differences or {}).items() if name in one.input.model_fields}

    def mark(command: Callable[..., None]) -> Callable[..., None]:
        taken = frozenset(inspect.signature(command).parameters)
        command.bound = [  # type: ignore[attr-defined]
            Bound(
                one, {name: why for name, why in (differences or {}).items() if name in one.input.model_fields}, taken
            )
            for one in operations
        ]
        return command

    return mark


async def call(operation: Operation[Any, Any], tenant: str, asked: Any) -> Any:
    """The answer to whoever runs the command: they own the machine, and still read nothing that is for others alone."""
    async with tenant_of(tenant) as (mnemon, tenant_id):
        return await operation(mnemon, Caller(tenant_id, OPERATOR, channel="cli"), asked)


def _argument(name: str, one: FieldInfo) -> inspect.Parameter:
    kind: Any = Annotated[_kind(one), typer.Argument(help=one.description, show_default=False)]
    return _parameter(name, kind, ... if one.is_required() else one.default)


def _words(name: str, one: FieldInfo) -> inspect.Parameter:
    kind: Any = list[str] if one.is_required() else list[str] | None
    words = Annotated[kind, typer.Argument(help=one.description, show_default=False)]
    return _parameter(name, words, ... if one.is_required() else None)


def _option(name: str, one: FieldInfo, short: str | None, *, needed: bool) -> inspect.Parameter:
    long = f"--{name.replace('_', '-')}"
    default = None if one.is_required() else one.get_default(call_default_factory=True)
    if one.is_required() and needed:
        default = ...
    names = [long + (f"/--no-{name.replace('_', '-')}" if default is True else ""), *([short] if short else [])]
    limits = {
        key: getattr(limit, at)
        for limit in one.metadata
        for key, at, of in (("min", "ge", Ge), ("max", "le", Le))
        if isinstance(limit, of)
    }
    option = typer.Option(*names, help=one.description, **limits)
    return _parameter(name, Annotated[_kind(one), option], default)


def _kind(one: FieldInfo) -> Any:
    """How the terminal reads a value; the declaration reads the rest."""
    kinds = [_bare(kind) for kind in _members(one.annotation) if kind is not type(None)]
    kind = kinds[0]
    if get_origin(kind) in (list, tuple):
        return list[str] | None
    chosen = get_origin(kind) is Literal or (isinstance(kind, type) and issubclass(kind, Enum))
    known: Any = kind if kind in (bool, int, float) or chosen else str
    return known if one.is_required() or kind is bool else known | None


def _members(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _parameter(name: str, kind: Any, default: Any) -> inspect.Parameter:
    given = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=given)
