"""Every bench, and every script of the training, still finds what it takes from Mnemon."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted([*ROOT.glob("bench/*.py"), *ROOT.glob("training/**/*.py")])


def taken_from_mnemon(script: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "mnemon":
            yield from ((node.module, one.name) for one in node.names)
        elif isinstance(node, ast.Import):
            yield from ((one.name, "") for one in node.names if one.name.partition(".")[0] == "mnemon")


def is_there(module: str, name: str) -> bool:
    try:
        return (
            not name
            or hasattr(importlib.import_module(module), name)
            or bool(importlib.import_module(f"{module}.{name}"))
        )
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: str(script.relative_to(ROOT)))
def test_a_script_finds_what_it_imports(script: Path) -> None:
    missing = [f"{module}.{name}" for module, name in taken_from_mnemon(script) if not is_there(module, name)]
    assert missing == []
