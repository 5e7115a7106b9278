"""Which door has which operation: for the reference and for the test that compares the doors."""

import importlib
import pkgutil
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

import mnemon
from mnemon.api import reference as api_reference
from mnemon.cli import reference as cli_reference
from mnemon.mcp import reference as mcp_reference
from mnemon.operations import Bound, Door, Operation
from mnemon.web.pages import pages


def load_every_room() -> None:
    """Errors and metrics are declared next to the code that uses them, and known once that is loaded."""
    for module in pkgutil.walk_packages(mnemon.__path__, "mnemon."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


@dataclass(frozen=True)
class Binding:
    """Where a door has an operation."""

    bound: Bound
    door: Door
    place: str


def declared_operations() -> list[Operation[Any, Any]]:
    """Every operation of every capability, by name."""
    load_every_room()
    modules = [module for name, module in sys.modules.items() if name.startswith("mnemon.")]
    found = {one.name: one for module in modules for one in vars(module).values() if isinstance(one, Operation)}
    return [found[name] for name in sorted(found)]


@cache
def bindings() -> tuple[Binding, ...]:
    rest = [(one.bound, f"{one.method} {one.path}") for one in api_reference.routes() if one.in_schema]
    tools = [(one.bound, one.name) for one in mcp_reference.tools()]
    commands: list[tuple[Bound | None, str]] = [
        (bound, one.words) for one in cli_reference.commands() for bound in one.bound
    ]
    shown: list[tuple[Bound | None, str]] = [(bound, path) for path, bound in pages()]
    doors: list[tuple[Door, list[tuple[Bound | None, str]]]] = [
        ("rest", rest), ("mcp", tools), ("command", commands), ("web", shown),
    ]  # fmt: skip
    return tuple(Binding(bound, door, place) for door, places in doors for bound, place in places if bound)
