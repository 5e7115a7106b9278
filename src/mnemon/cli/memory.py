"""`mnemon memory`: create, look at, edit, link, delete and restore memory objects."""

import sys
from pathlib import Path
from typing import Annotated

import click
import typer

from mnemon.cli import memory_branches
from mnemon.cli.memory_places import (
    AUTHOR,
    AsOf,
    BranchName,
    Expected,
    ObjectId,
    Why,
    World,
    change,
    identity,
    in_memory,
    lines_of_diff,
    show_object,
    show_versions,
)
from mnemon.cli.output import Json, TenantOption, say, show, table
from mnemon.errors import InvalidRequest
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.log.events import MAIN
from mnemon.memory.answers import object_as_json, version_as_json
from mnemon.memory.change_events import Author
from mnemon.memory.changes import Changes
from mnemon.memory.objects import EMO_TYPES, EmoType, Link, Parent, Relation
from mnemon.memory.reading import Wanted
from mnemon.memory.relations import difference

app = typer.Typer(help="Memory objects: versioned, branched, replayable.", no_args_is_help=True)

Content = Annotated[str | None, typer.Option("--content", "-c", help="The content itself.")]
File = Annotated[Path | None, typer.Option("--file", "-f", help="Read the content from here; - is the input.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="May repeat.")]


@app.command()
def create(
    content: Content = None,
    file: File = None,
    emo_type: Annotated[str, typer.Option("--type", help=f"One of {', '.join(EMO_TYPES)}.")] = "note",
    tag: Tags = None,
    key: Annotated[str | None, typer.Option("--key", help="A repeat with the same key is refused.")] = None,
    subject: Annotated[str | None, typer.Option(help="Pseudonym of the person it is about: sealed for them.")] = None,
    world: World = None,
    branch: BranchName = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Create an object; without --content or --file, in your editor.

    Example: mnemon memory create --content "The archive moves to Frankfurt." --type fact --tag hosting
    """
    text = _content(content, file, "")
    made = in_memory(
        tenant,
        world,
        branch,
        lambda memory, tenant_id, place: memory.changes.create(
            tenant_id,
            place,
            Author(AUTHOR.actor, AUTHOR.channel, key),
            content=text,
            emo_type=_type(emo_type),
            tags=tag or (),
            subject_id=subject,
        ),
    )
    show(object_as_json(made.object), as_json, lambda: say(f"Created {made.object.emo_id}."))


@app.command("list")
def list_(
    text: Annotated[str | None, typer.Argument(help="Only what has to do with this, best first.")] = None,
    emo_type: Annotated[str | None, typer.Option("--type", help="Only this type.")] = None,
    tag: Tags = None,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 20,
    world: World = None,
    branch: BranchName = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """List objects, newest first, or search them by words and meaning.

    Example: mnemon memory list "where is the archive" --type fact
    """
    wanted = Wanted(emo_type=_type(emo_type) if emo_type else None, tags=tag or ())
    if text is None:
        found = in_memory(
            tenant, world, branch, lambda memory, who, place: memory.reading.page(who, place, wanted, limit=limit)
        )
        objects = [one.object for one in found]
    else:
        sought = in_memory(
            tenant,
            world,
            branch,
            lambda memory, who, place: memory.search.search(who, place, text, wanted=wanted, limit=limit),
        )
        objects = [one.object for one in sought.hits]
    rows = [(one.emo_id, one.emo_type, one.emo_version, one.updated_at, _first_line(one.content)) for one in objects]
    headings = ["Id", "Type", "Version", "Updated", "Content"]
    show([object_as_json(one) for one in objects], as_json, lambda: table(headings, rows, "No objects."))


@app.command("show")
def show_(
    emo_id: ObjectId,
    as_of: AsOf = None,
    world: World = None,
    branch: BranchName = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Show an object, as it is or as it was.

    Example: mnemon memory show 018f4d1e-… --as-of v2
    """
    found = in_memory(
        tenant, world, branch, lambda memory, who, place: memory.reading.get(who, place, identity(emo_id), as_of)
    )
    show(object_as_json(found.object) | version_as_json(found), as_json, lambda: show_object(found.object))


@app.command()
def edit(
    emo_id: ObjectId,
    content: Content = None,
    file: File = None,
    why: Why = None,
    expect: Expected = None,
    world: World = None,
    branch: BranchName = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Change the content; without --content or --file, in your editor.

    Whoever changes the object while your editor is open is not overwritten: the command then fails.
    """
    if content is None and file is None:
        seen = in_memory(
            tenant, world, branch, lambda memory, who, place: memory.reading.get(who, place, identity(emo_id))
        )
        text, expect = _content(None, None, seen.object.content), expect or seen.object.emo_version
    else:
        text = _content(content, file, "")
    changed = change(
        Changes.update, tenant, world, branch, emo_id, content=text, rationale=why, expected_version=expect
    )
    version = changed.object.emo_version
    said = f"{emo_id} is now at version {version}." if changed.appended else "Nothing changed."
    show(object_as_json(changed.object), as_json, lambda: say(said))


@app.command()
def link(
    emo_id: ObjectId,
    derived: Annotated[list[str] | None, typer.Option(help="It is derived from this object. May repeat.")] = None,
    supersedes: Annotated[list[str] | None, typer.Option(help="It supersedes this object. May repeat.")] = None,
    merges: Annotated[list[str] | None, typer.Option(help="It merges this object. May repeat.")] = None,
    uri: Annotated[list[str] | None, typer.Option(help="It refers to this address. May repeat.")] = None,
    to: Annotated[list[str] | None, typer.Option(help="It refers to this object. May repeat.")] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take these away instead.")] = False,
    why: Why = None,
    world: World = None,
    branch: BranchName = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Relate an object to others, or to addresses outside.

    Example: mnemon memory link 018f4d1e-… --supersedes 018f4d1c-… --uri https://example.org/minutes
    """
    given: list[tuple[Relation, list[str] | None]] = [
        ("derived", derived), ("supersedes", supersedes), ("merges", merges),
    ]  # fmt: skip
    parents = [Parent(identity(one), rel) for rel, ids in given for one in ids or ()]
    links = [Link("uri", one) for one in uri or ()] + [Link("emo", str(identity(one))) for one in to or ()]
    relations = {"removed_parents": parents, "removed_links": links} if remove else {"parents": parents, "links": links}
    changed = change(Changes.link, tenant, world, branch, emo_id, rationale=why, **relations)
    show(object_as_json(changed.object), as_json, lambda: say(f"{emo_id} is at version {changed.object.emo_version}."))


@app.command()
def history(
    emo_id: ObjectId,
    world: World = None,
    branch: BranchName = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """List every version of an object, also of a deleted one."""
    versions = in_memory(
        tenant, world, branch, lambda memory, who, place: memory.reading.history(who, place, identity(emo_id))
    )
    show([version_as_json(one) for one in versions], as_json, lambda: show_versions(versions))


@app.command()
def diff(
    emo_id: ObjectId,
    old: Annotated[int | None, typer.Option("--from", help="The earlier version.", min=1)] = None,
    new: Annotated[int | None, typer.Option("--to", help="The later version.", min=1)] = None,
    world: World = None,
    branch: BranchName = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Show what changed between two versions; without them, by the last change."""
    versions = in_memory(
        tenant,
        world,
        branch,
        lambda memory, who, place: memory.reading.history(who, place, identity(emo_id), contents=True),
    )
    known = {one.object.emo_version: one.object for one in versions}
    last = new or max(known)
    first = old or max(last - 1, 1)
    if first not in known or last not in known:
        raise InvalidRequest(f"{emo_id} has the versions 1 to {max(known)}.")
    found = difference(known[first], known[last])

    def human() -> None:
        say(f"{emo_id}, version {first} to {last}", "bold")
        for line, style in lines_of_diff(found):
            say(line, style)

    show(found, as_json, human)


@app.command()
def delete(
    emo_id: ObjectId,
    why: Why = None,
    expect: Expected = None,
    world: World = None,
    branch: BranchName = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Hide an object from every view; its history stays, and `restore` brings it back."""
    changed = change(Changes.delete, tenant, world, branch, emo_id, reason=why or "", expected_version=expect)
    show({"deleted": emo_id, "emo_version": changed.object.emo_version}, as_json, lambda: say(f"Deleted {emo_id}."))


@app.command()
def restore(
    emo_id: ObjectId,
    why: Why = None,
    world: World = None,
    branch: BranchName = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Bring a deleted object back as it was."""
    changed = change(Changes.restore, tenant, world, branch, emo_id, rationale=why)
    said = f"{emo_id} is back, at version {changed.object.emo_version}."
    show(object_as_json(changed.object), as_json, lambda: say(said))


app.command()(memory_branches.branch)
app.command()(memory_branches.merge)
app.command()(memory_branches.graph)
app.command()(memory_branches.compact)
app.command()(memory_branches.replay)


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


def _type(text: str) -> EmoType:
    for known in EMO_TYPES:
        if known == text:
            return known
    raise InvalidRequest(f"{text!r} is not a type of object: use one of {', '.join(EMO_TYPES)}.")


def _first_line(content: str) -> str:
    line = content.strip().split("\n", 1)[0]
    return line if len(line) <= 60 else line[:59] + "…"
