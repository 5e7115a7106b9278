"""`mnemon memory branch|merge|graph|compact|replay`: branches, the graph, and the proof that replay gives the same."""

from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import click
import typer

from mnemon.cli.memory_places import AUTHOR, AsOf, BranchName, Why, World, identity, in_memory, lines_of_diff
from mnemon.cli.output import Json, TenantOption, counted, say, show, table
from mnemon.errors import InvalidRequest
from mnemon.identity.tenants import DEFAULT_SLUG
from mnemon.log.events import MAIN
from mnemon.memory.gateway import Memory
from mnemon.memory.graph_export import as_graphml, as_mermaid
from mnemon.memory.merging import Compared
from mnemon.memory.objects import Place


def branch(
    name: Annotated[str | None, typer.Argument(help="Begin this branch. Without it, all are listed.")] = None,
    parent: Annotated[str, typer.Option("--from", help="The branch it begins from.", metavar="NAME")] = MAIN,
    at: AsOf = None,
    purpose: Annotated[str, typer.Option(help="What it is for.")] = "",
    needs_person: Annotated[bool, typer.Option("--needs-person", help="Only a person may merge it.")] = False,
    abandon: Annotated[bool, typer.Option("--abandon", help="Give the branch up instead.")] = False,
    compare: Annotated[bool, typer.Option("--compare", help="Show what differs from its parent instead.")] = False,
    world: World = None,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Begin a branch, list them, compare one with its parent, or give it up.

    Example: mnemon memory branch tidy-up --purpose "merge duplicates" --needs-person
    """
    if name is None:
        _list(world, tenant, as_json)
    elif compare:
        _compare(name, world, tenant, as_json)
    elif abandon:
        closed = in_memory(
            tenant, world, name, lambda memory, who, place: memory.branches.abandon(who, place, AUTHOR, reason=purpose)
        )
        show(closed.as_json(), as_json, lambda: say(f"{name} is abandoned."))
    else:
        made = in_memory(
            tenant,
            world,
            name,
            lambda memory, who, place: memory.branches.create(
                who, place, AUTHOR, parent=parent, at=at, purpose=purpose, needs_person=needs_person
            ),
        )
        show(made.as_json(), as_json, lambda: say(f"Began {name} from {made.parent} at sequence {made.fork_sequence}."))


def _list(world: str | None, tenant: str, as_json: bool) -> None:
    found = in_memory(tenant, world, MAIN, lambda memory, who, place: memory.branches.list(who, place.world_id))
    rows = [(one.branch, one.parent, one.status, one.objects, one.created_at, one.purpose) for one in found]
    headings = ["Branch", "From", "Status", "Objects", "Begun", "Purpose"]
    show([one.as_json() for one in found], as_json, lambda: table(headings, rows, "No branches but main."))


def _compare(name: str, world: str | None, tenant: str, as_json: bool) -> None:
    found = in_memory(tenant, world, name, lambda memory, who, place: memory.merging.compare(who, place))

    def human() -> None:
        if not found:
            say(f"{name} differs in nothing.")
        for one in found:
            clashes = f", {counted(len(one.outcome.clashes), 'conflict')}" if one.outcome.clashes else ""
            say(f"{one.emo_id}  {one.change}{clashes}", "bold")
            for line, style in lines_of_diff({"content": one.as_json()["content_diff"]}):
                say(line, style)

    show([one.as_json() for one in found], as_json, human)


def merge(
    name: Annotated[str, typer.Argument(help="The branch.")],
    take: Annotated[
        list[str] | None,
        typer.Option(help="ID=ours, ID=theirs or ID=FILE: settle an object's conflicts. May repeat.", metavar="ID=HOW"),
    ] = None,
    edit: Annotated[bool, typer.Option("--edit", help="Settle conflicts of content in your editor.")] = False,
    why: Why = None,
    world: World = None,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Take a branch's changes into its parent, all or none.

    Example: mnemon memory merge tidy-up --take 018f4d1e-…=theirs
    """
    resolutions: dict[UUID, Any] = dict(_resolution(one) for one in take or ())
    if edit:
        compared = in_memory(tenant, world, name, lambda memory, who, place: memory.merging.compare(who, place))
        resolutions |= {
            one.emo_id: _edited(one) for one in compared if one.outcome.clashes and one.emo_id not in resolutions
        }
    merged = in_memory(
        tenant,
        world,
        name,
        lambda memory, who, place: memory.merging.merge(who, place, AUTHOR, resolutions=resolutions, rationale=why),
    )
    result = {
        "branch": merged.branch.as_json(),
        "objects": [str(one) for one in merged.objects],
        "events": merged.events,
    }
    said = f"Merged {counted(len(merged.objects), 'object')} of {name} into {merged.branch.parent}."
    show(result, as_json, lambda: say(said))


def _resolution(text: str) -> tuple[UUID, Any]:
    emo_id, mark, how = text.partition("=")
    if not mark:
        raise InvalidRequest(f"{text!r} should look like ID=ours, ID=theirs or ID=FILE.")
    if how in ("ours", "theirs"):
        return identity(emo_id), how
    try:
        return identity(emo_id), {"content": Path(how).read_text(encoding="utf-8")}
    except OSError as failure:
        raise InvalidRequest(f"{how} is neither ours, theirs nor a file: {failure}") from None


def _edited(one: Compared) -> Any:
    """Both sides in the editor, marked; other fields than the content are the branch's."""
    settled: dict[str, Any] = {clash.field: clash.theirs for clash in one.outcome.clashes}
    if "content" in settled and one.ours is not None:
        both = f"<<<<<<< parent\n{one.ours.content}=======\n{one.theirs.content}>>>>>>> branch\n"
        written = click.edit(both, extension=".md")
        if written is None or "<<<<<<<" in written:
            raise InvalidRequest(f"The conflict of {one.emo_id} is not settled: nothing is merged.")
        settled["content"] = written
    return settled


def graph(
    emo_id: Annotated[str | None, typer.Argument(help="Only what this object is related to.", metavar="ID")] = None,
    form: Annotated[str, typer.Option("--format", help="mermaid, graphml or json.")] = "mermaid",
    depth: Annotated[int, typer.Option(help="How many steps around the object.", min=1, max=20)] = 2,
    check: Annotated[bool, typer.Option("--check", help="Look for broken relations and circles instead.")] = False,
    as_of: AsOf = None,
    world: World = None,
    branch: BranchName = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Print the graph of a branch, or of what is around one object.

    Example: mnemon memory graph --format graphml > memory.graphml
    """
    if check:
        _check(world, branch, tenant, as_json)
        return
    if form not in ("mermaid", "graphml", "json"):
        raise InvalidRequest(f"{form!r} is not a format: use mermaid, graphml or json.")

    async def work(memory: Memory, who: UUID, place: Place) -> Any:
        if emo_id is None:
            return await memory.graph.whole(who, place, as_of=as_of)
        return await memory.graph.neighbourhood(who, place, identity(emo_id), depth=depth, as_of=as_of)

    found = in_memory(tenant, world, branch, work)
    text = as_graphml(found) if form == "graphml" else as_mermaid(found)
    show(found.as_json(), as_json or form == "json", lambda: say(text.rstrip("\n")))


def _check(world: str | None, branch: str, tenant: str, as_json: bool) -> None:
    async def work(memory: Memory, who: UUID, place: Place) -> Any:
        return await memory.graph.integrity(who, place), await memory.graph.cycles(who, place)

    broken, circles = in_memory(tenant, world, branch, work)
    result = {
        "invalid_edges": [one.as_json() for one in broken],
        "circular": [[str(one) for one in ids] for ids in circles],
    }

    def human() -> None:
        say(f"{counted(len(broken), 'broken relation')}, {counted(len(circles), 'circle')}.")
        for edge in broken:
            say(f"{edge.source_id} {edge.kind} {edge.target_id}")
        for ids in circles:
            say(" → ".join(str(one) for one in ids))

    show(result, as_json, human)
    if broken or circles:
        raise typer.Exit(1)


def compact(
    emo_id: Annotated[str | None, typer.Argument(help="Only this object.", metavar="ID")] = None,
    versions: Annotated[int, typer.Option(help="Of all objects with so many earlier versions.", min=1)] = 10,
    world: World = None,
    branch: BranchName = MAIN,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Keep earlier versions as one snapshot; refused if it would not replay to the same state."""

    async def work(memory: Memory, who: UUID, place: Place) -> Any:
        if emo_id is not None:
            return [await memory.compaction.compact(who, place, identity(emo_id), AUTHOR)]
        return await memory.compaction.compact_all(who, place, AUTHOR, versions=versions)

    done = in_memory(tenant, world, branch, work)
    gone = sum(len(one.compacted_versions) for one in done)
    said = f"Compacted {counted(gone, 'version')} of {counted(len(done), 'object')}."
    show([one.as_json() for one in done], as_json, lambda: say(said))


def replay(
    verify: Annotated[bool, typer.Option("--verify", help="Compare every row and hash with the old ones.")] = False,
    tenant: TenantOption = DEFAULT_SLUG,
    as_json: Json = False,
) -> None:
    """Make the lens anew from the log, while readers go on; with --verify, exit with 1 if anything differs.

    Example: mnemon memory replay --verify
    """
    if not verify:
        digest = in_memory(tenant, None, MAIN, lambda memory, who, place: memory.replay.rebuild(who))
        show({"state_hash": digest}, as_json, lambda: say(f"Rebuilt; the state hash is {digest}."))
        return
    report = in_memory(tenant, None, MAIN, lambda memory, who, place: memory.replay.verify(who))

    def human() -> None:
        say(f"{counted(report.objects, 'object')} and {counted(report.rows, 'row')} in {report.seconds:.1f} s.")
        say("Every row and hash is the same." if report.same else f"{counted(len(report.differences), 'row')} differ:")
        table(["Table", "Key", ""], [(one.table, one.key, one.how) for one in report.differences[:20]], "")

    show(report.as_json(), as_json, human)
    if not report.same:
        raise typer.Exit(1)
