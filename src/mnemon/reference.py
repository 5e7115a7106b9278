"""The reference pages, written from the code: `python -m mnemon.reference docs/reference` makes them anew."""

import json
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from mnemon import __version__
from mnemon.api import reference as api_reference
from mnemon.api.addresses import addresses
from mnemon.bus.asyncapi import asyncapi_document
from mnemon.cli import reference as cli_reference
from mnemon.doors import bindings, declared_operations, load_every_room
from mnemon.errors import error_types
from mnemon.identity.roles import RULES, Role
from mnemon.log.types.event_type import built_in_types
from mnemon.mcp import reference as mcp_reference
from mnemon.operations import Operation
from mnemon.settings import described_settings
from mnemon.telemetry import REGISTRY

INTRODUCTION = "Written from the code by `make reference`; a test fails when they differ."
# Pages are read in an editor too.
LINE = 118


def settings_page() -> str:
    rows = (
        [
            f"`{one.names[0]}`",
            ", ".join(f"`{name}`" for name in one.names[1:]) or "-",
            one.accepts,
            one.default,
            one.meaning,
        ]
        for one in described_settings()
    )
    return _page(
        "Settings",
        "Read from the environment, or from a `.env` file in the working directory. "
        "An unknown `MNEMON_` name stops the start. `mnemon settings` shows the present values, secrets never.",
        ["setting", "also read from", "accepts", "default", "meaning"],
        rows,
    )


def routes_page() -> str:
    rows = (
        [f"`{one.method} {one.path}`", one.action or "open to all", _roles(one), one.summary]
        for one in api_reference.routes()
        if one.in_schema
    )
    return _page(
        "Routes",
        "Every route under `/v1` answers under `/api` too. `/openapi.json` has the fields and examples. "
        "A session or an access token goes into the header `Authorization: Bearer …`.",
        ["route", "action", "roles", "what it does"],
        rows,
    )


def commands_page() -> str:
    rows = ([f"`{one.words}`", one.meaning] for one in cli_reference.commands())
    return _page(
        "Commands",
        "`--help` after any of them shows its options and an example; `--json` prints one JSON document, "
        "or lines of JSON for a stream. "
        "Exit codes: 0 done, 1 an error of the list in errors.md, 2 a wrong word or option.",
        ["command", "what it does"],
        rows,
    )


def errors_page() -> str:
    load_every_room()
    rows = (
        [f"`{one.code}`", str(one.status), "yes" if one.retry else "no", (one.__doc__ or "").strip().split("\n")[0]]
        for one in sorted(error_types(), key=lambda one: one.code)
        if one.__doc__
    )
    return _page(
        "Errors",
        'REST, MCP and CLI answer in one shape: `{"error": sentence, "error_code": code, "details": {…}}`.',
        ["code", "HTTP status", "retry helps", "meaning"],
        rows,
    )


def events_page() -> str:
    load_every_room()
    rows = (
        [
            f"`{one.type}`",
            str(one.schema_version),
            ", ".join(f"{need.entity_type} ({need.role})" for need in one.required_entities) or "-",
            ", ".join(_fields(one.data_schema)) or "-",
            one.description,
        ]
        for one in built_in_types()
    )
    return _page(
        "Event types",
        "What Mnemon itself records in the log, for every tenant. A tenant declares further types with "
        "`EventLog.register_type`. Fields with a star are required.",
        ["type", "version", "entities", "data", "meaning"],
        rows,
    )


def _fields(schema: Mapping[str, Any]) -> list[str]:
    required = schema.get("required", ())
    return [f"`{name}`{'*' if name in required else ''}" for name in schema.get("properties", {})]


def metrics_page() -> str:
    load_every_room()
    families = sorted(REGISTRY.collect(), key=lambda family: family.name)
    rows = ([f"`{family.name}`", family.type, family.documentation] for family in families)
    return _page("Metrics", "`GET /metrics`, in Prometheus' text form.", ["metric", "kind", "meaning"], rows)


def mcp_page() -> str:
    """Tools, then what the addresses in their results open, then prompts."""
    tools = (
        [f"`{one.name}`", one.profile, f"{one.action} ({RULES[one.action].scope})", one.hints, one.inputs, one.meaning]
        for one in mcp_reference.tools()
    )
    page = _page(
        "MCP tools",
        "What agents can call. `core` is the default profile; `MNEMON_MCP_TOOLS=full` offers all. A star marks what is "
        "required. Every tool answers with structured content of a published schema; a failure is a result with "
        "`error_code`. [The guide](../guide/mcp.md) shows how to connect.",
        ["tool", "profile", "action (scope)", "hints", "arguments", "what it does"],
        tools,
    )
    resources = [[f"`{uri}`", kind, meaning] for uri, kind, meaning in mcp_reference.resources()]
    prompts = [[f"`{name}`", arguments, meaning] for name, arguments, meaning in mcp_reference.prompts()]
    return (
        page
        + _section("Resources", ["address", "type", "what it opens"], resources)
        + _section("Prompts", ["prompt", "arguments", "what it asks for"], prompts)
    )


def operations_page() -> str:
    """Each operation with its places, and the reason where a door differs."""
    return _page(
        "Operations",
        "What a user may do, declared once and bound by every door under the same names and limits. "
        "A star marks what is required.",
        ["operation", "action", "places", "takes", "differences", "what it does"],
        [_operation(declared) for declared in declared_operations()],
    )


def _operation(declared: Operation[Any, Any]) -> list[str]:
    bound = [one for one in bindings() if one.bound.operation is declared]
    places = ", ".join(f"`{one.place}`" for one in bound)
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in bound:
        for name, differs in one.bound.differences.items():
            reasons.setdefault((one.door, differs.why), []).append(f"`{name}`")
    own = [f"{door}, {', '.join(sorted(set(names)))}: {why}" for (door, why), names in sorted(reasons.items())]
    missing = [f"not in {door}: {why}" for door, why in declared.absent.items()]
    fields = [f"`{name}`{'*' if one.is_required() else ''}" for name, one in declared.input.model_fields.items()]
    told = [" ".join(part) or "-" for part in ([places], fields, [*own, *missing])]
    action = "open to all" if declared.open_to_all else declared.action
    return [f"`{declared.name}`", action, *told, declared.summary]


def asyncapi_file() -> str:
    """What others outside are sent."""
    load_every_room()
    return json.dumps(asyncapi_document(__version__, built_in_types()), indent=1, ensure_ascii=False) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings_page,
    "routes.md": routes_page,
    "commands.md": commands_page,
    "errors.md": errors_page,
    "events.md": events_page,
    "metrics.md": metrics_page,
    "mcp-tools.md": mcp_page,
    "operations.md": operations_page,
    "asyncapi.json": asyncapi_file,
}


def _roles(route: api_reference.Route) -> str:
    if route.action is None:
        return "-"
    rule = RULES[route.action]
    names = [str(role) for role in Role if role in rule.roles]
    return f"{', '.join(names)} ({rule.scope})"


def _page(title: str, lead: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    entries = [_entry(headings, row) for row in rows]
    return "\n".join([f"# {title}", "", _wrapped(lead), "", INTRODUCTION, "", *entries]) + "\n"


def _section(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(["", f"## {title}", "", *(_entry(headings, row) for row in rows)]) + "\n"


def _entry(headings: Sequence[str], cells: Sequence[str]) -> str:
    """One item of a list: the name and what it means, then its other properties on lines of their own."""
    properties = [
        f"{heading}: {cell}" for heading, cell in zip(headings[1:-1], cells[1:-1], strict=True) if cell != "-"
    ]
    lines = [_wrapped(f"- {cells[0]}: {cells[-1]}", "  ")]
    return "\n".join([*lines, *([_wrapped("  " + "; ".join(properties), "  ")] if properties else [])])


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, LINE, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, drop_whitespace=True
    )


def write_pages(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")


def addresses_file() -> str:
    """The table by which the client calls a server."""
    return json.dumps(addresses(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
    Path(str(files("mnemon.client").joinpath("addresses.json"))).write_text(addresses_file(), encoding="utf-8")
