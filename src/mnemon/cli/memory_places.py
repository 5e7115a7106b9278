"""What the commands about memory share: where, by whom, and how an object looks on a terminal."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar
from uuid import UUID

import typer

from mnemon.cli.context import OPERATOR, run_async, tenant_of
from mnemon.cli.output import say, table
from mnemon.errors import InvalidRequest
from mnemon.memory.change_events import Author
from mnemon.memory.changes import Changed
from mnemon.memory.gateway import Memory
from mnemon.memory.objects import MemoryObject, Place
from mnemon.memory.reading import Version

Result = TypeVar("Result")
Work = Callable[[Memory, UUID, Place], Awaitable[Result]]

ObjectId = Annotated[str, typer.Argument(help="The object's id.", metavar="ID")]
World = Annotated[str | None, typer.Option("--world", help="The world's id. Unset: the tenant's own.", metavar="ID")]
BranchName = Annotated[str, typer.Option("--branch", "-b", help="The branch.", metavar="NAME")]
Expected = Annotated[int | None, typer.Option("--expect", help="Refuse if it is not at this version.", min=1)]
Why = Annotated[str | None, typer.Option("--why", help="The reason, kept with the change.")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="v3, a log sequence, or a moment.")]

AUTHOR = Author(OPERATOR, "cli")


def in_memory(tenant: str, world: str | None, branch: str, work: Work[Result]) -> Result:
    async def run() -> Result:
        async with tenant_of(tenant) as (mnemon, tenant_id):
            place = mnemon.memory.place(tenant_id, identity(world) if world else None, branch)
            return await work(mnemon.memory, tenant_id, place)

    return run_async(run())


def change(
    operation: Callable[..., Awaitable[Changed]], tenant: str, world: str | None, branch: str, emo_id: str, **given: Any
) -> Changed:
    """Do one of the operations of `Changes` to an object."""
    identified = identity(emo_id)
    return in_memory(
        tenant,
        world,
        branch,
        lambda memory, who, place: operation(memory.changes, who, place, AUTHOR, identified, **given),
    )


def identity(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise InvalidRequest(f"{text!r} is not an id: copy it from `mnemon memory list`.", id=text) from None


def show_object(one: MemoryObject) -> None:
    state = "deleted, " if one.deleted else ""
    say(
        f"{one.emo_id}  {one.emo_type}, {state}version {one.emo_version} on {one.place.branch}, by {one.updated_by}",
        "bold",
    )
    if one.tags:
        say("tags: " + ", ".join(one.tags))
    for relation in one.relations:
        say(f"{relation['rel']}: {relation.get('target_emo_id') or relation.get('target_uri')}")
    say("")
    say(one.content.rstrip("\n"))
    for name, value in one.facets.items():
        say(f"\n[{name}]\n{value}")


def show_versions(versions: list[Version]) -> None:
    rows = [
        (
            one.object.emo_version,
            one.object.updated_at,
            one.operation,
            one.object.place.branch,
            one.object.updated_by,
            one.rationale,
        )
        for one in versions
    ]
    table(["Version", "When", "What", "Branch", "By", "Why"], rows, "No versions.")


def lines_of_diff(diff: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Each line with its style, as `diff` would show it."""
    lines: list[tuple[str, str | None]] = []
    for hunk in diff.get("content", {}).get("hunks", ()):
        lines.append((f"@@ line {hunk['line'] + 1} @@", "cyan"))
        lines += [(f"-{line.rstrip()}", "red") for line in hunk["removed"]]
        lines += [(f"+{line.rstrip()}", "green") for line in hunk["added"]]
    for name in ("tags", "parents", "links", "deleted"):
        if name in diff:
            lines.append((f"{name}: {diff[name]['old']} → {diff[name]['new']}", None))
    for name, sides in diff.get("facets", {}).items():
        lines.append((f"facet {name}: {sides['old']!r} → {sides['new']!r}", None))
    return lines
