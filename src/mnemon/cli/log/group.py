"""`mnemon log`: the group, and what it does with events and their types."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from mnemon.cli.bind import binds, call, command
from mnemon.cli.context import run_async
from mnemon.cli.log import archive, integrity, streams, verify
from mnemon.cli.log.shown import read_documents
from mnemon.cli.output import Json, TenantOption, counted, say, show, table
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.log_operations import entities, event_types, events
from mnemon.log_operations.event_outputs import AppendedEvents
from mnemon.operations import Differs, as_json, read_input

app = typer.Typer(help="The event log: append, read, follow, prove.", no_args_is_help=True)
File = Annotated[Path | None, typer.Option("--file", "-f", help="Read it from here; - is the input.")]
SENT: dict[str, Any] = {
    "event": Annotated[str | None, typer.Argument(help="As JSON, one or a list; without it, the standard input.")],
    "file": File,
}
AS_JSON = {"events": Differs("The argument, a file or the input has them, as JSON.")}
DECLARED = {name: Differs("The JSON has it.") for name in event_types.TypeDeclared.model_fields}
BY_NAME = {"type_name": Differs("The argument is the name.", name="name")}


def _sent(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    return values | {"events": read_documents(values.pop("event"), values.pop("file"))}


def _print_appended(done: AppendedEvents) -> None:
    rows = [(one.sequence, one.id, one.checksum[:16], "was there" if one.duplicate else "new") for one in done.events]
    table(["Sequence", "Id", "Hash", ""], rows, "")


def _print_state(found: entities.EntityStateOut) -> None:
    rows = [(name, orjson.dumps(value).decode()) for name, value in found.state.items()]
    table(["Name", "Value"], rows, f"{found.entity_type} {found.entity_id} has no state.")
    say(f"After {counted(found.version, 'event')}, the last at sequence {found.as_of_sequence}.", "dim")
    if found.consistency == "verified":
        say("There are more events, which did not fit in the time: ask again.", "yellow")


@binds(event_types.listed, event_types.get, differences=BY_NAME)
def types(
    name: Annotated[str | None, typer.Argument(help="Show just this type, every version of it.")] = None,
    module: Annotated[str | None, typer.Option(help="Only types of this module.")] = None,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """List the event types, built in and registered, or show one.

    Example: mnemon log types board.decision.taken
    """
    if name is None:
        found = run_async(call(event_types.listed, tenant, event_types.TypesAsked(module=module)))
    else:
        found = run_async(call(event_types.get, tenant, read_input(event_types.get, {"type_name": name})))
    listed = [one for one in found.event_types if module in (None, one.module)]
    rows = [
        (one.type, one.schema_version, "built in" if one.built_in else "registered", one.description) for one in listed
    ]
    documents = [one.model_dump(mode="json") for one in listed]
    # One type is looked at for its schema, which no table holds.
    show(documents, as_json or name is not None, lambda: table(["Type", "Version", "", "Meaning"], rows, "No types."))


@binds(event_types.register, differences=DECLARED)
def register(
    declaration: Annotated[str | None, typer.Argument(help="As JSON; without it, the standard input.")] = None,
    file: File = None,
    tenant: TenantOption = DEFAULT_SLUG,
    wants_json: Json = False,
) -> None:
    """Register event types, their next versions, or compatible changes.

    Example: mnemon log register '{"type": "board.decision.taken", "data_schema": {"type": "object"}}'

    Example: mnemon log register --file types.json
    """
    declared = [read_input(event_types.register, document) for document in read_documents(declaration, file)]

    async def work() -> Sequence[event_types.TypeOut]:
        return [await call(event_types.register, tenant, one) for one in declared]

    accepted = run_async(work())
    names = ", ".join(f"{one.type} version {one.schema_version}" for one in accepted)
    show([as_json(one) for one in accepted], wants_json, lambda: say(f"Registered {names}."))


command(
    app, "append", events.append, _print_appended, beside=SENT, prepare=_sent, differences=AS_JSON,
    short={"idempotency_key": "--key"}, example="mnemon log append --file decisions.jsonl --key import-7",
)  # fmt: skip
streams.bind(app)
command(
    app, "state", entities.state, _print_state, arguments=["entity_type", "entity_id"],
    example="mnemon log state decision D-17 --as-of 2026-03-01T09:30Z",
)  # fmt: skip
app.command("types")(types)
app.command("register")(register)
app.command("verify")(verify.verify)
integrity.bind(app)
archive.bind(app)
