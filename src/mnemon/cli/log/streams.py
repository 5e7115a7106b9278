"""`mnemon log read|tail|lineage|trace`: streams, and what led to what."""

import contextlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.tree import Tree

from mnemon.cli.binding.bind import acting, call, command
from mnemon.cli.context import on_its_own, run_async
from mnemon.cli.log.shown import line_of, print_events, print_lines, short
from mnemon.cli.output import JsonLines, TenantOption, console, counted, say, show
from mnemon.errors import InvalidRequest
from mnemon.identity.default_tenant import DEFAULT_SLUG
from mnemon.log.events import MAIN
from mnemon.log.read.pattern import Pattern
from mnemon.log_operations import events
from mnemon.log_operations.event_inputs import CausesAsked, LogEventAsked, StreamAsked
from mnemon.log_operations.event_outputs import EventsRead, LogEventOut, TraceOut
from mnemon.operations import Differs

STREAMS = {
    "entity": "Of an entity: TYPE/ID, or ID of any type.",
    "correlation": "Of a business process.",
    "actor": "Of an actor, as user:ID or token:ID.",
    "tag": "With a tag.",
    "scope": "Of a scope: region=north, division=…, site=…, NAME=…",
}
READ: dict[str, Any] = {
    "event_id": Annotated[str | None, typer.Argument(help="Show just this event.", metavar="[ID]")],
    **{name: Annotated[str | None, typer.Option(help=text)] for name, text in STREAMS.items()},
    "backward": Annotated[bool, typer.Option("--backward", help="Newest first.")],
    "everything": Annotated[bool, typer.Option("--all", help="All pages.")],
}
BY_OPTION = Differs("--entity, --correlation, --actor, --tag or --scope name the stream.")
ON_A_SCREEN = {
    **dict.fromkeys(("stream_type", "stream_id", "entity_type", "scope"), BY_OPTION),
    "limit": Differs("A person reads a screen or two.", default=50),
}


NOT_NEEDED = {"legal_entity": Differs("Causes are followed from one legal entity to another.")}


def _stream(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    """At most one of the options names the stream."""
    given = {name: value for name in STREAMS if (value := values.pop(name)) is not None}
    if len(given) > 1:
        words = " and ".join(f"--{name}" for name in given)
        raise InvalidRequest(f"A stream is one thing: choose among {words}, and narrow it with --type or dates.")
    if values.pop("backward"):
        values["direction"] = "backward"
    for name, value in given.items():
        values |= {"stream_type": name, "stream_id": value}
        if name == "entity" and "/" in value:
            values["entity_type"], _, values["stream_id"] = value.partition("/")
        if name == "scope":
            values["scope"], mark, values["stream_id"] = value.partition("=")
            if not mark:
                raise InvalidRequest(f"{value!r} is not a scope: write name=value, like region=north.")
    return values


def _read(tenant: str, asked: StreamAsked, as_json: bool, left: dict[str, Any]) -> None:
    if left["event_id"] is not None:
        found = run_async(call(events.get, tenant, LogEventAsked(event_id=left["event_id"])))
        show(found.event, True, lambda: None)
        return
    following = run_async(_pages(tenant, asked, as_json, everything=left["everything"]))
    if following and not as_json:
        say(f"More: --cursor {following}", "dim")


async def _pages(tenant: str, asked: StreamAsked, as_json: bool, *, everything: bool) -> str | None:
    """Print the next page, or all of them; returns the cursor to go on with."""
    async with acting(tenant) as (mnemon, caller):
        while True:
            page = await events.read(mnemon, caller, asked)
            print_lines(page.events) if as_json else _print_page(page)
            if page.next_cursor is None or not everything:
                return page.next_cursor
            asked = asked.model_copy(update={"cursor": page.next_cursor})


def _print_page(page: EventsRead) -> None:
    print_events(page.events)


@on_its_own("A page of `events.read` and then a stream; programs follow a subscription over REST.")
def tail(
    count: Annotated[int, typer.Option("--lines", "-n", help="How many to show first.", min=0, max=1000)] = 10,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as events arrive, until Ctrl-C.")] = False,
    legal_entity: Annotated[str, typer.Option("--legal-entity", help="The partition.", metavar="NAME")] = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: JsonLines = False,
) -> None:
    """Show the newest events, and with --follow those to come.

    Example: mnemon log tail --follow --json
    """

    def put(found: Sequence[LogEventOut]) -> None:
        if as_json:
            print_lines(found)
            return
        for event in found:
            console.print(line_of(event), markup=False)

    async def work() -> None:
        wanted = StreamAsked(legal_entity=legal_entity, direction="backward", limit=max(count, 1))
        async with acting(tenant) as (mnemon, caller):
            recent = (await events.read(mnemon, caller, wanted)).events
            put(recent[::-1] if count else [])
            if follow:
                newest = int(recent[0]["sequence"]) if recent else 0
                pattern = Pattern(legal_entities=[legal_entity])
                async for event in mnemon.log.follow(caller.tenant_id, pattern, after={legal_entity: newest}):
                    put([event.as_json()])  # type: ignore[list-item]  # the shape that LogEventOut describes

    with contextlib.suppress(KeyboardInterrupt):
        run_async(work())


def _lineage(tenant: str, asked: CausesAsked, wants_json: bool, left: dict[str, Any]) -> None:
    async def work() -> list[LogEventOut]:
        async with acting(tenant) as (mnemon, caller):
            if not left["descendants"]:
                return (await events.lineage(mnemon, caller, asked)).lineage
            origin = await events.get(mnemon, caller, LogEventAsked(event_id=asked.event_id))
            return [origin.event, *(await events.descendants(mnemon, caller, asked)).descendants]

    found = run_async(work())
    if wants_json:
        print_lines(found[1:] if left["descendants"] else found)
    else:
        console.print(_tree(found))


def _print_trace(found: TraceOut) -> None:
    print_events(found.events, f"No events have the correlation {found.correlation_id}.")
    if found.events:
        actors = ", ".join(short(actor) for actor in found.actors_involved)
        lasted = timedelta(milliseconds=found.process_duration_ms)
        say(f"{counted(len(found.events), 'event')} over {lasted}, by {actors}", "dim")


def _tree(found: Sequence[LogEventOut]) -> Tree:
    """Each event under its cause; the first one is the root."""
    root = Tree(escape(line_of(found[0])), guide_style="dim")
    branches = {found[0]["id"]: root}
    for event in found[1:]:
        branches[event["id"]] = branches.get(event["caused_by"] or "", root).add(escape(line_of(event)))
    return root


def bind(app: typer.Typer) -> None:
    command(
        app, "read", events.read, _print_page, beside=READ, prepare=_stream, perform=_read, also=[events.get],
        differences=ON_A_SCREEN, short={"type": "--only", "from_date": "--from", "to_date": "--to"},
        example="mnemon log read --tag hosting --from 2026-03-01 --backward --json | jq .data",
    )  # fmt: skip
    app.command("tail")(tail)
    command(
        app, "lineage", events.lineage, lambda found: None, arguments=["event_id"], differences=NOT_NEEDED,
        says="Show what led to an event, or with --descendants what followed from it.",
        beside={"descendants": Annotated[bool, typer.Option("--descendants", help="What followed from it instead.")]},
        perform=_lineage, also=[events.descendants], example="mnemon log lineage 01KJQ6Y0Q5M8ZQ3T3M6S8V4X2B",
    )  # fmt: skip
    command(
        app, "trace", events.process, _print_trace, arguments=["correlation_id"],
        example="mnemon log trace hosting-2026",
    )  # fmt: skip
