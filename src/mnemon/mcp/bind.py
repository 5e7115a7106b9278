"""Binds declared operations to tools: arguments, answers, hints and rights come from the declaration."""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from mnemon.mcp.caller import AgentCaller
from mnemon.mcp.door import Door
from mnemon.operations import Bound, Differences, Operation, offered, read_input


def tool(
    door: Door,
    name: str,
    operation: Operation[Any, Any],
    *,
    title: str,
    core: bool = False,
    differences: Differences | None = None,
    present: Callable[[Any], BaseModel] | None = None,
) -> None:
    """A tool for an operation. `present` adds to the answer what agents need beside it, such as addresses."""
    fields = offered(operation, differences)

    async def call(caller: AgentCaller, **arguments: Any) -> BaseModel:
        answer: BaseModel = await operation(caller.mnemon, caller, read_input(operation, arguments))
        return present(answer) if present else answer

    call.__name__ = name
    call.__doc__ = " ".join(part for part in (operation.summary, operation.description) if part)
    shown = get_type_hints(present)["return"] if present else operation.output
    call.__signature__ = inspect.Signature(_parameters(fields), return_annotation=shown)  # type: ignore[attr-defined]
    door.tool(
        operation.action, title=title, core=core, read_only=operation.read_only,
        destructive=operation.destructive, idempotent=operation.idempotent,
        bound=Bound(operation, differences or {}),
    )(call)  # fmt: skip


def _parameters(fields: Mapping[str, FieldInfo]) -> list[inspect.Parameter]:
    """The caller, then every field."""
    caller = inspect.Parameter("caller", inspect.Parameter.POSITIONAL_ONLY, annotation=AgentCaller)
    return [caller, *(_parameter(name, one) for name, one in fields.items())]


def _parameter(name: str, one: FieldInfo) -> inspect.Parameter:
    default = inspect.Parameter.empty if one.is_required() else one.get_default(call_default_factory=True)
    kind: Any = Annotated[one.annotation, one]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
