"""`mnemon sources`: folders and buckets whose files become documents."""

import sys
from typing import Any

import typer

from mnemon.cli.binding.bind import command
from mnemon.cli.output import say, table
from mnemon.documents.sources import operations, outputs
from mnemon.operations import Differs

app = typer.Typer(help="Sources: folders and buckets whose files become documents.", no_args_is_help=True)
NEVER_WRITTEN = {
    "secret_key": Differs(
        "With --access-key it is asked for on a terminal, else the first line of the input: an argument would stand in "
        "the shell's history."
    )
}


def with_secret(values: dict[str, Any], tenant: str) -> dict[str, Any]:
    """The secret of the access key, never from an argument."""
    if not values.get("access_key"):
        return values
    if sys.stdin.isatty():
        return values | {"secret_key": typer.prompt("Secret key", hide_input=True, err=True)}
    return values | {"secret_key": sys.stdin.readline().strip() or None}


def print_sources(found: outputs.FollowedPlaces) -> None:
    rows = [
        (one.name, one.location, one.objects.get("active", 0), one.every_minutes, _state(one), _when(one))
        for one in found.items
    ]
    table(
        ["Name", "Place", "Files", "Minutes", "Last look", "Ended"], rows, "No sources. `mnemon sources add` adds one."
    )


def print_source(one: outputs.FollowedPlace) -> None:
    fields = [
        ("Place", one.location),
        ("Store", one.endpoint),
        ("Read", {"keys": "with its own keys", "server": "as the server", "none": "as anybody may"}[one.access]),
        ("Only", ", ".join(one.include)),
        ("Not", ", ".join(one.exclude)),
        ("Tags", ", ".join(one.tags)),
        ("Looked at", f"every {one.every_minutes} minutes" if one.every_minutes else "when asked"),
        ("Paused", "yes" if one.paused else "no"),
        ("Files", _counts(one.objects)),
        ("Last look", _state(one)),
        ("Found", _counts(one.last_sync.counts) if one.last_sync else None),
        ("Error", one.last_sync.error if one.last_sync else None),
    ]
    table(["Source", one.name], [field for field in fields if field[1]], "")


def print_syncs(found: outputs.SyncList) -> None:
    rows = [(one.sync_id, one.status, one.created_at, _counts(one.counts), one.error) for one in found.items]
    table(["Id", "Status", "Asked for", "Found", "Error"], rows, "No look yet.")


def print_objects(found: outputs.SourceObjectPage) -> None:
    rows = [(one.key, one.status, one.size_bytes, one.modified_at, one.doc_id, one.error) for one in found.items]
    table(["Key", "Status", "Bytes", "Changed", "Document", "Error"], rows, "No files.")
    if found.next_cursor:
        say(f"More: --cursor {found.next_cursor}", "dim")


def print_begun(begun: outputs.SyncBegun) -> None:
    started = "will be looked at by the next worker" if begun.begun else "is being looked at already"
    say(f"{begun.source} {started}: `mnemon sources show {begun.source}` shows what is found.")


def _state(one: outputs.FollowedPlace) -> str:
    return one.last_sync.status if one.last_sync else "never"


def _when(one: outputs.FollowedPlace) -> object:
    return one.last_sync.finished_at if one.last_sync else None


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(counts.items()) if count)


command(app, "list", operations.list_sources, print_sources, example="mnemon sources list")
command(
    app, "add", operations.add, print_source, arguments=["location"], differences=NEVER_WRITTEN, prepare=with_secret,
    example="mnemon sources add s3://acme-docs/policies/ --name policies --every-minutes 60",
)  # fmt: skip
command(app, "show", operations.get_source, print_source, arguments=["source"], example="mnemon sources show policies")
command(
    app, "change", operations.change, print_source, arguments=["source"], differences=NEVER_WRITTEN,
    prepare=with_secret, example="mnemon sources change policies --exclude 'drafts/**' --every-minutes 15",
)  # fmt: skip
command(
    app, "remove", operations.remove, lambda gone: say(f"{gone.name} is followed no more; its documents stay."),
    arguments=["source"], question="Follow {source} no more?", example="mnemon sources remove policies",
)  # fmt: skip
command(app, "sync", operations.sync_now, print_begun, arguments=["source"], example="mnemon sources sync policies")
command(app, "syncs", operations.syncs, print_syncs, arguments=["source"], example="mnemon sources syncs policies")
command(
    app, "objects", operations.objects, print_objects, arguments=["source"],
    example="mnemon sources objects policies --status refused",
)  # fmt: skip
