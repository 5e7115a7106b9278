"""Paths into JSON: `$.customer.email`, `lines[*].name`, `customer.email`."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from mnemon.errors import InvalidRequest

_PATH = re.compile(r"(?:\$\.)?[^.\[\]$*\s]+(?:\[\*\])?(?:\.[^.\[\]$*\s]+(?:\[\*\])?)*")
EACH = "[*]"

_Step = str


@lru_cache(maxsize=4096)
def steps_of(path: str) -> tuple[_Step, ...]:
    """`$.lines[*].name` is ("lines", "[*]", "name")."""
    if not _PATH.fullmatch(path):
        raise InvalidRequest(f"{path!r} is not a path: write names joined by dots, with [*] after a list.", path=path)
    steps: list[_Step] = []
    for part in path.removeprefix("$.").split("."):
        name, each, _ = part.partition(EACH)
        steps += [name, EACH] if each else [name]
    return tuple(steps)


def values_at(document: Any, path: str) -> Iterator[Any]:
    """Every value that the path leads to; none where a step is missing."""
    return _values(document, steps_of(path))


def _values(node: Any, steps: tuple[_Step, ...]) -> Iterator[Any]:
    if not steps:
        yield node
    elif steps[0] == EACH:
        for item in node if isinstance(node, list | tuple) else ():
            yield from _values(item, steps[1:])
    elif isinstance(node, dict) and steps[0] in node:
        yield from _values(node[steps[0]], steps[1:])


def without(document: Any, paths: tuple[str, ...]) -> Any:
    """A copy in which nothing stands where the paths lead."""
    for path in paths:
        document = _without(document, steps_of(path))
    return document


def _without(node: Any, steps: tuple[_Step, ...]) -> Any:
    if steps[0] == EACH:
        if not isinstance(node, list | tuple):
            return node
        return [_without(item, steps[1:]) for item in node] if len(steps) > 1 else []
    if not isinstance(node, dict) or steps[0] not in node:
        return node
    if len(steps) == 1:
        return {name: value for name, value in node.items() if name != steps[0]}
    return node | {steps[0]: _without(node[steps[0]], steps[1:])}
