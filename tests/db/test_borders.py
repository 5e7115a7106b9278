"""SQL keeps to the layers that imports keep to: a room names only tables and functions of rooms that it may call."""

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from mnemon.db.definitions import COMMENT, packaged_definitions
from mnemon.db.migrate import packaged_migrations

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "mnemon"
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
        for text in _strings(ast.parse(file.read_text())):
            yield str(file.relative_to(SOURCE)), text
    for one in packaged_definitions():
        yield f"{one.room}/functions/{one.name}.sql", COMMENT.sub("", one.text)


def names_in(place: str, text: str) -> set[str]:
    """What may be a name of ours. In the file of a function, calls need no schema and tables may stand in quotes."""
    found = NAMED.findall(text) + (CALLED.findall(text) if place.endswith(".sql") else [])
    return {first or second for first, second in found}


def _strings(tree: ast.AST) -> Iterator[str]:
    """The strings of a module, but for those that only stand there: its docstrings."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            yield from _strings(node)


def crossings(given: Iterable[tuple[str, str]]) -> set[str]:
    """`where: name` for each name of a room that the one which names it may not call."""
    owned, floors = owners(), layers()
    found = set()
    for place, text in given:
        room = re.split(r"[/.]", place)[0]
        for name in names_in(place, text) & owned.keys():
            if owned[name] != room and floors.get(room, -1) <= floors[owned[name]]:
                found.add(f"{place}: {name}")
    return found


def test_sql_names_only_what_its_room_may_call() -> None:
    assert crossings(texts()) == set()


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("documents/library.py", "SELECT 1 FROM mnemon.documents JOIN mnemon.semantic_events USING (doc_id)"),
        ("documents/library.py", "SELECT mnemon.find_semantic_events('{}')"),
        ("log/read/select.py", "DELETE FROM jobs"),
        ("work/queue.py", "INSERT INTO mnemon.model_calls"),
        ("documents/functions/x.sql", "EXECUTE format('ANALYZE mnemon.%I', 'semantic_events')"),
        ("documents/functions/x.sql", "SELECT find_semantic_events(wanted)"),
    ],
)
def test_a_name_from_above_or_beside_is_found(place: str, text: str) -> None:
    assert len(crossings([(place, text)])) == 1
    assert crossings([("semantics/extract/job.py", text.replace("model_calls", "jobs"))]) == set()


def test_every_table_has_a_room() -> None:
    assert set(owners().values()) <= layers().keys()
    assert {"events", "jobs", "documents", "append_events", "emo_active"} <= owners().keys()
