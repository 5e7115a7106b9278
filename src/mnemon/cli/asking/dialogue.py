"""`mnemon ask` without words: question by question, until there is none, the input ends, or Ctrl-C."""

import asyncio
import os
import sys
from functools import partial
from uuid import uuid4

from mnemon.ask import operations
from mnemon.ask.outputs import Answered
from mnemon.cli.asking.shown import print_answer
from mnemon.cli.binding.bind import Values, asked_of, calling
from mnemon.cli.context import run_async
from mnemon.cli.naming import document_meant
from mnemon.cli.output import console, say, show
from mnemon.errors import MnemonError
from mnemon.operations import as_json

BLOCK = 65_536


def hold_dialogue(tenant: str, given: Values, wants_json: bool) -> None:
    if not wants_json:
        say(
            "Ask, one question on a line; “and who was against it?” leans on the one before. End: an empty line.", "dim"
        )
    run_async(_hold_dialogue(tenant, document_meant(given, tenant), wants_json))


async def _hold_dialogue(tenant: str, given: Values, wants_json: bool) -> None:
    conversation = given.get("conversation_id") or f"terminal-{uuid4().hex[:12]}"
    lines = Lines()
    async with calling(tenant) as answered:
        while line := (await lines.next_one()).strip():
            try:
                asked = asked_of(operations.ask, given | {"question": line, "conversation_id": conversation})
                answer: Answered = await answered(operations.ask, asked)
            except MnemonError as refusal:
                say(refusal.message, "bold")
                continue
            show(as_json(answer), wants_json, partial(print_answer, answer))


class Lines:
    """Lines of the input, waited for by the loop: a thread that reads could not be left at Ctrl-C."""

    def __init__(self) -> None:
        self._read = b""
        self._ended = False

    async def next_one(self) -> str:
        """Empty at the end."""
        if sys.stdin.isatty():
            console.print("? ", style="bold", end="")
        try:
            source = sys.stdin.fileno()
        except (OSError, ValueError):
            return sys.stdin.readline()
        while b"\n" not in self._read and not self._ended:
            await _readable(source)
            more = os.read(source, BLOCK)
            self._read, self._ended = self._read + more, not more
        line, _, self._read = self._read.partition(b"\n")
        return line.decode(errors="replace")


async def _readable(source: int) -> None:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    try:
        loop.add_reader(source, ready.set)
    except PermissionError:
        # A file is readable at any time.
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(source)
