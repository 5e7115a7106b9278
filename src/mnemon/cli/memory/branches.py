"""`mnemon memory branch|merge|graph|compact|replay`: branches, the graph, and the proof that replay gives the same."""

from pathlib import Path
from typing import Annotated, Any

import click
import typer

from mnemon.cli.binding.bind import Alternative, call, command
from mnemon.cli.context import run_async
from mnemon.cli.memory.views import lines_of_diff
from mnemon.cli.output import counted, say, show, table
from mnemon.errors import InvalidRequest
from mnemon.memory.operations import branches, graph, upkeep
from mnemon.operations import Differs, Operation, read_input
from mnemon.operations import as_json as written

BY_HAND = {"resolutions": Differs("--take and --edit settle conflicts one by one.")}
REBUILT = {"verify": Differs("A rebuild alone is quicker, and what a person mostly wants.", default=False)}
DRAWN = {"format": Differs("A person looks at a picture.", default="mermaid")}
LISTED = {"branch": Differs("Without it, all are listed.", default=None)}
PURPOSE = {"reason": Differs("--purpose says it.", name="purpose")}
INSTEAD: dict[str, Any] = {
    "abandon": Annotated[bool, typer.Option("--abandon", help="Give the branch up instead.")],
    "compare": Annotated[bool, typer.Option("--compare", help="Show what differs from its parent instead.")],
}
CHECK: dict[str, Any] = {
    "check": Annotated[bool, typer.Option("--check", help="Look for broken relations and circles instead.")]
}
MERGED: dict[str, Any] = {
    "take": Annotated[
        list[str] | None,
        typer.Option(help="ID=ours, ID=theirs or ID=FILE: settle an object's conflicts. May repeat.", metavar="ID=HOW"),
    ],
    "edit": Annotated[bool, typer.Option("--edit", help="Settle conflicts of content in your editor.")],
}


def _print_branches(found: branches.BranchList) -> None:
    rows = [(one.branch, one.parent, one.status, one.objects, one.created_at, one.purpose) for one in found.branches]
    table(["Branch", "From", "Status", "Objects", "Begun", "Purpose"], rows, "No branches but main.")


def _print_compared(compared: branches.Comparison) -> None:
    if not compared.objects:
        say(f"{compared.branch.branch} differs in nothing.")
    for one in compared.objects:
        clashes = f", {counted(len(one.conflicts), 'conflict')}" if one.conflicts else ""
        say(f"{one.emo_id}  {one.change}{clashes}", "bold")
        for line, style in lines_of_diff({"content": one.content_diff}):
            say(line, style)


def resolutions(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    settled = dict(_resolution(one) for one in values.pop("take") or ())
    if values.pop("edit"):
        place = {name: values[name] for name in ("world_id", "branch")}
        compared: branches.Comparison = _asked(branches.compare, tenant, place)
        settled |= {
            str(one.emo_id): _edited(one)
            for one in compared.objects
            if one.conflicts and str(one.emo_id) not in settled
        }
    return values | {"resolutions": settled}


def _resolution(text: str) -> tuple[str, Any]:
    emo_id, mark, how = text.partition("=")
    if not mark:
        raise InvalidRequest(f"{text!r} should look like ID=ours, ID=theirs or ID=FILE.")
    if how in ("ours", "theirs"):
        return emo_id, how
    try:
        return emo_id, {"content": Path(how).read_text(encoding="utf-8")}
    except OSError as failure:
        raise InvalidRequest(f"{how} is neither ours, theirs nor a file: {failure}") from None


def _edited(one: branches.ComparedOut) -> Any:
    """Both sides in the editor, marked; other fields than the content are the branch's."""
    settled = {clash.field: clash.theirs for clash in one.conflicts}
    for clash in one.conflicts:
        if clash.field == "content" and clash.ours is not None:
            both = f"<<<<<<< parent\n{clash.ours}=======\n{clash.theirs}>>>>>>> branch\n"
            written = click.edit(both, extension=".md")
            if written is None or "<<<<<<<" in written:
                raise InvalidRequest(f"The conflict of {one.emo_id} is not settled: nothing is merged.")
            settled["content"] = written
    return settled


def _print_graph(found: graph.GraphOut) -> None:
    if found.format == "json":
        show(written(found), True, lambda: None)
    else:
        say(found.text.rstrip("\n"))


def _print_integrity(found: graph.IntegrityOut) -> None:
    say(f"{counted(found.invalid_relationships, 'broken relation')}, {counted(found.circular_count, 'circle')}.")
    for edge in found.invalid_edges:
        say(f"{edge.source} {edge.kind} {edge.target}")
    for ids in found.circular:
        say(" → ".join(str(one) for one in ids))


def print_compacted(done: upkeep.Compactions) -> None:
    gone = sum(len(one.compacted_versions) for one in done.compacted)
    say(f"Compacted {counted(gone, 'version')} of {counted(len(done.compacted), 'object')}.")


def print_replayed(report: upkeep.ReplayOut) -> None:
    if "same" not in report.model_fields_set:
        say(f"Rebuilt; the state hash is {report.state_hash}.")
        return
    say(f"{counted(report.objects, 'object')} and {counted(report.rows, 'row')} in {report.seconds:.1f} s.")
    say("Every row and hash is the same." if report.same else f"{counted(report.difference_count, 'row')} differ:")
    table(["Table", "Key", ""], [(one.table, one.key, one.how) for one in report.differences], "")


def _asked(operation: Operation[Any, Any], tenant: str, given: dict[str, Any]) -> Any:
    return run_async(call(operation, tenant, read_input(operation, given)))


def add(app: typer.Typer) -> None:
    place = {"world_id": "--world", "branch": "-b"}
    command(
        app, "branch", branches.begin,
        lambda made: say(f"Began {made.branch} from {made.parent} at sequence {made.fork_sequence}."),
        says="Begin a branch, list them, compare one with its parent, or give it up.",
        arguments=["branch"], short={"world_id": "--world", "parent": "--from"}, differences=LISTED, beside=INSTEAD,
        alternatives=[
            Alternative(
                operation=branches.listed, when=lambda given: given["branch"] is None, human=_print_branches,
                written=lambda found: found["branches"],
            ),
            Alternative(
                operation=branches.compare, when=lambda given: given["compare"], human=_print_compared,
                written=lambda compared: compared["objects"],
            ),
            Alternative(
                operation=branches.abandon, when=lambda given: given["abandon"], differences=PURPOSE,
                human=lambda closed: say(f"{closed.branch} is abandoned."),
            ),
        ],
        example='mnemon memory branch tidy-up --purpose "merge duplicates" --needs-person',
    )  # fmt: skip
    command(
        app, "merge", branches.merge, differences=BY_HAND, beside=MERGED, prepare=resolutions, arguments=["branch"],
        human=lambda done: say(
            f"Merged {counted(len(done.objects), 'object')} of {done.branch.branch} into {done.branch.parent}."
        ),
        short={"world_id": "--world", "rationale": "--why"},
        example="mnemon memory merge tidy-up --take 018f4d1e-…=theirs",
    )  # fmt: skip
    command(
        app, "graph", graph.whole, _print_graph, arguments=["emo_id"], short=place, differences=DRAWN, beside=CHECK,
        says="Print the graph of a branch, or of what is around one object.",
        alternatives=[
            Alternative(
                operation=graph.integrity, when=lambda given: given["check"], human=_print_integrity,
                written=lambda found: {name: found[name] for name in ("invalid_edges", "circular")},
                failed=lambda found: bool(found.invalid_edges or found.circular),
            ),
        ],
        example="mnemon memory graph --format graphml > memory.graphml",
    )  # fmt: skip
    command(
        app, "compact", upkeep.compact, print_compacted, arguments=["emo_id"], short=place,
        written=lambda done: done["compacted"], example="mnemon memory compact 018f4d1e-…",
    )  # fmt: skip
    command(
        app, "replay", upkeep.replay, print_replayed, differences=REBUILT, failed=lambda report: not report.same,
        example="mnemon memory replay --verify",
    )  # fmt: skip
