"""`mnemon log read|tail|lineage|trace`: streams, and what led to what."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.markup import escape
from rich.tree import Tree

from mnemon.cli.context import run_async, tenant_of
from mnemon.cli.events import line_of, print_events, print_lines, short
from mnemon.cli.output import Json, JsonLines, TenantOption, console, counted, say, show
from mnemon.errors import InvalidRequest
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.log.events import MAIN, Event
from mnemon.log.read.lineage import DEEPEST, Trace
from mnemon.log.read.pattern import Pattern
from mnemon.log.read.query import end_of, read_dimensions, read_position, start_of
from mnemon.log.read.reader import LARGEST_PAGE
from mnemon.log.read.streams import EVERYTHING, Direction, Filter, Stream

LegalEntity = Annotated[str, typer.Option("--legal-entity", help="The partition.", metavar="NAME")]
EventId = Annotated[str, typer.Argument(help="The event's id.", metavar="ID")]


def read(
    event_id: Annotated[str | None, typer.Argument(help="Show just this event.", metavar="[ID]")] = None,
    entity: Annotated[str | None, typer.Option(help="Of an entity: TYPE/ID, or ID of any type.")] = None,
    type_: Annotated[str | None, typer.Option("--type", help="Of a type.")] = None,
    correlation: Annotated[str | None, typer.Option(help="Of a business process.")] = None,
    actor: Annotated[str | None, typer.Option(help="Of an actor, as user:ID or token:ID.")] = None,
    tag: Annotated[str | None, typer.Option(help="With a tag.")] = None,
    scope: Annotated[str | None, typer.Option(help="Of a scope: region=north, division=…, site=…, NAME=…")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Only this type; may be repeated.")] = None,
    dimension: Annotated[list[str] | None, typer.Option(help="Only with NAME:VALUE; may be repeated.")] = None,
    since: Annotated[str | None, typer.Option("--from", help="Occurred on or after this day or moment.")] = None,
    until: Annotated[str | None, typer.Option("--to", help="Occurred on or before it.")] = None,
    as_of: Annotated[str | None, typer.Option(help="The log as it was at a sequence or recorded moment.")] = None,
    backward: Annotated[bool, typer.Option("--backward", help="Newest first.")] = False,
    limit: Annotated[int, typer.Option(help="Most events of this page.", min=1, max=LARGEST_PAGE)] = 50,
    everything: Annotated[bool, typer.Option("--all", help="All pages.")] = False,
    cursor: Annotated[str | None, typer.Option(help="Where the page before ended.")] = None,
    legal_entity: LegalEntity = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: JsonLines = False,
) -> None:
    """Read a stream, or one event.

    Example: mnemon log read --entity decision/D-17

    Example: mnemon log read --tag hosting --from 2026-03-01 --backward --json | jq .data
    """
    if event_id is not None:
        show(run_async(_one(tenant, event_id)).as_json(), True, lambda: None)
        return
    stream = _stream(entity=entity, type_=type_, correlation=correlation, actor=actor, tag=tag, scope=scope)
    wanted = Filter(
        types=only or (),
        dimensions=read_dimensions(dimension or []),
        occurred_from=start_of(since) if since else None,
        occurred_to=end_of(until) if until else None,
        as_of=read_position(as_of) if as_of else None,
    )
    direction: Direction = "backward" if backward else "forward"
    pages = _Pages(tenant, stream, wanted, legal_entity, direction, limit, print_lines if as_json else print_events)
    following = run_async(pages.put(cursor, everything=everything))
    if following and not as_json:
        say(f"More: --cursor {following}", "dim")


async def _one(tenant: str, event_id: str) -> Event:
    async with tenant_of(tenant) as (mnemon, tenant_id):
        return await mnemon.log.read_event(tenant_id, event_id)


@dataclass(frozen=True)
class _Pages:
    """A stream, page by page, as it is printed."""

    tenant: str
    stream: Stream
    wanted: Filter
    legal_entity: str
    direction: Direction
    limit: int
    put_page: Callable[[Sequence[Event]], None]

    async def put(self, cursor: str | None, *, everything: bool) -> str | None:
        """Print the next page, or all of them; returns the cursor to go on with."""
        async with tenant_of(self.tenant) as (mnemon, tenant_id):
            while True:
                page = await mnemon.log.read_page(
                    tenant_id, self.stream, self.wanted, legal_entity=self.legal_entity, direction=self.direction,
                    cursor=cursor, limit=self.limit,
                )  # fmt: skip
                self.put_page(page.events)
                cursor = page.next_cursor
                if cursor is None or not everything:
                    return cursor


def tail(
    count: Annotated[int, typer.Option("--lines", "-n", help="How many to show first.", min=0, max=1000)] = 10,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as events arrive, until Ctrl-C.")] = False,
    legal_entity: LegalEntity = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: JsonLines = False,
) -> None:
    """Show the newest events, and with --follow those to come.

    Example: mnemon log tail --follow --json
    """

    def put(events: Sequence[Event]) -> None:
        if as_json:
            print_lines(events)
            return
        for event in events:
            console.print(line_of(event), markup=False)

    async def work() -> None:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            recent = await mnemon.log.read_page(
                tenant_id, legal_entity=legal_entity, direction="backward", limit=max(count, 1)
            )
            put(recent.events[::-1] if count else [])
            if follow:
                newest = recent.events[0].sequence if recent.events else 0
                wanted = Pattern(legal_entities=[legal_entity])
                async for event in mnemon.log.follow(tenant_id, wanted, after={legal_entity: newest}):
                    put([event])

    with contextlib.suppress(KeyboardInterrupt):
        run_async(work())


def lineage(
    event_id: EventId,
    descendants: Annotated[bool, typer.Option("--descendants", help="What followed from it instead.")] = False,
    depth: Annotated[int, typer.Option(help="How many steps to follow.", min=1, max=DEEPEST)] = DEEPEST,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: JsonLines = False,
) -> None:
    """Show what led to an event, or with --descendants what followed from it.

    Example: mnemon log lineage 01KJQ6Y0Q5M8ZQ3T3M6S8V4X2B
    """

    async def work() -> list[Event]:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            if not descendants:
                return list(await mnemon.log.read_lineage(tenant_id, event_id, depth))
            origin = await mnemon.log.read_event(tenant_id, event_id)
            return [origin, *await mnemon.log.read_descendants(tenant_id, event_id, depth)]

    found = run_async(work())
    if as_json:
        print_lines(found[1:] if descendants else found)
    else:
        console.print(_tree(found))


def trace(
    correlation_id: Annotated[str, typer.Argument(help="What the events of the process have in common.")],
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Show all events of a business process, how long it took and who took part.

    Example: mnemon log trace hosting-2026
    """

    async def work() -> Trace:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            return await mnemon.log.read_trace(tenant_id, correlation_id)

    found = run_async(work())

    def human() -> None:
        print_events(found.events, f"No events have the correlation {correlation_id}.")
        if found.events:
            actors = ", ".join(short(actor) for actor in found.actors)
            say(f"{counted(len(found.events), 'event')} over {found.duration}, by {actors}", "dim")

    show(found.as_json(), as_json, human)


def _stream(**chosen: str | None) -> Stream:
    """At most one of the options names the stream."""
    given = {name: value for name, value in chosen.items() if value is not None}
    if len(given) > 1:
        words = " and ".join(f"--{name.rstrip('_')}" for name in given)
        raise InvalidRequest(f"A stream is one thing: choose among {words}, and narrow it with --only or dates.")
    for name, value in given.items():
        if name == "entity":
            kind, mark, identity = value.partition("/")
            return Stream.of_entity(kind, identity) if mark else Stream.of_entity(None, value)
        if name == "scope":
            scope, mark, wanted = value.partition("=")
            if not mark:
                raise InvalidRequest(f"{value!r} is not a scope: write name=value, like region=north.")
            return Stream.of_scope(scope, wanted)
        return Stream(name.rstrip("_"), value)
    return EVERYTHING


def _tree(events: Sequence[Event]) -> Tree:
    """Each event under its cause; the first one is the root."""
    root = Tree(escape(line_of(events[0])), guide_style="dim")
    branches = {events[0].id: root}
    for event in events[1:]:
        branches[event.id] = branches.get(event.caused_by or "", root).add(escape(line_of(event)))
    return root
