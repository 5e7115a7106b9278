"""`mnemon subscription`: who follows the log, how far they are, and what they could not handle."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypeVar
from uuid import UUID

import typer

from mnemon.cli.context import opened, run_async
from mnemon.cli.output import Json, TenantOption, counted, say, show, table
from mnemon.errors import InvalidRequest
from mnemon.identity.tenants import DEFAULT_SLUG, tenant_by_slug
from mnemon.log.events import MAIN
from mnemon.log.read.pattern import Pattern
from mnemon.log.store import EventLog
from mnemon.log.subscribe.subscriptions import Subscription

app = typer.Typer(help="Subscriptions: who follows the log, and how far they are.", no_args_is_help=True)

Result = TypeVar("Result")

Name = Annotated[str, typer.Argument(help="The subscription's id.", metavar="ID")]
Place = Annotated[
    int | None, typer.Option("--sequence", help="Only the dead letter at this sequence. Otherwise all of them.")
]
LegalEntity = Annotated[str, typer.Option("--legal-entity", help="The legal entity of that sequence.", metavar="NAME")]


@app.command("list")
def list_(tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """List subscriptions with their state and how far behind they are."""

    async def work() -> list[dict[str, Any]]:
        async with _log(tenant) as (log, tenant_id):
            return [await _described(log, tenant_id, one) for one in await log.subscriptions.list(tenant_id)]

    found = run_async(work())
    rows = [
        (
            one["id"],
            one["subscriber_type"],
            one["status"],
            one["lag"],
            one["dead"],
            one["error_count"],
            one["last_error"],
        )
        for one in found
    ]
    headings = ["Id", "Type", "Status", "Behind", "Dead letters", "Errors", "Last error"]
    show(found, as_json, lambda: table(headings, rows, "No subscriptions."))


@app.command("show")
def show_(name: Name, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Show one subscription and where it is in each partition."""

    async def work() -> dict[str, Any]:
        async with _log(tenant) as (log, tenant_id):
            return await _described(log, tenant_id, await log.subscriptions.find(tenant_id, name))

    found = run_async(work())

    def human() -> None:
        say(f"{found['id']} is {found['status']}, {found['lag']} events behind, {found['error_count']} errors so far.")
        rows = [
            (one["legal_entity"], one["sequence"], one["head"], one["lag"], one["parked"], one["dead"], one["holder"])
            for one in found["positions"]
        ]
        headings = ["Legal entity", "Cursor", "Head", "Behind", "Parked", "Dead letters", "Delivered by"]
        table(headings, rows, "No partition yet.")

    show(found, as_json, human)


@app.command()
def add(
    name: Name,
    event_type: Annotated[
        list[str] | None, typer.Option("--type", help="Only events of this type. May repeat.")
    ] = None,
    module: Annotated[list[str] | None, typer.Option(help="Only events of this module. May repeat.")] = None,
    entity: Annotated[list[str] | None, typer.Option(help="Only events of TYPE/ID. May repeat.")] = None,
    legal_entity: Annotated[list[str] | None, typer.Option(help="Only this legal entity. May repeat.")] = None,
    scope: Annotated[list[str] | None, typer.Option(help="Only where NAME=VALUE, like region=north.")] = None,
    strict: Annotated[bool, typer.Option(help="A failing event holds its whole partition, not its entities.")] = False,
    from_now: Annotated[bool, typer.Option("--from-now", help="Leave out what is in the log already.")] = False,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Add a subscription.

    Example: mnemon subscription add billing --type shop.order.placed --scope region=north
    """
    pattern = Pattern(
        types=event_type or (),
        modules=module or (),
        entities=[_pair(one, "/", "TYPE/ID") for one in entity or ()],
        legal_entities=legal_entity or (),
        scopes=dict(_pair(one, "=", "NAME=VALUE") for one in scope or ()),
    )
    wanted = Subscription(name, "command", pattern=pattern, failure_holds="partition" if strict else "entity")

    async def work() -> dict[str, Any]:
        async with _log(tenant) as (log, tenant_id):
            made = await log.subscriptions.add(tenant_id, wanted, start="now" if from_now else "beginning")
            return await _described(log, tenant_id, made)

    made = run_async(work())
    show(made, as_json, lambda: say(f"Added {name}, {made['lag']} events behind."))


@app.command()
def pause(name: Name, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Deliver nothing more until it is resumed."""
    changed = _run(tenant, lambda log, tenant_id: log.subscriptions.pause(tenant_id, name))
    show(changed.as_json(), as_json, lambda: say(f"{name} is paused."))


@app.command()
def resume(name: Name, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Go on from the cursor, after a pause or a broken circuit."""
    changed = _run(tenant, lambda log, tenant_id: log.subscriptions.resume(tenant_id, name))
    show(changed.as_json(), as_json, lambda: say(f"{name} is active."))


@app.command()
def reset(
    name: Name,
    to: Annotated[
        list[str] | None,
        typer.Option(help="LEGAL_ENTITY=SEQUENCE to go on after. May repeat. None: everything, from the beginning."),
    ] = None,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Go on after another position, back or forward.

    Example: mnemon subscription reset billing --to main=1200
    """
    positions = {who: _number(where) for who, where in (_pair(one, "=", "LEGAL_ENTITY=SEQUENCE") for one in to or ())}

    async def work() -> dict[str, Any]:
        async with _log(tenant) as (log, tenant_id):
            await log.subscriptions.reset(tenant_id, name, positions or None)
            return await _described(log, tenant_id, await log.subscriptions.find(tenant_id, name))

    found = run_async(work())
    show(found, as_json, lambda: say(f"{name} is now {found['lag']} events behind."))


@app.command("dead-letters")
def dead_letters(name: Name, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """List the events that the subscriber failed to handle, and what waits behind each."""

    letters = _run(tenant, lambda log, tenant_id: log.dead_letters.list(tenant_id, name))
    found = [one.as_json() for one in letters]
    rows = [
        (
            one["legal_entity"],
            one["sequence"],
            one["type"],
            one["attempts"],
            one["waiting"],
            one["failed_at"],
            one["error"],
        )
        for one in found
    ]
    headings = ["Legal entity", "Sequence", "Type", "Attempts", "Waiting", "Failed", "Error"]
    show(found, as_json, lambda: table(headings, rows, "No dead letters."))


@app.command()
def replay(
    name: Name,
    sequence: Place = None,
    legal_entity: LegalEntity = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Have dead letters delivered again; what waits behind them follows."""
    amount = _run(
        tenant, lambda log, tenant_id: log.dead_letters.replay(tenant_id, name, _place(sequence, legal_entity))
    )
    show({"replayed": amount}, as_json, lambda: say(f"{counted(amount, 'dead letter')} to be delivered again."))


@app.command()
def discard(
    name: Name,
    sequence: Place = None,
    legal_entity: LegalEntity = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Give dead letters up for good; what waits behind them is delivered."""
    amount = _run(
        tenant, lambda log, tenant_id: log.dead_letters.discard(tenant_id, name, _place(sequence, legal_entity))
    )
    show({"discarded": amount}, as_json, lambda: say(f"{counted(amount, 'dead letter')} discarded."))


@app.command()
def remove(name: Name, tenant: TenantOption = DEFAULT_SLUG, as_json: Json = False) -> None:
    """Forget a subscription, its position and its dead letters."""

    _run(tenant, lambda log, tenant_id: log.subscriptions.remove(tenant_id, name))
    show({"removed": name}, as_json, lambda: say(f"Removed {name}."))


@asynccontextmanager
async def _log(slug: str) -> AsyncIterator[tuple[EventLog, UUID]]:
    async with opened() as mnemon:
        tenant = await tenant_by_slug(mnemon.database, slug)
        yield mnemon.log, tenant.tenant_id


async def _described(log: EventLog, tenant_id: UUID, one: Subscription) -> dict[str, Any]:
    positions = await log.subscriptions.positions(tenant_id, one.subscription_id)
    return one.as_json() | {
        "lag": sum(position.lag for position in positions),
        "dead": sum(position.dead for position in positions),
        "positions": [position.as_json() for position in positions],
    }


def _run(tenant: str, work: Callable[[EventLog, UUID], Awaitable[Result]]) -> Result:
    async def in_tenant() -> Result:
        async with _log(tenant) as (log, tenant_id):
            return await work(log, tenant_id)

    return run_async(in_tenant())


def _place(sequence: int | None, legal_entity: str) -> tuple[str, int] | None:
    """One dead letter, or None for all of them."""
    return None if sequence is None else (legal_entity, sequence)


def _pair(text: str, separator: str, form: str) -> tuple[str, str]:
    first, found, second = text.partition(separator)
    if not found or not first or not second:
        raise InvalidRequest(f"{text!r} should look like {form}.")
    return first, second


def _number(text: str) -> int:
    if not text.isdecimal():
        raise InvalidRequest(f"{text!r} is not a sequence: give a whole number.")
    return int(text)
