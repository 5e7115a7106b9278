"""`mnemon log types|register`: what events must look like."""

from pathlib import Path
from typing import Annotated

import typer

from mnemon.cli.context import OPERATOR, run_async, tenant_of
from mnemon.cli.events import read_documents
from mnemon.cli.output import Json, TenantOption, say, show, table
from mnemon.errors import NotFound
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.log.append.incoming import IncomingType
from mnemon.log.types.event_type import EventType


def types(
    name: Annotated[str | None, typer.Argument(help="Show just this type, every version of it.")] = None,
    module: Annotated[str | None, typer.Option(help="Only types of this module.")] = None,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """List the event types, built in and registered, or show one.

    Example: mnemon log types board.decision.taken
    """

    async def work() -> list[tuple[EventType, bool]]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            registry = mnemon.log.registry
            return [(one, registry.is_built_in(one.type)) for one in await registry.list(tenant_id)]

    found = [
        (one, built_in)
        for one, built_in in run_async(work())
        if name in (None, one.type) and module in (None, one.module)
    ]
    if name is not None and not found:
        raise NotFound(f"There is no event type {name!r}: `mnemon log types` lists them.", type=name)
    rows = [
        (one.type, one.schema_version, "built in" if built_in else "registered", one.description)
        for one, built_in in found
    ]
    documents = [one.as_json() | {"built_in": built_in} for one, built_in in found]
    # One type is looked at for its schema, which no table holds.
    show(documents, as_json or name is not None, lambda: table(["Type", "Version", "", "Meaning"], rows, "No types."))


def register(
    declaration: Annotated[str | None, typer.Argument(help="As JSON; without it, the standard input.")] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="Read it from here; - is the input.")] = None,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Register event types, their next versions, or compatible changes.

    Example: mnemon log register '{"type": "board.decision.taken", "data_schema": {"type": "object"}}'

    Example: mnemon log register --file types.json
    """
    declared = [IncomingType.read(document).as_event_type() for document in read_documents(declaration, file)]

    async def work() -> list[EventType]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return [await mnemon.log.register_type(tenant_id, one, OPERATOR) for one in declared]

    accepted = run_async(work())
    names = ", ".join(f"{one.type} version {one.schema_version}" for one in accepted)
    show([one.as_json() for one in accepted], as_json, lambda: say(f"Registered {names}."))
