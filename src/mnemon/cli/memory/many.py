"""`mnemon memory import` and `mnemon memory forget`: many objects at once."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from mnemon.cli.binding.bind import call, command
from mnemon.cli.context import run_async
from mnemon.cli.output import counted, say, show
from mnemon.errors import InvalidRequest
from mnemon.memory.operations import many
from mnemon.memory.operations.object_inputs import MOST_AT_ONCE, NewObjects
from mnemon.operations import Differs, read_input

Lines = Annotated[
    Path, typer.Argument(help="One JSON object per line, with `content`, `tags`, `key` …; - is the input.")
]
WHOSE = {"subject_id": "--subject", "agent_id": "--agent", "session_id": "--session", "deletion_reason": "--why"}
BY_FILE = {"objects": Differs("A file has them, one per line.")}


def add(app: typer.Typer) -> None:
    command(
        app, "import", many.create_many, lambda _: None, beside={"file": Lines}, differences=BY_FILE,
        perform=keep_lines, in_pieces=False, short={"world_id": "--world", "branch": "-b"}, prepare=read_file,
        example="mnemon memory import notes.jsonl",
    )  # fmt: skip
    command(
        app, "forget", many.forget, print_forgotten, short={"world_id": "--world", "branch": "-b", **WHOSE},
        question="Forget all of them?", example='mnemon memory forget --subject customer-17 --why "asked for it"',
    )  # fmt: skip


def read_file(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    """What one call takes; the rest stays beside."""
    found = list(objects_in(values["file"]))
    return values | {"objects": found[:MOST_AT_ONCE], "file": found[MOST_AT_ONCE:]}


def keep_lines(tenant: str, asked: NewObjects, wants_json: bool, left: dict[str, Any]) -> None:
    """So many at once as a call takes; each of these is kept as a whole."""
    kept, rest = list(run_async(call(many.create_many, tenant, asked)).objects), left["file"]
    for start in range(0, len(rest), MOST_AT_ONCE):
        given = {"world_id": asked.world_id, "branch": asked.branch, "objects": rest[start : start + MOST_AT_ONCE]}
        kept += run_async(call(many.create_many, tenant, read_input(many.create_many, given))).objects
    stored = sum(one.stored for one in kept)
    known = f"; {len(kept) - stored} were there already" if stored < len(kept) else ""
    show(
        [one.model_dump(mode="json") for one in kept],
        wants_json,
        lambda: say(f"Kept {counted(stored, 'object')}{known}."),
    )


def objects_in(file: Path) -> Iterator[Any]:
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        raise InvalidRequest(f"{file} cannot be read: {failure}") from None
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield orjson.loads(line)
            except orjson.JSONDecodeError:
                raise InvalidRequest(f"Line {number} of {file} is no JSON object.") from None


def print_forgotten(done: many.Forgotten) -> None:
    left = f" {done.left} more belong to others, who alone may forget them." if done.left else ""
    say(f"Forgot {counted(done.forgotten, 'object')}; all history stays in the log.{left}")
