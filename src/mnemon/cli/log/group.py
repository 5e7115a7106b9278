"""`mnemon log`: the group, and what it does with events and their types."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import orjson
import typer

from mnemon.cli.binding.bind import Alternative, command
from mnemon.cli.log import archive, integrity, streams, verify
from mnemon.cli.log.shown import read_documents
from mnemon.cli.output import counted, say, show, table
from mnemon.log_operations import entities, event_types, events
from mnemon.log_operations.event_outputs import AppendedEvents
from mnemon.operations import Differs, as_json

app = typer.Typer(help="The event log: append, read, follow, prove.", no_args_is_help=True)
File = Annotated[Path | None, typer.Option("--file", "-f", help="Read it from here; - is the input.")]
SENT: dict[str, Any] = {
    "event": Annotated[str | None, typer.Argument(help="As JSON, one or a list; without it, the standard input.")],
    "file": File,
}
AS_JSON = {"events": Differs("The argument, a file or the input has them, as JSON.")}
DECLARATION: dict[str, Any] = {
    "declaration": Annotated[str | None, typer.Argument(help="As JSON; without it, the standard input.")],
    "file": File,
}
ONE_TYPE: dict[str, Any] = {
    "name": Annotated[str | None, typer.Argument(help="Show just this type, every version of it.")]
}
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


def _print_types(found: event_types.TypesOut) -> None:
    rows = [
        (one.type, one.schema_version, "built in" if one.built_in else "registered", one.description)
        for one in found.event_types
    ]
    table(["Type", "Version", "", "Meaning"], rows, "No types.")


def _written_types(found: dict[str, Any]) -> Any:
    return found["event_types"]


def _print_type(found: event_types.TypesOut) -> None:
    """One type is looked at for its schema, which no table holds."""
    show(_written_types(as_json(found)), True, lambda: None)


async def _declared(mnemon: Any, tenant_id: UUID, values: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    for document in read_documents(values["declaration"], values["file"]):
        yield document


def _print_registered(accepted: list[event_types.TypeOut]) -> None:
    names = ", ".join(f"{one.type} version {one.schema_version}" for one in accepted)
    say(f"Registered {names}.")


command(
    app, "append", events.append, _print_appended, beside=SENT, prepare=_sent, differences=AS_JSON,
    short={"idempotency_key": "--key"}, example="mnemon log append --file decisions.jsonl --key import-7",
)  # fmt: skip
streams.bind(app)
command(
    app, "state", entities.state, _print_state, arguments=["entity_type", "entity_id"],
    example="mnemon log state decision D-17 --as-of 2026-03-01T09:30Z",
)  # fmt: skip
command(
    app, "types", event_types.listed, _print_types, written=_written_types, beside=ONE_TYPE,
    says="List the event types, built in and registered, or show one.",
    alternatives=[
        Alternative(
            operation=event_types.get, when=lambda given: given["name"] is not None, differences=BY_NAME,
            human=_print_type, written=_written_types,
        )
    ],
    example="mnemon log types board.decision.taken",
)  # fmt: skip
command(
    app, "register", event_types.register, _print_registered, differences=DECLARED, beside=DECLARATION, each=_declared,
    says="Register event types, their next versions, or compatible changes.",
    example="mnemon log register --file types.json",
)  # fmt: skip
verify.bind(app)
integrity.bind(app)
archive.bind(app)
