"""Operations by their names, and inputs by their fields, for programs that call what has no call of its own."""

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from mnemon.errors import InvalidRequest
from mnemon.operations import Operation, read_input

ROOMS = (
    "ask", "documents", "identity", "log_operations", "mail", "memory", "reports", "semantics", "verification", "work",
)  # fmt: skip
# What capabilities declare stands in modules or rooms of this name; pictures are declared with what makes them.
DECLARING = ("operations", "pictures")


@cache
def known_operations() -> Mapping[str, Operation[Any, Any]]:
    """Every operation that the log and the capabilities declare."""
    found: dict[str, Operation[Any, Any]] = {}
    for room in ROOMS:
        package = import_module(f"mnemon.{room}")
        below = [one.name for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
        for name in (one for one in below if any(word in one for word in DECLARING)):
            declared = vars(import_module(name)).values()
            found |= {one.name: one for one in declared if isinstance(one, Operation)}
    return found


def operation_of(wanted: object) -> Operation[Any, Any]:
    """What is called: an operation, or its name."""
    if isinstance(wanted, Operation):
        return wanted
    found = known_operations().get(wanted) if isinstance(wanted, str) else None
    if found is None:
        raise InvalidRequest(
            f"{wanted!r} is not an operation: give its name, such as 'documents.list'; "
            "docs/reference/operations.md has all of them."
        )
    return found


def input_of(operation: Operation[Any, Any], given: object) -> Any:
    """What it is asked: its input, or the fields of one."""
    if isinstance(given, operation.input):
        return given
    if isinstance(given, Mapping):
        return read_input(operation, given)
    raise InvalidRequest(
        f"{operation.name} takes a {operation.input.__name__} or a dict of its fields, not {type(given).__name__}: "
        f"{example_of(operation)}"
    )


def example_of(operation: Operation[Any, Any]) -> str:
    return f"call({operation.name!r}, {dict(operation.example)!r})"
