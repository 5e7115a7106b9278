"""The catalogue of commands: quick to list, and true."""

import os
import subprocess
import sys

import pytest
from typer.core import TyperGroup
from typer.testing import CliRunner

from mnemon.cli.catalogue import CATALOGUE, load
from mnemon.cli.main import app
from tests.patience import PATIENCE

# What takes long to load, and what only some commands need.
HEAVY = {"anthropic", "fastapi", "mcp", "numpy", "onnxruntime", "openai"} | {
    "psycopg",
    "pydantic",
    "pydantic_ai",
    "tokenizers",
}
SHOW_LOADED = """
import sys
from mnemon.cli.main import run
sys.argv = ["mnemon", *sys.argv[1:]]
try:
    run()
finally:
    print(" ".join(sorted({name.split(".")[0] for name in sys.modules})), file=sys.stderr)
"""


def loaded_by(*words: str) -> set[str]:
    """The packages that a process has loaded once it has answered."""
    command = [sys.executable, "-c", SHOW_LOADED, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout
    return set(done.stderr.split())


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_catalogue_says_what_the_command_says(name: str) -> None:
    paragraph = load(name).help.split("\n\n")[0]
    assert CATALOGUE[name].help == " ".join(paragraph.split())


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_the_command_itself_loads_nothing_heavy(word: str) -> None:
    assert loaded_by(word) & HEAVY == set()


@pytest.mark.parametrize("words", [["log", "--help"], ["db", "status", "--help"]], ids=" ".join)
def test_a_command_loads_no_model_and_no_web_framework(words: list[str]) -> None:
    without = HEAVY - {"psycopg", "pydantic"}
    assert loaded_by(*words) & without == set()


@pytest.mark.parametrize("words", [["ask", "--help"], ["search", "--help"]], ids=" ".join)
def test_asking_a_server_loads_no_database_and_no_logs(words: list[str]) -> None:
    """What the question and the answer are made of stands apart from what answers."""
    without = (HEAVY - {"pydantic"}) | {"cryptography", "prometheus_client", "structlog"}
    assert loaded_by(*words) & without == set()


def test_a_shell_completes_the_names_and_options_of_commands() -> None:
    def completions(*words: str) -> list[str]:
        environment = os.environ | {
            "_MNEMON_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(["mnemon", *words]),
            "COMP_CWORD": str(len(words)),
        }
        code = "from mnemon.cli.main import app; app(prog_name='mnemon')"
        command = [sys.executable, "-c", code]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE).stdout.split()

    assert completions("se") == ["serve", "search", "settings"]
    assert completions("subscription", "dead") == ["dead-letters"]
    assert completions("serve", "--po") == ["--port"]


def test_a_mistyped_command_is_told_the_right_one() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mnemon", "subscripton"], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 2
    assert "Did you mean 'subscription'?" in done.stderr


def test_a_list_needs_nothing_named() -> None:
    """In every group `list` shows what there is; whoever means one thing may name it."""
    groups = {name: one.commands for name in CATALOGUE if isinstance(one := load(name), TyperGroup)}
    needed = {
        name: [one.name for one in commands["list"].params if one.required]
        for name, commands in groups.items()
        if "list" in commands
    }
    assert len(needed) > 10
    assert not {name: fields for name, fields in needed.items() if fields}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["token", "add", "x", "--scope", "banana"], "'banana' is not one of 'read', 'write'"),
        (["open", "zzz"], "'zzz' is not a whole number"),
        (["search", "x", "--limit", "0"], "'0' must be at least 1"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_a_wrong_value_is_refused_in_plain_words(words: list[str], says: str) -> None:
    refused = CliRunner().invoke(app, words)
    told = " ".join(refused.output.replace("│", " ").split())
    assert refused.exit_code == 2 and says in told, told
    assert "Value error" not in told and "Input should" not in told
