"""The list of all commands, for the documentation and the tests that keep it true."""

from collections.abc import Iterator
from typing import Any

from mnemon.cli.catalogue import CATALOGUE, load


def commands() -> Iterator[tuple[str, str]]:
    """Each command with its words and the first line of its help."""
    for name in CATALOGUE:
        yield from _walk(load(name), f"mnemon {name}")


def _walk(command: Any, words: str) -> Iterator[tuple[str, str]]:
    members = getattr(command, "commands", None)
    if members is not None:
        for name, member in members.items():
            yield from _walk(member, f"{words} {name}")
    else:
        yield words, (command.help or "").strip().split("\n", 1)[0]
