"""Binds declared operations to tools: arguments, answers, hints and rights come from the declaration."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo

from mnemon.mcp.caller import AgentCaller
from mnemon.mcp.door import AgentDoor
from mnemon.operations import Bound, Differences, Operation, as_declared, offered, read_input

CONFIRM = Field(
    False, description="True when the person has agreed. Without it they are asked, or the call is refused."
)


def tool(
    door: AgentDoor,
    name: str,
    operation: Operation[Any, Any],
    *,
    title: str,
    core: bool = False,
    says: str | None = None,
    differences: Differences | None = None,
    perform: Callable[[AgentCaller, Any], Awaitable[BaseModel]] | None = None,
    question: Callable[[AgentCaller, Any], Awaitable[str]] | None = None,
    present: Callable[[Any], BaseModel] | None = None,
    prepare: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> None:
    """A tool for an operation. `present` adds to the answer what agents need beside it, such as addresses; `perform`
    answers where an agent is answered otherwise than others; `question` is what the person behind it is asked first.
    `prepare` makes fields of what was given. `says` tells agents what it is for where the operation is known to others
    by other words."""
    fields = offered(operation, differences)
    beside = {"confirm": FieldInfo.from_annotated_attribute(bool, CONFIRM)} if question else {}

    async def call(caller: AgentCaller, **arguments: Any) -> BaseModel:
        confirmed = arguments.pop("confirm", False) if question else True
        given = as_declared(differences, arguments)
        asked = read_input(operation, prepare(given) if prepare else given)
        if question:
            await caller.confirm(await question(caller, asked), confirmed)
        if perform:
            return await perform(caller, asked)
        answer: BaseModel = await operation(caller.mnemon, caller, asked)
        return present(answer) if present else answer

    call.__name__ = name
    call.__doc__ = says or " ".join(part for part in (operation.summary, operation.description) if part)
    answers = perform or present
    shown = get_type_hints(answers)["return"] if answers else operation.output
    parameters = _parameters({**fields, **beside})
    call.__signature__ = inspect.Signature(parameters, return_annotation=shown)  # type: ignore[attr-defined]
    door.tool(
        operation.action, title=title, core=core, read_only=operation.read_only,
        destructive=operation.destructive, idempotent=operation.idempotent,
        bound=Bound(operation, differences or {}, frozenset(beside)),
    )(call)  # fmt: skip


def _parameters(fields: Mapping[str, FieldInfo]) -> list[inspect.Parameter]:
    """The caller, then every field."""
    caller = inspect.Parameter("caller", inspect.Parameter.POSITIONAL_ONLY, annotation=AgentCaller)
    return [caller, *(_parameter(name, one) for name, one in fields.items())]


def _parameter(name: str, one: FieldInfo) -> inspect.Parameter:
    default = inspect.Parameter.empty if one.is_required() else one.get_default(call_default_factory=True)
    kind: Any = Annotated[one.annotation, one]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
