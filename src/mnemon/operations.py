"""What a user may do, described once: capabilities declare operations, and every door binds the declarations."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar, get_type_hints
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo

from mnemon.db.leave import reading_behind
from mnemon.errors import InvalidRequest, MnemonError
from mnemon.identity.roles import Action, Principal, authorise
from mnemon.log.events import Actor
from mnemon.problems import plain_problem, told_of

Door = Literal["rest", "mcp", "command", "web"]
# Whose nothing is: of an operator who names no tenant, and of those who have not logged in.
EVERY_TENANT = UUID(int=0)
NOBODY = Actor("system", "nobody")


class Input(BaseModel):
    """What an operation takes. Every field says what it means and how much of it is taken; a name it does not know is
    refused, so that a misspelt filter never vanishes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Output(BaseModel):
    """What an operation answers. Doors show the fields that were set: one that was not asked for is left out."""

    # A field that nobody declared would be shown to nobody: it is an error of ours.
    model_config = ConfigDict(extra="forbid")


In = TypeVar("In", bound=Input)
Out = TypeVar("Out", bound=BaseModel)


@dataclass(frozen=True)
class Caller:
    """On whose behalf something is done. Without a principal it is the operator, who owns the machine."""

    tenant_id: UUID
    actor: Actor
    principal: Principal | None = None
    # Through which door: the log keeps it with what is done.
    channel: str = "api"
    # From which network, where there is one.
    address: str | None = None

    @classmethod
    def of(cls, principal: Principal, address: str | None = None) -> "Caller":
        return cls(principal.tenant_id, principal.actor, principal, address=address)

    @classmethod
    def unknown(cls, address: str | None = None) -> "Caller":
        """Who has not said who they are, for what is open to all."""
        return cls(EVERY_TENANT, NOBODY, address=address)

    def authorise(self, action: Action) -> None:
        """For what needs more than the operation itself, such as another person's document."""
        if self.principal is not None:
            authorise(self.principal, action)


@dataclass(frozen=True)
class Operation(Generic[In, Out]):
    """One thing that a user may do. Call it as `await operation(mnemon, caller, asked)`."""

    name: str
    action: Action
    summary: str
    description: str
    input: type[In]
    output: type[Out]
    run: Callable[[Any, Caller, In], Awaitable[Out]]
    example: Mapping[str, Any]
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    errors: tuple[type[MnemonError], ...] = ()
    # Doors that do not have it, each with the reason.
    absent: Mapping[Door, str] = field(default_factory=dict)
    # Nobody is asked who they are: this is how one becomes known.
    open_to_all: bool = False
    # It writes nothing, and its answer may be a few seconds old where the settings name a replica.
    may_lag: bool = False

    async def __call__(self, mnemon: Any, caller: Caller, asked: In) -> Out:
        if self.may_lag:
            return await reading_behind(lambda: self.run(mnemon, caller, asked))
        return await self.run(mnemon, caller, asked)


def operation(
    name: str,
    action: Action,
    *,
    example: Mapping[str, Any],
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    errors: tuple[type[MnemonError], ...] = (),
    absent: Mapping[Door, str] | None = None,
    open_to_all: bool = False,
    may_lag: bool = False,
) -> Callable[[Callable[[Any, Caller, In], Awaitable[Out]]], Operation[In, Out]]:
    """Declare `async def verb(mnemon: Parts, caller: Caller, asked: Input) -> Output`; its docstring says what it does.

    `Parts` is a Protocol of what the function needs of Mnemon, so that no capability imports the whole.
    """

    def declare(run: Callable[[Any, Caller, In], Awaitable[Out]]) -> Operation[In, Out]:
        types = list(get_type_hints(run).values())
        summary, _, description = (run.__doc__ or "").strip().partition("\n")
        return Operation(
            name, action, summary, " ".join(description.split()), types[2], types[3], run, example,
            read_only, destructive, idempotent, errors, absent or {}, open_to_all, may_lag,
        )  # fmt: skip

    return declare


NOT_OFFERED: Any = object()


@dataclass(frozen=True)
class Differs:
    """Why a door has another default, name or limits for a field; without any of them, the door does not offer it."""

    why: str
    default: Any = NOT_OFFERED
    name: str | None = None
    takes: Any = None

    @property
    def hides(self) -> bool:
        return self.default is NOT_OFFERED and self.name is None and self.takes is None

    def applied(self, one: FieldInfo) -> FieldInfo:
        default = one.default if self.default is NOT_OFFERED else self.default
        if self.takes is None:
            return FieldInfo.merge_field_infos(one, default=default)
        says = FieldInfo.from_annotation(self.takes).description or one.description
        return FieldInfo.from_annotated_attribute(self.takes, Field(default, description=says))


Differences = Mapping[str, Differs]


@dataclass(frozen=True)
class Bound:
    """An operation as one door has it: what the comparison of doors and the reference read."""

    operation: Operation[Any, Any]
    differences: Differences = field(default_factory=dict)
    # What the door asks for beside it: a confirmation, a file to read from.
    beside: frozenset[str] = frozenset()


def offered(operation: Operation[Any, Any], differences: Differences | None = None) -> dict[str, FieldInfo]:
    """The fields of an operation as a door offers them, by the door's names."""
    found: dict[str, FieldInfo] = {}
    for name, one in operation.input.model_fields.items():
        differs = (differences or {}).get(name)
        if differs is None:
            found[name] = one
        elif not differs.hides:
            found[differs.name or name] = differs.applied(one)
    return found


def as_declared(differences: Differences | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """What a door was given, by the operation's own names."""
    own = {one.name: name for name, one in (differences or {}).items() if one.name}
    return {own.get(name, name): value for name, value in values.items()}


def shown_by(differences: Differences | None, example: Mapping[str, Any]) -> dict[str, Any]:
    """An example by the door's names."""
    given = differences or {}
    return {(given[key].name or key if key in given else key): value for key, value in example.items()}


def own_defaults(differences: Differences | None) -> set[str]:
    """The fields for which a door has a default of its own."""
    return {one.name or name for name, one in (differences or {}).items() if one.default is not NOT_OFFERED}


def model_of(name: str, fields: Mapping[str, FieldInfo], example: Mapping[str, Any] | None = None) -> type[BaseModel]:
    """These fields alone, as a model, with what the example says of them."""
    given: dict[str, Any] = {key: (one.annotation, one) for key, one in fields.items()}
    shown: Any = {"examples": [{key: value for key, value in example.items() if key in fields}]} if example else {}
    return create_model(name, __config__=ConfigDict(extra="forbid", json_schema_extra=shown), **given)


def read_input(operation: Operation[In, Any], given: Mapping[str, Any]) -> In:
    """What was asked, or a refusal that names the field."""
    try:
        return operation.input.model_validate(given)
    except ValidationError as failure:
        raise refusal_of(failure.errors(include_url=False, include_input=False)) from None


def refusal_of(errors: Iterable[Any], **about: Any) -> InvalidRequest:
    """Where and what, without the value: it may be a password."""
    listed = list(errors)
    problems = [{"field": ".".join(map(str, one["loc"])) or "body", "problem": plain_problem(one)} for one in listed]
    return InvalidRequest(told_of(problems[0]["field"], listed[0]), problems=problems, **about)


def as_json(answer: BaseModel) -> dict[str, Any]:
    """An answer as every door writes it: what was not asked for is left out."""
    return answer.model_dump(mode="json", by_alias=True, exclude_unset=True)
