"""`mnemon log`: the group, and its one command that writes."""

from pathlib import Path
from typing import Annotated

import typer

from mnemon.cli import archive, entity_state, event_types, integrity, streams, verify
from mnemon.cli.context import OPERATOR, run_async, tenant_of
from mnemon.cli.events import read_documents
from mnemon.cli.output import Json, TenantOption, show, table
from mnemon.errors import InvalidRequest
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.log.append.incoming import IncomingEvent, with_key
from mnemon.log.events import Appended

app = typer.Typer(help="The event log: append, read, follow, prove.", no_args_is_help=True)


@app.command()
def append(
    event: Annotated[str | None, typer.Argument(help="The event as JSON; without it, the standard input.")] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="Read it from here; - is the input.")] = None,
    key: Annotated[str | None, typer.Option("--key", help="Idempotency key: to repeat this does no harm.")] = None,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Append an event, or several: a JSON list or one per line, recorded together or not at all.

    Example: mnemon log append '{"type": "board.decision.taken", "data": {"title": "Move", "outcome": "approved"},
    "entities": [{"entity_type": "decision", "entity_id": "D-17"}]}'

    Example: mnemon log append --file decisions.jsonl --key import-7
    """
    incoming = [IncomingEvent.read(document) for document in read_documents(event, file)]
    if any(one.actor is not None or one.scope.tenant_id is not None for one in incoming):
        raise InvalidRequest("Leave out actor and tenant_id: this command acts as the operator, in --tenant.")

    async def work() -> list[Appended]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            mnemon.log.registry.refuse_built_in(one.type for one in incoming)
            events = [one.as_new_event(OPERATOR, channel="cli") for one in incoming]
            return await mnemon.log.append(tenant_id, with_key(events, key) if key else events)

    appended = run_async(work())
    rows = [(one.sequence, one.id, one.hash.hex()[:16], "was there" if one.duplicate else "new") for one in appended]
    show(
        {"events": [one.as_json() for one in appended]},
        as_json,
        lambda: table(["Sequence", "Id", "Hash", ""], rows, ""),
    )


app.command("read")(streams.read)
app.command("tail")(streams.tail)
app.command("lineage")(streams.lineage)
app.command("trace")(streams.trace)
app.command("state")(entity_state.state)
app.command("types")(event_types.types)
app.command("register")(event_types.register)
app.command("verify")(verify.verify)
app.command("checkpoint")(integrity.checkpoint)
app.command("rotate-key")(integrity.rotate_key)
app.command("receipt")(integrity.receipt)
app.command("export")(integrity.export)
app.command("archive")(archive.archive)
app.command("restore")(archive.restore)
app.command("archives")(archive.archives)
