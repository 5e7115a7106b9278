"""How memory looks on a terminal."""

from typing import Any

from mnemon.cli.output import say, table
from mnemon.memory.operations.object_outputs import HistoryOut, ObjectOut, ObjectPage


def print_objects(page: ObjectPage) -> None:
    rows = [
        (one.emo_id, one.emo_type, one.emo_version, one.updated_at, _first_line(one.content)) for one in page.objects
    ]
    table(["Id", "Type", "Version", "Updated", "Content"], rows, "No objects.")
    if page.next_cursor:
        say(f"{len(rows):,} of {page.total:,}; more: --cursor {page.next_cursor}", "dim")


def print_object(one: ObjectOut) -> None:
    say(f"{one.emo_id}  {one.emo_type}, version {one.emo_version} on {one.branch}, by {one.updated_by}", "bold")
    if one.tags:
        say("tags: " + ", ".join(one.tags))
    for relation in one.links:
        say(f"{relation.rel}: {relation.target_emo_id or relation.target_uri}")
    say("")
    say(one.content.rstrip("\n"))
    for name, value in one.facets.items():
        say(f"\n[{name}]\n{value}")


def print_versions(found: HistoryOut) -> None:
    rows = [
        (one.emo_version, one.updated_at, one.operation, one.branch, one.updated_by, one.rationale)
        for one in found.versions
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


def _first_line(content: str) -> str:
    line = content.strip().split("\n", 1)[0]
    return line if len(line) <= 60 else line[:59] + "…"
