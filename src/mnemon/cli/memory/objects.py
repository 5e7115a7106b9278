"""`mnemon memory`: create, look at, edit, link, delete and restore memory objects."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import click
import typer

from mnemon.cli.binding.bind import call, command
from mnemon.cli.context import run_async
from mnemon.cli.memory import branches, many
from mnemon.cli.memory.views import lines_of_diff, print_object, print_objects, print_versions
from mnemon.cli.output import say
from mnemon.errors import InvalidRequest
from mnemon.memory.operations import objects
from mnemon.memory.operations.object_outputs import DiffBetween, Diffs, KeptObject, ViewedObject
from mnemon.operations import Differs, read_input

app = typer.Typer(help="Memory objects: versioned, branched, replayable.", no_args_is_help=True)

File = Annotated[Path | None, typer.Option("--file", "-f", help="Read the content from here; - is the input.")]
PLACE = {"world_id": "--world", "branch": "-b"}
CHANGE = {**PLACE, "rationale": "--why", "expected_version": "--expect"}
SCOPE = {"readers": "--reader", "agent_id": "--agent", "session_id": "--session"}
NEW = {
    **PLACE, **SCOPE, "content": "-c", "emo_type": "--type", "tags": "--tag", "subject_id": "--subject",
    "rationale": "--why",
}  # fmt: skip
FILTERS = {**PLACE, "tags": "--tag", "subject_id": "--subject", "agent_id": "--agent", "session_id": "--session"}
NESTED = Differs("A line has no room for it: `memory link` relates objects, REST takes the rest.")
WRITTEN = {
    **dict.fromkeys(("facets", "parents", "links", "source"), NESTED),
    "tenant_id": Differs("--tenant names it."),
}
ONE_SCREEN = {"limit": Differs("A person reads a screen at a time.", default=20)}
VIEWS = ("view", "from_version", "to_version")
NOW = {name: Differs("`memory diff` and `memory history` show the others.") for name in VIEWS}
A_DIFF = {"view": Differs("The command is that view."), "as_of": Differs("--from-version and --to-version say it.")}
AS_WORDS = {
    name: Differs("--derived, --supersedes, --merges, --uri, --to and --remove say it.")
    for name in ("parents", "links", "removed_parents", "removed_links")
}
RELATIONS = {
    "derived": "It is derived from this object. May repeat.",
    "supersedes": "It supersedes this object. May repeat.",
    "merges": "It merges this object. May repeat.",
    "uri": "It refers to this address. May repeat.",
    "to": "It refers to this object. May repeat.",
}
LINKED: dict[str, Any] = {
    **{name: Annotated[list[str] | None, typer.Option(help=text)] for name, text in RELATIONS.items()},
    "remove": Annotated[bool, typer.Option("--remove", help="Take these away instead.")],
}


def new_content(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    file = values.pop("file")
    return values | {"content": _content(values["content"], file, "")}


def changed_content(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    """Whoever changes the object while the editor is open is not overwritten: the command then fails."""
    content, file = values["content"], values.pop("file")
    if content is not None or file is not None:
        return values | {"content": _content(content, file, "")}
    place = {name: values[name] for name in ("emo_id", "world_id", "branch") if values[name] is not None}
    seen: ViewedObject = run_async(call(objects.get, tenant, read_input(objects.get, place)))
    edited = _content(None, None, seen.content)
    return values | {"content": edited, "expected_version": values["expected_version"] or seen.emo_version}


def relations(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    given = {name: values.pop(name) or () for name in RELATIONS}
    taken = "removed_" if values.pop("remove") else ""
    kinds = {"uri": "uri", "to": "emo"}
    parents = [{"emo_id": one, "rel": rel} for rel in given if rel not in kinds for one in given[rel]]
    links = [{"kind": kind, "ref": one} for name, kind in kinds.items() for one in given[name]]
    return values | {f"{taken}parents": parents, f"{taken}links": links}


def a_diff(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    first, last = values["from_version"], values["to_version"]
    return values | {"view": "diff", "from_version": first or (max(last - 1, 1) if last else None)}


def print_diff(found: ViewedObject) -> None:
    data = found.view_data
    last = found.emo_version
    span = (data.from_version, data.to_version) if isinstance(data, DiffBetween) else (max(last - 1, 1), last)
    say(f"{found.emo_id}, version {span[0]} to {span[1]}", "bold")
    for line, style in lines_of_diff(_diff_of(data)):
        say(line, style)


def print_edited(one: KeptObject) -> None:
    say(f"{one.emo_id} is now at version {one.emo_version}." if one.changed else "Nothing changed.")


def _diff_of(data: Any) -> dict[str, Any]:
    """Of the versions that were named, or of the last change."""
    return data.diffs[-1].diff if isinstance(data, Diffs) else data.diff


def _diff_written(found: Mapping[str, Any]) -> Any:
    data = found["view_data"]
    return data["diffs"][-1]["diff"] if "diffs" in data else data["diff"]


def _content(content: str | None, file: Path | None, before: str) -> str:
    if content is not None and file is not None:
        raise InvalidRequest("Give the content or a file, not both.")
    if content is not None:
        return content
    if file is not None:
        try:
            return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as failure:
            raise InvalidRequest(f"{file} cannot be read: {failure}") from None
    written = click.edit(before, extension=".md")
    if written is None:
        raise InvalidRequest("Nothing was saved in the editor: nothing is changed.")
    return written


command(
    app, "create", objects.create, lambda one: say(f"Created {one.emo_id}."), short=NEW, differences=WRITTEN,
    beside={"file": File}, prepare=new_content,
    example='mnemon memory create --content "The archive moves to Frankfurt." --type fact --tag hosting',
)  # fmt: skip
command(
    app, "list", objects.find, print_objects, words="query", short=FILTERS, differences=ONE_SCREEN,
    written=lambda page: page["objects"], example='mnemon memory list "where is the archive" --type fact',
)  # fmt: skip
command(
    app, "show", objects.get, print_object, arguments=["emo_id"], short=PLACE, differences=NOW,
    written=lambda one: {**one, **one.pop("view_data")}, example="mnemon memory show 018f4d1e-… --as-of v2",
)  # fmt: skip
command(
    app, "edit", objects.update, print_edited, arguments=["emo_id"], beside={"file": File}, prepare=changed_content,
    short={**CHANGE, "content": "-c", "tags": "--tag"},
    example='mnemon memory edit 018f4d1e-… --why "the board changed its mind"',
)  # fmt: skip
command(
    app, "link", objects.link, lambda one: say(f"{one.emo_id} is at version {one.emo_version}."),
    arguments=["emo_id"], short=CHANGE, differences=AS_WORDS, beside=LINKED, prepare=relations,
    example="mnemon memory link 018f4d1e-… --supersedes 018f4d1c-… --uri https://example.org/minutes",
)  # fmt: skip
command(
    app, "history", objects.history, print_versions, arguments=["emo_id"], short=PLACE,
    written=lambda found: found["versions"], example="mnemon memory history 018f4d1e-…",
)  # fmt: skip
command(
    app, "diff", objects.get, print_diff, arguments=["emo_id"], differences=A_DIFF, prepare=a_diff,
    short={**PLACE, "from_version": "--from", "to_version": "--to"}, written=_diff_written,
    example="mnemon memory diff 018f4d1e-… --from 1 --to 3",
)  # fmt: skip
command(
    app, "delete", objects.delete, lambda one: say(f"Deleted {one.emo_id}."), arguments=["emo_id"],
    short={**CHANGE, "deletion_reason": "--why"},
    written=lambda one: {"deleted": one["emo_id"], "emo_version": one.get("emo_version")},
    example="mnemon memory delete 018f4d1e-… --why outdated",
)  # fmt: skip
command(
    app, "restore", objects.restore, lambda one: say(f"{one.emo_id} is back, at version {one.emo_version}."),
    arguments=["emo_id"], short=CHANGE, example="mnemon memory restore 018f4d1e-…",
)  # fmt: skip
command(
    app, "share", objects.share, lambda one: say(f"{one.emo_id} is for {', '.join(one.readers or ['everyone'])}."),
    arguments=["emo_id"], short={**CHANGE, "readers": "--reader"},
    example="mnemon memory share 018f4d1e-… --reader me --reader bo@example.org",
)  # fmt: skip
many.add(app)
branches.add(app)
