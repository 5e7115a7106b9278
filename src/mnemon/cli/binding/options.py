"""How a field of an operation is given on a terminal: as an argument, an option or the words of the line."""

import inspect
import re
import types
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

# Names of options that people know, of whatever comes with an origin.
OF_AN_ORIGIN = {
    "source_system": "--source", "source_url": "--url", "tags": "--tag", "visibility_scope": "--visibility",
    "readers": "--reader", "participants": "--participant", "retention_policy": "--retention",
    "retain_until": "--until", "artifact_type": "--type", "document_type": "--type", "ts": "--date",
    "written_at": "--date",
}  # fmt: skip


def argument(name: str, one: FieldInfo) -> inspect.Parameter:
    told = typer.Argument(help=one.description, show_default=False, metavar=placed(name))
    kind: Any = Annotated[_kind(one), told]
    return parameter(name, kind, ... if one.is_required() else one.default)


def words(name: str, one: FieldInfo, *, needed: bool = True) -> inspect.Parameter:
    needed = needed and one.is_required()
    kind: Any = list[str] if needed else list[str] | None
    told = typer.Argument(help=one.description, show_default=False, metavar=placed(name))
    return parameter(name, Annotated[kind, told], ... if needed else None)


def option(
    name: str, one: FieldInfo, short: str | None, *, needed: bool, typed: Mapping[str, str] | None = None
) -> inspect.Parameter:
    long = f"--{name.replace('_', '-')}"
    default = None if one.is_required() else one.get_default(call_default_factory=True)
    if one.is_required() and needed:
        default = ...
    names = [long + (f"/--no-{name.replace('_', '-')}" if default is True else ""), *([short] if short else [])]
    limits: dict[str, Any] = {
        key: getattr(limit, at)
        for limit in one.metadata
        for key, at, of in (("min", "ge", Ge), ("max", "le", Le))
        if isinstance(limit, of)
    }
    if words := _chosen_among(one):
        limits["metavar"] = "|".join(words)
    option = typer.Option(*names, help=as_typed(one.description or "", typed or {}), **limits)
    return parameter(name, Annotated[_kind(one), option], default)


def placed(name: str) -> str:
    """How help and refusals call what is given by place."""
    return name.upper()


def shown_name(name: str, short: str | None) -> str:
    """The name of an option that people know."""
    return short if short and short.startswith("--") else f"--{name.replace('_', '-')}"


def as_typed(text: str, typed: Mapping[str, str]) -> str:
    """Names of several words are those of fields, which nobody types."""
    for name in sorted(typed, key=len, reverse=True):
        if "_" in name:
            text = re.sub(rf"(?<![\w`-]){name}(?![\w`])", typed[name], text)
    return text


def _chosen_among(one: FieldInfo) -> Sequence[str]:
    """The values of a text that has few, where the declaration tells them."""
    for kind in (one.annotation, *_members(one.annotation)):
        for told in getattr(kind, "__metadata__", ()):
            schema = getattr(told, "json_schema_extra", None)
            if isinstance(schema, dict) and "enum" in schema:
                return [str(value) for value in schema["enum"]]
    return ()


def _kind(one: FieldInfo) -> Any:
    """How the terminal reads a value; the declaration reads the rest."""
    kinds = [_bare(kind) for kind in _members(one.annotation) if kind is not type(None)]
    kind = kinds[0]
    if get_origin(kind) in (list, tuple):
        return list[str] | None
    chosen = get_origin(kind) is Literal or (isinstance(kind, type) and issubclass(kind, Enum))
    known: Any = kind if kind in (bool, int, float) or chosen else str
    return known if one.is_required() or kind is bool else known | None


def unset(kind: Any) -> Any:
    """Beside the fields, what has no value is left out, off, or must be given."""
    plain = _bare(kind)
    return None if type(None) in _members(plain) else False if plain is bool else ...


def _members(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def parameter(name: str, kind: Any, default: Any) -> inspect.Parameter:
    given = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=given)
