"""The list of all commands, for the documentation and the tests that keep it true."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mnemon.cli.catalogue import CATALOGUE, load
from mnemon.operations import Bound


@dataclass(frozen=True)
class CommandLine:
    """A command by its words, with the first line of its help."""

    words: str
    meaning: str
    command: Any

    @property
    def bound(self) -> list[Bound]:
        """The operation that it is for; of a few commands, several."""
        found: list[Bound] = getattr(self.command.callback, "bound", [])
        return found

    @property
    def on_its_own(self) -> str | None:
        """Why it is no operation of a user."""
        return getattr(self.command.callback, "on_its_own", None)


def commands() -> Iterator[CommandLine]:
    for name in CATALOGUE:
        yield from _walk(load(name), f"mnemon {name}")


def _walk(command: Any, words: str) -> Iterator[CommandLine]:
    members = getattr(command, "commands", None)
    if members is not None:
        if command.invoke_without_command:
            yield CommandLine(words, (command.help or "").strip().split("\n", 1)[0], command)
        for name, member in members.items():
            yield from _walk(member, f"{words} {name}")
    else:
        yield CommandLine(words, (command.help or "").strip().split("\n", 1)[0], command)
