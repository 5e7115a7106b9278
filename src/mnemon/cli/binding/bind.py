"""Binds declared operations to commands: arguments, options, limits and help come from the declaration."""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer
from annotated_types import Le

from mnemon.cli.binding.one_name import OneNameEach
from mnemon.cli.binding.options import argument, option, parameter, placed, shown_name, unset, words
from mnemon.cli.binding.refusals import told_as_typed
from mnemon.cli.context import opened, run_async, server_calls, tenant_of
from mnemon.cli.output import EveryTenant, Json, JsonLines, TenantOption, agree, show
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.log.events import OPERATOR
from mnemon.operations import (
    EVERY_TENANT,
    Bound,
    Caller,
    Differences,
    Operation,
    as_declared,
    as_json,
    offered,
    read_input,
)

if TYPE_CHECKING:
    from mnemon.app import Mnemon

Values = dict[str, Any]
# Of the command that runs, for the commands that it suggests.
TENANT_OF_COMMAND: ContextVar[str | None] = ContextVar("tenant_of_command", default=None)
Command = Callable[..., None]


@dataclass(frozen=True, kw_only=True)
class Answering:
    """An operation, and how the terminal shows what it answers."""

    operation: Operation[Any, Any]
    # Prints the answer, or with `each` all of them.
    human: Callable[[Any], None]
    differences: Differences = field(default_factory=dict)
    # Makes fields of what the terminal takes beside them.
    prepare: Callable[[Values, str], Values] | None = None
    # Picks what --json prints, and tells of an answer for which the exit code is 1.
    written: Callable[[Any], Any] | None = None
    failed: Callable[[Any], bool] | None = None
    # The operation is called for each of these, made of what was given.
    each: Callable[[Any, UUID, Values], AsyncIterator[Values]] | None = None
    # All pages of a list as one.
    every_page: bool = False
    # The name of a list of which more are shown than a page has: as many pages are asked for.
    listed: str | None = None


@dataclass(frozen=True, kw_only=True)
class Alternative(Answering):
    """Another operation that a command calls instead, when it was given something that says so."""

    when: Callable[[Values], bool]


@dataclass(frozen=True, kw_only=True)
class BoundCommand(Answering):
    """A command for an operation."""

    example: str
    # What the command is for, where it calls more than the operation.
    says: str | None = None
    # Fields that are given by place, and the one that takes the words of the line.
    arguments: Sequence[str] = ()
    words: str | None = None
    # What is done where the line has no words: of the tenant, what else was given, whether to print JSON.
    without_words: Callable[[str, Values, bool], None] | None = None
    # Further names of options that people know.
    short: Mapping[str, str] = field(default_factory=dict)
    # What the terminal takes beside the fields, as a file.
    beside: Mapping[str, Any] = field(default_factory=dict)
    # What a person is asked first: words with the fields in them, or made of the fields and the tenant.
    question: str | Callable[[Values, str], str] | None = None
    # Who acts, where that is not the operator: of the tenant, and what stands beside.
    on_behalf: Callable[[Any, UUID, Values], Awaitable[Caller]] | None = None
    # Does what takes more than a call, mostly what comes `in_pieces`: of the tenant, what is asked, whether to print
    # JSON, and what is left of what stands beside. `also` are operations that it calls too.
    perform: Callable[[str, Any, bool, Values], None] | None = None
    in_pieces: bool = True
    also: Sequence[Operation[Any, Any]] = ()
    alternatives: Sequence[Alternative] = ()
    # Without --tenant, all that there are.
    every_tenant: bool = False

    def as_function(self) -> Command:
        def called(**values: Any) -> None:
            self._call(values)

        parameters = self._parameters()
        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        says = self.says or f"{self.operation.summary}\n\n{self.operation.description}"
        called.__doc__ = f"{says}\n\nExample: {self.example}"
        taken = frozenset(one.name for one in parameters)
        called.bound = [  # type: ignore[attr-defined]
            Bound(self.operation, self.differences, frozenset(self.beside)),
            *(Bound(one, _of(one, self.differences), taken) for one in self.also),
            *(Bound(one.operation, one.differences, taken) for one in self.alternatives),
        ]
        return called

    def _call(self, values: Values) -> None:
        tenant, wants_json = values.pop("tenant"), values.pop("as_json")
        TENANT_OF_COMMAND.set(tenant)
        agreed = values.pop("yes", True)
        if self.words and values[self.words]:
            values[self.words] = " ".join(values[self.words])
        elif self.words and self.without_words:
            self.without_words(tenant, {name: one for name, one in values.items() if name != self.words}, wants_json)
            return
        chosen: Answering = next((one for one in self.alternatives if one.when(values)), self)
        if chosen.prepare:
            values = chosen.prepare(values, tenant)
        if chosen.each:
            self._answer(chosen, tenant, values, wants_json)
            return
        wanted = values["limit"] if chosen.listed else None
        if wanted is not None:
            values = values | {"limit": min(wanted, most_of_page(chosen.operation))}
        known = {*chosen.operation.input.model_fields, *offered(chosen.operation, chosen.differences)}
        left = {name: values.pop(name) for name in self.beside if name in values and name not in known}
        with told_as_typed(self._typed(), values):
            asked = asked_of(chosen.operation, values, chosen.differences, strict=chosen is self)
        if not agreed:
            agree(self._asked_first(values, tenant))
        with told_as_typed(self._typed()):
            if self.perform and chosen is self:
                self.perform(tenant, asked, wants_json, left)
            else:
                self._answer(chosen, tenant, asked, wants_json, left, wanted)

    def _asked_first(self, values: Values, tenant: str) -> str:
        if callable(self.question):
            return self.question(values, tenant)
        return (self.question or "Go on?").format_map(values)

    def _answer(
        self, chosen: Answering, tenant: str | None, asked: Any, wants_json: bool, left: Values | None = None,
        wanted: int | None = None,
    ) -> None:  # fmt: skip
        answer = run_async(self._answered(chosen, tenant, asked, left or {}, wanted))
        plain = [as_json(one) for one in answer] if isinstance(answer, list) else as_json(answer)
        show(chosen.written(plain) if chosen.written else plain, wants_json, lambda: chosen.human(answer))
        if chosen.failed and chosen.failed(answer):
            raise typer.Exit(1)

    async def _answered(
        self, chosen: Answering, tenant: str | None, asked: Any, left: Values, wanted: int | None = None
    ) -> Any:
        operation = chosen.operation
        if not self.on_behalf and not chosen.each:
            async with calling(tenant) as answered:
                answer = await answered(operation, asked)
                if chosen.listed and wanted:
                    return await with_more(answered, operation, asked, answer, chosen.listed, wanted)
                while chosen.every_page and answer.next_cursor:
                    asked = asked.model_copy(update={"cursor": answer.next_cursor})
                    page = await answered(operation, asked)
                    answer = page.model_copy(update={"items": [*answer.items, *page.items]})
                return answer
        async with acting(tenant) as (mnemon, caller):
            if self.on_behalf:
                caller = await self.on_behalf(mnemon, caller.tenant_id, left)
            if chosen.each:
                given = [one async for one in chosen.each(mnemon, caller.tenant_id, asked)]
                each = [asked_of(operation, one) for one in given]
                return [await operation(mnemon, caller, one) for one in each]
            return await operation(mnemon, caller, asked)

    def _typed(self) -> dict[str, str]:
        """How each field is given on the line."""
        by_place = {*self.arguments, self.words}
        names = offered(self.operation, self.differences)
        typed = {name: placed(name) if name in by_place else shown_name(name, self.short.get(name)) for name in names}
        return as_declared(self.differences, typed)

    def _parameters(self) -> list[inspect.Parameter]:
        fields = offered(self.operation, self.differences)
        made = [argument(name, fields.pop(name)) for name in self.arguments]
        if self.words:
            made.append(words(self.words, fields.pop(self.words), needed=self.without_words is None))
        needed = self.prepare is None
        typed = self._typed()
        made += [option(name, one, self.short.get(name), needed=needed, typed=typed) for name, one in fields.items()]
        made += [parameter(name, kind, unset(kind)) for name, kind in self.beside.items()]
        if self.question:
            made.append(parameter("yes", Annotated[bool, typer.Option("--yes", help="Do not ask.")], False))
        tenant = (EveryTenant, None) if self.every_tenant else (TenantOption, DEFAULT_SLUG)
        as_lines = JsonLines if self.perform and self.in_pieces else Json
        return [*made, parameter("tenant", *tenant), parameter("as_json", as_lines, False)]


def most_of_page(operation: Operation[Any, Any]) -> int:
    """How many a page of this operation has at most."""
    most: Any = next(one.le for one in operation.input.model_fields["limit"].metadata if isinstance(one, Le))
    return int(most)


async def with_more(
    answered: Any, operation: Operation[Any, Any], asked: Any, answer: Any, listed: str, wanted: int
) -> Any:
    """The page with those after it, until there are as many as were wanted."""
    found = list(getattr(answer, listed))
    while answer.next_cursor and len(found) < wanted:
        limit = min(wanted - len(found), most_of_page(operation))
        asked = asked.model_copy(update={"cursor": answer.next_cursor, "limit": limit})
        answer = await answered(operation, asked)
        found += getattr(answer, listed)
    return answer.model_copy(update={listed: found})


def tenant_named() -> str:
    """What a suggested command needs so that it means the same tenant."""
    tenant = TENANT_OF_COMMAND.get()
    return "" if tenant in (None, DEFAULT_SLUG) else f" --tenant {tenant}"


def command(
    app: typer.Typer, name: str, operation: Operation[Any, Any], human: Callable[[Any], None], **how: Any
) -> None:
    """Adds a command for an operation to a group of commands."""
    app.command(name, cls=OneNameEach)(bound_command(operation, human, **how))


def bound_command(operation: Operation[Any, Any], human: Callable[[Any], None], **how: Any) -> Command:
    return BoundCommand(operation=operation, human=human, **how).as_function()


def asked_of(
    operation: Operation[Any, Any], values: Values, differences: Differences | None = None, *, strict: bool = True
) -> Any:
    """What an operation is asked; unless `strict`, what it does not know is another's."""
    given = {name: value for name, value in as_declared(differences, values).items() if value is not None}
    known = operation.input.model_fields
    return read_input(operation, given if strict else {name: given[name] for name in given if name in known})


@asynccontextmanager
async def acting(tenant: str | None) -> AsyncIterator[tuple["Mnemon", Caller]]:
    """Whoever runs the command owns the machine, and still reads nothing that is for others alone."""
    if tenant is None:
        async with opened() as mnemon:
            yield mnemon, Caller(EVERY_TENANT, OPERATOR, channel="cli")
    else:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            # Loads what a database needs, which whoever asks a server does without.
            from mnemon.identity.at_home import seated

            yield mnemon, Caller(tenant_id, await seated(mnemon.database, tenant_id, OPERATOR), channel="cli")


@asynccontextmanager
async def calling(tenant: str | None) -> AsyncIterator[Callable[[Operation[Any, Any], Any], Awaitable[Any]]]:
    """How operations are called: at the server that MNEMON_SERVER names, or on the home of this machine."""
    async with server_calls(tenant) as server:
        if server is not None:
            yield server.call
            return
        async with acting(tenant) as (mnemon, caller):
            yield lambda operation, asked: operation(mnemon, caller, asked)


async def call(operation: Operation[Any, Any], tenant: str, asked: Any) -> Any:
    """The answer to whoever runs the command."""
    async with calling(tenant) as answered:
        return await answered(operation, asked)


def _of(operation: Operation[Any, Any], differences: Differences) -> Differences:
    return {name: why for name, why in differences.items() if name in operation.input.model_fields}
