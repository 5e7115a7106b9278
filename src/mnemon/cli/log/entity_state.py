"""`mnemon log state`: what an entity's events add up to."""

from typing import Annotated

import orjson
import typer

from mnemon.cli.context import run_async, tenant_of
from mnemon.cli.log.archive import LegalEntity
from mnemon.cli.output import Json, TenantOption, counted, say, show, table
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.log.events import MAIN
from mnemon.log.project.entity_states import EntityState
from mnemon.log.read.query import read_position


def state(
    entity_type: Annotated[str, typer.Argument(help="What kind of entity.", metavar="TYPE")],
    entity_id: Annotated[str, typer.Argument(help="Which one.", metavar="ID")],
    as_of: Annotated[str | None, typer.Option(help="The log as it was at a sequence or recorded moment.")] = None,
    legal_entity: LegalEntity = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Show an entity as of now or of any moment, by the rules that event types declare (`state`).

    Example: mnemon log state decision D-17 --as-of 2026-03-01T09:30Z
    """
    position = read_position(as_of) if as_of else None

    async def work() -> EntityState:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await mnemon.entity_states.read(
                tenant_id, entity_type, entity_id, legal_entity=legal_entity, as_of=position
            )

    found = run_async(work())
    whose = {"entity_type": entity_type, "entity_id": entity_id, "legal_entity": legal_entity}

    def human() -> None:
        rows = [(name, orjson.dumps(value).decode()) for name, value in found.state.items()]
        table(["Name", "Value"], rows, f"{entity_type} {entity_id} has no state.")
        say(f"After {counted(found.version, 'event')}, the last at sequence {found.as_of_sequence}.", "dim")
        if found.consistency == "verified":
            say("There are more events, which did not fit in the time: ask again.", "yellow")

    show(whose | found.as_json(), as_json, human)
