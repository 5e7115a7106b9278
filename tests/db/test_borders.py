"""SQL keeps to the layers that imports keep to: a room names only tables and functions of rooms that it may call."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from mnemon.db.definitions import COMMENT, packaged_definitions
from mnemon.db.migrate import packaged_migrations

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "mnemon"
# Names that are known to cross a border today. Take out what is mended: the list only gets shorter.
KNOWN = {
    "documents/functions/renew_document_statistics.sql: artifact_revisions",
    "documents/functions/renew_document_statistics.sql: artifacts",
    "documents/functions/renew_document_statistics.sql: event_evidence",
    "documents/functions/renew_document_statistics.sql: event_links",
    "documents/functions/renew_document_statistics.sql: extractions",
    "documents/functions/renew_document_statistics.sql: semantic_events",
    "documents/library.py: artifacts",
    "documents/readers.py: artifacts",
    "documents/readers.py: is_hidden",
    "documents/runs.py: artifacts",
}

MADE = re.compile(r"CREATE TABLE(?: IF NOT EXISTS)? mnemon\.(\w+)")
# After a keyword, with the schema in front, as a call, or as the name of a table in quotes.
NAMED = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE|TABLE|ONLY|ANALYZE|USING)\s+(?:mnemon\.)?(\w+)|\bmnemon\.(\w+)(?!\.\w)")
CALLED = re.compile(r"\b(\w+)\(|'(\w+)'")


def owners() -> dict[str, str]:
    """The room of each table, function and view."""
    owned = {"migrations": "db", "functions": "db"}
    for step in packaged_migrations():
        room = step.name.partition("_")[0].replace("foundation", "db")
        owned |= dict.fromkeys(MADE.findall(step.text), room)
    return owned | {one.name: one.room.partition("/")[0] for one in packaged_definitions()}


def layers() -> dict[str, int]:
    """The layer of each room, from the ground up."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (contract,) = config["tool"]["importlinter"]["contracts"]
    floors = reversed(contract["layers"])
    return {room: floor for floor, layer in enumerate(floors) for room in re.findall(r"\w+", layer)}


def texts() -> Iterator[tuple[str, str]]:
    """Every text that may be SQL, with the path of its file inside the package."""
    for file in sorted(SOURCE.rglob("*.py")):
        place = str(file.relative_to(SOURCE))
        for text in _strings(ast.parse(file.read_text())):
            yield place, " ".join(found[0] or found[1] for found in NAMED.findall(text))
    for one in packaged_definitions():
        code = COMMENT.sub("", one.text)
        found = [*NAMED.findall(code), *CALLED.findall(code)]
        yield f"{one.room}/functions/{one.name}.sql", " ".join(first or second for first, second in found)


def _strings(tree: ast.AST) -> Iterator[str]:
    """The strings of a module, but for those that only stand there: its docstrings."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            yield from _strings(node)


def crossings() -> set[str]:
    """`where: name` for each name of a room that the one which names it may not call."""
    owned, floors = owners(), layers()
    found = set()
    for place, names in texts():
        room = re.split(r"[/.]", place)[0]
        for name in set(names.split()) & owned.keys():
            if owned[name] != room and floors[room] <= floors[owned[name]]:
                found.add(f"{place}: {name}")
    return found


def test_sql_names_only_what_its_room_may_call() -> None:
    assert crossings() == KNOWN


def test_every_table_has_a_room() -> None:
    assert set(owners().values()) <= layers().keys()
    assert {"events", "jobs", "documents", "append_events", "emo_active"} <= owners().keys()
